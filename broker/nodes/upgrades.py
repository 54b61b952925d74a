"""Upgrades and downgrades: nodes restart with another release of Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.nodes.node_life import not_frozen, restart_node, the_node
from odradek.broker.nodes.node_values import check_features
from odradek.broker.releases.release import DEFAULT_DIRECTORIES, Release, release_of

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.metadata.node import Node


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
    """Let nodes, to which no client is connected, be of the releases that they had."""
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
