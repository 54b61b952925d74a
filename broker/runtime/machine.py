"""What a coordinator is made of: commands, outcomes, effects, and the machine that turns one into the other.

A coordinator is event-sourced. Its machine looks at a command and says what to do (`Outcome`); the `Shard` appends the
outcome's records to the coordinator's log partition and hands each of them back to `Machine.replay`, the only place
where durable state changes. A reload feeds the same records to the same `replay`, so the live state and the
reloaded state cannot differ. As long as the replicas of its partition are together an append is committed when it
returns, so nothing ever has to be undone; `commits` has the other case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from odradek.protocol.errors import KafkaError

R = TypeVar("R")
"""The reply type of a command."""


class NewRecord(NamedTuple):
    """A record that a coordinator wants written: key, and value or None for a tombstone; already in stored form.

    `said`: what the value says, as `Machine.replay` would have it once it has decoded the value. Nobody may change it
    any more. None leaves the decoding to `replay`.
    """

    key: bytes
    value: bytes | None = None
    said: Any = None


class Command(Generic[R]):
    """An order to a coordinator, named in the imperative; `R` is the type of its reply.

    Commands are plain values. Subclasses use `__slots__` and a plain `__init__`: there is one for every request.
    """

    __slots__ = ()


class LogRecord(NamedTuple):
    """A record as `Machine.replay` sees it, live or from the log.

    `producer_id` and `producer_epoch` are -1 unless the record is part of a transaction. `said`: see `NewRecord`; None
    for all that comes from the log.
    """

    key: bytes
    value: bytes | None
    offset: int
    producer_id: int
    producer_epoch: int
    said: Any = None


class Producer(NamedTuple):
    """The transactional producer in whose name a batch is written (its batch has the transactional bit)."""

    id: int
    epoch: int


class Effect:
    """Something that a decision causes outside of the machine's own state, done after the records are replayed."""

    __slots__ = ()


class Schedule(Effect):
    """Run `command` in `after_ms` milliseconds; replaces the timer of the same `key`."""

    __slots__ = ("after_ms", "command", "key")

    def __init__(self, key: Hashable, after_ms: int, command: Command[Any]) -> None:
        self.key = key
        self.after_ms = after_ms
        self.command = command


class Pause(Schedule):
    """A `Schedule` that gives others time to catch up. It fires at once while the broker's clock is frozen."""

    __slots__ = ()


class Cancel(Effect):
    """Forget the timer of that `key`, if there is one."""

    __slots__ = ("key",)

    def __init__(self, key: Hashable) -> None:
        self.key = key


class Answer(Effect):
    """Give a parked command its reply (or, with a `KafkaError`, its error). Each ticket is answered exactly once."""

    __slots__ = ("reply", "ticket")

    def __init__(self, ticket: Hashable, reply: Any) -> None:
        self.ticket = ticket
        self.reply = reply


class Outcome(Generic[R]):
    """What a command comes to. The shard carries it out in one step, without awaiting, in this order:

    1. `records` are appended as one batch (several where they do not fit and `atomic` is false), in the name of
       `producer` where given, and each is replayed. A refused append ends here: see `Machine.refused`.
    2. `then()` changes soft state (what no record expresses) and returns further effects. It is for changes that must
       not happen when the records are refused; all others `decide` makes directly.
    3. `park`: the command waits under this ticket until an `Answer` names it. A ticket is used once in a machine's
       life.
    4. `effects`, then those of `then()`, in order.
    5. `reply` goes to the asker, unless the command was parked.

    Where the log's replicas differ, the reply, and effects on others, wait until the records are committed, or what was
    written before if there are none; not if `waits` is false. See `commits`.
    """

    __slots__ = ("atomic", "effects", "park", "producer", "records", "reply", "then", "waits")

    def __init__(
        self,
        records: Sequence[Any] = (),
        *,
        reply: R | None = None,
        park: Hashable | None = None,
        effects: Sequence[Effect] = (),
        then: Callable[[], Sequence[Effect]] | None = None,
        producer: Producer | None = None,
        atomic: bool = True,
        waits: bool = True,
    ) -> None:
        self.records = records
        self.reply: R = reply  # type: ignore[assignment]  # None where R is None, or the command is parked
        self.park = park
        self.effects = effects
        self.then = then
        self.producer = producer
        self.atomic = atomic
        self.waits = waits


class Machine(Protocol):
    """The rules of a coordinator, free of clocks, tasks, logs and sockets. One shard owns it; calls never overlap."""

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        """Say what to do; writes nothing durable. May raise `KafkaError`: nothing changes and the asker gets it."""

    def replay(self, record: Any) -> None:
        """Apply a stored record (coordinators get a `LogRecord`) to durable state.

        Must accept every record that the log can hold, in log order.
        """

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """A transaction marker stands here in the log: settle what that producer left pending."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The records of `outcome`, decided for `command`, could not be appended: durable state is as before.

        The returned outcome, which must have no records, is carried out instead; with None the asker gets `error`.
        """

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """The log is replayed: re-create timers, resume what was going on."""


class ReplicatedMachine(Machine, Protocol):
    """A machine whose log several nodes keep: what it does when they differ. See `commits`."""

    @property
    def replays_committed(self) -> bool:
        """Whether a record changes the state when it is committed, rather than when it is appended."""

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        """How long the asker of `outcome` waits for its records to be committed."""

    def await_commit(self, records: Sequence[Any]) -> None:
        """These are appended, and replayed when they are committed: nothing else may be decided of what they change."""

    def commit_settled(self, records: Sequence[Any]) -> None:
        """They are replayed now, or never in this machine's life."""

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """The records of `command` were not committed in time, and its asker has got COORDINATOR_NOT_AVAILABLE."""

    def as_committed(self, committed: Any) -> Any:
        """What readers see, where `committed` (a machine like this one) has replayed what is committed."""
