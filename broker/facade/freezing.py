"""Nodes that are paused as by SIGSTOP: alive for the system, deaf and dumb for everybody else.

While a node is frozen its sockets stay open and the system accepts connections for it. It answers nothing, follows
nobody and nobody follows it. What becomes of it is the other nodes' affair: the controller fences it after
`broker.session.timeout.ms` of the broker's clock; if it was the controller itself, another node is after
`controller.quorum.fetch.timeout.ms`, and counts from then on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from odradek.broker.replication.thawed_leaders import Frozen, leading_still, led_by

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.metadata.node import Node

_SESSION = "broker.session.timeout.ms"
_QUORUM = "controller.quorum.fetch.timeout.ms"


def freeze_node(cluster: Cluster, node_id: int) -> None:
    """Pause a node. ValueError for one that is down or frozen already."""
    node = _node(cluster, node_id)
    if node_id in cluster.frozen:
        raise ValueError(f"node {node_id} is frozen already")
    if not node.up:
        raise ValueError(f"node {node_id} is down")
    cluster.server.freeze(node)
    cluster.replicator.node_lost(node_id)
    _watch(cluster, node_id)


def thaw_node(cluster: Cluster, node_id: int) -> None:
    """Let a node go on: it answers what waits in its sockets, and is a member again. ValueError unless it is frozen."""
    node = _node(cluster, node_id)
    if node_id not in cluster.frozen:
        raise ValueError(f"node {node_id} is not frozen")
    frozen = cluster.frozen.pop(node_id)
    frozen.cancel()
    cluster.membership.awake(node_id)
    known = frozen.led if cluster.directory is None else {}
    with leading_still(known, node_id, cluster.clock.now_ms()):
        cluster.server.thaw(node)
    cluster.replicator.node_back(node_id)
    for other in cluster.frozen:
        if cluster.nodes[other].up:
            _watch(cluster, other)  # there may have been nobody to fence it


def thaw_if_frozen(cluster: Cluster, node_id: int) -> None:
    """Undo `freeze_node`, whatever has become of the node meanwhile."""
    if node_id in cluster.frozen:
        thaw_node(cluster, node_id)


def thaw_all(cluster: Cluster) -> None:
    """Let all frozen nodes go on."""
    for node_id in list(cluster.frozen):
        thaw_node(cluster, node_id)


def forget_frozen(cluster: Cluster, node_id: int) -> None:
    """A frozen node dies: its sockets close."""
    frozen = cluster.frozen.pop(node_id, None)
    if frozen is not None:
        frozen.cancel()
        cluster.server.links.thaw(node_id)


def _watch(cluster: Cluster, node_id: int) -> None:
    """Let the others notice in time that a node is silent."""
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    frozen = cluster.frozen.get(node_id)
    if frozen is None:
        frozen = cluster.frozen[node_id] = Frozen(led_by(cluster.topics, node_id))
    frozen.cancel()
    frozen.scope = trio.CancelScope()
    cluster.connection_nursery.start_soon(_fence_in_time, cluster, node_id, frozen.scope, cluster.clock.now_ms())


async def _fence_in_time(cluster: Cluster, node_id: int, scope: trio.CancelScope, since_ms: int) -> None:
    with scope:
        if cluster.controller_id == node_id:
            since_ms += cluster.config.get_int(_QUORUM)
            await cluster.clock.sleep_until_ms(since_ms)
            successor = _awake(cluster)
            if successor is None:
                return
            cluster.controller.take_over(successor)
        await cluster.clock.sleep_until_ms(since_ms + cluster.config.get_int(_SESSION))
        if _awake(cluster) is not None and node_id in cluster.image.brokers:
            cluster.membership.lose(node_id)


def _awake(cluster: Cluster) -> int | None:
    """A node that works, the first of them."""
    return next((node.id for node in cluster.up_nodes() if node.id not in cluster.frozen), None)


def _node(cluster: Cluster, node_id: int) -> Node:
    node = cluster.nodes.get(node_id)
    if node is None:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
    return node
