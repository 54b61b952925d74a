"""The values that a handler may return in place of a response object."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeGuard

from odradek.protocol.file_slice import Part


class EncodedBody:
    """A response body that is encoded already, for the version that was asked."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class EncodedParts:
    """The parts of a response's body, encoded already, and the response."""

    __slots__ = ("parts", "response")

    def __init__(self, response: Any, parts: list[Part]) -> None:
        self.response = response
        self.parts = parts


def is_coroutine(returned: object) -> TypeGuard[Coroutine[Any, Any, Any]]:
    """Whether a handler returned a coroutine. Compiled functions return one of a class of their own."""
    return hasattr(returned, "__await__")
