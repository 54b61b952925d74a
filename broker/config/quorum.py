"""Roles and quorum of a combined-mode broker: what `process.roles` and `controller.quorum.*` may say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

_VOTERS = "controller.quorum.voters"
_SERVERS = "controller.quorum.bootstrap.servers"
_HOST_PORT = r"(?:[^\s]*://)?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+"


def check_roles(config: BrokerConfig) -> None:
    """ConfigError unless every node is broker and controller; `node.id` and `broker.id` are one."""
    roles = set(config.get_list("process.roles"))
    if roles and roles != {"broker", "controller"}:
        raise ConfigError(
            f"process.roles={','.join(sorted(roles))} is not supported by odradek: every node is broker and controller "
            "(process.roles=broker,controller)"
        )
    node, broker = config.static.get("node.id"), config.static.get("broker.id")
    if node is not None and broker is not None and node != broker:
        raise ConfigError("You must set `node.id` to the same value as `broker.id`.")


def check_quorum(config: BrokerConfig) -> None:
    """ConfigError, in Kafka's words, for voters and bootstrap servers that no combined-mode broker takes."""
    voters = voters_of(config.get_list(_VOTERS))
    for entry in config.get_list(_SERVERS):
        if not re.fullmatch(_HOST_PORT, entry):
            raise ConfigError(
                f"Failed to parse host name from {entry} for the configuration {_SERVERS}. Each entry should be in the "
                'form "{host}:{port}"'
            )
    if not voters:
        return
    for node_id in config.node_ids:
        if node_id not in voters:
            raise ConfigError(
                f"If process.roles contains the 'controller' role, the node id {node_id} must be included in the set "
                f"of voters {_VOTERS}=Set({', '.join(map(str, voters))})"
            )
    others = [voter for voter in voters if voter not in config.node_ids]
    if others:
        raise ConfigError(
            f"{_VOTERS} names node {', '.join(map(str, others))}, which this process does not run: odradek runs all "
            "nodes of a cluster in one process (--nodes, or nodes=)"
        )


def voters_of(entries: tuple[str, ...]) -> dict[int, tuple[str, int]]:
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
        host, _, port = address.rpartition(":")
        found[int(voter)] = host.rpartition("://")[2].strip("[]"), int(port)
    return found
