"""What a client may write is appended; the rest is refused, batch by batch."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import NewTopic
from odradek.broker.requests.context import CloseConnection
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask

ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def batch(**producer: Any) -> bytes:
    return build_batch([Record(0, 1_700_000_000_000, b"k", b"v", ())], **producer)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config=SECURED)
    for name in ("mine", "theirs"):
        made.controller.create_topic(NewTopic(name, 2, 1))
    allow(made, "User:alice", Operation.WRITE, Resource.TOPIC, "mine")
    return made


def written(cluster: Cluster, name: str) -> int:
    topic = cluster.topics.get(name)
    assert topic is not None
    return sum(partition.log.log_end_offset for partition in topic.partitions)


def by_name(*names: str, acks: int = 1, records: bytes | None = None) -> ProduceRequest:
    data = [TopicProduceData(name, partition_data=[PartitionProduceData(0, records or batch())]) for name in names]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=data)


def codes(answer: Any) -> list[tuple[str, int]]:
    return [(topic.name, part.error_code) for topic in answer.responses for part in topic.partition_responses]


def test_denied_topics_are_answered_in_their_place(cluster: Cluster) -> None:
    answer = ask(cluster, by_name("theirs", "mine", "none"), 12, principal=ALICE)
    assert codes(answer) == [("theirs", DENIED), ("mine", 0), ("none", DENIED)]
    assert (written(cluster, "mine"), written(cluster, "theirs")) == (1, 0)
    refused = answer.responses[0].partition_responses[0]
    assert (refused.base_offset, refused.log_start_offset, refused.error_message) == (-1, -1, None)
    assert [denial.resource_name for denial in cluster.services.denials.entries] == ["theirs", "none"]


def test_an_empty_name_is_a_name_without_a_right(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name(""), 12, principal=ALICE)) == [("", DENIED)]


def test_with_all_rights_the_plain_handler_answers(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name("mine"), 12, principal=ALICE)) == [("mine", 0)]
    assert not cluster.services.denials.entries


def test_ids_are_looked_up_and_unknown_ones_need_no_right(cluster: Cluster) -> None:
    topics = cluster.image.topics
    data = [
        TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(0, batch())])
        for topic_id in (b"1" * 16, topics["theirs"].topic_id, topics["mine"].topic_id)
    ]
    answer = ask(cluster, ProduceRequest(acks=1, timeout_ms=1000, topic_data=data), 13, principal=ALICE)
    assert [code for _, code in codes(answer)] == [ErrorCode.UNKNOWN_TOPIC_ID, DENIED, 0]


def test_without_an_answer_the_connection_is_closed_and_the_rest_is_written(cluster: Cluster) -> None:
    with pytest.raises(CloseConnection):
        ask(cluster, by_name("theirs", "mine", acks=0), 12, principal=ALICE)
    assert written(cluster, "mine") == 1


def test_a_partition_that_is_denied_twice_is_answered_once(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name("theirs", "theirs"), 12, principal=ALICE)) == [("theirs", DENIED)]


@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_a_transactional_batch_needs_a_right_on_its_id(cluster: Cluster, transactional_id: str | None) -> None:
    records = batch(producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    request = by_name("mine", records=records)
    request.transactional_id = transactional_id
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert codes(ask(cluster, request, 12, principal=ALICE)) == [("mine", code)]
    assert written(cluster, "mine") == 0
