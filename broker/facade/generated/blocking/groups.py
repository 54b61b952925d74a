"""Verbs of groups.

Generated from facade/verbs/groups.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import BlockingFlavour
from odradek.broker.facade.generated.blocking.undo import Undo

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.group import Group


class GroupVerbs(BlockingFlavour):
    """Groups that are watched and changed."""

    def group(self, group_id: str) -> Group:
        """A group to look at and wait for: ``broker.group("g").wait_stable(members=2)``."""
        from odradek.broker.facade.generated.blocking.group import Group

        cluster = self._cluster
        return Group(group_id, lambda: cluster.groups, cluster.services.share_partitions, cluster.topics, self._look)

    def set_offsets(self, group_id: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets for a group: ``{("orders", 0): 5}``. The group is made if there is none.

        KafkaError if it has members, or for a partition that does not exist.
        """
        from odradek.broker.facade.offset_setting import set_offsets

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
