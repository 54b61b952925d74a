"""Verbs of groups, and the handle of a group.

Generated from facade/verbs/groups.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import GroupInfo
from odradek.broker.facade.groups.view import Condition, GroupView, GroupWatch, condition_of, late
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled
from odradek.broker.facade.verb_base import BlockingVerbs


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
        """Wait until the group is stable with all partitions assigned, or until ``condition(info)`` is true.

        It is checked after everything that the coordinator does. ``members`` is the number of members of the stable
        group. All partitions of the subscribed topics must be assigned, so a generation of a cooperative rebalance that
        only revokes partitions does not count. For an assignor that leaves partitions out, ``partitions`` is the exact
        number to wait for. Share groups are only checked for ``partitions``. Raises TimeoutError, which says what is
        missing, after ``timeout`` seconds.
        """
        with GroupWatch(self, condition_of(condition, members, partitions)) as reached:
            if not blocking_settled(reached, timeout):
                raise late(self.info, timeout)
            return reached.result()

    def set_offsets(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets: ``{("orders", 0): 5}``. The group is created if it does not exist.

        Raises KafkaError if the group has members or a partition does not exist.
        """
        from odradek.broker.facade.groups.offsets import set_offsets

        self._broker._call(lambda: set_offsets(self._cluster, self.group_id, offsets))


class GroupVerbs(BlockingVerbs):
    """Groups and their coordinators."""

    def group(self, group_id: str) -> Group:
        """The handle of a group: ``broker.group("g").wait(members=2)``."""
        return Group(self, group_id)

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        """Make the coordinator of a partition reload its state from the log, as after a change of its leader.

        ``topic`` is ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. Raises ValueError for
        another topic, KeyError for a partition that does not exist.
        """
        from odradek.broker.nodes.coordinators import reload

        self._call(lambda: reload(self._cluster, topic, partition))

    def hold_load(self, topic: str, partition: int | None = None, *, now: bool = False) -> Undo:
        """Keep the coordinator of a partition from loading; None means the coordinators of all partitions.

        Requests are answered with COORDINATOR_LOAD_IN_PROGRESS until the change is undone. ``topic`` is
        ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. By default the next load is held,
        such as after a change of the leader; with ``now``, a coordinator that is loaded is unloaded first. Raises
        ValueError for another topic, KeyError for a partition that does not exist.
        """
        from odradek.broker.nodes.coordinators import hold_load, release_load

        return self._undone_by(
            lambda: hold_load(self._cluster, topic, partition, now=now),
            lambda: release_load(self._cluster, topic, partition),
        )
