"""What handlers find."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.nodes.node_life import stop_node


@pytest.mark.trio
async def test_nodes_that_are_down_are_not_up() -> None:
    cluster = Cluster(nodes=3)
    async with cluster.run():
        await cluster.listen()
        stop_node(cluster, 2)
        assert [node.id for node in cluster.services.up_nodes()] == [1, 3]
