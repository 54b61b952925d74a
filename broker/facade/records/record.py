"""Records: as a user writes them, and as they are stored in a log."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from odradek.broker.mistakes import NearNames
from odradek.protocol.records import RecordHeader
from odradek.protocol.shown import counted, place_name

if TYPE_CHECKING:
    from odradek.broker.schemas.record_schemas import Decoded

T = TypeVar("T")

_SHOWN = 20

Isolation = Literal["read_uncommitted", "read_committed"]
"""The isolation level of a reader, as in Kafka."""


@dataclass(frozen=True, slots=True)
class StoredRecord(NearNames):
    """A record as it is stored in the log, with the fields of its batch.

    ``timestamp`` is in milliseconds since 1970. ``producer_id``, ``producer_epoch`` and ``sequence`` are -1 without
    idempotence. ``control`` is ``"commit"`` or ``"abort"`` for a transaction marker, otherwise None.
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


@dataclass(frozen=True, slots=True)
class DecodedRecord(NearNames):
    """A record with its decoded key and value, which are None without a schema or without data."""

    record: StoredRecord
    key: Decoded | None
    value: Decoded | None


def holder_of(
    topic: str, partition: int | None, isolation: Isolation, start: int | None = None, limit: int | None = None
) -> str:
    """What holds the records that `records` and `wait` give, for an error."""
    part = "" if start is None and limit is None else "the part read of "
    return f"{part}{place_name(topic, partition)}{'' if isolation == 'read_uncommitted' else f' ({isolation})'}"


class Listed(Sequence[T]):
    """A list that is read when it is used.

    A loop and ``bool`` read no further than they get, and keep nothing. An index, ``len`` and ``==`` read everything,
    once. It equals any list with the same items. ``holder`` is what holds them, for the error of an index.
    """

    def __init__(self, read: Callable[[], Iterator[T]], holder: str) -> None:
        self._read = read
        self._holder = holder
        self._items: list[T] | None = None

    def _all(self) -> list[T]:
        if self._items is None:
            self._items = list(self._read())
        return self._items

    def __iter__(self) -> Iterator[T]:
        return self._read() if self._items is None else iter(self._items)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        try:
            return self._all()[index]
        except IndexError:
            raise IndexError(f"{self._holder} holds {counted(len(self), 'record')}") from None

    def __eq__(self, other: object) -> bool:
        return self._all() == list(other) if isinstance(other, list | Listed) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = [repr(each) for each in islice(self, _SHOWN + 1)]
        return f"[{', '.join(shown[:_SHOWN])}{', ...' if len(shown) > _SHOWN else ''}]"


class Records(Listed[StoredRecord]):
    """Records of a topic, partition after partition, in offset order: a list that is read when it is used."""

    def __init__(
        self, read: Callable[[], Iterator[StoredRecord]], decode: Callable[[], Iterator[DecodedRecord]], holder: str
    ) -> None:
        super().__init__(read, holder)
        self._decode = decode

    def decoded(self) -> Sequence[DecodedRecord]:
        """The records with key and value decoded by the schemas that ``set_schema`` has set."""
        return Listed(self._decode, self._holder)


Serializer = Callable[[Any], bytes | None]
"""Turns a key or value into bytes."""

Headers = Mapping[str, "bytes | str | None"] | Iterable[tuple[str, "bytes | str | None"]]
"""Headers by name, or pairs of name and value if a name occurs twice."""

TransactionEnd = Literal["commit", "abort", "open"]
"""How a transaction ends. ``open`` leaves it open, like a producer that is killed, until its timeout."""


@dataclass(frozen=True, slots=True)
class ProducerRecord(NearNames):
    """A record to write. Keys and values are bytes, text (encoded as UTF-8), None, or whatever the serializer takes.

    If ``partition`` is None, the key decides. ``timestamp`` is in milliseconds since 1970; None means the broker's
    time.
    """

    value: Any
    key: Any = None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class RecordMetadata(NearNames):
    """The position of a record that was written, and its timestamp (milliseconds since 1970) in the log."""

    topic: str
    partition: int
    offset: int
    timestamp: int


class Writing(Protocol):
    """Writes records to one topic of a broker, in this process or another one."""

    def write(
        self, records: Iterable[Any], transactional_id: str | None, transaction: TransactionEnd
    ) -> Generator[None, None, list[RecordMetadata]]:
        """Write the records step by step, in one transaction if an id is given; return their positions."""


def serialized(data: Any, serializer: Serializer | None, what: str) -> bytes | None:
    """The bytes of a key, value or header (``what``). Raises TypeError for anything but bytes, text and None."""
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
