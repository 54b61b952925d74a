"""What handlers find."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.nodes.node_life import stop_node
from odradek.broker.requests.services import AnswerCache, Deferred

# -- Without a cache nothing is kept.


def test_what_is_put_is_not_there_the_next_time() -> None:
    cache = AnswerCache()
    cache.of("Metadata", 1)
    cache.keep("Metadata", "question", "answer", 6)
    cache.topics["t"] = (1, "part")
    assert cache.of("Metadata", 1) == {}
    assert cache.topics == {}


# -- A part that is made by the first call.


def test_a_service_is_made_once_and_when_it_is_needed() -> None:
    made: list[list[int]] = []

    def make() -> list[int]:
        made.append([])
        return made[-1]

    part = Deferred(make)
    assert part.made is None
    assert part() is part() is part.made
    assert len(made) == 1


@pytest.mark.trio
async def test_nodes_that_are_down_are_not_up() -> None:
    cluster = Cluster(nodes=3)
    async with cluster.run():
        await cluster.listen()
        stop_node(cluster, 2)
        assert [node.id for node in cluster.services.up_nodes()] == [1, 3]
