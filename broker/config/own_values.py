"""Which configs a node may have of its own, apart from those that all nodes share."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError, Use
from odradek.broker.config.keys import base_name, broker_keys
from odradek.broker.config.quorum_config import Quorum

_OF_EACH_NODE = frozenset(
    {
        "advertised.listeners",
        "auto.create.topics.enable",
        "broker.rack",
        "cordoned.log.dirs",
        "default.replication.factor",
        "delete.topic.enable",
        "listeners",
        "log.dir",
        "log.dirs",
        "max.connection.creation.rate",
        "max.connections",
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
        "num.partitions",
        "unstable.api.versions.enable",
        "unstable.feature.versions.enable",
    }
)
"""Configs that are read for the node that acts on them, beside those of TLS."""

_OF_CONTROLLERS_ALONE = frozenset(
    {
        "auto.leader.rebalance.enable",
        "broker.session.timeout.ms",
        "controller.quorum.fetch.timeout.ms",
        "leader.imbalance.check.interval.seconds",
        "unclean.leader.election.interval.ms",
    }
)
"""Configs that no broker acts on; all controllers have the same."""

_OF_CONTROLLERS_TOO = (
    "connection",
    "controller.quorum.",
    "controller.quota.",
    "delegation.",
    "listener.security.",
    "metadata.",
    "min.insync.",
    "quota.",
    "sasl.",
    "socket.",
    "unclean.",
)
"""Beginnings of configs that controllers act on, and that are kept for the whole cluster."""


def check_own_values(config: BrokerConfig, quorum: Quorum) -> None:
    """ConfigError for configs of a node that there is not, and for a node's value where all have to have the same."""
    separate = quorum.separate
    controllers = (*quorum.combined, *separate)
    known = (*config.node_ids, *separate)
    for node_id, own in config.static_nodes.items():
        if node_id not in known:
            raise ConfigError(f"node {node_id} has a configuration, but the nodes are {', '.join(map(str, known))}")
        for name in own:
            if name in ("node.id", "broker.id") or name.startswith("odradek."):
                raise ConfigError(f"{name} is not for node {node_id} alone: set it for the whole cluster")
    for name in dict.fromkeys(name for own in config.static_nodes.values() for name in own):
        base = base_name(name) or name
        if base in _OF_CONTROLLERS_ALONE:
            _check_same(config, name, controllers)
        elif not _is_of_each_node(base):
            _check_same(config, name, config.node_ids)
            if base not in ("process.roles", "metadata.log.dir"):
                _check_same(config, name, known if base.startswith(_OF_CONTROLLERS_TOO) else controllers)


def _is_of_each_node(name: str) -> bool:
    key = broker_keys().get(name)
    return name in _OF_EACH_NODE or name.startswith("ssl.") or (key is not None and key.use is Use.INERT)


def _check_same(config: BrokerConfig, name: str, nodes: Iterable[int]) -> None:
    by_text = {config.text(name, node_id): node_id for node_id in nodes}
    if len(by_text) > 1:
        shown = " and ".join(f"{text} for node {node_id}" for text, node_id in by_text.items())
        raise ConfigError(f"{name} has one value for all nodes, but it is {shown}")
