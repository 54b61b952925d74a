"""Roles and quorum: what `process.roles` and `controller.quorum.*` may say, and which nodes are controllers by them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.config.definition import ConfigError

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

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
