"""What one request costs inside the broker: frame -> header -> decode -> handler -> log -> encode, without sockets.

Run: `python tests/bench/bench_produce_path.py [--profile produce|fetch]`. Prints microseconds of CPU for each request,
the best of several rounds, whole (through the dispatcher) and for the handler alone.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable
from typing import Any

from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.headers import RequestHeader, encode_request_header
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.ask import handler_of

ROUNDS = 7
REQUESTS = 4000


class Bench:
    """A cluster without a network, and request frames for it."""

    def __init__(self) -> None:
        self.cluster = Cluster(config={"log.retention.bytes": str(64 << 20), "log.segment.bytes": str(16 << 20)})
        self.topic = self.cluster.create_topic("bench", partitions=1)
        self.connection = ConnectionInfo()

    def context(self, key: int, version: int) -> RequestContext:
        return RequestContext(self.cluster.services, self.cluster.nodes[1], self.connection, key, version, 7, "bench")

    def batch(self, value_bytes: int, producer_id: int = -1) -> bytes:
        record = Record(0, self.cluster.clock.now_ms(), None, b"x" * value_bytes, ())
        if producer_id < 0:
            return build_batch([record])
        return build_batch([record], producer_id=producer_id, producer_epoch=0, base_sequence=0)

    def produce(self, value_bytes: int) -> ProduceRequest:
        data = PartitionProduceData(0, memoryview(self.batch(value_bytes)))
        return ProduceRequest(None, -1, 30000, [TopicProduceData("bench", self.topic.topic_id, [data])])

    def fetch(self, offset: int, max_bytes: int) -> FetchRequest:
        asked = FetchPartition(0, fetch_offset=offset, partition_max_bytes=max_bytes)
        return FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=max_bytes,
            session_epoch=-1,
            topics=[FetchTopic("bench", self.topic.topic_id, [asked])],
        )

    def whole(self, request: Any, version: int) -> Callable[[], Any]:
        """One call = one frame through the dispatcher."""
        header = encode_request_header(RequestHeader(request.API_KEY, version, 7, "bench"))
        frame = memoryview(header + codec(type(request), version).encode(request))
        node = self.cluster.nodes[1]
        begin = self.cluster.dispatcher.begin
        assert isinstance(begin(node, self.connection, frame), list), "the request had to wait"
        return lambda: begin(node, self.connection, frame)

    def handler(self, request: Any, version: int) -> Callable[[], Any]:
        """One call = the handler alone."""
        function = handler_of(request)
        context = self.context(request.API_KEY, version)
        return lambda: function(context, request)


def microseconds(call: Callable[[], Any], requests: int = REQUESTS) -> float:
    """CPU time of one call: the best round's mean."""
    call()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        for _ in range(requests):
            call()
        best = min(best, (time.process_time_ns() - start) / requests / 1000)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", choices=("produce", "fetch"), help="print where the time of one path goes")
    arguments = parser.parse_args()
    bench = Bench()
    produce, fetch = bench.produce(100), bench.fetch(0, 100)
    bench.handler(produce, 9)()
    if arguments.profile:
        call = bench.whole(produce if arguments.profile == "produce" else fetch, 12)
        profile = cProfile.Profile()
        profile.runcall(lambda: [call() for _ in range(20_000)])
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    rows = [
        ("produce v9, 100 bytes", produce, 9),
        ("produce v13, 100 bytes", produce, 13),
        ("produce v13, 10,000 bytes", bench.produce(10_000), 13),
        ("fetch v12, one batch", fetch, 12),
        ("fetch v17, one batch", fetch, 17),
    ]
    print(f"{'':28} {'whole us':>10} {'handler us':>11}")
    for name, request, version in rows:
        if isinstance(request, FetchRequest):
            log = bench.topic.partitions[0].log
            request.topics[0].partitions[0].fetch_offset = log.log_end_offset - 1
        whole, alone = microseconds(bench.whole(request, version)), microseconds(bench.handler(request, version))
        print(f"{name:28} {whole:10.2f} {alone:11.2f}")
    print(f"{'session of 1,000 partitions':28} {'':10} {microseconds(session_of(1000), 100):11.2f}")


def session_of(partitions: int) -> Callable[[], Any]:
    """One call = a record produced to one partition and fetched in a session that follows many."""
    bench = Bench()
    topic = bench.cluster.create_topic("wide", partitions=partitions)
    asked = [FetchPartition(index, partition_max_bytes=1000) for index in range(partitions)]
    handler = handler_of(FetchRequest)
    context = bench.context(FetchRequest.API_KEY, 13)
    request = FetchRequest(max_bytes=100_000, session_epoch=0, topics=[FetchTopic("wide", topic.topic_id, asked)])
    session_id = handler(context, request).session_id
    state = {"epoch": 0}
    batch = bench.batch(100)

    def once() -> None:
        partition = topic.partitions[7]
        partition.append(batch, now_ms=bench.cluster.clock.now_ms())
        state["epoch"] += 1
        moved = FetchPartition(7, fetch_offset=partition.log.log_end_offset - 1, partition_max_bytes=1000)
        topics = [FetchTopic("wide", topic.topic_id, [moved])]
        answer = handler(
            context,
            FetchRequest(max_bytes=100_000, session_id=session_id, session_epoch=state["epoch"], topics=topics),
        )
        assert len(answer.responses[0].partitions) == 1

    return once


if __name__ == "__main__":
    main()
