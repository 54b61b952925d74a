"""The broker configs that a node has from its place in the cluster rather than from a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Node


def own_configs(node: Node) -> dict[str, str]:
    """Names and values that DescribeConfigs shows as set at the start, as on a real KRaft node of both roles."""
    configs = {
        "broker.id": str(node.id),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{node.host}:{node.port}",
        "node.id": str(node.id),
        "process.roles": "broker,controller",
    }
    if node.advertised is not None:
        host, port = node.address_for(None)
        configs["advertised.listeners"] = f"PLAINTEXT://{host}:{port}"
    if node.rack is not None:
        configs["broker.rack"] = node.rack
    if node.log_dir is not None:
        configs["log.dirs"] = str(node.log_dir)
    return configs
