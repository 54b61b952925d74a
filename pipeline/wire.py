"""A small blocking Kafka client over the project's own codecs: metadata, offsets, fetch and produce.

It serves the data source and the jobs, which read batches as they lie in the log and write records with their own
timestamps and partitions; Spark's connector can do neither. PLAINTEXT only.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from types import TracebackType
from typing import Any, NamedTuple, Self

from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.headers import RequestHeader, decode_response_header, encode_request_header
from odradek.protocol.messages.api_versions import ApiVersionsRequest
from odradek.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.registry import API_BY_KEY
from odradek.protocol.schema import codec

_SIZE = Struct(">i")
_CLIENT_ID = "odradek-pipeline"
_MAX_FRAME = 256 * 1024 * 1024

_MAX_IDLE_FETCHES = 20

EARLIEST = -2
LATEST = -1

# The newest versions this client speaks where that is not the newest of all: Fetch and Produce by topic name.
_NEWEST = {1: 12, 0: 12, 2: 9, 3: 12}

TopicPartition = tuple[str, int]


class Fetched(NamedTuple):
    """One partition's part of a fetch: whole batches, the aborted transactions in them, and the log's bounds."""

    records: memoryview
    aborted: list[tuple[int, int]]
    """(producer id, first offset)"""
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int


class Connection:
    """One connection to one broker; a request at a time."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0
        self._versions: dict[int, tuple[int, int]] = {18: (0, 0)}
        answer = self.request(ApiVersionsRequest())
        if answer.error_code:
            raise KafkaError(ErrorCode(answer.error_code), f"ApiVersions of {host}:{port}")
        self._versions.update({each.api_key: (each.min_version, each.max_version) for each in answer.api_keys})

    def close(self) -> None:
        self._socket.close()

    def request(self, request: Any) -> Any:
        """Send in the newest version that both sides speak and wait for the answer."""
        version = self._version(type(request))
        spec = API_BY_KEY[request.API_KEY]
        self._correlation_id += 1
        header = encode_request_header(RequestHeader(spec.key, version, self._correlation_id, _CLIENT_ID))
        body = codec(type(request), version).encode(request)
        self._socket.sendall(_SIZE.pack(len(header) + len(body)) + header + body)
        frame = self._receive(self._receive_size())
        answered, offset = decode_response_header(frame, spec.response_header_version(version))
        if answered.correlation_id != self._correlation_id:
            raise ProtocolError(f"answer to request {answered.correlation_id}, expected {self._correlation_id}")
        return codec(spec.response, version).decode(frame, offset)[0]

    def _version(self, message: Any) -> int:
        key = message.API_KEY
        oldest, newest = self._versions.get(key, (0, -1))
        version = min(newest, message.MAX_VERSION, _NEWEST.get(key, message.MAX_VERSION))
        if version < max(oldest, message.MIN_VERSION):
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION, f"the broker speaks {API_BY_KEY[key].name} {oldest}-{newest}"
            )
        return int(version)

    def _receive_size(self) -> int:
        (size,) = _SIZE.unpack(self._receive(4))
        if not 0 <= size <= _MAX_FRAME:
            raise ProtocolError(f"an answer of {size} bytes")
        return int(size)

    def _receive(self, size: int) -> memoryview:
        buffer = memoryview(bytearray(size))
        got = 0
        while got < size:
            count = self._socket.recv_into(buffer[got:])
            if not count:
                raise ConnectionError("the broker closed the connection")
            got += count
        return buffer


