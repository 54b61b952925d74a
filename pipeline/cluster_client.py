"""A blocking client of a cluster: metadata, offsets, fetch and produce, each sent to the right broker.

The data source and the jobs use it. They read stored batches unchanged, and write records with given timestamps and
partitions. Spark's connector can do neither.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import iter_batches
from odradek.wire_client import ApiNotServed, AuthenticationError, TlsError, WireClient, WireError

_CLIENT_ID = "odradek-pipeline"

_FETCH_BYTES = 4 * 1024 * 1024
_MAX_IDLE_FETCHES = 20

EARLIEST = -2
LATEST = -1

GROUP, TRANSACTION = 0, 1
"""Kinds of coordinators."""

_COORDINATOR_BUSY = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.UNSTABLE_OFFSET_COMMIT,
}
_LEADER_MOVES = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE}
_NEW_TOPIC = {*_LEADER_MOVES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
_NOT_REPLICATED = {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.KAFKA_STORAGE_ERROR,
}
_AWAY_S = 20.0
"""How long a patient client waits for a broker. It is shorter than Spark's wait for a query to stop."""
_PAUSE_S = 0.05
_READ = 1 << 3
"""The operation Read in a set of authorized operations."""
_LAST_PRODUCE_WITH_ADDED_PARTITIONS = 11
"""From version 12 on the broker adds the partitions to the transaction, and EndTxn increments the epoch (KIP-890)."""

_NEWEST = {
    FetchRequest.API_KEY: 12,
    ProduceRequest.API_KEY: 12,
    ListOffsetsRequest.API_KEY: 9,
    MetadataRequest.API_KEY: 12,
}
"""The maximum versions of APIs whose newest version is not used: Fetch and Produce name topics, not topic ids."""

TopicPartition = tuple[str, int]

T = TypeVar("T")


class Fetched(NamedTuple):
    """A fetched partition: whole batches, their aborted transactions, and the bounds of the log."""

    records: memoryview
    aborted: list[tuple[int, int]]
    """(producer id, first offset)"""
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int


