"""Where the leader is: what NOT_LEADER_OR_FOLLOWER answers carry so that a client need not ask Metadata (KIP-951)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from odradek.broker.requests.context import RequestContext


def leader_endpoints(ctx: RequestContext, leader_ids: Iterable[int], make: Callable[..., Any]) -> list[Any]:
    """The addresses of these nodes, each once, as the client would reach them; `make` is the response's struct."""
    nodes = ctx.services.nodes
    found = []
    for node_id in dict.fromkeys(leader_ids):
        node = nodes.get(node_id)
        if node is not None and node.up:
            host, port = node.address_for(ctx.connection.host)
            found.append(make(node_id=node_id, host=host, port=port, rack=node.rack))
    return found
