"""Verbs of nodes: stopping, freezing, links and disks.

Generated from facade/verbs/nodes.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.topics import config_texts
from odradek.broker.facade.verb_base import BlockingVerbs

if TYPE_CHECKING:
    from odradek.broker.nodes.disks import DiskHow
    from odradek.broker.nodes.links import End, How


class NodeVerbs(BlockingVerbs):
    """Nodes stopped and started, added and removed, upgraded and frozen; bad links and failing disks."""

    def stop_node(self, node_id: int, *, broker_only: bool = False) -> Undo:
        """Shut a node down cleanly: the leadership of its partitions moves before it stops.

        ``broker_only``: of a node that is broker and controller, the controller goes on. ``with`` starts it again
        at the end of the block.
        """
        from odradek.broker.nodes.node_life import stop_node

        return self._undoable(lambda: stop_node(self._cluster, node_id, broker_only=broker_only))

    def kill_node(self, node_id: int) -> Undo:
        """Take a node down like a crash: records that were not replicated exist only in its own log.

        In-sync replicas on other nodes become leaders. ``with`` starts it again at the end of the block.
        """
        from odradek.broker.nodes.node_life import kill_node

        return self._undoable(lambda: kill_node(self._cluster, node_id))

    def start_node(self, node_id: int, *, config: Mapping[str, Any] | None = None) -> None:
        """Start a node at its old address with its old logs. It catches up with the leaders of its partitions.

        ``config`` replaces the node's own configs. A config that all nodes share can change only while no other node is
        up; one that the cluster reads at its start cannot. Raises ValueError for other values.
        """
        from odradek.broker.nodes.node_life import start_node

        own = None if config is None else config_texts(config)
        self._call(lambda: start_node(self._cluster, node_id, own))

    def add_node(self, *, node_id: int | None = None, config: Mapping[str, Any] | None = None) -> int:
        """Add a broker to the running cluster. Returns its id, by default the highest id plus 1.

        ``config``: the node's own configs. The broker gets replicas by new topics and reassignments. With a dynamic
        quorum it is also an observer of the quorum, and AddRaftVoter makes it a voter. Raises ValueError for an id that
        is taken, for configs with which it would not start, and for a cluster with a data directory.
        """
        from odradek.broker.nodes.added_nodes import add_node

        own = config_texts(config or {})
        return self._call(lambda: add_node(self._cluster, node_id, own))

    def remove_node(self, node_id: int) -> None:
        """Shut a broker down, if it is up, and unregister it.

        Raises ValueError while it has replicas: reassign them first. Replicas of internal topics move to other nodes
        automatically.

        A broker that ``add_node`` has added leaves the cluster, and its id is free. A broker of the start stays as a
        node that is down; ``start_node`` registers it again.
        """
        from odradek.broker.nodes.added_nodes import remove_node

        self._call(lambda: remove_node(self._cluster, node_id))

    def upgrade(self, version: str, node: int | None = None) -> None:
        """Restart all nodes one after the other, or one of them, as nodes of another Kafka release such as ``4.4``.

        Their connections end, and others lead their partitions meanwhile. ``metadata.version`` stays until
        ``kafka-features upgrade``. Raises ValueError, and changes nothing, for an unknown release, and for one that
        would not start: an older one that does not support a finalized feature level.
        """
        from odradek.broker.nodes.added_nodes import upgrade

        self._call(lambda: upgrade(self._cluster, version, node))

    def heal(self) -> None:
        """Undo everything that a test did to nodes, links, disks and replicas; thaw and start all nodes.

        Wire faults are removed; other faults of ``set_faults`` stay. Leaders stay where they are.
        """
        from odradek.broker.facade.state.restore import heal

        self._call(lambda: heal(self._cluster))

    def freeze_node(self, node_id: int) -> Undo:
        """Pause a node like SIGSTOP: its sockets stay open, but it answers nothing.

        The controller fences it after ``broker.session.timeout.ms`` on the broker's clock. ``with`` thaws it at
        the end of the block. Raises ValueError for a node that is down or frozen.
        """
        from odradek.broker.nodes.node_life import freeze_node

        return self._undoable(lambda: freeze_node(self._cluster, node_id))

    def thaw_node(self, node_id: int) -> None:
        """Resume a frozen node. It answers the requests in its sockets, follows the leaders and rejoins the ISR."""
        from odradek.broker.nodes.node_life import thaw_node

        self._call(lambda: thaw_node(self._cluster, node_id))

    def cut(self, a: End, b: End | None = None, *, how: How = "silent", listener: str | None = None) -> Undo:
        """Cut the link between two nodes, or between clients and a node (all nodes if none is given).

        A node is given by its id, clients by their client id, in which ``*`` matches anything. ``listener`` limits the
        cut to clients of this listener. A cut between nodes stops replication; clients still reach both nodes. For
        clients, ``how`` is one of

        - ``"silent"``: no bytes arrive in either direction; they arrive when the link is mended,
        - ``"reset"``: connections are reset, new ones with their first request,
        - ``"close"``: the same, but connections are closed in order.
        """
        from odradek.broker.nodes.links import cut

        return self._undoable(lambda: cut(self._cluster, a, b, how, listener))

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
        """Slow a link down. The ends are given as for `cut`.

        Answers to clients arrive ``ms`` later on the broker's clock, plus up to ``jitter`` ms, in order, and at no more
        than ``bytes_per_second`` on each connection; with ``both_ways`` requests do, too. Between two nodes the delay
        applies to replication.
        """
        from odradek.broker.nodes.links import slow

        return self._undoable(lambda: slow(self._cluster, a, b, ms, jitter, bytes_per_second, listener, both_ways))

    def refuse_connections(self, node_id: int, *, listener: str | None = None) -> Undo:
        """Close one or all of a node's listeners: new connections are refused. Open connections stay.

        To undo it raises OSError if the address has been taken.
        """
        from odradek.broker.nodes.links import refuse_connections

        return self._undoable(lambda: refuse_connections(self._cluster, node_id, listener))

    def fail_disk(
        self,
        node_id: int | None = None,
        how: DiskHow = "full",
        *,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
    ) -> Undo:
        """Make a node's disk fail: appends with ``"full"`` (ENOSPC) or ``"write"`` (EIO), ``"read"``, or ``"sync"``.

        The request that meets the failure is answered with KAFKA_STORAGE_ERROR. Without ``topic`` the node then halts,
        like a Kafka broker whose only log directory fails: its connections close and other nodes take over. With
        ``topic``, only the partitions of that topic that the node leads fail (or one ``partition``, or the segment that
        holds ``offset``); their replicas on the node go offline, as when one of several log directories fails.

        It works for a broker in memory, too, except for ``"sync"``, which needs a ``data_dir`` and
        ``odradek.flush=always``. ``node_id`` may be left out if there is only one choice. The undo lets a node that has
        halted start again.
        """
        from odradek.broker.nodes.disks import fail_disk

        return self._undoable(lambda: fail_disk(self._cluster, node_id, how, topic, partition, offset))

    def slow_disk(self, node_id: int, *, ms: float) -> Undo:
        """Make each sync of a node's disk take ``ms`` longer, on the broker's clock.

        Raises ValueError without a ``data_dir`` and ``odradek.flush=always``: no answer would wait for the disk.
        """
        from odradek.broker.nodes.disks import slow_disk

        return self._undoable(lambda: slow_disk(self._cluster, node_id, ms))
