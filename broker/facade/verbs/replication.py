"""Verbs of replication."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending
from odradek.broker.facade.verbs.undo import TrioUndo


class ReplicationVerbs(TrioFlavour):
    """Replicas that move, and what a test keeps from them."""

    def reassign(self, topic: str, partition: int, replicas: Sequence[int]) -> Pending[TrioUndo]:
        """Give a partition other replicas, the preferred leader first; done once the new ones are in sync.

        That is at once, unless something is kept from them. ``async with`` cancels what is still under way at the end.
        """
        from odradek.broker.facade.replication import cancel_reassignment, reassign

        return self._undone_by(
            lambda: reassign(self._cluster, topic, partition, replicas),
            lambda: cancel_reassignment(self._cluster, topic, partition),
        )

    def pause_replication(self, topic: str, partition: int | None, node_id: int) -> Pending[TrioUndo]:
        """Let a follower get nothing from its leader (in all partitions if None); it lives and serves clients.

        It leaves the replicas in sync once it has been behind for ``replica.lag.time.max.ms`` of the broker's clock.
        """
        from odradek.broker.facade.replication import pause_replication, resume_replication

        return self._undone_by(
            lambda: pause_replication(self._cluster, topic, partition, node_id),
            lambda: resume_replication(self._cluster, topic, partition, node_id),
        )

    def lag_replication(
        self,
        topic: str,
        partition: int | None,
        node_id: int,
        *,
        records: int | None = None,
        size_bytes: int | None = None,
        seconds: float | None = None,
    ) -> Pending[TrioUndo]:
        """Keep a follower so many records, bytes or seconds behind its leader; say one of them."""
        from odradek.broker.facade.replication import lag_replication, resume_replication

        return self._undone_by(
            lambda: lag_replication(
                self._cluster, topic, partition, node_id, records=records, size_bytes=size_bytes, seconds=seconds
            ),
            lambda: resume_replication(self._cluster, topic, partition, node_id),
        )

    async def resume_replication(self, topic: str, partition: int | None, node_id: int) -> None:
        """Let a follower have everything again: undo `pause_replication` and `lag_replication`."""
        from odradek.broker.facade.replication import resume_replication

        await self._call(lambda: resume_replication(self._cluster, topic, partition, node_id))

    async def heal(self) -> None:
        """Undo all that was done to nodes, links, disks and replicas; frozen nodes go on, those that are down start.

        Wire faults are gone, other faults of ``set_faults`` stay, and leaders are where they are.
        """
        from odradek.broker.facade.replication import heal

        await self._call(lambda: heal(self._cluster))
