"""Records of a coordinator's partition: those that a decision asks for, and those that `Machine.replay` sees."""

from __future__ import annotations

from typing import Any, final

from odradek.protocol.native import mypyc_attr


@final
@mypyc_attr(acyclic=True)
class NewRecord:
    """A record that a coordinator wants written: key, and value or None for a tombstone; already in stored form.

    `said`: what the value says, as `Machine.replay` would have it once it has decoded the value. Nobody may change it
    any more. None leaves the decoding to `replay`.
    """

    __slots__ = ("key", "said", "value")

    def __init__(self, key: bytes, value: bytes | None = None, said: Any = None) -> None:
        self.key = key
        self.value = value
        self.said = said

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NewRecord):
            return NotImplemented
        return self.key == other.key and self.value == other.value and bool(self.said == other.said)

    def __repr__(self) -> str:
        return f"NewRecord({self.key!r}, {self.value!r}, {self.said!r})"


@final
@mypyc_attr(acyclic=True)
class LogRecord:
    """A record as `Machine.replay` sees it, live or from the log.

    `producer_id` and `producer_epoch` are -1 unless the record is part of a transaction. `said`: see `NewRecord`; None
    for all that comes from the log.
    """

    __slots__ = ("key", "offset", "producer_epoch", "producer_id", "said", "value")

    def __init__(
        self,
        key: bytes,
        value: bytes | None,
        offset: int,
        producer_id: int,
        producer_epoch: int,
        said: Any = None,
    ) -> None:
        self.key = key
        self.value = value
        self.offset = offset
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.said = said

    def saying(self, said: Any) -> LogRecord:
        """The same record with what its value says; None for one that `replay` has to decode."""
        return LogRecord(self.key, self.value, self.offset, self.producer_id, self.producer_epoch, said)

    def __repr__(self) -> str:
        return f"LogRecord({self.key!r}, {self.value!r}, offset={self.offset})"
