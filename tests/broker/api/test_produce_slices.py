"""Produce requests that take longer than a slice: large batches, and many partitions."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from odradek.broker.requests.context import CloseConnection
from odradek.broker.requests.parked_request import is_coroutine
from odradek.broker.worker import ThreadWork
from odradek.protocol.compression import DEFAULT_MAX_INFLATED, Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.ask import handler_of
from tests.fakes.data_plane import START_MS, DataPlane

PACKED = [codec for codec in Codec if codec]


def size_of(codec: Codec) -> int:
    """A size of a record that is more than is inflated between two requests."""
    return 4_300_000 if codec is Codec.SNAPPY else 600_000


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(topics={"a": 3})


def large(codec: Codec = Codec.ZSTD, size: int = 0, **fields: Any) -> bytes:
    """A small batch with one large record."""
    batch = build_batch([Record(0, START_MS, b"k", bytes(size or size_of(codec)))], codec=codec, **fields)
    assert len(batch) < 1_000_000
    return batch


def asks(topic: str, *batches: Any, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index, batch) for index, batch in enumerate(batches)]
    return ProduceRequest(None, acks, 1000, [TopicProduceData(topic, partition_data=data)])


async def answers(waiting: Any) -> list[PartitionProduceResponse]:
    assert is_coroutine(waiting)
    response: ProduceResponse = await waiting
    (topic,) = response.responses
    return topic.partition_responses


def codes(found: list[PartitionProduceResponse]) -> list[tuple[int, int, int]]:
    return [(each.index, each.error_code, each.base_offset) for each in found]


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_a_batch_that_inflates_far_is_appended_unchanged(plane: DataPlane, codec: Codec) -> None:
    sent = large(codec)
    assert codes(await answers(plane.call(asks("a", sent), 9))) == [(0, 0, 0)]
    log = plane.cluster.topics.get("a").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 20, up_to_offset=1).parts)
    assert bytes(batch.data)[21:] == sent[21:]


@pytest.mark.trio
async def test_small_batches_of_the_request_do_not_wait_for_the_large_one(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", plane.batch(), large(), plane.batch(2)), 9)
    ends = [each.log.log_end_offset for each in plane.cluster.topics.get("a").partitions]  # type: ignore[union-attr]
    assert ends == [1, 0, 2]
    assert codes(await answers(waiting)) == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


@pytest.mark.trio
async def test_what_others_append_meanwhile_comes_before_the_large_batch(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", large()), 9)
    assert plane.produce("a", 3).base_offset == 0
    assert codes(await answers(waiting)) == [(0, 0, 3)]


@pytest.mark.trio
async def test_the_log_append_time_is_that_of_the_append(plane: DataPlane) -> None:
    plane.topic("stamped", message_timestamp_type="LogAppendTime")
    waiting = plane.call(asks("stamped", large()), 9)

    real = plane.cluster.services.worker.do

    async def slow(work: Any, shared: Any = None) -> Any:
        result = await real(work, shared)
        plane.cluster.clock.advance(seconds=5)
        return result

    plane.cluster.services.worker.do = slow  # type: ignore[method-assign]
    (answer,) = await answers(waiting)
    assert (answer.error_code, answer.log_append_time_ms) == (0, START_MS + 5000)
    log = plane.cluster.topics.get("stamped").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 20, up_to_offset=1).parts)
    assert batch.max_timestamp == START_MS + 5000
    assert batch.is_crc_valid


@pytest.mark.trio
async def test_a_large_batch_that_is_sent_again_is_a_duplicate(plane: DataPlane) -> None:
    sent = large(producer_id=7, producer_epoch=0, base_sequence=0)
    for _ in range(2):
        assert codes(await answers(plane.call(asks("a", sent), 9))) == [(0, 0, 0)]
    out_of_order = large(producer_id=7, producer_epoch=0, base_sequence=5)
    (answer,) = await answers(plane.call(asks("a", out_of_order), 9))
    assert answer.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert answer.log_start_offset == 0


@pytest.mark.trio
async def test_a_topic_that_is_deleted_meanwhile_is_unknown(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", large()), 9)
    plane.cluster.delete_topic("a")
    assert codes(await answers(waiting)) == [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]


@pytest.mark.long("inflates_beyond")
@pytest.mark.trio
async def test_a_batch_that_inflates_beyond_the_limit_is_refused_with_a_reason(plane: DataPlane) -> None:
    (answer,) = await answers(plane.call(asks("a", large(size=DEFAULT_MAX_INFLATED)), 9))
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (ErrorCode.INVALID_RECORD, -1, 0)
    assert answer.error_message == f"The batch for a-0 has more than {DEFAULT_MAX_INFLATED} bytes decompressed"


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_the_limit_of_the_topic_counts_what_is_decompressed(plane: DataPlane, codec: Codec) -> None:
    plane.topic("small", max_decompressed_message_bytes=str(size_of(codec)))
    (answer,) = await answers(plane.call(asks("small", large(codec)), 9))
    assert (answer.error_code, answer.log_start_offset) == (ErrorCode.INVALID_RECORD, 0)


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_large_batches_of_a_request_have_a_common_limit(plane: DataPlane, codec: Codec) -> None:
    request = asks("a", large(codec), large(codec), large(codec))
    context = plane.context(request, 9)
    context.long_work = ThreadWork()
    context.long_work.left = size_of(codec) * 3 // 2
    first, *others = await answers(handler_of(request)(context, request))
    assert first.error_code == 0
    for each in others:
        assert (each.error_code, each.base_offset) == (ErrorCode.MESSAGE_TOO_LARGE, -1)
        assert each.error_message == "The batches of a request inflate to more than 536870912 bytes together"


@pytest.mark.trio
async def test_a_damaged_large_batch_is_refused_as_a_small_one_is(plane: DataPlane) -> None:
    plane.topic("compact", cleanup_policy="compact")
    keyless = build_batch([Record(0, START_MS, None, bytes(size_of(Codec.ZSTD)))], codec=Codec.ZSTD)
    (answer,) = await answers(plane.call(asks("compact", keyless), 9))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [(each.batch_index, each.batch_index_error_message) for each in answer.record_errors] == [
        (0, "Compacted topic cannot accept message without key in topic partition compact-0")
    ]


@pytest.mark.trio
async def test_without_acks_a_large_batch_is_appended_and_a_bad_one_closes_the_connection(plane: DataPlane) -> None:
    assert await plane.call(asks("a", large(), acks=0), 9) is None
    log = plane.cluster.topics.get("a").partitions[0].log  # type: ignore[union-attr]
    assert log.log_end_offset == 1
    plane.topic("small", max_decompressed_message_bytes=str(size_of(Codec.ZSTD)))
    with pytest.raises(CloseConnection):
        await plane.call(asks("small", large(), acks=0), 9)


@pytest.mark.trio
@pytest.mark.parametrize("target", Codec)
async def test_a_large_batch_gets_the_codec_of_its_topic(plane: DataPlane, target: Codec) -> None:
    name = target.name.lower() if target else "uncompressed"
    plane.topic("packed", compression_type=name, max_message_bytes="6000000")
    source = Codec.GZIP if target is Codec.ZSTD else Codec.ZSTD
    (answer,) = await answers(plane.call(asks("packed", large(source)), 9))
    assert answer.error_code == 0
    log = plane.cluster.topics.get("packed").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 23, up_to_offset=1).parts)
    assert batch.codec is target
    assert batch.is_crc_valid
    assert list(batch.records()) == [Record(0, START_MS, b"k", bytes(size_of(source)))]


@pytest.mark.trio
async def test_others_are_served_between_the_slices_of_a_request_for_many_partitions() -> None:
    plane = DataPlane(topics={"many": 100})
    served: list[int] = []
    partitions = plane.cluster.topics.get("many").partitions  # type: ignore[union-attr]

    async def watch() -> None:
        while True:
            served.append(sum(each.opened for each in partitions))
            await trio.lowlevel.checkpoint()

    batch = plane.batch(2000, size=0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        found = await answers(plane.call(asks("many", *[batch] * 100), 9))
        nursery.cancel_scope.cancel()
    assert codes(found) == [(index, 0, 0) for index in range(100)]
    assert len(set(served)) >= 3


@pytest.mark.long("refused_records")
@pytest.mark.trio
async def test_an_answer_names_a_limited_number_of_refused_records(plane: DataPlane) -> None:
    plane.topic("compact", 20, cleanup_policy="compact")
    keyless = plane.batch(1500, key=None, size=0)
    found = await answers(plane.call(asks("compact", *[keyless] * 20), 9))
    assert {each.error_code for each in found} == {ErrorCode.INVALID_RECORD}
    assert {(each.error_message or "").partition(" in total")[0] for each in found} == {
        "One or more records have been rejected due to 1500 record errors"
    }
    assert [len(each.record_errors) for each in found] == [1000] * 10 + [0] * 10
