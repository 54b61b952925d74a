"""Verbs of what lies below the API: frozen nodes, bad links, failing disks.

Generated from facade/verbs/wires.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.blocking.undo import Undo
from odradek.broker.facade.flavours import BlockingFlavour

if TYPE_CHECKING:
    from odradek.broker.facade.client_links import End, How
    from odradek.broker.facade.disks import DiskHow


class WireVerbs(BlockingFlavour):
    """Sockets that are open and silent."""

    def freeze_node(self, node_id: int) -> Undo:
        """Pause a node as SIGSTOP does: its sockets stay open and it answers nothing.

        The others fence it after ``broker.session.timeout.ms`` of the broker's clock. ``with`` thaws it at the
        end. ValueError for a node that is down or frozen.
        """
        from odradek.broker.facade.freezing import freeze_node, thaw_if_frozen

        return self._undone_by(
            lambda: freeze_node(self._cluster, node_id), lambda: thaw_if_frozen(self._cluster, node_id)
        )

    def thaw_node(self, node_id: int) -> None:
        """Let a frozen node go on: it answers what waits in its sockets, follows the leaders, and is in sync again."""
        from odradek.broker.facade.freezing import thaw_node

        self._call(lambda: thaw_node(self._cluster, node_id))

    def cut(self, a: End, b: End | None = None, *, how: How = "silent", listener: str | None = None) -> Undo:
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
    ) -> Undo:
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

    def mend(self, a: End, b: End | None = None, *, listener: str | None = None) -> None:
        """Undo `cut` and `slow` between the same ends."""
        from odradek.broker.facade.links import mend

        self._call(lambda: mend(self._cluster, a, b, listener))

    def refuse_connections(self, node_id: int, *, listener: str | None = None) -> Undo:
        """Close a node's listeners (or one): who dials is refused by the system. Connections that are there stay."""
        from odradek.broker.facade.client_links import accept_if_refused, refuse_connections

        return self._undone_by(
            lambda: refuse_connections(self._cluster, node_id, listener),
            lambda: accept_if_refused(self._cluster, node_id, listener),
        )

    def accept_connections(self, node_id: int, *, listener: str | None = None) -> None:
        """Undo `refuse_connections`. OSError if the address has been taken."""
        from odradek.broker.facade.client_links import accept_connections

        self._call(lambda: accept_connections(self._cluster, node_id, listener))

    def fail_disk(
        self,
        node_id: int | None = None,
        how: DiskHow = "full",
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> Undo:
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

    def slow_disk(self, node_id: int, *, ms: float) -> Undo:
        """Let each sync of a node's disk take longer, on the broker's clock.

        ValueError without a ``data_dir`` and ``odradek.flush=always``: else no answer waits for the disk.
        """
        from odradek.broker.facade.disks import mend_disk, slow_disk

        return self._undone_by(lambda: slow_disk(self._cluster, node_id, ms), lambda: mend_disk(self._cluster, node_id))

    def mend_disk(self, node_id: int | None = None) -> None:
        """Undo `fail_disk` and `slow_disk` at a node (at all, if none is given); a node that halted starts again."""
        from odradek.broker.facade.disks import mend_disk

        self._call(lambda: mend_disk(self._cluster, node_id))
