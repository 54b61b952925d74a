"""Verbs of groups, and the handle of a group.

Generated from facade/verbs/groups.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import GroupInfo
from odradek.broker.facade.groups.view import Condition, GroupView, GroupWatch, is_stable, late
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled
from odradek.broker.facade.verb_base import BlockingVerbs


class Group(GroupView):
    """The handle of a group, which need not exist yet. Every property takes a new snapshot.

    A wait returns as soon as the coordinator has reached the state. It does not poll.
    """

    def wait_stable(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """Wait until the group is stable with ``members`` members and all partitions are assigned.

        All partitions of the subscribed topics must be assigned, so a generation of a cooperative rebalance that only
        revokes partitions does not count. For an assignor that leaves partitions out, ``partitions`` is the exact
        number to wait for. Share groups are only checked for ``partitions``. Raises TimeoutError, which says what is
        missing, after ``timeout`` seconds.
        """
        return self.wait(is_stable(members, partitions), timeout)

    def wait(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """Wait until ``condition(info)`` is true. It is checked after everything that the coordinator does.

        Raises TimeoutError, which describes the group, after ``timeout`` seconds.
        """
        with GroupWatch(self, condition) as reached:
            if not blocking_settled(reached, timeout):
                raise late(self.info, timeout)
            return reached.result()


class GroupVerbs(BlockingVerbs):
    """Groups and their coordinators."""

    def group(self, group_id: str) -> Group:
        """The handle of a group: ``broker.group("g").wait_stable(members=2)``."""

        cluster = self._cluster
        return Group(group_id, lambda: cluster.groups, cluster.services.share_partitions, cluster.topics, self._look)

    def set_offsets(self, group_id: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets for a group: ``{("orders", 0): 5}``. The group is created if it does not exist.

        Raises KafkaError if the group has members or a partition does not exist.
        """
        from odradek.broker.facade.groups.offsets import set_offsets

        self._call(lambda: set_offsets(self._cluster, group_id, offsets))

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        """Make the coordinator of a partition reload its state from the log, as after a change of its leader.

        ``topic`` is ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. Raises ValueError for
        another topic, KeyError for a partition that does not exist.
        """
        from odradek.broker.facade.coordinators import reload

        self._call(lambda: reload(self._cluster, topic, partition))

    def hold_load(self, topic: str, partition: int | None = None, *, now: bool = False) -> Undo:
        """Keep the coordinator of a partition from loading; None means the coordinators of all partitions.

        Requests are answered with COORDINATOR_LOAD_IN_PROGRESS until the change is undone. ``topic`` is
        ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. By default the next load is held,
        such as after a change of the leader; with ``now``, a coordinator that is loaded is unloaded first. Raises
        ValueError for another topic, KeyError for a partition that does not exist.
        """
        from odradek.broker.facade.coordinators import hold_load, release_load

        return self._undone_by(
            lambda: hold_load(self._cluster, topic, partition, now=now),
            lambda: release_load(self._cluster, topic, partition),
        )
