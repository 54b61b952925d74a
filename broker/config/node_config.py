"""The config of a node: its roles, a `server.properties`, the environment and options, and values of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from odradek.broker.config.broker_config import NO_NODE, BrokerConfig
from odradek.broker.config.definition import ConfigError, Update, Use
from odradek.broker.config.keys import base_name, broker_keys
from odradek.storage.java_properties import parse_properties

# -- roles and quorum: what process.roles and controller.quorum.* may say, and which nodes are controllers by them


FIRST_SEPARATE_ID = 3000
"""Of controllers that `controller.quorum.bootstrap.servers` tells only the addresses of."""
AUTO_JOIN = "controller.quorum.auto.join.enable"
_ROLES = "process.roles"
_VOTERS = "controller.quorum.voters"
_SERVERS = "controller.quorum.bootstrap.servers"
_HOST_PORT = r"(?:[^\s]*://)?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+"

Address = tuple[str, int]


class Quorum(NamedTuple):
    """Which nodes are controllers.

    `combined`: those of the brokers that are; one that joined a running cluster is if its voters are not static.
    `separate`: controllers that are no brokers, and where each listens.
    `static`: whether the configuration names the voters, so that `kraft.version` is 0. It does not where it has the
    addresses of controllers alone (KIP-853).
    """

    combined: tuple[int, ...]
    separate: Mapping[int, Address]
    static: bool


def check_roles(config: BrokerConfig) -> None:
    """ConfigError for a process without brokers, or for brokers that would vote; `node.id` and `broker.id` are one."""
    if _roles(config) == {"controller"}:
        raise ConfigError(
            "process.roles=controller is not supported by odradek: its controllers are in the process of their brokers "
            "(process.roles=broker,controller, or process.roles=broker with controllers of their own)"
        )
    if are_separate(config) and any(config.get_bool(AUTO_JOIN, node_id) for node_id in config.node_ids):
        raise ConfigError(
            f"requirement failed: {AUTO_JOIN} is only supported when process.roles contains the 'controller' role."
        )
    node, broker = config.static.get("node.id"), config.static.get("broker.id")
    if node is not None and broker is not None and node != broker:
        newest = (
            "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use `node.id` "
            "instead."
        )
        raise ConfigError(config.release.text("node id", newest))


def are_separate(config: BrokerConfig) -> bool:
    """Whether the brokers are no controllers (`process.roles=broker`)."""
    return _roles(config) == {"broker"}


def _roles(config: BrokerConfig) -> set[str]:
    return set(config.get_list(_ROLES))


def quorum_of(config: BrokerConfig) -> Quorum:
    """The controllers that a configuration asks for; ConfigError, in Kafka's words, for what no Kafka takes."""
    voters = voters_of(config.get_list(_VOTERS))
    servers = [_server(entry) for entry in config.get_list(_SERVERS)]
    if are_separate(config):
        return Quorum((), _separate(config, voters, servers), bool(voters))
    if not voters:
        return Quorum(config.node_ids if servers else config.founder_ids, {}, not servers)
    combined = tuple(node_id for node_id in config.node_ids if node_id in voters)
    if not combined:
        raise ConfigError(
            f"If process.roles contains the 'controller' role, the node id {config.node_ids[0]} must be included in "
            f"the set of voters {_VOTERS}=Set({', '.join(map(str, voters))})"
        )
    others = {voter: address for voter, address in voters.items() if voter not in config.node_ids}
    unknown = [voter for voter in others if set(config.get_list(_ROLES, voter)) != {"controller"}]
    if unknown:
        raise ConfigError(
            f"{_VOTERS} names node {', '.join(map(str, unknown))}, which this process does not run: odradek runs all "
            "nodes of a cluster in one process (--nodes, or nodes=; process.roles=broker for separate controllers, or "
            "process.roles=controller as a config of such a node)"
        )
    return Quorum(combined, others, True)


def _separate(config: BrokerConfig, voters: Mapping[int, Address], servers: list[Address]) -> Mapping[int, Address]:
    if not voters and not servers:
        raise ConfigError(
            f"If using process.roles, either {_SERVERS} must contain the set of bootstrap controllers or {_VOTERS} "
            "must contain a parseable set of controllers."
        )
    for node_id in config.node_ids:
        if node_id in voters:
            raise ConfigError(
                f"If process.roles contains just the 'broker' role, the node id {node_id} must not be included in the "
                f"set of voters {_VOTERS}=Set({', '.join(map(str, voters))})"
            )
    found = voters or dict(enumerate(servers, FIRST_SEPARATE_ID))
    taken = next((node_id for node_id in config.node_ids if node_id in found), None)
    if taken is not None:
        raise ConfigError(f"node {taken} is a broker: name the controllers by {_VOTERS} to give them other ids")
    return found


def _server(entry: str) -> Address:
    if not re.fullmatch(_HOST_PORT, entry):
        raise ConfigError(
            f"Failed to parse host name from {entry} for the configuration {_SERVERS}. Each entry should be in the "
            'form "{host}:{port}"'
        )
    return _address(entry)


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host.rpartition("://")[2].strip("[]"), int(port)


