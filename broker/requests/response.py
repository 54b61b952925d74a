"""What a handler may return in the place of a response object."""

from __future__ import annotations


class EncodedBody:
    """A response body that is encoded already, for the version that was asked."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body
