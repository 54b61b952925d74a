"""What brokers in ZooKeeper mode leave to the controller, as a real 2.8.2 answered on the other of two brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import odradek
from odradek.protocol.generated.messages import alter_partition_reassignments as alter
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from odradek.protocol.generated.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.json_form import to_json
from odradek.wire_client import WireConnection

NOT_CONTROLLER = 41
TEXT = "This is not the correct controller for this cluster."
REASSIGNED = [alter.ReassignableTopic("t", [alter.ReassignablePartition(0, [1])])]
HEAD = {"throttleTimeMs": 0, "errorCode": NOT_CONTROLLER, "errorMessage": TEXT}


def refused(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "errorCode": NOT_CONTROLLER, **fields}


def refused_creation(name: str) -> dict[str, Any]:
    return refused(name, errorMessage="", numPartitions=-1, replicationFactor=-1, configs=[])


CASES: list[tuple[Any, int, dict[str, Any]]] = [
    (
        CreateTopicsRequest([CreatableTopic("bad name", 1, 1), CreatableTopic("v", 1, 1)]),
        5,
        {"throttleTimeMs": 0, "topics": [refused_creation("bad name"), refused_creation("v")]},
    ),
    (
        CreateTopicsRequest([CreatableTopic("u", 1, 1)], validate_only=True),
        5,
        {"throttleTimeMs": 0, "topics": [refused_creation("u")]},
    ),
    (
        DeleteTopicsRequest(topic_names=["t", "nope"], timeout_ms=1000),
        5,
        {"throttleTimeMs": 0, "responses": [refused("t", errorMessage=None), refused("nope", errorMessage=None)]},
    ),
    (
        CreatePartitionsRequest([CreatePartitionsTopic("t", 2)], timeout_ms=1000),
        2,
        {"throttleTimeMs": 0, "results": [refused("t", errorMessage=None)]},
    ),
    (alter.AlterPartitionReassignmentsRequest(topics=REASSIGNED), 0, {**HEAD, "responses": []}),
    (ListPartitionReassignmentsRequest(), 0, {**HEAD, "topics": []}),
    (
        ElectLeadersRequest(0, [TopicPartitions("t", [0])]),
        2,
        {
            "throttleTimeMs": 0,
            "errorCode": 0,
            "replicaElectionResults": [
                {
                    "topic": "t",
                    "partitionResult": [{"partitionId": 0, "errorCode": NOT_CONTROLLER, "errorMessage": None}],
                }
            ],
        },
    ),
    (
        AlterUserScramCredentialsRequest(
            [ScramCredentialDeletion("bob", 1)],
            [ScramCredentialUpsertion(name, 1, 4096, b"salt", bytes(32)) for name in ("carl", "alice")],
        ),
        0,
        {
            "throttleTimeMs": 0,
            "results": [
                {"user": name, "errorCode": NOT_CONTROLLER, "errorMessage": None} for name in ("alice", "bob", "carl")
            ],
        },
    ),
    (UpdateFeaturesRequest(1000, [FeatureUpdateKey("x", 1)]), 0, {**HEAD, "results": []}),
]


@pytest.fixture(scope="module", params=["2.8", "3.9"])
def other(request: pytest.FixtureRequest) -> Iterator[tuple[odradek.KafkaBroker, WireConnection]]:
    """A connection to the broker that is not the controller."""
    with odradek.KafkaBroker(kafka_version=request.param, zookeeper=True, nodes=2, topics={"t": 1}) as broker:
        others = [node for node in broker.cluster.nodes.values() if node.id != broker.cluster.controller_id]
        with WireConnection("127.0.0.1", others[0].port) as connection:
            yield broker, connection


@pytest.mark.parametrize(("request_", "version", "expected"), CASES)
def test_only_the_controller_does_it(
    request_: Any, version: int, expected: dict[str, Any], other: tuple[odradek.KafkaBroker, WireConnection]
) -> None:
    broker, connection = other
    answer = connection.receive(request_, version, connection.send(request_, version))
    assert to_json(answer, version) == expected
    assert list(broker.topics) == ["t"]


def test_all_name_the_same_controller(other: tuple[odradek.KafkaBroker, WireConnection]) -> None:
    broker, connection = other
    for request, version in ((MetadataRequest([]), 9), (DescribeClusterRequest(), 0)):
        answer = connection.receive(request, version, connection.send(request, version))
        assert answer.controller_id == broker.cluster.controller_id


def test_a_broker_of_kraft_hands_it_on() -> None:
    with odradek.KafkaBroker(kafka_version="3.9", nodes=2) as broker:
        for port in (server.rpartition(":")[2] for server in broker.bootstrap_servers.split(",")):
            request = CreateTopicsRequest([CreatableTopic(f"t{port}", 1, 1)])
            with WireConnection("127.0.0.1", int(port)) as connection:
                answer = connection.receive(request, 5, connection.send(request, 5))
            assert answer.topics[0].error_code == 0
