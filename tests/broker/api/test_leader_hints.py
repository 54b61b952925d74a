"""The addresses of leaders beside errors (KIP-951)."""

from __future__ import annotations

from odradek.broker.api.leader_hints import leader_endpoints
from odradek.protocol.generated.messages.fetch import FetchRequest, NodeEndpoint
from tests.fakes.data_plane import DataPlane


def test_each_node_once_as_the_client_reaches_it() -> None:
    plane = DataPlane(nodes=3)
    nodes = plane.cluster.nodes
    nodes[2].first.port, nodes[2].rack = 9002, "r2"
    nodes[3].first.advertised = ("elsewhere", 1234)
    found = leader_endpoints(plane.context(FetchRequest(), 16), [2, 3, 2], NodeEndpoint)
    assert [(each.node_id, each.host, each.port, each.rack) for each in found] == [
        (2, "broker.test", 9002, "r2"),
        (3, "elsewhere", 1234, None),
    ]


def test_nodes_that_are_down_or_unknown_are_left_out() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.nodes[2].up = False
    assert leader_endpoints(plane.context(FetchRequest(), 16), [2, 9, -1], NodeEndpoint) == []
