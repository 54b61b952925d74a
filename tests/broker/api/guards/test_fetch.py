"""A client reads what it may; the rest is answered without waiting for anything."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import NewTopic
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Permission, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config=SECURED)
    for name in ("mine", "theirs"):
        made.controller.create_topic(NewTopic(name, 1, 1))
    allow(made, "User:alice", Operation.READ, Resource.TOPIC, "mine")
    return made


def request(*names: str, **fields: Any) -> FetchRequest:
    parts = {
        name: [FetchPartition(0, fetch_offset=0, partition_max_bytes=1000, current_leader_epoch=-1)] for name in names
    }
    return FetchRequest(
        **{"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1000, **fields},
        topics=[FetchTopic(name, partitions=partitions) for name, partitions in parts.items()],
    )


def codes(answer: Any) -> list[tuple[str, int]]:
    return [(topic.topic, part.error_code) for topic in answer.responses for part in topic.partitions]


def test_what_is_denied_comes_behind_the_rest(cluster: Cluster) -> None:
    answer = ask(cluster, request("theirs", "none", "mine"), 12, principal=ALICE)
    assert codes(answer) == [("mine", 0), ("theirs", DENIED), ("none", DENIED)]
    (denied,) = answer.responses[1].partitions
    assert (denied.high_watermark, denied.log_start_offset, denied.aborted_transactions) == (-1, -1, [])


def test_an_empty_name_is_a_name_without_a_right(cluster: Cluster) -> None:
    assert codes(ask(cluster, request(""), 12, principal=ALICE)) == [("", DENIED)]


def test_unknown_ids_need_no_right(cluster: Cluster) -> None:
    wanted = request("theirs", "x")
    wanted.topics[0].topic_id, wanted.topics[1].topic_id = cluster.image.topics["theirs"].topic_id, b"1" * 16
    answer = ask(cluster, wanted, 13, principal=ALICE)
    assert [code for _, code in codes(answer)] == [DENIED, ErrorCode.UNKNOWN_TOPIC_ID]


def test_a_follower_needs_the_cluster_and_no_topic(cluster: Cluster) -> None:
    asked = request("mine", "theirs", "none", replica_id=7)
    assert codes(ask(cluster, asked, 12, principal=ALICE)) == [("mine", DENIED), ("theirs", DENIED), ("none", DENIED)]
    allow(cluster, "User:alice", Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME)
    told = codes(ask(cluster, asked, 12, principal=ALICE))
    assert sorted(told) == [
        ("mine", ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ("none", UNKNOWN),
        ("theirs", ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]


def test_a_right_that_is_taken_counts_in_a_session_and_so_does_one_that_is_given(cluster: Cluster) -> None:
    first = ask(cluster, request("mine", "theirs", session_epoch=0), 12, principal=ALICE)
    assert codes(first) == [("mine", 0), ("theirs", DENIED)]

    def go_on(epoch: int) -> list[tuple[str, int]]:
        return codes(ask(cluster, request(session_id=first.session_id, session_epoch=epoch), 12, principal=ALICE))

    assert go_on(1) == [("theirs", DENIED)]
    allow(cluster, "User:alice", Operation.READ, Resource.TOPIC, "theirs")
    assert go_on(2) == [("theirs", 0)]
    assert go_on(3) == []
    allow(cluster, "User:alice", Operation.READ, Resource.TOPIC, "mine", permission=Permission.DENY)
    assert go_on(4) == [("mine", DENIED)]
