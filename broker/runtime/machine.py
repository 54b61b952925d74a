"""The contract of a coordinator's machine: commands, outcomes, effects, records, the machine itself, and its log.

A coordinator is event-sourced. Its machine decides what a command comes to (`Outcome`). The `Shard` appends the
outcome's records to the coordinator's log partition and hands each of them back to `Machine.replay`, the only place
where durable state changes. A reload feeds the same records to the same `replay`, so the live state and the reloaded
state cannot differ. While the replicas of the partition are together, an append is committed when it returns, so
nothing ever has to be undone. `shard.Commits` handles replicas that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, final

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.message import Buffer

R = TypeVar("R")
"""The reply type of a command."""


class Command(Protocol[R]):
    """An order to a coordinator, named in the imperative; `R` is the type of its reply.

    Commands are plain values: classes with `__slots__` and a plain `__init__`, because every request makes one. They
    satisfy this protocol and do not inherit from it: no compiled class may be generic.
    """

    reply: R
    """Declares the type of the reply. Nobody sets it."""


# -- records


class Producer(NamedTuple):
    """The transactional producer in whose name a batch is written. The batch has the transactional bit."""

    id: int
    epoch: int


@final
@mypyc_attr(acyclic=True)
class NewRecord:
    """A record that a machine wants written: its encoded key, and its encoded value or None for a tombstone.

    `decoded`: the value as `Machine.replay` would decode it, which must not change any more. With None, `replay`
    decodes the value.
    """

    __slots__ = ("decoded", "key", "value")

    def __init__(self, key: bytes, value: bytes | None = None, decoded: Any = None) -> None:
        self.key = key
        self.value = value
        self.decoded = decoded

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NewRecord):
            return NotImplemented
        return self.key == other.key and self.value == other.value and bool(self.decoded == other.decoded)

    def __repr__(self) -> str:
        return f"NewRecord({self.key!r}, {self.value!r}, {self.decoded!r})"


@final
@mypyc_attr(acyclic=True)
class LogRecord:
    """A record as `Machine.replay` sees it, live or from the log.

    `producer_id` and `producer_epoch` are -1 unless the record is part of a transaction. `decoded`: see `NewRecord`.
    It is None for every record that is read from the log.
    """

    __slots__ = ("decoded", "key", "offset", "producer_epoch", "producer_id", "value")

    def __init__(
        self,
        key: bytes,
        value: bytes | None,
        offset: int,
        producer_id: int,
        producer_epoch: int,
        decoded: Any = None,
    ) -> None:
        self.key = key
        self.value = value
        self.offset = offset
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.decoded = decoded

    def __repr__(self) -> str:
        return f"LogRecord({self.key!r}, {self.value!r}, offset={self.offset})"


# -- effects


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Effect:
    """Something that a decision causes outside of the machine. It is executed after the records are replayed."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Schedule(Effect):
    """Run `command` in `after_ms` milliseconds. Replaces the timer of the same `key`."""

    __slots__ = ("after_ms", "command", "key")

    def __init__(self, key: Hashable, after_ms: int, command: Command[Any]) -> None:
        self.key = key
        self.after_ms = after_ms
        self.command = command


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Pause(Schedule):
    """A `Schedule` that gives others time to catch up. It fires at once while the broker's clock is frozen."""

    __slots__ = ()


@final
@mypyc_attr(acyclic=True)
class Cancel(Effect):
    """Cancel the timer of that `key`, if there is one."""

    __slots__ = ("key",)

    def __init__(self, key: Hashable) -> None:
        self.key = key


@final
@mypyc_attr(acyclic=True)
class Answer(Effect):
    """Give a parked command its reply, or its error if `reply` is a `KafkaError`. Each ticket is answered once."""

    __slots__ = ("reply", "ticket")

    def __init__(self, ticket: Hashable, reply: Any) -> None:
        self.ticket = ticket
        self.reply = reply


# -- outcomes


class Outcome(Protocol[R]):
    """The result of deciding a command (see `make_outcome`). The shard applies it in one step, without awaiting:

    1. `records` are appended as one batch (as several if they do not fit and `atomic` is false), in the name of
       `producer` if there is one, and each record is replayed. If the log refuses the append, the step ends here: see
       `Machine.refused`.
    2. `then()` changes soft state (what no record expresses) and returns further effects. It is for changes that must
       not happen when the log refuses the records; `decide` makes all other changes directly.
    3. `park`: the command waits under this ticket until an `Answer` names it. A machine never uses a ticket twice.
    4. `effects` are executed, then those of `then()`, in order.
    5. `reply` goes to the caller, unless the command was parked.

    Where the log's replicas differ, the reply, and effects outside of the shard, wait until the records are committed
    (without records: until everything written before is). With `waits=False` they do not wait. See `shard.Commits`.
    """

    records: Sequence[Any]
    reply: R
    park: Hashable | None
    effects: Sequence[Effect]
    then: Callable[[], Sequence[Effect]] | None
    producer: Producer | None
    atomic: bool
    waits: bool


