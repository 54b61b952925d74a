"""What a broker takes of the memory: little when idle, and a limit for what it holds."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator

import pytest

import odradek
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch, iter_batches
from odradek.wire_client import WireClient
from tests.bench.brokers import Odradek

MB = 1024 * 1024
_VALUE = 900
_RECORDS = 1000
_PRODUCE, _FETCH = 9, 11


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
        """Produce values of about so many bytes, in batches of 900 KB, each with other values."""
        for _ in range(max(1, size // (_VALUE * _RECORDS))):
            values = [b"%0900d" % number for number in range(self.count, self.count + _RECORDS)]
            self._produce(build_batch([Record(at, 0, None, value) for at, value in enumerate(values)]))
            for value in values:
                self.digest.update(value)

    def _produce(self, batch: bytes) -> None:
        data = [TopicProduceData(self.name, partition_data=[PartitionProduceData(0, batch)])]
        request = ProduceRequest(acks=1, timeout_ms=30_000, topic_data=data)
        (answer,) = self.client.request(request, max_version=_PRODUCE).responses[0].partition_responses
        assert not answer.error_code, answer
        self.count += _RECORDS

    def fetched(self) -> Iterator[memoryview]:
        """All record sets, as they are fetched."""
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


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_memory_limit_moves_records_to_a_file() -> None:
    broker = Odradek({"odradek.memory.bytes": str(16 * MB)})
    try:
        stream = Stream(broker.port)
        stream.put(20 * MB)
        full = broker.memory_mb()
        stream.put(180 * MB)
        assert broker.memory_mb() < full + 30
        assert stream.digest_of_fetched() == stream.digest.digest()
        # Maps of what is in the file are let go: nothing grows with what was read.
        assert broker.memory_mb() < full + 100
        stream.close()
    finally:
        broker.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_an_idle_broker_is_small() -> None:
    """How much of the extension module is mapped beside what is used of it depends on the page cache: some MB."""
    broker = Odradek()
    try:
        assert broker.memory_mb() < (44 if odradek.compiled else 40)
    finally:
        broker.stop()
