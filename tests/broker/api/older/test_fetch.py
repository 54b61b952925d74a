"""Old consumers get messages of format 0 and 1, as Kafka converts batches for them."""

from __future__ import annotations

from typing import Any

import pytest

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import NewTopic
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.message_sets import records_of
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import WireConnection
from tests.fakes.ask import ask
from tests.fakes.message_formats import RELEASES, check_as_recorded

ROWS = [Record(index, 1_700_000_000_000 + index, b"k", b"v%d" % index) for index in range(3)]


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config={"odradek.kafka.version": "3.9"})
    made.controller.create_topic(NewTopic("t", 1, 1))
    return made


def append(cluster: Cluster, *batches: bytes, topic: str = "t") -> None:
    known = cluster.topics.get(topic)
    assert known is not None
    for batch in batches:
        known.partitions[0].append_plainly(batch, cluster.clock.now_ms())


def fetched(cluster: Cluster, version: int, offset: int = 0, max_bytes: int = 1 << 20) -> Any:
    return ask(cluster, wanted(offset, max_bytes), version).responses[0].partitions[0]


def wanted(offset: int = 0, max_bytes: int = 1 << 20, *, wait_ms: int = 0) -> FetchRequest:
    part = FetchPartition(0, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=[FetchTopic("t", partitions=[part])])


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_headers_and_in_format_0_timestamps_are_lost(cluster: Cluster, codec: Codec) -> None:
    append(cluster, build_batch([row._replace(headers=(("h", b"1"),)) for row in ROWS], codec=codec))
    assert records_of(fetched(cluster, 3).records) == ROWS
    assert records_of(fetched(cluster, 1).records) == [row._replace(timestamp=-1) for row in ROWS]


def test_an_answer_is_as_long_as_what_was_read(cluster: Cluster) -> None:
    batches = [build_batch(ROWS), build_batch(ROWS)]
    append(cluster, *batches)
    assert len(fetched(cluster, 0).records) == len(b"".join(batches))


def test_zstd_is_not_converted(cluster: Cluster) -> None:
    append(cluster, build_batch(ROWS), build_batch(ROWS, codec=Codec.ZSTD))
    assert records_of(fetched(cluster, 3).records) == ROWS
    refused = fetched(cluster, 3, 3)
    assert (refused.error_code, refused.high_watermark) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1)


def test_a_broker_may_convert_nothing() -> None:
    cluster = Cluster(config={"odradek.kafka.version": "3.9", "log.message.downconversion.enable": "false"})
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    append(cluster, build_batch(ROWS))
    assert fetched(cluster, 3).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert fetched(cluster, 4).error_code == 0


def test_a_fetch_that_waited_is_converted() -> None:
    with odradek.KafkaBroker(kafka_version="3.9", topics={"t": 1}) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            request = wanted(wait_ms=60_000)
            sent = connection.send(request, 1)
            broker.produce("t", b"later")
            answer = connection.receive(request, 1, sent).responses[0].partitions[0]
    assert [record.value for record in records_of(answer.records)] == [b"later"]


@pytest.mark.parametrize("release", RELEASES)
def test_answers_as_recorded(release: str) -> None:
    check_as_recorded("fetch", release)


def test_batches_that_lie_in_a_file_are_converted() -> None:
    """The log of a broker that has used up its memory."""
    rows = [b"v" * 5000] * 100
    with odradek.KafkaBroker(kafka_version="3.9", topics={"t": 1}, config={"odradek.memory.bytes": 100_000}) as broker:
        for row in rows:
            broker.produce("t", row)
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            request = wanted()
            answer = connection.receive(request, 2, connection.send(request, 2)).responses[0].partitions[0]
    records = records_of(answer.records)
    assert [record.value for record in records] == rows
