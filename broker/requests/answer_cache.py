"""The cache of answers. In the plain lane it keeps none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol


class AnswerCache(Protocol):
    """The answers that handlers made from the metadata image."""

    def of(self, api: str, version: int) -> Mapping[Hashable, Any]:
        """The answers of one API that were made of this version of its facts."""

    def keep(self, api: str, key: Hashable, answer: Any, size: int) -> None:
        """Add an answer to what `of` gave last. `size`: bytes of the key and the answer, about."""

    @property
    def topics(self) -> dict[Any, tuple[Any, Any]]:
        """Parts of answers that tell of a topic: what each was made of, and the part."""


class NoAnswerCache:
    """Each answer is made anew."""

    __slots__ = ()

    def of(self, api: str, version: int) -> Mapping[Hashable, Any]:
        return {}

    def keep(self, api: str, key: Hashable, answer: Any, size: int) -> None:
        """See `AnswerCache`."""

    @property
    def topics(self) -> dict[Any, tuple[Any, Any]]:
        return {}
