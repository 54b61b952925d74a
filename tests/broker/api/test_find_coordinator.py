"""FindCoordinator: who coordinates a key, as Kafka 4.3.1 answers it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.json_form import from_json, to_json
from tests.fakes.data_plane import DataPlane

CORPUS = Path(__file__).parents[2] / "vectors" / "corpus.jsonl.gz"
LATER = ("first-use", "denied", "allowed-prefix")
FIRST = "FindCoordinator.v6.share"
"""Recorded before the broker had `__share_group_state`: here the topic is there at once."""


def rows() -> list[dict[str, Any]]:
    with gzip.open(CORPUS, "rt") as lines:
        return [json.loads(line) for line in lines if '"FindCoordinator"' in line]


def recorded() -> list[Any]:
    return [pytest.param(row, id=row["case"]) for row in rows() if not row["case"].endswith((*LATER, FIRST))]


@pytest.mark.parametrize("row", recorded())
def test_find_coordinator_is_answered_as_recorded(row: dict[str, Any]) -> None:
    plane = DataPlane()
    plane.cluster.nodes[1].first.port = 19392
    plane.connection.host = "127.0.0.1"
    version = row["version"]
    response = plane.call(from_json(FindCoordinatorRequest, version, row["request_json"]), version)
    assert to_json(response, version) == row["response_json"]


def test_the_first_question_creates_the_topic() -> None:
    plane = DataPlane(config={"offsets.topic.num.partitions": "7"})
    response = plane.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    assert response.coordinators[0].error_code == ErrorCode.NONE
    topic = plane.cluster.topics.get("__consumer_offsets")
    assert topic is not None
    assert (len(topic.partitions), topic.internal) == (7, True)


def test_a_share_partition_has_its_coordinator_at_once() -> None:
    plane = DataPlane(config={"share.coordinator.state.topic.num.partitions": "3"})
    (row,) = [row for row in rows() if row["case"] == FIRST]
    response = plane.call(from_json(FindCoordinatorRequest, 6, row["request_json"]), 6)
    assert {(c.node_id, c.error_code) for c in response.coordinators if "-sg" in c.key} == {(1, ErrorCode.NONE)}
    topic = plane.cluster.topics.get("__share_group_state")
    assert topic is not None
    assert len(topic.partitions) == 3


def test_coordinators_are_spread_over_the_nodes_and_move_with_their_partition() -> None:
    plane = DataPlane(nodes=3)
    keys = [f"group-{i}" for i in range(60)]
    asked = FindCoordinatorRequest(key_type=0, coordinator_keys=keys)
    found = {c.key: c.node_id for c in plane.call(asked).coordinators}
    assert set(found.values()) == {1, 2, 3}
    from tests.fakes.nodes import set_node_up

    set_node_up(plane.cluster, 2, False)
    moved = {c.key: (c.node_id, c.error_code) for c in plane.call(asked).coordinators}
    assert all(node in (1, 3) for node, _ in moved.values())
    assert all(moved[key] == (node, ErrorCode.NONE) for key, node in found.items() if node != 2)


def test_find_coordinator_without_a_live_replica_finds_none() -> None:
    plane = DataPlane(nodes=2, config={"offsets.topic.replication.factor": "1"})
    keys = [f"group-{i}" for i in range(20)]
    asked = FindCoordinatorRequest(key_type=0, coordinator_keys=keys)
    before = {c.key: c.node_id for c in plane.call(asked).coordinators}
    from tests.fakes.nodes import set_node_up

    set_node_up(plane.cluster, 2, False)
    for coordinator in plane.call(asked).coordinators:
        if before[coordinator.key] == 2:
            assert coordinator.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert (coordinator.node_id, coordinator.host, coordinator.port) == (-1, "", -1)
        else:
            assert coordinator.node_id == 1


def test_a_cluster_that_runs_has_a_coordinator_for_transactions_too() -> None:
    async def main() -> None:
        cluster = Cluster()
        async with cluster.run():
            assert cluster.transactions.leader_for("t") == 1

    trio.run(main)


def test_a_coordinator_that_is_down_is_not_available() -> None:
    plane = DataPlane(nodes=2, config={"offsets.topic.num.partitions": "1", "offsets.topic.replication.factor": "1"})
    (led,) = plane.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"])).coordinators
    plane.cluster.nodes[led.node_id].up = False
    other = 3 - led.node_id
    one = plane.call(FindCoordinatorRequest(key="g"), 3, node=other)
    assert (one.error_code, one.error_message) == (15, "The coordinator is not available.")
    assert (one.node_id, one.host, one.port) == (-1, "", -1)
    (of_several,) = plane.call(FindCoordinatorRequest(coordinator_keys=["g"]), 6, node=other).coordinators
    assert (of_several.error_code, of_several.error_message) == (15, "")


@pytest.mark.parametrize(
    "key",
    ["g", "g:AAAAAAAAAAAAAAAAAAAAAQ", "g:AAAAAAAAAAAAAAAAAAAAAQ:x", " :AAAAAAAAAAAAAAAAAAAAAQ:0", "g:x:0", "g:AAAA:1"],
)
def test_a_share_partition_is_named_by_group_topic_and_number(key: str) -> None:
    plane = DataPlane()
    (found,) = plane.call(FindCoordinatorRequest(key_type=2, coordinator_keys=[key]), 6).coordinators
    assert found.error_code == ErrorCode.INVALID_REQUEST
    (found,) = plane.call(
        FindCoordinatorRequest(key_type=2, coordinator_keys=["a:b:AAAAAAAAAAAAAAAAAAAAAQ:0"]), 6
    ).coordinators
    assert found.error_code == ErrorCode.NONE
    for kind, version in ((2, 5), (3, 6), (-1, 6)):
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=["a:b:AAAAAAAAAAAAAAAAAAAAAQ:0"])
        assert plane.call(request, version).coordinators[0].error_code == ErrorCode.INVALID_REQUEST