class ClusterClient:
    """Sends requests to the right broker of a cluster. Connections are opened on first use.

    If a broker is lost, a repeatable request goes to the next broker. ``patient``: the client also waits some seconds
    while no broker answers, because a cluster that answered before may come back.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        timeout_s: float = 30.0,
        security: ClientSecurity = PLAIN_TEXT,
        patient: bool = False,
    ) -> None:
        self._bootstrap = [_address(text) for text in bootstrap_servers.split(",") if text.strip()]
        if not self._bootstrap:
            raise ValueError("bootstrap servers: host:port, separated by commas")
        self._timeout_s = timeout_s
        self._security = security
        self._patient = patient
        self._brokers: list[tuple[str, int]] = []
        self._connections: dict[tuple[str, int], WireClient] = {}
        self._leaders: dict[TopicPartition, tuple[str, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def ask(self, request: Any, *, at: tuple[str, int] | None = None) -> Any:
        """The response of any broker to a repeatable request, or of the broker ``at`` an address.

        ConnectionError if no broker answers.
        """
        if at is not None:
            return self._ask(self._connection(at), request)
        return self._patiently(lambda: self._ask(self._any(), request))

    # -- who leads what

    def topics(self, names: Iterable[str] | None = None, *, missing_ok: bool = False) -> dict[str, list[int]]:
        """Partitions by topic, of all topics or the named ones.

        KafkaError for a topic that may not be seen and, unless ``missing_ok``, for a name that does not exist.
        """
        wanted = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        answer = self.ask(MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
        brokers = {broker.node_id: (broker.host, broker.port) for broker in answer.brokers}
        self._brokers = list(brokers.values())
        found: dict[str, list[int]] = {}
        for topic in answer.topics:
            if missing_ok and topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                continue
            if topic.error_code:
                raise KafkaError(ErrorCode(topic.error_code), f"topic {topic.name}")
            found[topic.name] = sorted(partition.partition_index for partition in topic.partitions)
            for partition in topic.partitions:
                if partition.leader_id in brokers:
                    self._leaders[topic.name, partition.partition_index] = brokers[partition.leader_id]
        return found

    def readable_topics(self) -> dict[str, bool]:
        """Every topic that the user may describe, and whether the user may read it."""
        request = MetadataRequest(
            topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=True
        )
        topics = self.ask(request).topics
        return {topic.name: bool(topic.topic_authorized_operations & _READ) for topic in topics}

    def create_topics(self, partitions: Mapping[str, int]) -> None:
        """Create the missing topics, with the cluster's default replication, and wait until they have leaders."""
        topics = [
            CreatableTopic(name=name, num_partitions=count, replication_factor=-1) for name, count in partitions.items()
        ]
        metadata = self.ask(MetadataRequest(topics=[], allow_auto_topic_creation=False))
        address = {broker.node_id: (broker.host, broker.port) for broker in metadata.brokers}[metadata.controller_id]
        answer = self._ask(self._connection(address), CreateTopicsRequest(topics=topics, timeout_ms=30_000))
        for topic in answer.topics:
            if topic.error_code not in (0, ErrorCode.TOPIC_ALREADY_EXISTS):
                raise KafkaError(ErrorCode(topic.error_code), f"topic {topic.name}: {topic.error_message or ''}")
        for name in partitions:
            self._patiently(partial(self._leader, name, 0), _NEW_TOPIC)

    # -- reading

    def offsets(self, at: Mapping[TopicPartition, int], *, read_committed: bool = False) -> dict[TopicPartition, int]:
        """Offsets by timestamp (EARLIEST, LATEST, or milliseconds); -1 if no record is that young."""
        return self._patiently(lambda: self._offsets(at, read_committed=read_committed))

    def _offsets(self, at: Mapping[TopicPartition, int], *, read_committed: bool) -> dict[TopicPartition, int]:
        found: dict[TopicPartition, int] = {}
        asked = {key: ListOffsetsPartition(partition_index=key[1], timestamp=moment) for key, moment in at.items()}
        for address, topics in self._by_leader(asked).items():
            request = ListOffsetsRequest(
                replica_id=-1,
                isolation_level=int(read_committed),
                topics=[ListOffsetsTopic(name=name, partitions=parts) for name, parts in topics.items()],
            )
            for topic in self._ask(self._connection(address), request).topics:
                for partition in topic.partitions:
                    _check(partition.error_code, "ListOffsets", topic.name, partition.partition_index)
                    found[topic.name, partition.partition_index] = partition.offset
        return found

    def sizes(self, keys: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Bytes of partitions on their leaders' disks. KafkaError without the right to describe the cluster."""
        found: dict[TopicPartition, int] = {}
        for address, topics in self._by_leader({key: key[1] for key in keys}).items():
            asked = [DescribableLogDirTopic(topic=name, partitions=parts) for name, parts in topics.items()]
            answer = self._ask(self._connection(address), DescribeLogDirsRequest(topics=asked))
            if answer.error_code:
                raise KafkaError(ErrorCode(answer.error_code), "DescribeLogDirs")
            for folder in answer.results:
                for topic in folder.topics:
                    for partition in topic.partitions:
                        if not partition.is_future_key:
                            found[topic.name, partition.partition_index] = partition.partition_size
        return found

    def fetch(
        self, topic: str, partition: int, offset: int, *, read_committed: bool = False, max_wait_ms: int = 500
    ) -> Fetched:
        """The batches from the one with `offset` on; empty at the end of the log."""
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES)
        request = FetchRequest(
            replica_id=-1,
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=_FETCH_BYTES,
            isolation_level=int(read_committed),
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )

        def ask() -> Any:
            answer = self._ask(self._connection(self._leader(topic, partition)), request)
            _check(answer.error_code, "Fetch", topic, partition)
            data = answer.responses[0].partitions[0]
            _check(data.error_code, "Fetch", topic, partition)
            return data

        data = self._patiently(ask)
        aborted = [
            (transaction.producer_id, transaction.first_offset) for transaction in data.aborted_transactions or ()
        ]
        records = memoryview(data.records) if data.records is not None else memoryview(b"")
        return Fetched(records, aborted, data.high_watermark, data.last_stable_offset, data.log_start_offset)

    # -- writing

    def produce(self, topic: str, partition: int, batch: bytes) -> int:
        """Append one batch, acknowledged by all in-sync replicas; return its base offset."""
        part = PartitionProduceData(index=partition, records=batch)
        request = ProduceRequest(
            acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=[part])]
        )

        def ask() -> int:
            leader = self._connection(self._leader(topic, partition))
            result = self._ask(leader, request).responses[0].partition_responses[0]
            _check(result.error_code, "Produce", topic, partition)
            return int(result.base_offset)

        return self._patiently(ask, repeatable=False)

    def begin_append(self, batches: Mapping[TopicPartition, bytes], transactional_id: str) -> Callable[[], None]:
        """Send one transactional batch to each partition. The returned function waits for all in-sync replicas.

        The batches are sent again while leaders move, replicas are missing or a broker is lost. Brokers recognize
        duplicates by the sequences.
        """
        left = dict(batches)
        begun = [self._send(left, transactional_id)]

        def ask() -> None:
            answered = begun.pop() if begun else self._send(left, transactional_id)
            errors = answered()
            for place in left.keys() - errors.keys():
                del left[place]
            for place, code in errors.items():
                _check(code, "Produce", *place)

        return lambda: self._patiently(ask, _LEADER_MOVES | _NOT_REPLICATED)

    def _send(
        self, batches: Mapping[TopicPartition, bytes], transactional_id: str
    ) -> Callable[[], dict[TopicPartition, int]]:
        """Send one request to each leader. The returned function waits for the responses and returns the error codes
        of failed partitions. It also raises connection errors.
        """
        parts = {key: PartitionProduceData(index=key[1], records=batch) for key, batch in batches.items()}
        errors: dict[TopicPartition, int] = {}
        answers: list[Callable[[], Any]] = []
        failure: ConnectionError | None = None
        try:
            for address, topics in self._by_leader(parts, errors).items():
                data = [TopicProduceData(name=name, partition_data=parts) for name, parts in topics.items()]
                request = ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=30_000, topic_data=data)
                answers.append(self._connection(address).begin(request, _LAST_PRODUCE_WITH_ADDED_PARTITIONS))
        except ConnectionError as lost:
            failure = lost

        def answered() -> dict[TopicPartition, int]:
            for answer in answers:
                for topic in answer().responses:
                    for part in topic.partition_responses:
                        if part.error_code:
                            errors[topic.name, part.index] = part.error_code
            if failure is not None:
                raise failure
            return errors

        return answered

    # -- coordinators

    def ask_coordinator(
        self, kind: int, key: str, request: Any, max_version: int, codes: Callable[[Any], Iterable[int]] | None = None
    ) -> Any:
        """The response of the coordinator of a group (GROUP) or a transactional id (TRANSACTION).

        ``codes`` returns the error codes of a response (default: its own). The request must be repeatable. Waits while
        the coordinator moves, is lost or ends an earlier transaction. KafkaError for other errors, and after the
        timeout.
        """
        what = f"{type(request).__name__.removesuffix('Request')} of {key}"

        def ask() -> Any:
            try:
                found = self.coordinator(kind, key)
            except KafkaError as error:
                raise KafkaError(error.code, what) from None
            answer = self._connection((found.host, found.port)).request(request, max_version=max_version)
            for code in [answer.error_code] if codes is None else codes(answer):
                if code:
                    raise KafkaError(ErrorCode(code), what)
            return answer

        return self._patiently(ask, _COORDINATOR_BUSY)

    def coordinator(self, kind: int, key: str) -> Any:
        """The response to FindCoordinator: node id, host and port. KafkaError while there is no coordinator."""
        found = self._any().request(FindCoordinatorRequest(key=key, key_type=kind), max_version=3)
        if found.error_code:
            raise KafkaError(ErrorCode(found.error_code), f"coordinator of {key}")
        return found

    # -- connections

    def _leader(self, topic: str, partition: int) -> tuple[str, int]:
        if (topic, partition) not in self._leaders:
            self.topics([topic])
        leader = self._leaders.get((topic, partition))
        if leader is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"{topic}-{partition} has no leader")
        return leader

    def _by_leader(
        self, parts: Mapping[TopicPartition, T], errors: dict[TopicPartition, int] | None = None
    ) -> dict[tuple[str, int], dict[str, list[T]]]:
        """The parts of requests, by the address of the leader and by topic.

        ``errors`` receives the code of a partition without a leader. By default a KafkaError is raised.
        """
        found: dict[tuple[str, int], dict[str, list[T]]] = {}
        for key, part in parts.items():
            try:
                leader = self._leader(*key)
            except KafkaError as error:
                if errors is None:
                    raise
                errors[key] = error.code
            else:
                found.setdefault(leader, {}).setdefault(key[0], []).append(part)
        return found

    def _patiently(
        self, ask: Callable[[], T], passing: Set[ErrorCode] = _LEADER_MOVES, *, repeatable: bool = True
    ) -> T:
        """Call ``ask`` again after the errors in ``passing``. ``repeatable``: also after a lost connection, when it is
        unknown whether the broker received the request.
        """
        began = time.monotonic()
        while True:
            waited = time.monotonic() - began
            try:
                return ask()
            except KafkaError as error:
                if error.code not in passing or waited > self._timeout_s:
                    raise
            except (ApiNotServed, AuthenticationError, TlsError):
                raise
            except WireError:
                if not repeatable or waited > self._timeout_s:
                    raise
                self.close()
            except ConnectionError:
                if not (repeatable and self._patient) or waited > _AWAY_S:
                    raise
                self.close()
            self._leaders.clear()
            time.sleep(_PAUSE_S)

    def _ask(self, broker: WireClient, request: Any) -> Any:
        return broker.request(request, max_version=_NEWEST.get(request.API_KEY))

    def _any(self) -> WireClient:
        failures = []
        others = [address for address in self._brokers if address not in self._bootstrap]
        for address in [*random.sample(self._bootstrap, len(self._bootstrap)), *others]:
            try:
                return self._connection(address)
            except (AuthenticationError, TlsError):
                raise  # the other brokers would refuse, too
            except OSError as error:
                failures.append(str(error))
        raise ConnectionError(f"no broker answers ({'; '.join(failures)})")

    def _connection(self, address: tuple[str, int]) -> WireClient:
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = WireClient(
                *address, timeout_s=self._timeout_s, client_id=_CLIENT_ID, security=self._security
            )
        return connection


def batches_between(
    client: ClusterClient, topic: str, partition: int, start: int, end: int, *, read_committed: bool = False
) -> Iterator[Fetched]:
    """Fetch until the batches reach `end` (exclusive)."""
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
