"""Nodes that join a running cluster, that leave it, and that restart with another release of Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from operator import index as whole
from typing import TYPE_CHECKING

from odradek.broker.cluster import checked_start, new_node
from odradek.broker.config.node_config import OF_THE_DIRECTORIES
from odradek.broker.config.requirements import check_cordons
from odradek.broker.controller.broker_control import unregister_broker, unregister_controller
from odradek.broker.metadata.node import Node
from odradek.broker.nodes.links import reassign
from odradek.broker.nodes.node_life import (
    bring_up,
    check_features,
    counting,
    not_frozen,
    restart_node,
    stop_node,
    take_down,
    thaw_if_frozen,
    the_node,
)
from odradek.broker.releases.release import DEFAULT_DIRECTORIES, Release, release_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odradek.broker.cluster import Cluster


def add_node(cluster: Cluster, node_id: int | None, own: Mapping[str, str]) -> int:
    """Add a broker; returns its id, by default the highest id plus 1.

    It has no partition at first. Where the configuration names the voters of the quorum it is no controller, else it is
    one that observes; in ZooKeeper mode it is one as all are. Raises ValueError for an id that is taken, and for values
    with which it would not start, TypeError for an id that is no whole number, OSError if its address is taken. Nothing
    has changed then.
    """
    if cluster.connection_nursery is None:
        raise RuntimeError("the cluster is not running")
    free = (number for number in count(max(cluster.nodes) + 1) if number not in cluster.members)
    number = next(free) if node_id is None else whole(node_id)
    if number < 0:
        raise ValueError(f"node id {number}: a broker's id is 0 or greater")
    if number in cluster.members:
        raise ValueError(f"node {number} is there already: the cluster has {', '.join(map(str, cluster.members))}")
    if cluster.directory is not None:
        raise ValueError(
            "no node joins a running cluster with a data directory: end the cluster, and start it with more nodes"
        )
    for name in OF_THE_DIRECTORIES:
        if name in own:
            raise ValueError(f"{name} is not for node {number}: the cluster keeps its logs in memory")
    made = cluster.config.with_broker(number, own)
    start = checked_start(made, counting(cluster, number))
    node = new_node(made, number)
    node.take(start.layouts[number])
    node.rack = start.racks[number]
    node.votes, node.up = node.release.zookeeper, False
    node.is_controller = node.votes or number in start.quorum.combined
    check_features(node, node.release, made, cluster.image.features)
    cluster.take_nodes(made)
    try:
        cluster.admit(node)
        check_cordons(made, [number])
        bring_up(cluster, node)
    except (OSError, ValueError):
        _forget(cluster, node)
        raise
    return number


def remove_node(cluster: Cluster, node_id: int) -> None:
    """Shut a broker down cleanly, if it is up, and unregister it. One that had joined is gone then.

    Its replicas of internal topics move to others. Raises ValueError for a broker that has other replicas, votes though
    it joined, or is the last one.
    """
    node = the_node(cluster, node_id)
    if not node.is_broker:
        raise ValueError(f"node {node_id} is no broker")
    not_frozen(cluster, node_id)
    if not any(other.up for other in cluster.nodes.values() if other is not node):
        raise ValueError(f"node {node_id} is the last broker that is up")
    for topic in cluster.image.topics.values():
        for index, partition in enumerate(topic.partitions):
            if node_id in partition.replicas and not topic.internal:
                raise ValueError(f"node {node_id} has a replica of {topic.name}-{index}: reassign it first")
    joined = node_id in cluster.config.later_ids
    if joined and node.votes and not node.release.zookeeper:
        raise ValueError(f"node {node_id} is a voter of the quorum: remove it from the voters first")
    _move_internal_topics(cluster, node_id)
    if node.up:
        stop_node(cluster, node_id)
    unregister(cluster, node_id)
    if joined:
        _forget(cluster, node)


def _move_internal_topics(cluster: Cluster, node_id: int) -> None:
    """Move replicas that no user has placed. Raises ValueError if one cannot move now."""
    others = [node.id for node in cluster.up_nodes() if node.id != node_id]
    for topic in cluster.image.topics.values():
        for index, partition in enumerate(topic.partitions):
            if node_id in partition.replicas:
                free = [other for other in others if other not in partition.replicas]
                place = free[index % len(free)] if free else None
                moved = [place if replica == node_id else replica for replica in partition.replicas]
                reassign(cluster, topic.name, index, [replica for replica in moved if replica is not None])
            if node_id in cluster.image.topics[topic.name].partitions[index].replicas:
                raise ValueError(f"node {node_id} has a replica of {topic.name}-{index} that cannot move yet")


def unregister(cluster: Cluster, node_id: int) -> None:
    """Take a broker that is down out of the metadata, if it is there."""
    if node_id in cluster.image.brokers:
        cluster.controller.ask(unregister_broker, node_id)


def keep_nodes(cluster: Cluster, node_ids: Iterable[int]) -> None:
    """Remove the nodes that have joined, except these."""
    gone = set(cluster.config.later_ids).difference(node_ids)
    if cluster.controller_id in gone:
        stay = [node for node in cluster.quorum.controllers if node.id not in gone]
        successor = next((node for node in stay if node.runs), stay[0])
        successor.votes = True
        cluster.controller.take_over(successor.id)
    for node_id in gone:
        node = cluster.nodes[node_id]
        thaw_if_frozen(cluster, node_id)
        if node.up:
            take_down(cluster, node)
        unregister(cluster, node_id)
        if node_id in cluster.image.controllers:
            cluster.controller.ask(unregister_controller, node_id)
        _forget(cluster, node)


def _forget(cluster: Cluster, node: Node) -> None:
    if cluster.disks is not None:
        cluster.disks.remove(lambda fault: fault.node_id == node.id)
    if cluster.server.has_bad_links:
        cluster.server.links.remove(lambda link: link.node_id == node.id)
    cluster.replicator.forget_node(node.id)
    cluster.dismiss(node)
    cluster.take_nodes(cluster.config.without_broker(node.id))


# -- other releases: nodes restart with another release of Kafka


def upgrade(cluster: Cluster, version: str, node_id: int | None) -> None:
    """Restart a node, or all nodes one after the other, as nodes of another release.

    A node that is down stays down, and has the release when it starts. Nothing is changed if a node would not start:
    ValueError.
    """
    release = release_of(version, next(iter(cluster.members.values())).release.zookeeper)
    chosen = [the_node(cluster, node_id)] if node_id is not None else list(cluster.members.values())
    for node in chosen:
        not_frozen(cluster, node.id)
        if node.controls_alone:
            raise ValueError(f"the broker of node {node.id} is down, and its controller is not: start the broker first")
        _check_start(cluster, node, release)
    for node in chosen:
        if node.release is not release:
            _change(cluster, node, release)


def releases_of(cluster: Cluster) -> Mapping[int, Release]:
    """The release of each node."""
    return {node.id: node.release for node in cluster.members.values()}


def go_back(cluster: Cluster, releases: Mapping[int, Release]) -> None:
    """Restore the releases of nodes, to which no client is connected."""
    for number, release in releases.items():
        cluster.members[number].run(release)
    _follow(cluster)


def _change(cluster: Cluster, node: Node, release: Release) -> None:
    if node.up:
        restart_node(cluster, node.id, lambda: node.run(release))
    else:
        node.run(release)
    _follow(cluster)


def _follow(cluster: Cluster) -> None:
    """Set the release of everything that belongs to no single node (the rules of coordinators, the defaults of logs):
    the oldest node's.
    """
    oldest = min((node.release for node in cluster.members.values()), key=lambda release: release.code)
    if oldest is not cluster.config.release:
        cluster.config.behave_as(oldest)
        cluster.topics.configure_all()


def _check_start(cluster: Cluster, node: Node, release: Release) -> None:
    if cluster.directory is not None and not release.keeps_directories:
        raise ValueError(f"odradek keeps data directories from Kafka {DEFAULT_DIRECTORIES} on, not as Kafka {release}")
    cluster.config.check_start(release)
    check_features(node, release, cluster.config, cluster.image.features)
