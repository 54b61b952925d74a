"""Writes records without a client, through the same checks as a client's records."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from odradek.broker.coordinator.transaction.transaction import AddPartitions, EndTransaction, ProducerIdentity
from odradek.broker.facade.records.record import (
    ProducerRecord,
    RecordMetadata,
    Serializer,
    TransactionEnd,
    header_pairs,
    serialized,
)
from odradek.broker.metadata.image import TRANSACTION_VERSION
from odradek.broker.partitions.lookups import check_leader, find_partition, find_topic
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.partitioner import Partitioner
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.validation import RecordsRefused

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.partitions.partition import Partition


_BATCH_BYTES = 16 * 1024
"""The size limit of a batch, as in Kafka's producers; a larger record gets a batch of its own."""
_RECORDS_AT_ONCE = 1000
"""The number of records in one step of the broker's thread, so that clients are served between steps."""
_OVERHEAD = 24


class Seeding:
    """Writes records to one topic. Serializers run in the caller's thread, appends in the broker's thread."""

    def __init__(
        self,
        cluster: Cluster,
        call: Call,
        partitioner: Partitioner,
        topic: str,
        key_serializer: Serializer | None,
        value_serializer: Serializer | None,
    ) -> None:
        self._cluster = cluster
        self._call = call
        self._partitioner = partitioner
        self._topic = topic
        self._serializers = key_serializer, value_serializer

    def write(
        self, records: Iterable[Any], transactional_id: str | None, transaction: TransactionEnd
    ) -> Generator[None, None, list[RecordMetadata]]:
        """Append the records step by step, in one transaction if there is a transactional id; return their positions.

        An error ends the call. Records written before it stay, as with a producer, unless they are in a transaction,
        which is aborted.
        """
        if transaction not in ("commit", "abort", "open"):
            raise ValueError(f"transaction={transaction!r}: expected one of commit, abort, open")
        if transactional_id is None and transaction != "commit":
            raise ValueError(f"transaction={transaction!r} needs a transactional_id")
        self._call(self._check_topic)
        if transactional_id is None:
            return (yield from self._write(records, None))
        begun = self._call(lambda: SeedingTransaction(self._cluster, transactional_id))
        try:
            written = yield from self._write(records, begun)
        except BaseException:
            self._call(lambda: begun.end(commit=False))
            raise
        if transaction != "open":
            self._call(lambda: begun.end(commit=transaction == "commit"))
        return written

    def _check_topic(self) -> None:
        topic = find_topic(self._cluster.topics, self._topic)
        if topic.internal:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{self._topic!r} is an internal topic")

    def _write(
        self, records: Iterable[Any], transaction: SeedingTransaction | None
    ) -> Generator[None, None, list[RecordMetadata]]:
        written: list[RecordMetadata] = []
        for chunk in _chunks(self._encoded(records)):
            written += self._call(partial(self._append, chunk, transaction))
            yield
        return written

    def _encoded(self, records: Iterable[Any]) -> Iterator[tuple[int | None, Record]]:
        key_serializer, value_serializer = self._serializers
        for each in records:
            asked = each if isinstance(each, ProducerRecord) else ProducerRecord(each)
            timestamp = self._cluster.clock.now_ms() if asked.timestamp is None else asked.timestamp
            if isinstance(timestamp, bool) or not isinstance(timestamp, int) or not 0 <= timestamp < 2**63:
                raise ValueError(f"timestamp={timestamp!r}: expected milliseconds since 1970")
            key = serialized(asked.key, key_serializer, "key")
            value = serialized(asked.value, value_serializer, "value")
            yield asked.partition, Record(0, timestamp, key, value, header_pairs(asked.headers))

    # -- in the broker's thread

    def _append(
        self, chunk: list[tuple[int | None, Record]], transaction: SeedingTransaction | None
    ) -> list[RecordMetadata]:
        topic = find_topic(self._cluster.topics, self._topic)
        count = len(topic.partitions)
        by_partition: dict[int, list[int]] = {}
        for position, (partition, record) in enumerate(chunk):
            if partition is None:
                partition = self._partitioner.partition(topic.name, record.key, count)
            find_partition(topic, partition)
            by_partition.setdefault(partition, []).append(position)
        written: dict[int, RecordMetadata] = {}
        for index, positions in by_partition.items():
            for batch in _batches(chunk, positions):
                rows = [chunk[position][1] for position in batch]
                written.update(zip(batch, self._append_batch(topic.partitions[index], rows, transaction), strict=True))
        return [written[position] for position in range(len(chunk))]

    def _append_batch(
        self, partition: Partition, rows: list[Record], transaction: SeedingTransaction | None
    ) -> list[RecordMetadata]:
        name, index = partition.topic.name, partition.index
        check_leader(partition)
        if partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, f"{name}-{index} is under min.insync.replicas")
        batch = build_batch(rows) if transaction is None else transaction.batch(partition, rows)
        try:
            info = partition.append(batch, now_ms=self._cluster.clock.now_ms())
        except RecordsRefused as error:
            raise KafkaError(error.code, f"{name}-{index}: {_reason(error)}") from None
        append_ms = info.log_append_time_ms
        return [
            RecordMetadata(name, index, info.base_offset + number, row.timestamp if append_ms < 0 else append_ms)
            for number, row in enumerate(rows)
        ]