@final
class PlainOutcome:
    """The one class of outcomes. No compiled class may be generic, so `make_outcome` declares the reply's type."""

    __slots__ = ("atomic", "effects", "park", "producer", "records", "reply", "then", "waits")

    def __init__(
        self,
        records: Sequence[Any],
        reply: Any,
        park: Hashable | None,
        effects: Sequence[Effect],
        then: Callable[[], Sequence[Effect]] | None,
        producer: Producer | None,
        atomic: bool,
        waits: bool,
    ) -> None:
        self.records = records
        self.reply = reply
        self.park = park
        self.effects = effects
        self.then = then
        self.producer = producer
        self.atomic = atomic
        self.waits = waits


def make_outcome(
    records: Sequence[Any] = (),
    *,
    reply: R | None = None,
    park: Hashable | None = None,
    effects: Sequence[Effect] = (),
    then: Callable[[], Sequence[Effect]] | None = None,
    producer: Producer | None = None,
    atomic: bool = True,
    waits: bool = True,
) -> Outcome[R]:
    """An outcome. `reply` is None if `R` is None or the command is parked."""
    return PlainOutcome(records, reply, park, effects, then, producer, atomic, waits)


# -- machines


class Machine(Protocol):
    """The rules of a coordinator.

    A machine knows no clock, task, log or socket. One shard owns it; calls never overlap.
    """

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        """Decide on a command; changes nothing durable. If it raises `KafkaError`, the caller gets the error."""

    def replay(self, record: Any) -> None:
        """Apply a stored record (for coordinators a `LogRecord`) to durable state.

        Takes every record that coordinators write, in log order. It raises for any other one, which a load leaves out.
        """

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """Apply a transaction marker of the log: settle what that producer left pending."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The log refused the records of `outcome`, decided for `command`. Durable state is as before.

        The returned outcome, which must have no records, takes its place. With None the caller gets `error`.
        """

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """The log has been replayed: create the timers again and resume work under way."""


class ReplicatedMachine(Machine, Protocol):
    """A machine whose log several nodes keep: how it behaves while their replicas differ. See `shard.Commits`."""

    @property
    def replays_committed(self) -> bool:
        """Whether a record changes the state when it is committed, rather than when it is appended."""

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        """How long the caller waits for the records of `outcome` to be committed."""

    def await_commit(self, records: Sequence[Any]) -> None:
        """These records are appended, and will be replayed when committed.

        Refuse other decisions on what they change.
        """

    def commit_settled(self, records: Sequence[Any]) -> None:
        """These records are replayed next, or never in this machine's life."""

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """The records of `command` were not committed in time. Its caller got COORDINATOR_NOT_AVAILABLE."""

    def as_committed(self, committed: Any) -> Any:
        """The view for readers, where `committed` (a machine like this one) has replayed only committed records."""


class CopyableMachine(Protocol):
    """A machine whose state can be copied into a snapshot or a fork of the broker."""

    def snapshot(self) -> object:
        """Everything that commands and records have changed. The values must not refer to the broker around them."""

    def restore(self, snapshot: Any) -> None:
        """Take over the state of the machine that returned `snapshot`.

        Called on a new machine, which may keep the values.
        """


# -- the log of a shard


class Journal(Protocol):
    """A shard's log. It alone knows the form of the records: keyed records, or frames of the metadata log."""

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""

    @property
    def leader_epoch(self) -> int:
        """The log's leader epoch, which grows with each new leader."""

    @property
    def apart(self) -> bool:
        """Whether the log's replicas differ, so that an append may not be committed when it returns."""

    def append(self, records: Sequence[Any], now_ms: int, producer: Producer | None) -> Iterable[Any]:
        """Append one batch; returns its records with their offsets, as `Machine.replay` takes them.

        Raises `KafkaError`, then nothing is written.
        """

    def split(self, records: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Split records that need not be written together into runs that each fit into a batch."""

    def load(self, machine: Machine) -> Iterator[int]:
        """Replay the whole log into `machine`; a generator that pauses after each slice and yields the next offset.

        It reads up to the end that the log has by then, so records appended meanwhile are included.
        """


class KeyedJournal(Journal, Protocol):
    """The log of a coordinator: records with keys, and transactions."""

    @property
    def start_offset(self) -> int:
        """The first offset of the log."""

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """Append a transaction marker; returns its offset."""

    def read(self, offset: int) -> Sequence[Buffer]:
        """Whole batches from `offset` on, up to `loading.SLICE_BYTES`, at least one; nothing at the end of the log."""


class ReplicatedJournal(KeyedJournal, Protocol):
    """The log of a coordinator whose replicas may differ."""

    @property
    def committed_offset(self) -> int:
        """The high watermark: all replicas in sync have everything before it."""

    def check_in_sync(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS if an acks=all Produce would be refused."""

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` once, when more is committed or the leader has changed.

        Returns a function that cancels it.
        """


# -- what clients are told of a refused append


TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE})
_OF_THE_LOG: Mapping[ErrorCode, ErrorCode] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    **dict.fromkeys(TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
}


def coordinator_error(code: ErrorCode) -> ErrorCode:
    """The error that a client of groups or transactions gets for an error of the coordinator's log."""
    return _OF_THE_LOG.get(code, code)
