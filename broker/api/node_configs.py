"""The broker configs that a node has from its place in the cluster rather than from a setting."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from odradek.broker.config.listeners import address_text

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Endpoint, Node

_NOTHING: Mapping[str, str] = {}
_OF_THE_NODE = frozenset({"broker.id", "log.dirs", "node.id"})
_OF_EACH_NODE = _OF_THE_NODE | {"advertised.listeners", "broker.rack", "listeners", "process.roles"}


def own_configs(node: Node, given: Mapping[str, str] = _NOTHING, nodes: int = 1) -> dict[str, str]:
    """Names and values that DescribeConfigs shows as set at the start, as on a real KRaft node.

    `given`: what was set for the whole process. It shows as it is, but where it says something of several nodes.
    """
    endpoints = [each for each in node.endpoints.values() if not each.live]
    told = [each for each in endpoints if each.told and each.advertised is not None]
    configs = {
        "broker.id": str(node.id),
        "controller.listener.names": "CONTROLLER",
        "listeners": _listed([*endpoints, *node.controllers.values()]),
        "node.id": str(node.id),
        "process.roles": _roles(node),
    }
    if told:
        configs["advertised.listeners"] = ",".join(
            f"{each.listener.name}://{address_text(*each.address_for(None))}" for each in told
        )
    if node.rack is not None:
        configs["broker.rack"] = node.rack
    if node.log_dirs:
        configs["log.dirs"] = ",".join(map(str, node.log_dirs))
    same = given.keys() - (_OF_THE_NODE if nodes == 1 else _OF_EACH_NODE)
    return {name: text for name, text in configs.items() if name not in same}


def _roles(node: Node) -> str:
    return ",".join(name for name, has in (("broker", node.is_broker), ("controller", node.is_controller)) if has)


def _listed(endpoints: Collection[Endpoint]) -> str:
    return ",".join(f"{each.listener.name}://{address_text(each.host, each.port)}" for each in endpoints)