def _reason(error: RecordsRefused) -> str:
    single = next((text for _, text in error.record_errors if text), None)
    return single or error.client_message or error.message or "refused"


def _chunks(records: Iterator[tuple[int | None, Record]]) -> Iterator[list[tuple[int | None, Record]]]:
    chunk: list[tuple[int | None, Record]] = []
    for each in records:
        chunk.append(each)
        if len(chunk) == _RECORDS_AT_ONCE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _batches(chunk: list[tuple[int | None, Record]], positions: list[int]) -> Iterator[list[int]]:
    """The positions of a partition's records in the chunk, split into batches of limited size."""
    batch: list[int] = []
    size = 0
    for position in positions:
        more = _size(chunk[position][1])
        if batch and size + more > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(position)
        size += more
    yield batch


def _size(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return _OVERHEAD + len(record.key or b"") + len(record.value or b"") + headers


_TIMEOUT_MS = 60_000
"""The transaction timeout that Kafka's producers ask for, unless the broker's maximum is smaller."""


class SeedingTransaction:
    """The transaction of a new producer. A transaction that its transactional id left open before is aborted."""

    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        if not transactional_id:
            raise ValueError("a transactional_id must not be empty")
        self._id = transactional_id
        self._transactions = cluster.transactions
        self._version = 2 if cluster.image.feature(TRANSACTION_VERSION) >= 2 else 0
        self._partitions: set[tuple[str, int]] = set()
        self._sequences: dict[tuple[str, int], int] = {}
        self._producer = self._init_producer_id(cluster)

    def _init_producer_id(self, cluster: Cluster) -> ProducerIdentity:
        node = cluster.nodes.get(self._transactions.leader_for(self._id))
        if node is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"no node coordinates {self._id!r}")
        self._transactions.shard_for(self._id).finish_loading()
        timeout_ms = min(_TIMEOUT_MS, cluster.config.get_int("transaction.max.timeout.ms"))
        for last_try in (False, True):  # the first aborts a transaction that is open
            try:
                return self._identity(self._transactions.init_producer_id(self._id, timeout_ms, None, node))
            except KafkaError as error:
                if error.code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                    raise
                if last_try:
                    message = f"the last transaction of {self._id!r} has not ended (is it held?)"
                    raise KafkaError(error.code, message) from None
        raise AssertionError("not reached")

    def _identity(self, reply: ProducerIdentity | ReplySlot[ProducerIdentity | None] | None) -> ProducerIdentity:
        if isinstance(reply, ReplySlot):
            message = f"the coordinator of {self._id!r} waits for replicas that a test keeps behind"
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message)
        if reply is None:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return reply

    def batch(self, partition: Partition, rows: list[Record]) -> bytes:
        """The next batch for a partition, which is added to the transaction first."""
        place = partition.topic.name, partition.index
        sequence = self._sequences.get(place, 0)
        if place not in self._partitions:
            add = AddPartitions(self._id, *self._producer, [place], self._version)
            self._transactions.ask_now(self._id, add)
            self._partitions.add(place)
        self._sequences[place] = sequence + len(rows)
        producer_id, epoch = self._producer
        return build_batch(
            rows, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, transactional=True
        )

    def end(self, *, commit: bool) -> None:
        """Commit or abort. Does nothing if nothing was written."""
        if self._partitions:
            self._transactions.ask_now(self._id, EndTransaction(self._id, *self._producer, commit, self._version))
