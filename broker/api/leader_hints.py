"""Leader hints: the address of the leader in NOT_LEADER_OR_FOLLOWER answers, so that a client need not ask Metadata
(KIP-951).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from odradek.broker.metadata.node import Node
from odradek.broker.requests.context import RequestContext


def reachable(ctx: RequestContext, nodes: Iterable[Node]) -> Iterator[tuple[Node, tuple[str, int]]]:
    """The nodes that have the client's listener, with their addresses on it."""
    for node in nodes:
        address = node.address_for(ctx.connection.listener, ctx.connection.host)
        if address is not None:
            yield node, address


def leader_endpoints(ctx: RequestContext, leader_ids: Iterable[int], make: Callable[..., Any]) -> list[Any]:
    """The addresses of these nodes, each once, as the client would reach them; `make` is the response's struct."""
    nodes = ctx.services.nodes
    leaders = [nodes[node_id] for node_id in dict.fromkeys(leader_ids) if node_id in nodes and nodes[node_id].up]
    return [
        make(node_id=node.id, host=host, port=port, rack=node.rack) for node, (host, port) in reachable(ctx, leaders)
    ]
