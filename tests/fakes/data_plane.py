"""A cluster without a network for tests of handlers: requests go in as objects, responses come out as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.partitions.partition import Topic
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import Parked, is_coroutine
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.ask import handler_of
from tests.fakes.clocks import clock_at

START_MS = 1_800_000_000_000
"""Where the clock of these clusters stands at first."""


def without_tasks(cluster: Cluster) -> None:
    """Let the coordinators of a cluster that does not run have no tasks: their timers stand still."""
    coordinators = cluster.coordinators
    coordinators.surroundings = coordinators.surroundings._replace(start=lambda run: None)


class DataPlane:
    """A cluster, its clock standing at `START_MS` unless it is run, and short forms of the usual requests."""

    def __init__(
        self,
        *,
        nodes: int = 1,
        config: Mapping[str, str] | None = None,
        topics: Mapping[str, int] | None = None,
        frozen: bool = True,
    ) -> None:
        clock = clock_at(START_MS) if frozen else BrokerClock(start_ms=START_MS)
        self.cluster = Cluster(nodes=nodes, config=config or {}, clock=clock)
        self.connection = ConnectionInfo(host="broker.test")
        for name, partitions in (topics or {}).items():
            self.topic(name, partitions)

    def topic(self, name: str, partitions: int = 1, **configs: str) -> Topic:
        """Create a topic; `retention_ms="1"` means `retention.ms=1`."""
        values = {key.replace("_", "."): value for key, value in configs.items()}
        return self.cluster.create_topic(name, partitions=partitions, configs=values)

    def context(self, request: Any, version: int, *, node: int = 1, client_id: str | None = "test") -> RequestContext:
        return RequestContext(
            self.cluster.services, self.cluster.nodes[node], self.connection, request.API_KEY, version, 1, client_id
        )

    def call(self, request: Any, version: int | None = None, *, node: int = 1, client_id: str | None = "test") -> Any:
        """The handler's answer, or what it gives to wait for; the answer must be encodable in the version."""
        chosen = request.MAX_VERSION if version is None else version
        context = self.context(request, chosen, node=node, client_id=client_id)
        response = handler_of(request)(context, request)
        if response is not None and not isinstance(response, Parked) and not is_coroutine(response):
            codec(type(response), chosen).encode(response)
        return response

    # -- produce

    def produce(
        self,
        topic: str,
        records: Any,
        *,
        partition: int = 0,
        acks: int = -1,
        version: int = 9,
        node: int = 1,
        client_id: str | None = "test",
        transactional_id: str | None = None,
    ) -> PartitionProduceResponse:
        """Produce one batch (bytes, or a count of records) to one partition; its answer."""
        data = self.batch(records) if isinstance(records, int) else records
        found = self.cluster.topics.get(topic)
        asked = TopicProduceData(
            topic, found.topic_id if found else b"\1" * 16, [PartitionProduceData(partition, data)]
        )
        request = ProduceRequest(transactional_id, acks, 1000, [asked])
        response = self.call(request, version, node=node, client_id=client_id)
        answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
        return answer

    def batch(self, count: int = 1, *, size: int = 10, key: bytes | None = b"k", **fields: Any) -> memoryview:
        """A record batch as it comes from a producer."""
        at = fields.pop("timestamp", self.cluster.clock.now_ms())
        records = [Record(i, at, key, b"v" * size, ()) for i in range(count)]
        return memoryview(build_batch(records, **fields))

    def damage(self, topic: str, position: int, data: bytes) -> None:
        """Write over bytes of partition 0's first segment, as a failing medium might."""
        found = self.cluster.topics.get(topic)
        assert found is not None
        batches: Any = found.partitions[0].log.segments[0].stores.batches
        batches._last.filling.writer[position : position + len(data)] = data

    # -- fetch

    def fetch_request(
        self,
        wanted: Mapping[str, Sequence[tuple[int, int]] | int],
        *,
        max_wait_ms: int = 0,
        min_bytes: int = 1,
        max_bytes: int = 1 << 20,
        partition_max_bytes: int = 1 << 20,
        isolation_level: int = 0,
        session: tuple[int, int] = (0, -1),
        **fields: Any,
    ) -> FetchRequest:
        """`wanted`: topic -> offset in partition 0, or [(partition, offset)]; `session`: (id, epoch)."""
        topics = []
        for name, places in wanted.items():
            found = self.cluster.topics.get(name)
            pairs = [(0, places)] if isinstance(places, int) else places
            partitions = [
                FetchPartition(index, fetch_offset=offset, partition_max_bytes=partition_max_bytes, **fields)
                for index, offset in pairs
            ]
            topics.append(FetchTopic(name, found.topic_id if found else b"\1" * 16, partitions))
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            isolation_level=isolation_level,
            session_id=session[0],
            session_epoch=session[1],
            topics=topics,
        )

    def fetch(self, wanted: Mapping[str, Any], *, version: int = 12, node: int = 1, **options: Any) -> Any:
        """The answer to a fetch that need not wait."""
        return self.call(self.fetch_request(wanted, **options), version, node=node)


def partitions_of(response: Any) -> list[PartitionData]:
    """All partitions of a fetch response in its order."""
    return [data for topic in response.responses for data in topic.partitions]


def offsets_of(data: PartitionData) -> list[int]:
    """The offsets of the records that a partition's answer carries."""
    return [record.offset for batch in iter_batches(_bytes_of(data)) for record in batch.records()]


def _bytes_of(data: PartitionData) -> bytes:
    records = data.records or b""
    return bytes(records) if isinstance(records, bytes | bytearray | memoryview) else joined(records)


def size_of(data: PartitionData) -> int:
    """Bytes of records."""
    records: Any = data.records
    return sum(len(part) for part in records) if isinstance(records, list) else len(records)