def voters_of(entries: tuple[str, ...]) -> dict[int, Address]:
    """The host and port of each voter that `id@host:port` entries name; ConfigError in Kafka's words."""
    found = {}
    for entry in entries:
        voter, at, address = entry.partition("@")
        if not at:
            text = "Each entry should be in the form `{id}@{host}:{port}`."
            raise ConfigError(f"Invalid configuration value for {_VOTERS}. {text}")
        if not re.fullmatch(r"[+-]?[0-9]+", voter):
            raise ConfigError(f"Failed to parse voter ID as an integer from {voter}")
        if not re.fullmatch(_HOST_PORT, address):
            raise ConfigError(
                f"Failed to parse host name from entry {entry} for the configuration {_VOTERS}. Each entry should be "
                "in the form `{id}@{host}:{port}`."
            )
        found[int(voter)] = _address(address)
    return found


# -- a server.properties, the environment and options

_RACK = "broker.rack"


def given_node_id(config: BrokerConfig) -> int | None:
    """The number of the first node that `node.id` or `broker.id` says; the others follow."""
    for name in ("node.id", "broker.id"):
        if name in config.static:
            return config.get_int(name)
    return None


def log_directories(config: BrokerConfig) -> list[Path]:
    """The log directories that `log.dirs` or `log.dir` names for all, none where neither was given; ConfigError for
    doubles.
    """
    return _directories(config, config.static, NO_NODE)


def own_log_directories(config: BrokerConfig, separate: Collection[int] = ()) -> dict[int, list[Path]]:
    """The log directories of each node, where nodes have their own; ConfigError for doubles, and if only some have.

    `separate`: the controllers that are no brokers. They have `metadata.log.dir`, or the first of `log.dirs`.
    """
    found = {}
    for node_id in (*config.node_ids, *separate):
        own = config.static_nodes.get(node_id, {})
        paths = _directories(config, own, node_id)
        if node_id in separate:
            paths = [Path(own["metadata.log.dir"])] if "metadata.log.dir" in own else paths[:1]
        if paths:
            found[node_id] = paths
    if found and len(found) < len(config.node_ids) + len(separate):
        raise ConfigError(
            f"log.dirs is set for node {next(iter(found))}, so set it for every node, or for all together"
        )
    known = [path.absolute() for paths in found.values() for path in paths]
    if len(set(known)) < len(known):
        raise ConfigError(f"log.dirs of the nodes name a directory twice: {','.join(map(str, known))}")
    return found


def _directories(config: BrokerConfig, given: Mapping[str, str], node_id: int) -> list[Path]:
    for name in ("log.dirs", "log.dir"):
        if name in given:
            directories = [Path(text) for text in config.get_list(name, node_id)]
            if len({path.absolute() for path in directories}) < len(directories):
                raise ConfigError(f"{name}={given[name]} names a directory twice")
            return directories
    return []


def metadata_directory(config: BrokerConfig) -> Path | None:
    """The directory of the metadata log by `metadata.log.dir`; None for the first log directory."""
    text = config.get("metadata.log.dir")
    return Path(text) if isinstance(text, str) else None


def check_directories(config: BrokerConfig, directories: Sequence[Path], nodes: int) -> None:
    """ConfigError for several nodes with a directory for the metadata log."""
    if nodes > 1 and directories and metadata_directory(config) is not None:
        raise ConfigError(f"metadata.log.dir: {nodes} nodes keep the metadata log in the log directory of each")


def racks(config: BrokerConfig) -> dict[int, str | None]:
    """The rack of each node that `broker.rack` says: its own, or its part of as many as the cluster started with,
    parted by commas, or the one for all.
    """
    founders = config.founder_ids
    of_all = config.static.get(_RACK)
    parts = [] if of_all is None else [part.strip() for part in of_all.split(",")]
    shared: dict[int, str | None] = dict.fromkeys(config.node_ids, of_all)
    if len(parts) == len(founders) > 1:
        shared = {**dict.fromkeys(config.node_ids), **dict(zip(founders, parts, strict=True))}
    return {node_id: config.static_nodes.get(node_id, {}).get(_RACK, rack) for node_id, rack in shared.items()}


def read_config_file(path: str | Path) -> dict[str, str]:
    """Names and values of a file in Java's properties format, a later line before an earlier one.

    OSError if it cannot be read; ConfigError if it is no properties file.
    """
    try:
        return parse_properties(Path(path).read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None


def broker_config(
    values: Mapping[str, str],
    path: str | Path | None,
    environment: Mapping[str, str] | None = None,
    nodes: Mapping[int, Mapping[str, str]] | None = None,
) -> BrokerConfig:
    """The configuration that `values` say, where they say nothing `environment`, and then a file. `nodes`: what single
    nodes have of their own.

    ConfigError and OSError as in `BrokerConfig` and `read_config_file`.
    """
    file = {**(read_config_file(path) if path else {}), **(environment or {})}
    return BrokerConfig(values, file=file, nodes=nodes)


# -- Which configs a node may have of its own, apart from those that all nodes share.

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
