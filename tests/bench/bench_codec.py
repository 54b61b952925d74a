"""Microseconds per message for the codecs: `python -m tests.bench.bench_codec`.

`compiled` is what the broker runs, `construct` the interpreted declaration that it is generated from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from timeit import Timer

from odradek.protocol.generated.messages import fetch, metadata, produce
from odradek.protocol.message import VersionedMessage
from odradek.protocol.message_codec import MessageCodec, codec

REPEATS = 5


def produce_request(size: int) -> VersionedMessage:
    partition = produce.PartitionProduceData(index=3, records=bytes(size))
    topic = produce.TopicProduceData(name="orders", topic_id=bytes(range(16)), partition_data=[partition])
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response() -> VersionedMessage:
    partition = produce.PartitionProduceResponse(index=3, base_offset=1_000, log_start_offset=0)
    topic = produce.TopicProduceResponse(name="orders", topic_id=bytes(range(16)), partition_responses=[partition])
    return produce.ProduceResponse(responses=[topic])


def fetch_request() -> VersionedMessage:
    partition = fetch.FetchPartition(partition=3, fetch_offset=1_000, partition_max_bytes=1 << 20)
    topic = fetch.FetchTopic(topic="orders", topic_id=bytes(range(16)), partitions=[partition])
    return fetch.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 << 20, topics=[topic])


def fetch_response(size: int) -> VersionedMessage:
    partition = fetch.PartitionData(
        partition_index=3, high_watermark=1_100, last_stable_offset=1_100, log_start_offset=0, records=bytes(size)
    )
    topic = fetch.FetchableTopicResponse(topic="orders", topic_id=bytes(range(16)), partitions=[partition])
    return fetch.FetchResponse(responses=[topic])


def metadata_response(partitions: int) -> VersionedMessage:
    rows = [
        metadata.MetadataResponsePartition(
            partition_index=index, leader_id=1, leader_epoch=4, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3]
        )
        for index in range(partitions)
    ]
    brokers = [metadata.MetadataResponseBroker(node_id=node, host="127.0.0.1", port=9092) for node in (1, 2, 3)]
    topic = metadata.MetadataResponseTopic(name="orders", topic_id=bytes(range(16)), partitions=rows)
    return metadata.MetadataResponse(brokers=brokers, cluster_id="cluster", controller_id=1, topics=[topic])


def cases() -> Iterator[tuple[str, VersionedMessage, int]]:
    yield "Produce v9 request, 1 KiB", produce_request(1024), 9
    yield "Produce v9 request, 900 KB", produce_request(900_000), 9
    yield "Produce v12 response", produce_response(), 12
    yield "Fetch v12 request", fetch_request(), 12
    yield "Fetch v17 request", fetch_request(), 17
    yield "Fetch v12 response, 1 KiB", fetch_response(1024), 12
    yield "Fetch v12 response, 4 MB", fetch_response(4_000_000), 12
    yield "Metadata v12 response, 100 partitions", metadata_response(100), 12
    yield "Metadata v12 response, 1,000 partitions", metadata_response(1_000), 12


def microseconds(run: Callable[[], object]) -> float:
    """The best of some runs."""
    timer = Timer(run)
    number, spent = timer.autorange()
    best = min([spent, *timer.repeat(REPEATS - 1, number)])
    return best / number * 1e6


def measure(codec_: MessageCodec[VersionedMessage], message: VersionedMessage) -> tuple[float, float, float, float]:
    frame = memoryview(codec_.encode(message))
    title = type(message).__name__
    return (
        microseconds(lambda: codec_.decode(frame)),
        microseconds(lambda: codec_.encode_parts(message)),
        microseconds(lambda: codec_.construct._parse(BytesIO(frame), None, title)),
        microseconds(lambda: codec_.construct._build(message, BytesIO(), None, title)),
    )


def main() -> int:
    print(f"{'microseconds':42}{'compiled':>20}{'construct':>20}")
    print(f"{'':42}{'parse':>10}{'build':>10}{'parse':>10}{'build':>10}")
    for name, message, version in cases():
        figures = measure(codec(type(message), version), message)
        print(f"{name:42}" + "".join(f"{figure:10.2f}" for figure in figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
