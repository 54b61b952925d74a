"""Records: as a user writes them, and as they are stored in a log."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from odradek.protocol.records import RecordHeader

Isolation = Literal["read_uncommitted", "read_committed"]
"""Which records a reader sees, in Kafka's words."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it lies in the log, with what its batch says.

    ``timestamp``: milliseconds since 1970. ``producer_id``, ``producer_epoch``, ``sequence``: -1 without idempotence.
    ``control``: ``"commit"`` or ``"abort"`` for a transaction marker, else ``None``.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    producer_id: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    control: str | None = None
    leader_epoch: int = 0
    codec: str = "none"
    log_append_time: bool = False


Serializer = Callable[[Any], bytes | None]
"""Makes the bytes of a key or value."""

Headers = Mapping[str, "bytes | str | None"] | Iterable[tuple[str, "bytes | str | None"]]
"""Headers by name, or pairs of name and value where a name comes twice."""

TransactionEnd = Literal["commit", "abort", "open"]
"""How a transaction is left: ``open`` leaves it as a producer does that is killed, until its timeout."""


@dataclass(frozen=True, slots=True)
class ProducerRecord:
    """A record to write. Keys and values: bytes, text (UTF-8), None, or whatever the serializer takes.

    ``partition``: None lets the key decide. ``timestamp``: milliseconds since 1970, None for the broker's time.
    """

    value: Any
    key: Any = None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class RecordMetadata:
    """Where a record lies now, and its timestamp (milliseconds since 1970) as the topic keeps it."""

    topic: str
    partition: int
    offset: int
    timestamp: int


class Writing(Protocol):
    """Writes records to one topic of a broker, wherever that runs."""

    def write(
        self, records: Iterable[Any], transactional_id: str | None, transaction: TransactionEnd
    ) -> Generator[None, None, list[RecordMetadata]]:
        """Write every record, step by step, in one transaction if there is an id for it; gives where each lies."""


def serialized(data: Any, serializer: Serializer | None, what: str) -> bytes | None:
    """The bytes of a ``what`` (key, value, header); TypeError for what is neither bytes nor text nor None."""
    if serializer is not None:
        data = serializer(data)
    if data is None or isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    hint = f"the {what}_serializer gave" if serializer is not None else f"expected bytes, text or None as {what}, not"
    raise TypeError(f"{hint} {data!r}")


def header_pairs(headers: Headers) -> tuple[RecordHeader, ...]:
    """The headers in their order, as bytes."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return tuple((name, serialized(value, None, "header")) for name, value in pairs)
