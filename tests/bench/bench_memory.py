"""What records cost a broker in memory: so many bytes through a topic of default retention, and all of them back.

Prints the broker's resident memory and the rates, after each gigabyte in and at the end. Linux.

    python -m tests.bench.bench_memory [--gigabytes 10] [--limit BYTES]
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from odradek.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch, iter_batches
from odradek.wire_client import WireClient
from tests.bench.brokers import Odradek

_VALUE = 900
_RECORDS = 1000
_PRODUCE, _FETCH = 9, 11


def resident(pid: int) -> int:
    """The resident memory of a process in bytes, mapped files included."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


class Stream:
    """A topic, what goes in and what comes back. `digest` is of the values that went in, in their order."""

    def __init__(self, port: int, name: str = "through") -> None:
        self.client = WireClient("127.0.0.1", port)
        self.name = name
        self.count = 0
        self.digest = hashlib.blake2b()
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        self.client.request(CreateTopicsRequest(topics=[topic], timeout_ms=30_000))

    def put(self, size: int) -> None:
        """Produce values of about so many bytes, in batches of 900 KB."""
        for _ in range(max(1, size // (_VALUE * _RECORDS))):
            values = [b"%0900d" % number for number in range(self.count, self.count + _RECORDS)]
            batch = build_batch([Record(at, 0, None, value) for at, value in enumerate(values)])
            data = [TopicProduceData(self.name, partition_data=[PartitionProduceData(0, batch)])]
            request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=data)
            (answer,) = self.client.request(request, max_version=_PRODUCE).responses[0].partition_responses
            assert not answer.error_code, answer
            self.count += _RECORDS
            for value in values:
                self.digest.update(value)

    def fetched(self) -> Iterator[memoryview]:
        """All record sets from the beginning on, as they are fetched."""
        offset = 0
        while offset < self.count:
            partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=4 << 20)
            topics = [FetchTopic(self.name, partitions=[partition])]
            request = FetchRequest(max_wait_ms=1000, min_bytes=1, max_bytes=64 << 20, topics=topics)
            (answer,) = self.client.request(request, max_version=_FETCH).responses[0].partitions
            assert not answer.error_code, answer
            assert isinstance(answer.records, memoryview)
            yield answer.records
            offset = max(batch.next_offset for batch in iter_batches(answer.records))

    def digest_of_fetched(self) -> bytes:
        """The digest of the values that come back."""
        digest = hashlib.blake2b()
        for records in self.fetched():
            for batch in iter_batches(records):
                for record in batch.records():
                    digest.update(record.value or b"")
        return digest.digest()

    def close(self) -> None:
        self.client.close()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_memory", description="memory of a broker")
    parser.add_argument("--gigabytes", type=int, default=10)
    parser.add_argument("--limit", help="odradek.memory.bytes")
    options = parser.parse_args(arguments)
    broker = Odradek({} if options.limit is None else {"odradek.memory.bytes": options.limit})
    try:
        stream = Stream(broker.port)
        print(f"idle: {resident(broker.process.pid) >> 20} MiB", flush=True)
        for gigabyte in range(1, options.gigabytes + 1):
            began = time.monotonic()
            stream.put(1_000_000_000)
            rate = 1000 / (time.monotonic() - began)
            print(f"{gigabyte} GB in: {resident(broker.process.pid) >> 20} MiB, {rate:.0f} MB/s", flush=True)
        for title in ("all of it back", "once more"):
            began = time.monotonic()
            size = sum(map(len, stream.fetched()))
            rate = size / (time.monotonic() - began) / 1e6
            print(f"{title}: {resident(broker.process.pid) >> 20} MiB, {rate:.0f} MB/s", flush=True)
        stream.close()
    finally:
        broker.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
