"""How the parts of an answer leave, where a fault says so."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """A part of an answer, `after_ms` later than the one before; None as `data` ends the connection.

    `end`: how: "close", "reset", "half-close" (nothing leaves any more, requests are read on), "stall" (the same, and
    the client sees no end).
    """

    data: bytes | memoryview | None
    after_ms: int = 0
    end: str = "close"
