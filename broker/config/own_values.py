"""Which configs a node may have of its own, apart from those that all nodes share."""

from __future__ import annotations

from collections.abc import Container, Iterable

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError, Update, Use
from odradek.broker.config.keys import base_name, broker_keys
from odradek.broker.config.quorum_config import AUTO_JOIN, Quorum

_OF_EACH_NODE = frozenset(
    {
        "advertised.listeners",
        "auto.create.topics.enable",
        "broker.rack",
        AUTO_JOIN,
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


_READ_AGAIN = frozenset(
    {
        "broker.session.timeout.ms",
        "connections.max.idle.ms",
        "controller.quorum.fetch.timeout.ms",
        "fetch.max.bytes",
        "max.request.partition.size.limit",
        "remote.log.metadata.manager.class.name",
        "remote.log.metadata.manager.listener.name",
        "remote.log.storage.manager.class.name",
        "remote.log.storage.system.enable",
        "replica.lag.time.max.ms",
        "request.timeout.ms",
        "socket.request.max.bytes",
        "transaction.max.timeout.ms",
    }
)
"""Configs that no client can change, and whose value is read each time it is used."""

OF_THE_DIRECTORIES = ("log.dir", "log.dirs", "metadata.log.dir")
"""Configs of a cluster that keeps its logs on disk."""


def check_changed_values(config: BrokerConfig, made: BrokerConfig, node_id: int) -> None:
    """ConfigError for what a node cannot change when it starts again: what a cluster reads once, at its start."""
    before, after = config.static_of(node_id), made.static_of(node_id)
    for name in sorted({*before, *after}):
        old, new = (each.get(name, config.default_text(name)) for each in (before, after))
        if old != new and not _may_change(base_name(name) or name):
            raise ConfigError(
                f"{name} is {_shown(old)}, as the cluster started: node {node_id} cannot start again with {_shown(new)}"
            )


def _may_change(name: str) -> bool:
    key = broker_keys().get(name)
    if key is None or name in OF_THE_DIRECTORIES:
        return key is None
    return _is_of_each_node(name) or key.update is not Update.READ_ONLY or name in _READ_AGAIN


def check_own_values(config: BrokerConfig, quorum: Quorum, up: Container[int] | None = None) -> None:
    """ConfigError for configs of a node that there is not, and for a node's value where all have to have the same.

    `up`: the nodes that count, as the others are down; None for all.
    """
    separate = quorum.separate
    known = (*config.node_ids, *separate)
    brokers = [node_id for node_id in config.node_ids if up is None or node_id in up]
    controllers = [node_id for node_id in (*quorum.combined, *separate) if up is None or node_id in up]
    counting = (*brokers, *controllers)
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
            _check_same(config, name, brokers)
            if base not in ("process.roles", "metadata.log.dir"):
                _check_same(config, name, counting if base.startswith(_OF_CONTROLLERS_TOO) else controllers)


def _is_of_each_node(name: str) -> bool:
    key = broker_keys().get(name)
    return name in _OF_EACH_NODE or name.startswith("ssl.") or (key is not None and key.use is Use.INERT)


def _check_same(config: BrokerConfig, name: str, nodes: Iterable[int]) -> None:
    by_text = {config.text(name, node_id): node_id for node_id in nodes}
    if len(by_text) > 1:
        shown = " and ".join(f"{_shown(text)} for node {node_id}" for text, node_id in by_text.items())
        raise ConfigError(f"{name} has one value for all nodes, but it is {shown}")


def _shown(text: str | None) -> str:
    return text or "not set"
