"""Old consumers get messages of format 0 and 1, as Kafka converts batches for them."""

from __future__ import annotations

from typing import Any

import pytest

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.worker import ThreadWork
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.long_work import MAX_INFLATED_OF_REQUEST
from odradek.protocol.message_sets import LEAST_MESSAGE, records_of, to_message_set
from odradek.protocol.record_batch import batch_size_at, build_batch, read_batch
from odradek.protocol.records import Record
from odradek.wire_client import WireConnection
from tests.fakes.ask import ask, ask_patiently, let_inflate
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


MANY = [Record(index, 1_700_000_000_000 + index, b"k", b"v") for index in range(6000)]


async def converted(cluster: Cluster, version: int, **fields: Any) -> Any:
    answer = await ask_patiently(cluster, wanted(**fields), version)
    return answer.responses[0].partitions[0]


@pytest.mark.trio
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
async def test_a_batch_of_many_records_is_converted_in_the_thread(cluster: Cluster, codec: Codec) -> None:
    batch = build_batch(MANY, codec=codec)
    append(cluster, batch)
    for version in (1, 3):
        found = (await converted(cluster, version)).records
        whole = to_message_set(read_batch(batch), version // 2)
        assert found[: len(whole)] == whole[: len(found)]
        assert len(found) == max(len(batch), len(whole))


@pytest.mark.trio
async def test_not_more_batches_are_converted_than_the_answer_has_room_for(cluster: Cluster) -> None:
    real = cluster.services.worker.do
    works: list[ThreadWork] = []

    async def noted(work: Any, shared: Any = None) -> Any:
        works.append(shared)
        return await real(work, shared)

    cluster.services.worker.do = noted  # type: ignore[method-assign]
    batch = build_batch(MANY)
    append(cluster, *[batch] * 10)
    found = (await converted(cluster, 3, max_bytes=9 * len(batch))).records
    assert len(found) == 9 * len(batch)
    assert records_of(found)[:12_000] == [row._replace(offset=index) for index, row in enumerate(MANY * 2)]
    (work,) = works
    assert MAX_INFLATED_OF_REQUEST - work.left <= 4 * (len(batch) + LEAST_MESSAGE * len(MANY))


@pytest.mark.trio
async def test_older_fetch_of_records_that_cannot_be_converted_is_refused(cluster: Cluster) -> None:
    append(cluster, build_batch(MANY, codec=Codec.ZSTD))
    assert fetched(cluster, 3).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.trio
async def test_partitions_get_nothing_once_the_batches_of_the_answer_have_inflated_too_far(cluster: Cluster) -> None:
    let_inflate(cluster, 300_000)
    cluster.controller.create_topic(NewTopic("u", 1, 1))
    request = wanted()
    request.topics += [FetchTopic("u", partitions=request.topics[0].partitions)]
    for topic in ("t", "u"):
        append(cluster, build_batch(MANY, codec=Codec.GZIP), topic=topic)
    answer = await ask_patiently(cluster, request, 3)
    first, second = (topic.partitions[0] for topic in answer.responses)
    assert records_of(first.records) == MANY
    assert (second.error_code, second.high_watermark, second.records) == (0, 6000, b"")


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_headers_and_in_format_0_timestamps_are_lost(cluster: Cluster, codec: Codec) -> None:
    append(cluster, build_batch([row._replace(headers=(("h", b"1"),)) for row in ROWS], codec=codec))
    assert records_of(fetched(cluster, 3).records) == ROWS
    assert records_of(fetched(cluster, 1).records) == [row._replace(timestamp=-1) for row in ROWS]


def test_an_answer_is_as_long_as_what_was_read(cluster: Cluster) -> None:
    batches = [build_batch(ROWS), build_batch(ROWS)]
    append(cluster, *batches)
    assert len(fetched(cluster, 0).records) == len(b"".join(batches))


@pytest.mark.parametrize("max_bytes", [0, -1])
def test_without_room_an_older_client_gets_nothing_before_version_3(cluster: Cluster, max_bytes: int) -> None:
    """Version 3 brought a whole first batch, whatever the limits (KIP-74)."""
    append(cluster, build_batch(ROWS))
    assert not fetched(cluster, 2, max_bytes=max_bytes).records
    assert records_of(fetched(cluster, 3, max_bytes=0).records) == ROWS


def test_zstd_is_not_converted(cluster: Cluster) -> None:
    append(cluster, build_batch(ROWS), build_batch(ROWS, codec=Codec.ZSTD))
    assert records_of(fetched(cluster, 3).records) == ROWS
    refused = fetched(cluster, 3, 3)
    assert (refused.error_code, refused.high_watermark) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1)
    assert (refused.records, refused.aborted_transactions) == (None, [])


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
def test_older_fetch_is_answered_as_recorded(release: str) -> None:
    check_as_recorded("fetch", release)


@pytest.mark.parametrize("release", [pytest.param(name, marks=pytest.mark.long) for name in ("2.8", "3.9")])
def test_logs_of_older_formats_are_as_recorded(release: str) -> None:
    check_as_recorded("formats_of_topics", release)


def test_a_changed_format_is_that_of_what_is_appended_later() -> None:
    """All versions of Fetch get the messages as they were kept; only a log of a newer format is converted."""
    cluster = Cluster(config={"odradek.kafka.version": "2.8"})
    cluster.controller.create_topic(NewTopic("t", 1, 1))
    found = []
    for kept in ("0.9.0", "2.8", "0.10.2"):
        change = AlterConfigsResource(2, "t", [AlterableConfig("message.format.version", 0, kept)])
        assert not ask(cluster, IncrementalAlterConfigsRequest([change])).responses[0].error_code
        append(cluster, build_batch(ROWS))
        found.append([list(dict.fromkeys(each[16] for each in split(cluster, version))) for version in (1, 3, 4)])
    assert found == [[[0], [0], [0]], [[0], [0, 1], [0, 2]], [[0], [0, 2, 1], [0, 2, 1]]]


def split(cluster: Cluster, version: int) -> list[bytes]:
    """The messages and batches that a version of Fetch gets."""
    records = fetched(cluster, version).records
    found, pos = [], 0
    while size := batch_size_at(records, pos):
        found.append(bytes(records[pos : pos + size]))
        pos += size
    return found


def test_a_session_goes_on_with_messages_of_an_older_format() -> None:
    config = {"log.message.format.version": "0.10.2"}
    with odradek.KafkaBroker(kafka_version="2.8", topics={"t": 1}, config=config) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            request = wanted()
            request.session_epoch = 0
            opened = connection.receive(request, 11, connection.send(request, 11))
            assert opened.session_id
            broker.produce("t", b"later")
            goes_on = FetchRequest(max_wait_ms=0, min_bytes=1, session_id=opened.session_id, session_epoch=1)
            answer = connection.receive(goes_on, 11, connection.send(goes_on, 11)).responses[0].partitions[0]
    assert (answer.records[16], [record.value for record in records_of(answer.records)]) == (1, [b"later"])


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
