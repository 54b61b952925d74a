"""Nodes that stop and return with their listeners, and leaders that are moved by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.controller.commands import MoveLeader
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.metadata.node import Node


def stop_node(cluster: Cluster, node_id: int) -> None:
    """Take a node down as a crash does: listener and connections cut, its partitions led by other live replicas.

    ValueError for a node that is not up.
    """
    node = _node(cluster, node_id)
    if not node.up:
        raise ValueError(f"node {node_id} is down already")
    cluster.server.stop_node(node)
    cluster.fetch_sessions.pop(node_id, None)
    cluster.membership.lose(node_id)


def start_node(cluster: Cluster, node_id: int) -> None:
    """Bring a node back at its old address: in sync at once, leading what nobody leads.

    ValueError for a node that is up; OSError if the address has been taken.
    """
    node = _node(cluster, node_id)
    if node.up:
        raise ValueError(f"node {node_id} is up already")
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    cluster.server.bind(node, node.host, node.port)
    cluster.server.accept_for(cluster.connection_nursery, node)
    cluster.membership.rejoin(node_id)


def move_leader(cluster: Cluster, topic: str, partition: int, node_id: int) -> None:
    """Let another live replica lead a partition, as an election does.

    KeyError for an unknown topic or partition, ValueError for a node that cannot lead it.
    """
    _node(cluster, node_id)
    try:
        cluster.controller.ask(MoveLeader((topic, partition), node_id))
    except KafkaError as error:
        kind = KeyError if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else ValueError
        raise kind(error.message) from None


def _node(cluster: Cluster, node_id: int) -> Node:
    node = cluster.nodes.get(node_id)
    if node is None:
        raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
    return node
