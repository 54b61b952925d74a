"""Verbs of groups and transactions, the handle of a group, and that of a transaction that a test holds.

Generated from facade/verbs/coordinators.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.view import Condition, GroupView, GroupWatch, condition_of, late
from odradek.broker.facade.names import Named
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled
from odradek.broker.facade.verb_base import BlockingVerbs

if TYPE_CHECKING:
    from odradek.broker.coordinator.transaction.holds import Hold
    from odradek.broker.facade.groups.info import GroupInfo


class Group(GroupView):
    """The handle of a group, which need not exist yet. Every property takes a new snapshot.

    A wait returns as soon as the coordinator has reached the state. It does not poll.
    """

    def __init__(self, broker: BlockingVerbs, group_id: str) -> None:
        super().__init__(group_id, broker.cluster, broker._look)
        self._broker = broker

    def wait(
        self,
        condition: Condition | None = None,
        *,
        members: int | None = None,
        partitions: int | None = None,
        timeout: float = WAIT_TIMEOUT_S,
    ) -> GroupInfo:
        """Wait until the group is stable with all partitions assigned.

        ``members`` is the number of members of the stable group. All partitions of the subscribed topics must be
        assigned, so a generation of a cooperative rebalance that only revokes partitions does not count. For an
        assignor that leaves partitions out, ``partitions`` is the exact number to wait for. Share groups are only
        checked for ``partitions``. Raises TimeoutError, which says what is missing, after ``timeout`` seconds.

        In Python it can wait until ``condition(info)`` is true instead, which is checked after everything that the
        coordinator does.
        """
        wanted = condition_of(condition, members, partitions)
        with GroupWatch(self, wanted) as reached:
            if not blocking_settled(reached, timeout):
                raise late(self.info, timeout, wanted)
            return reached.result()

    def set_offsets(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets: ``{("orders", 0): 5}``. The group is created if it does not exist.

        Raises KafkaError if the group has members or a partition does not exist.
        """
        from odradek.broker.facade.groups.description import set_offsets

        self._broker._call(lambda: set_offsets(self._cluster, self.group_id, offsets))


class TransactionHold(Named):
    """A hold on a transactional id. ``with`` releases it at the end of the block."""

    def __init__(self, held: Hold, call: Callable[[Callable[[], None]], None]) -> None:
        self._held = held
        self._call = call

    def __repr__(self) -> str:
        there = "reached" if self.reached else "not reached"
        return f"<{type(self).__name__} of {self._held.transactional_id!r} at {self._held.at}, {there}>"

    @property
    def reached(self) -> bool:
        """Whether the transaction has reached the point."""
        return self._held.reached

    def wait(self, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until the transaction has reached the point. Raises TimeoutError after ``timeout`` seconds."""
        if not blocking_settled(self._held.arrival, timeout):
            raise TimeoutError(
                f"transaction {self._held.transactional_id!r} not at {self._held.at} after {timeout:g} s"
            )
        self._held.arrival.result()

    def release(self) -> None:
        """Let the transaction continue. A second call does nothing."""
        self._call(self._held.release)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class CoordinatorVerbs(BlockingVerbs):
    """Groups, transactions that a test holds at a point, and their coordinators."""

    def group(self, group_id: str) -> Group:
        """The handle of a group: ``broker.group("g").wait(members=2)``."""
        return Group(self, group_id)

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        """Make the coordinator of a partition reload its state from the log, as after a change of its leader.

        ``topic`` is ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. Raises ValueError for
        another topic, and for a partition that does not exist.
        """
        from odradek.broker.nodes.coordinators import reload

        self._call(lambda: reload(self._cluster, topic, partition))

    def hold_load(self, topic: str, partition: int | None = None, *, now: bool = False) -> Undo:
        """Keep the coordinator of a partition from loading; None means the coordinators of all partitions.

        Requests are answered with COORDINATOR_LOAD_IN_PROGRESS until the change is undone. ``topic`` is
        ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. By default the next load is held,
        such as after a change of the leader; with ``now``, a coordinator that is loaded is unloaded first. Raises
        ValueError for another topic, and for a partition that does not exist.
        """
        from odradek.broker.nodes.coordinators import hold_load

        return self._undoable(lambda: hold_load(self._cluster, topic, partition, now=now))

    def hold(self, transactional_id: str, at: str) -> TransactionHold:
        """Stop the coordinator of a transactional id at a point until the hold is released.

        ``at`` is ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``. ``with`` releases the hold at the end of the block. Raises ValueError for
        another point.
        """

        def begin() -> TransactionHold:
            return TransactionHold(self._cluster.transactions.holds.hold(transactional_id, at), self._always)

        return self._pending(begin)
