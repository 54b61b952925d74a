"""Verbs of nodes: stopping, freezing, leadership, replication, links and disks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending
from odradek.broker.facade.verbs.undo import TrioUndo

if TYPE_CHECKING:
    from odradek.broker.facade.disks import DiskHow
    from odradek.broker.facade.links import End, How


class NodeVerbs(TrioFlavour):
    """Nodes that go and come back, and leaders that move."""

    def stop_node(self, node_id: int) -> Pending[TrioUndo]:
        """Shut a node down in order: others lead its partitions before it goes.

        ``async with`` brings it back at the end.
        """
        from odradek.broker.facade.nodes import start_node, stop_node

        return self._undone_by(lambda: stop_node(self._cluster, node_id), lambda: start_node(self._cluster, node_id))

    def kill_node(self, node_id: int) -> Pending[TrioUndo]:
        """Take a node down as a crash does: what was not replicated is only in its own log.

        Others lead its partitions where they are in sync. ``async with`` brings it back at the end.
        """
        from odradek.broker.facade.nodes import kill_node, start_node

        return self._undone_by(lambda: kill_node(self._cluster, node_id), lambda: start_node(self._cluster, node_id))

    async def start_node(self, node_id: int) -> None:
        """Bring a node back at its old address, with its logs as they were; it catches up with their leaders."""
        from odradek.broker.facade.nodes import start_node

        await self._call(lambda: start_node(self._cluster, node_id))

    def move_leader(self, topic: str, partition: int, node_id: int) -> Pending[TrioUndo]:
        """Let another in-sync replica lead a partition.

        ``async with`` moves the leader back at the end, if it still can.
        """
        from odradek.broker.facade.nodes import LeaderMove

        move = LeaderMove(self._cluster, topic, partition, node_id)
        return self._undone_by(move.make, move.take_back)

    async def elect(
        self, topic: str, partition: int | None = None, *, node_id: int | None = None, unclean: bool = False
    ) -> None:
        """Elect leaders, of one partition or of all: the preferred replicas, or an in-sync one on ``node_id``.

        ``unclean``: where nobody leads, a live replica, though records be lost: the first one, or that on ``node_id``.
        """
        from odradek.broker.facade.nodes import elect

        await self._call(lambda: elect(self._cluster, topic, partition, node_id=node_id, unclean=unclean))


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
        from odradek.broker.facade.state.reset import heal

        await self._call(lambda: heal(self._cluster))


class WireVerbs(TrioFlavour):
    """Sockets that are open and silent."""

    def freeze_node(self, node_id: int) -> Pending[TrioUndo]:
        """Pause a node as SIGSTOP does: its sockets stay open and it answers nothing.

        The others fence it after ``broker.session.timeout.ms`` of the broker's clock. ``async with`` thaws it at the
        end. ValueError for a node that is down or frozen.
        """
        from odradek.broker.facade.nodes import freeze_node, thaw_if_frozen

        return self._undone_by(
            lambda: freeze_node(self._cluster, node_id), lambda: thaw_if_frozen(self._cluster, node_id)
        )

    async def thaw_node(self, node_id: int) -> None:
        """Let a frozen node go on: it answers what waits in its sockets, follows the leaders, and is in sync again."""
        from odradek.broker.facade.nodes import thaw_node

        await self._call(lambda: thaw_node(self._cluster, node_id))

    def cut(
        self, a: End, b: End | None = None, *, how: How = "silent", listener: str | None = None
    ) -> Pending[TrioUndo]:
        """Cut the link between two nodes, or between clients and a node (all nodes, if none is given).

        A node is its id. Clients are their client id, where ``*`` stands for anything; ``listener``: only those that
        come through this one. Between nodes nothing is copied, and clients reach both. For clients ``how`` is
        ``"silent"`` (nothing arrives, nobody is told; what waits arrives when the link is mended), ``"reset"`` (their
        connections are reset, new ones with their first request) or ``"close"`` (the same, closed in order).
        """
        from odradek.broker.facade.links import cut, uncut

        return self._undone_by(
            lambda: cut(self._cluster, a, b, how, listener), lambda: uncut(self._cluster, a, b, listener)
        )

    def slow(
        self,
        a: End,
        b: End | None = None,
        *,
        ms: float = 0,
        jitter: float = 0,
        bytes_per_second: int | None = None,
        listener: str | None = None,
        both_ways: bool = False,
    ) -> Pending[TrioUndo]:
        """Make a link slow; `cut` says how its ends are named.

        Answers to clients arrive ``ms`` later on the broker's clock, up to ``jitter`` ms more, in order, and with at
        most so many bytes a second on each connection; with ``both_ways`` their requests do, too. Between two nodes
        records are copied so much later.
        """
        from odradek.broker.facade.links import hasten, slow

        return self._undone_by(
            lambda: slow(self._cluster, a, b, ms, jitter, bytes_per_second, listener, both_ways),
            lambda: hasten(self._cluster, a, b, listener),
        )

    async def mend(self, a: End, b: End | None = None, *, listener: str | None = None) -> None:
        """Undo `cut` and `slow` between the same ends."""
        from odradek.broker.facade.links import mend

        await self._call(lambda: mend(self._cluster, a, b, listener))

    def refuse_connections(self, node_id: int, *, listener: str | None = None) -> Pending[TrioUndo]:
        """Close a node's listeners (or one): who dials is refused by the system. Connections that are there stay."""
        from odradek.broker.facade.links import accept_if_refused, refuse_connections

        return self._undone_by(
            lambda: refuse_connections(self._cluster, node_id, listener),
            lambda: accept_if_refused(self._cluster, node_id, listener),
        )

    async def accept_connections(self, node_id: int, *, listener: str | None = None) -> None:
        """Undo `refuse_connections`. OSError if the address has been taken."""
        from odradek.broker.facade.links import accept_connections

        await self._call(lambda: accept_connections(self._cluster, node_id, listener))

    def fail_disk(
        self,
        node_id: int | None = None,
        how: DiskHow = "full",
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> Pending[TrioUndo]:
        """Let a node's disk fail: ``"full"`` (ENOSPC) and ``"write"`` (EIO) appends, ``"read"``, or ``"sync"``.

        Who meets it is answered KAFKA_STORAGE_ERROR. Without a topic the node then halts, as a broker of Kafka does
        whose only log directory fails: connections end, others lead. With one, only what it leads of that topic (or
        partition; with ``offset`` of the segment that holds it) fails; then its replicas there are offline and others
        lead, as when one of several log directories fails. In memory, too; "sync" needs a ``data_dir`` and
        ``odradek.flush=always``. The node may be left out where there is one choice.
        """
        from odradek.broker.facade.disks import fail_disk, mend_disk

        return self._undone_by(
            lambda: fail_disk(self._cluster, node_id, how, topic, partition, offset),
            lambda: mend_disk(self._cluster, node_id),
        )

    def slow_disk(self, node_id: int, *, ms: float) -> Pending[TrioUndo]:
        """Let each sync of a node's disk take longer, on the broker's clock.

        ValueError without a ``data_dir`` and ``odradek.flush=always``: else no answer waits for the disk.
        """
        from odradek.broker.facade.disks import mend_disk, slow_disk

        return self._undone_by(lambda: slow_disk(self._cluster, node_id, ms), lambda: mend_disk(self._cluster, node_id))

    async def mend_disk(self, node_id: int | None = None) -> None:
        """Undo `fail_disk` and `slow_disk` at a node (at all, if none is given); a node that halted starts again."""
        from odradek.broker.facade.disks import mend_disk

        await self._call(lambda: mend_disk(self._cluster, node_id))
