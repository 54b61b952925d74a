"""What a coordinator is made of: outcomes, and the machine that turns commands into them.

A coordinator is event-sourced. Its machine looks at a command and says what to do (`Outcome`); the `Shard` appends the
outcome's records to the coordinator's log partition and hands each of them back to `Machine.replay`, the only place
where durable state changes. A reload feeds the same records to the same `replay`, so the live state and the
reloaded state cannot differ. As long as the replicas of its partition are together an append is committed when it
returns, so nothing ever has to be undone; `commits` has the other case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from odradek.broker.runtime.command import R

if TYPE_CHECKING:
    from odradek.broker.runtime.command import Command
    from odradek.broker.runtime.effects import Effect
    from odradek.protocol.errors import KafkaError


class Producer(NamedTuple):
    """The transactional producer in whose name a batch is written (its batch has the transactional bit)."""

    id: int
    epoch: int


class Outcome(Protocol[R]):
    """What a command comes to (see `decided`). The shard carries it out in one step, without awaiting, in this order:

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

    records: Sequence[Any]
    reply: R
    park: Hashable | None
    effects: Sequence[Effect]
    then: Callable[[], Sequence[Effect]] | None
    producer: Producer | None
    atomic: bool
    waits: bool


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
