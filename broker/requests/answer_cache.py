"""The cache of answers. In the plain lane it keeps none."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol


class AnswerCache(Protocol):
    """The answers that handlers made from the metadata image."""

    def of(self, api: str, version: int) -> dict[Hashable, Any]:
        """The answers of one API that were made of this version of its facts: a table to look in and to add to."""

    @property
    def topics(self) -> dict[Any, tuple[Any, Any]]:
        """Parts of answers that tell of a topic: what each was made of, and the part."""


class NoAnswerCache:
    """Each answer is made anew."""

    __slots__ = ()

    def of(self, api: str, version: int) -> dict[Hashable, Any]:
        """See `AnswerCache`."""
        return {}

    @property
    def topics(self) -> dict[Any, tuple[Any, Any]]:
        """See `AnswerCache`."""
        return {}
