"""Verbs of nodes.

Generated from facade/verbs/nodes.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from odradek.broker.facade.blocking.undo import Undo
from odradek.broker.facade.flavours import BlockingFlavour


class NodeVerbs(BlockingFlavour):
    """Nodes that go and come back, and leaders that move."""

    def stop_node(self, node_id: int) -> Undo:
        """Shut a node down in order: others lead its partitions before it goes.

        ``with`` brings it back at the end.
        """
        from odradek.broker.facade.nodes import start_node, stop_node

        return self._undone_by(lambda: stop_node(self._cluster, node_id), lambda: start_node(self._cluster, node_id))

    def kill_node(self, node_id: int) -> Undo:
        """Take a node down as a crash does: what was not replicated is only in its own log.

        Others lead its partitions where they are in sync. ``with`` brings it back at the end.
        """
        from odradek.broker.facade.nodes import kill_node, start_node

        return self._undone_by(lambda: kill_node(self._cluster, node_id), lambda: start_node(self._cluster, node_id))

    def start_node(self, node_id: int) -> None:
        """Bring a node back at its old address, with its logs as they were; it catches up with their leaders."""
        from odradek.broker.facade.nodes import start_node

        self._call(lambda: start_node(self._cluster, node_id))

    def move_leader(self, topic: str, partition: int, node_id: int) -> Undo:
        """Let another in-sync replica lead a partition.

        ``with`` moves the leader back at the end, if it still can.
        """
        from odradek.broker.facade.nodes import LeaderMove

        move = LeaderMove(self._cluster, topic, partition, node_id)
        return self._undone_by(move.make, move.take_back)

    def elect(
        self, topic: str, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False
    ) -> None:
        """Elect leaders, of one partition or of all: the preferred replicas, or an in-sync one on ``node_id``.

        ``unclean``: where nobody leads, a live replica, though records be lost: the first one, or that on ``node_id``.
        """
        from odradek.broker.facade.nodes import elect

        self._call(lambda: elect(self._cluster, topic, partition, node_id=node_id, unclean=unclean))
