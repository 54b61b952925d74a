"""What records cost a broker in memory: so many bytes through a topic of default retention, and all of them back.

Prints the broker's resident memory, the rates and the longest waits, after each gigabyte in and at the end. Linux.

    python -m tests.bench.bench_memory [--gigabytes 10] [--limit BYTES] [--tree OTHER_WORKING_TREE]
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
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
        self.longest_s = 0.0
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        self.client.request(CreateTopicsRequest(topics=[topic], timeout_ms=30_000))

    def put(self, size: int) -> None:
        """Produce values of about so many bytes, in batches of 900 KB, each with other values."""
        for _ in range(max(1, size // (_VALUE * _RECORDS))):
            values = [b"%0900d" % number for number in range(self.count, self.count + _RECORDS)]
            self._produce(build_batch([Record(at, 0, None, value) for at, value in enumerate(values)]))
            for value in values:
                self.digest.update(value)

    def put_again_and_again(self, size: int) -> None:
        """Produce about so many bytes, always the same batch of 900 KB: the broker is the slower one."""
        value = b"v" * _VALUE
        batch = build_batch([Record(at, 0, None, value) for at in range(_RECORDS)])
        for _ in range(max(1, size // len(batch))):
            self._produce(batch)

    def _produce(self, batch: bytes) -> None:
        data = [TopicProduceData(self.name, partition_data=[PartitionProduceData(0, batch)])]
        request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=data)
        began = time.monotonic()
        (answer,) = self.client.request(request, max_version=_PRODUCE).responses[0].partition_responses
        self.longest_s = max(self.longest_s, time.monotonic() - began)
        assert not answer.error_code, answer
        self.count += _RECORDS

    def fetched(self, begin: int = 0) -> Iterator[memoryview]:
        """All record sets from an offset on, as they are fetched."""
        offset = begin
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


class Bystander:
    """Another client, which asks for the broker's versions all the while: how long it has to wait for an answer."""

    def __init__(self, port: int) -> None:
        self._client = WireClient("127.0.0.1", port)
        self._over = threading.Event()
        self._waits: list[float] = []
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def _ask(self) -> None:
        while not self._over.wait(0.005):
            began = time.monotonic()
            self._client.request(ApiVersionsRequest(client_software_name="bench", client_software_version="1"))
            self._waits.append(time.monotonic() - began)

    def told(self) -> str:
        """What it saw since the last time."""
        waits, self._waits = sorted(self._waits), []
        if not waits:
            return "no answer"
        return f"{waits[len(waits) // 2] * 1e3:.1f} ms by median, {waits[-1] * 1e3:.0f} ms at most"

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        self._client.close()


class Peak:
    """The largest resident memory of a process, looked at every 20 ms."""

    def __init__(self, pid: int) -> None:
        self.highest = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.02):
            self.highest = max(self.highest, resident(self._pid))

    def end(self) -> None:
        self._over.set()
        self._thread.join()


def measure(broker: Odradek, gigabytes: int) -> None:
    """Print what so many gigabytes in one go do to a broker, and how they come back."""
    pid = broker.process.pid
    stream, bystander, peak = Stream(broker.port), Bystander(broker.port), Peak(pid)
    try:
        print(f"idle: {resident(pid) >> 20} MiB", flush=True)
        for gigabyte in range(1, gigabytes + 1):
            stream.longest_s = 0.0
            began, cpu = time.monotonic(), broker.cpu_seconds()
            stream.put_again_and_again(1_000_000_000)
            rate = 1000 / (time.monotonic() - began)
            print(
                f"{gigabyte} GB in: {resident(pid) >> 20} MiB (at most {peak.highest >> 20}), {rate:.0f} MB/s, "
                f"{broker.cpu_seconds() - cpu:.2f} s CPU, longest produce {stream.longest_s * 1e3:.0f} ms; "
                f"bystander {bystander.told()}",
                flush=True,
            )
        for title in ("all of it back", "once more"):
            began, cpu = time.monotonic(), broker.cpu_seconds()
            size = sum(map(len, stream.fetched(_oldest(stream))))
            rate = size / (time.monotonic() - began) / 1e6
            print(
                f"{title}: {size / 1e9:.1f} GB, {resident(pid) >> 20} MiB (at most {peak.highest >> 20}), "
                f"{rate:.0f} MB/s, {broker.cpu_seconds() - cpu:.2f} s CPU; bystander {bystander.told()}",
                flush=True,
            )
    finally:
        bystander.end()
        peak.end()
        stream.close()


def _oldest(stream: Stream) -> int:
    partitions = [ListOffsetsPartition(partition_index=0, current_leader_epoch=-1, timestamp=-2)]
    request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=stream.name, partitions=partitions)])
    offset: int = stream.client.request(request, max_version=7).topics[0].partitions[0].offset
    return offset


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_memory", description="memory of a broker")
    parser.add_argument("--gigabytes", type=int, default=10)
    parser.add_argument("--limit", help="odradek.memory.bytes")
    parser.add_argument("--tree", type=Path, help="another working tree, whose broker is measured")
    options = parser.parse_args(arguments)
    config = {} if options.limit is None else {"odradek.memory.bytes": options.limit}
    broker = Odradek(config, package=None if options.tree is None else options.tree / "src")
    try:
        measure(broker, options.gigabytes)
    finally:
        broker.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
