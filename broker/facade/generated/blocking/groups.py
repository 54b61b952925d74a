"""Verbs of groups, and the handle of a group.

Generated from facade/verbs/groups.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.facade.flavours import BlockingFlavour
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.groups.info import GroupInfo
from odradek.broker.facade.groups.view import Condition, GroupView, GroupWatch, is_stable, late
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled


class Group(GroupView):
    """A group by its id; it need not exist yet. Every property is a fresh look.

    A wait returns as soon as the coordinator gets there, without polling.
    """

    def wait_stable(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """Wait until the group is stable with ``members`` members and every partition has been assigned.

        Every partition of the topics that members subscribe to; with ``partitions`` instead exactly so many, for
        assignors that leave some out. A generation of a cooperative rebalance that only takes partitions away is thus
        not stable. Of share groups only ``partitions`` is looked at. TimeoutError, which says what is missing, after
        seconds.
        """
        return self.wait(is_stable(members, partitions), timeout)

    def wait(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """Wait until ``condition(info)`` holds; it is looked at whenever the group enters another state.

        TimeoutError, which says how the group stands, after seconds.
        """
        with GroupWatch(self, condition) as reached:
            if not blocking_settled(reached, timeout):
                raise late(self.info, timeout)
            return reached.result()


class GroupVerbs(BlockingFlavour):
    """Groups that are watched and changed."""

    def group(self, group_id: str) -> Group:
        """A group to look at and wait for: ``broker.group("g").wait_stable(members=2)``."""

        cluster = self._cluster
        return Group(group_id, lambda: cluster.groups, cluster.services.share_partitions, cluster.topics, self._look)

    def set_offsets(self, group_id: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets for a group: ``{("orders", 0): 5}``. The group is made if there is none.

        KafkaError if it has members, or for a partition that does not exist.
        """
        from odradek.broker.facade.groups.offsets import set_offsets

        self._call(lambda: set_offsets(self._cluster, group_id, offsets))

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        """Make the coordinator of a partition forget everything and load again from its log, as after a move."""
        services = (self._cluster.groups, self._cluster.transactions)
        self._call(lambda: next(s for s in services if s.topic.name == topic).reload(partition))

    def hold_load(self, topic: str, partition: int | None = None, *, now: bool = False) -> Undo:
        """Keep the coordinators of a partition (all, if None) from loading: COORDINATOR_LOAD_IN_PROGRESS until undone.

        ``topic``: ``__consumer_offsets``, ``__transaction_state`` or ``__share_group_state``. It holds the next load,
        after a leader has moved; with ``now`` what is loaded is forgotten, too. ValueError for another topic, KeyError
        for a partition that is not there.
        """
        from odradek.broker.facade.coordinators import hold_load, release_load

        return self._undone_by(
            lambda: hold_load(self._cluster, topic, partition, now=now),
            lambda: release_load(self._cluster, topic, partition),
        )
