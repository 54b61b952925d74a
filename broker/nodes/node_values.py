"""The configs that a node has of its own, which may be others when it starts again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.cluster import checked_start
from odradek.broker.config.node_config import check_changed_values, check_own_values, quorum_of
from odradek.broker.config.requirements import check_cordons
from odradek.broker.controller.feature_levels import UNSTABLE_APIS_ENABLE, supported_features
from odradek.broker.metadata.image import ResourceType

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.node import Node
    from odradek.broker.releases.release import Release

_NONE = (0, 0)


class NewValues:
    """The values of its own that a node starts with. ConfigError, and nothing is changed, if it would not."""

    def __init__(self, cluster: Cluster, node: Node, config: BrokerConfig) -> None:
        self._cluster = cluster
        self._node = node
        self._config = config
        self._start = checked_start(config, counting(cluster, node.id))

    def make(self) -> None:
        """The node, which listens nowhere, has the values from now on. Listeners that stay keep their addresses."""
        cluster, node = self._cluster, self._node
        before = {each.listener.name: each for each in node.all_endpoints}
        cluster.take_nodes(self._config)
        node.take(self._start.layouts[node.id])
        now = {each.listener.name: each for each in node.all_endpoints}
        for name, old in before.items():
            if name in now and now[name].listener == old.listener:
                now[name].host, now[name].port = old.host, old.port
            else:
                cluster.server.release_address(node, name)
                cluster.forget_tls(node.id, name)
        cluster.server.replace_endpoints(node, {name: cluster.gate_of(each) for name, each in now.items()})
        node.rack = self._start.racks.get(node.id)
        node.unstable = cluster.config.get_bool(UNSTABLE_APIS_ENABLE, node.id)
        node.run(node.release)


def changed_values(cluster: Cluster, node: Node, own: Mapping[str, str]) -> NewValues:
    """Other values for a node that is down. What all nodes have in common may change if no other broker is up.

    ConfigError for what does not fit.
    """
    made = cluster.config.with_node(node.id, own)
    if node.is_broker and counting(cluster, node.id).isdisjoint(cluster.nodes.keys() - {node.id}):
        made.model_id = node.id
    change = NewValues(cluster, node, made)
    check_changed_values(cluster.config, made, node.id)
    check_features(node, node.release, made, cluster.image.features)
    check_cordons(made, [node.id])
    _check_tiers(cluster, made)
    return change


def check_features(node: Node, release: Release, config: BrokerConfig, finalized: Mapping[str, int]) -> None:
    """ValueError if a node of a release would not start, as it does not support the levels that are finalized."""
    supported = supported_features(config, release, node.id)
    for name, level in finalized.items() if supported else ():
        low, high = supported.get(name, _NONE)
        if not low <= level <= high:
            raise ValueError(
                f"node {node.id} does not start as Kafka {release}: Unable to register because the broker does not "
                f"support finalized version {level} of {name}. The broker wants a version between {low} and {high}, "
                "inclusive."
            )


def check_values(cluster: Cluster, node_id: int) -> None:
    """ConfigError if a node that is down would not start beside the nodes that are up."""
    if cluster.config.static_nodes:
        check_own_values(cluster.config.as_started(), quorum_of(cluster.config), counting(cluster, node_id))


def counting(cluster: Cluster, node_id: int) -> set[int]:
    """The nodes whose values count when this one starts."""
    return {node.id for node in cluster.members.values() if node.runs} | {node_id}


def _check_tiers(cluster: Cluster, config: BrokerConfig) -> None:
    system = "remote.log.storage.system.enable"
    if cluster.config.get_bool(system) and not config.get_bool(system):
        from odradek.broker.config.tiered_storage import check_stored

        image = cluster.image
        check_stored(config, (image.configs_of(ResourceType.TOPIC, name) for name in image.topics))
