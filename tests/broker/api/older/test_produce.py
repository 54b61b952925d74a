"""Message sets that old producers send are stored as batches of format 2, or refused as Kafka refuses them."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.requests.context import CloseConnection
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.compression import Codec, compress
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.message_sets import encode_message
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask, ask_patiently, let_inflate
from tests.fakes.message_formats import RELEASES, check_as_recorded
from tests.scenarios.message_formats import T0, damaged, plain

ALICE = Principal("User", "alice")


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config={"odradek.kafka.version": "3.9"})
    made.controller.create_topic(NewTopic("t", 3, 1))
    return made


def sent(*records: bytes, topic: str = "t", acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index, each) for index, each in enumerate(records)]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(topic, partition_data=data)])


def codes(answer: Any) -> list[int]:
    return [each.error_code for topic in answer.responses for each in topic.partition_responses]


def stored(cluster: Cluster, partition: int = 0) -> list[Record]:
    topic = cluster.topics.get("t")
    assert topic is not None
    log = topic.partitions[partition].log
    parts = log.read(0, max_bytes=1 << 20, up_to_offset=log.log_end_offset).parts
    return [record for batch in iter_batches(parts) for record in batch.records()]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_messages_become_records(cluster: Cluster, version: int) -> None:
    assert codes(ask(cluster, sent(plain(0, 1), plain(1, 2)), version)) == [0, 0]
    assert stored(cluster) == [Record(0, -1, b"k0", b"v0")]
    assert stored(cluster, 1) == [Record(0, T0, b"k0", b"v0"), Record(1, T0 + 1, b"k1", b"v1")]


def test_each_partition_has_its_own_error(cluster: Cluster) -> None:
    answer = ask(cluster, sent(plain(1, 1), damaged(plain(1, 1)), b""), 2)
    assert codes(answer) == [0, ErrorCode.CORRUPT_MESSAGE, 0]
    assert [each.base_offset for each in answer.responses[0].partition_responses] == [0, -1, -1]
    assert len(stored(cluster)) == 1


def test_a_set_for_a_topic_that_is_not_there_is_not_read(cluster: Cluster) -> None:
    answer = ask(cluster, sent(damaged(plain(1, 1)), topic="none"), 2)
    assert codes(answer) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_set_for_a_topic_of_others_is_not_read() -> None:
    cluster = Cluster(config={**SECURED, "odradek.kafka.version": "3.9"})
    for name in ("t", "theirs"):
        cluster.controller.create_topic(NewTopic(name, 1, 1))
    allow(cluster, "User:alice", Operation.WRITE, Resource.TOPIC, "t")
    request = sent(damaged(plain(1, 1)), topic="theirs")
    request.topic_data += sent(plain(1, 1)).topic_data
    assert codes(ask(cluster, request, 2, principal=ALICE)) == [ErrorCode.TOPIC_AUTHORIZATION_FAILED, 0]


def test_older_produce_with_acks_0_closes_the_connection_on_an_error(cluster: Cluster) -> None:
    with pytest.raises(CloseConnection):
        ask(cluster, sent(damaged(plain(1, 1)), acks=0), 2)


def test_the_newest_releases_refuse_format_1() -> None:
    cluster = Cluster()
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    assert codes(ask(cluster, sent(plain(1, 1)), 3)) == [ErrorCode.INVALID_RECORD]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_a_batch_is_taken_in_old_versions_as_well(cluster: Cluster, codec: Codec) -> None:
    batch = build_batch([Record(0, T0, b"k", b"v", (("h", b"1"),))], codec=codec)
    assert codes(ask(cluster, sent(batch), 2)) == [0]
    assert stored(cluster) == [Record(0, T0, b"k", b"v", (("h", b"1"),))]


@pytest.mark.parametrize("release", RELEASES)
def test_older_produce_is_answered_as_recorded(release: str) -> None:
    check_as_recorded("produce", release)


# --- sets that take long to be converted ---


def packed(count: int = 6000, codec: Codec = Codec.GZIP) -> bytes:
    """A small set of many messages."""
    body = b"".join(encode_message(1, index, T0 + index, b"k", b"v") for index in range(count))
    return encode_message(1, count - 1, T0 + count, None, compress(codec, body), int(codec))


@pytest.mark.trio
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
async def test_a_set_that_inflates_far_is_converted_in_the_thread(cluster: Cluster, codec: Codec) -> None:
    answer = await ask_patiently(cluster, sent(packed(codec=codec), plain(1, 1)), 2)
    assert codes(answer) == [0, 0]
    assert stored(cluster) == [Record(index, T0 + index, b"k", b"v") for index in range(6000)]


@pytest.mark.trio
async def test_a_long_set_is_converted_in_the_thread(cluster: Cluster) -> None:
    messages = b"".join(encode_message(1, 0, T0 + index, b"k", bytes(50)) for index in range(2000))
    assert codes(await ask_patiently(cluster, sent(messages), 2)) == [0]
    assert stored(cluster) == [Record(index, T0 + index, b"k", bytes(50)) for index in range(2000)]


@pytest.mark.trio
async def test_many_sets_of_a_request_are_large_together(cluster: Cluster) -> None:
    each = packed(2000)
    assert codes(ask(cluster, sent(each), 2)) == [0]
    assert codes(await ask_patiently(cluster, sent(each, each, each), 2)) == [0, 0, 0]


@pytest.mark.trio
async def test_a_large_set_that_is_damaged_is_refused_alone(cluster: Cluster) -> None:
    answer = await ask_patiently(cluster, sent(damaged(packed()), plain(1, 1), packed()), 2)
    assert codes(answer) == [ErrorCode.CORRUPT_MESSAGE, 0, 0]


@pytest.mark.trio
async def test_large_sets_of_a_request_have_a_common_limit(cluster: Cluster) -> None:
    let_inflate(cluster, 300_000)
    answer = await ask_patiently(cluster, sent(packed(), packed(), packed()), 2)
    assert codes(answer) == [0, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.MESSAGE_TOO_LARGE]


@pytest.mark.trio
async def test_older_produce_appends_nothing_for_a_client_that_left_meanwhile(cluster: Cluster) -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await ask_patiently(cluster, sent(packed()), 2)
    assert scope.cancelled_caught
    assert stored(cluster) == []


@pytest.mark.trio
async def test_older_produce_of_a_damaged_large_set_with_acks_0_closes_the_connection(cluster: Cluster) -> None:
    with pytest.raises(CloseConnection):
        await ask_patiently(cluster, sent(b"".join([packed(), packed()]), acks=0), 2)