class WireClient:
    """Requests to the right broker of a cluster; connections are opened when they are needed."""

    def __init__(self, bootstrap_servers: str, *, timeout_s: float = 30.0) -> None:
        self._bootstrap = [_address(text) for text in bootstrap_servers.split(",") if text.strip()]
        if not self._bootstrap:
            raise ValueError("bootstrap servers: host:port, separated by commas")
        self._timeout_s = timeout_s
        self._connections: dict[tuple[str, int], Connection] = {}
        self._leaders: dict[TopicPartition, tuple[str, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # -- who leads what

    def topics(self, names: Iterable[str] | None = None) -> dict[str, list[int]]:
        """Partitions by topic, of all topics or the named ones; KafkaError for a name that does not exist."""
        wanted = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        answer = self._any().request(MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
        brokers = {each.node_id: (each.host, each.port) for each in answer.brokers}
        found: dict[str, list[int]] = {}
        for topic in answer.topics:
            if topic.error_code:
                raise KafkaError(ErrorCode(topic.error_code), f"topic {topic.name}")
            found[topic.name] = sorted(each.partition_index for each in topic.partitions)
            for each in topic.partitions:
                if each.leader_id in brokers:
                    self._leaders[topic.name, each.partition_index] = brokers[each.leader_id]
        return found

    def create_topics(self, partitions: Mapping[str, int]) -> None:
        """Create the topics that do not exist yet, with the cluster's default replication; they can be used then."""
        topics = [
            CreatableTopic(name=name, num_partitions=count, replication_factor=-1) for name, count in partitions.items()
        ]
        metadata = self._any().request(MetadataRequest(topics=[], allow_auto_topic_creation=False))
        address = {each.node_id: (each.host, each.port) for each in metadata.brokers}[metadata.controller_id]
        answer = self._connection(address).request(CreateTopicsRequest(topics=topics, timeout_ms=30_000))
        for topic in answer.topics:
            if topic.error_code not in (0, ErrorCode.TOPIC_ALREADY_EXISTS):
                raise KafkaError(ErrorCode(topic.error_code), f"topic {topic.name}: {topic.error_message or ''}")
        self._wait_for_leaders(partitions)

    def _wait_for_leaders(self, topics: Iterable[str]) -> None:
        """Brokers learn of a new topic a moment after it was created."""
        deadline = time.monotonic() + self._timeout_s
        for name in topics:
            while True:
                try:
                    self._leader(name, 0)
                    break
                except KafkaError as error:
                    if not error.code.retriable or time.monotonic() > deadline:
                        raise
                time.sleep(0.05)

    # -- reading

    def offsets(self, at: Mapping[TopicPartition, int], *, read_committed: bool = False) -> dict[TopicPartition, int]:
        """Offsets by timestamp (EARLIEST, LATEST, or milliseconds); -1 where no record is that young."""
        found: dict[TopicPartition, int] = {}
        by_leader: dict[tuple[str, int], dict[str, list[ListOffsetsPartition]]] = {}
        for (topic, partition), timestamp in at.items():
            topics = by_leader.setdefault(self._leader(topic, partition), {})
            asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
            topics.setdefault(topic, []).append(asked)
        for address, topics in by_leader.items():
            request = ListOffsetsRequest(
                replica_id=-1,
                isolation_level=int(read_committed),
                topics=[ListOffsetsTopic(name=name, partitions=parts) for name, parts in topics.items()],
            )
            for topic in self._connection(address).request(request).topics:
                for each in topic.partitions:
                    _check(each.error_code, "ListOffsets", topic.name, each.partition_index)
                    found[topic.name, each.partition_index] = each.offset
        return found

    def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        *,
        read_committed: bool = False,
        max_bytes: int = 4 * 1024 * 1024,
        max_wait_ms: int = 500,
    ) -> Fetched:
        """The batches from the one that holds ``offset`` on; empty when the log ends there."""
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            replica_id=-1,
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=int(read_committed),
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        answer = self._connection(self._leader(topic, partition)).request(request)
        _check(answer.error_code, "Fetch", topic, partition)
        data = answer.responses[0].partitions[0]
        _check(data.error_code, "Fetch", topic, partition)
        aborted = [(each.producer_id, each.first_offset) for each in data.aborted_transactions or ()]
        records = memoryview(data.records) if data.records is not None else memoryview(b"")
        return Fetched(records, aborted, data.high_watermark, data.last_stable_offset, data.log_start_offset)

    # -- writing

    def produce(self, topic: str, partition: int, batch: bytes) -> int:
        """Append one batch, acknowledged by all in-sync replicas; return its base offset."""
        part = PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=[part])]
        )
        answer = self._connection(self._leader(topic, partition)).request(request)
        result = answer.responses[0].partition_responses[0]
        _check(result.error_code, "Produce", topic, partition)
        return int(result.base_offset)

    # -- connections

    def _leader(self, topic: str, partition: int) -> tuple[str, int]:
        if (topic, partition) not in self._leaders:
            self.topics([topic])
        leader = self._leaders.get((topic, partition))
        if leader is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{topic}-{partition} has no leader")
        return leader

    def _any(self) -> Connection:
        failures = []
        for address in random.sample(self._bootstrap, len(self._bootstrap)):
            try:
                return self._connection(address)
            except OSError as error:
                failures.append(f"{address[0]}:{address[1]}: {error}")
        raise ConnectionError(f"no broker answers ({'; '.join(failures)})")

    def _connection(self, address: tuple[str, int]) -> Connection:
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = Connection(*address, self._timeout_s)
        return connection


def batches_between(
    client: WireClient, topic: str, partition: int, start: int, end: int, *, read_committed: bool = False
) -> Iterator[Fetched]:
    """Fetch after fetch until the batches reach ``end`` (exclusive)."""
    offset, idle = start, 0
    while offset < end:
        fetched = client.fetch(topic, partition, offset, read_committed=read_committed)
        last = max((batch.next_offset for batch in iter_batches(fetched.records)), default=offset)
        if last > offset:
            yield fetched
            offset, idle = last, 0
        elif (idle := idle + 1) == _MAX_IDLE_FETCHES:
            raise TimeoutError(f"{topic}-{partition} gives nothing at offset {offset}, though it should reach {end}")


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.strip().rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError(f"bootstrap servers: {text.strip()!r} is not host:port")
    return host.strip("[]"), int(port)


def _check(code: int, what: str, topic: str, partition: int) -> None:
    if code:
        raise KafkaError(ErrorCode(code), f"{what} of {topic}-{partition}")


__all__: Sequence[str] = ["EARLIEST", "LATEST", "Connection", "Fetched", "WireClient", "batches_between"]
