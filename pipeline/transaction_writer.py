"""Transactions that one process writes (a task) and another process ends (the driver).

It uses older versions of the APIs. There a request adds the partitions, and EndTxn keeps the epoch. So the driver needs
only the producer id and the epoch (KIP-98).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.pipeline.cluster_client import GROUP, TRANSACTION, ClusterClient, TopicPartition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.record_batch import TRANSACTIONAL_FLAG, assemble

if TYPE_CHECKING:
    from odradek.pipeline.record_bytes import Records

PROGRESS = "micro-batches of a sink odradek"
"""The metadata of a commit whose offset is the number of a micro-batch."""

ENDED = (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE)
"""The errors after another writer or the timeout has ended the transaction."""


class Transaction(NamedTuple):
    """What a coordinator needs to end a transaction."""

    transactional_id: str
    producer_id: int
    epoch: int


class TransactionWriter:
    """Begins a transaction and writes to it. It aborts an open transaction of the same id."""

    def __init__(self, client: ClusterClient, transactional_id: str, timeout_ms: int) -> None:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        answer = client.ask_coordinator(TRANSACTION, transactional_id, request, 4)
        self.transaction = Transaction(transactional_id, answer.producer_id, answer.producer_epoch)
        self._client = client
        self._sequences: dict[TopicPartition, int] = {}
        self._under_way: Callable[[], None] | None = None

    @property
    def partitions(self) -> list[TopicPartition]:
        """The partitions in the transaction."""
        return sorted(self._sequences)

    def append(self, batches: Mapping[TopicPartition, Records]) -> None:
        """Write one batch to each partition. `settle` or the next call raises its errors."""
        name, producer_id, epoch = self.transaction
        data = {
            place: _batch_of(records, producer_id, epoch, self._sequences.get(place, 0))
            for place, records in batches.items()
        }
        self.settle()
        if added := [place for place in batches if place not in self._sequences]:
            self._add(added)
        self._under_way = self._client.begin_append(data, name)
        for place, records in batches.items():
            self._sequences[place] = (self._sequences[place] + records.record_count) & 0x7FFFFFFF

    def settle(self) -> None:
        """Wait until every batch is acknowledged."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way()

    def abort(self) -> None:
        """Abort the transaction, if there is one. Errors of pending batches are ignored."""
        with contextlib.suppress(KafkaError, ConnectionError):
            self.settle()  # a batch after the end would open a transaction again
        if self._sequences:
            end_transaction(self._client, self.transaction, commit=False)

    def _add(self, places: Sequence[TopicPartition]) -> None:
        """Add partitions to the transaction."""
        name, producer_id, epoch = self.transaction
        topics: dict[str, list[int]] = {}
        for topic, partition in places:
            topics.setdefault(topic, []).append(partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(topic, partitions) for topic, partitions in topics.items()],
        )
        self._client.ask_coordinator(TRANSACTION, name, request, 3, _codes_of_added)
        self._sequences.update(dict.fromkeys(places, 0))


def _codes_of_added(answer: Any) -> Iterable[int]:
    """The errors of the refused partitions. The others have OPERATION_NOT_ATTEMPTED."""
    for topic in answer.results_by_topic_v3_and_below:
        for partition in topic.results_by_partition:
            if partition.partition_error_code != ErrorCode.OPERATION_NOT_ATTEMPTED:
                yield partition.partition_error_code


def _batch_of(records: Records, producer_id: int, epoch: int, sequence: int) -> bytes:
    body, count, first, latest = records
    header = TRANSACTIONAL_FLAG, count - 1, first, latest, producer_id, epoch, sequence, count
    return assemble(0, 0, header, body)


def end_transaction(client: ClusterClient, transaction: Transaction, *, commit: bool) -> None:
    """Commit or abort. KafkaError if the timeout or a later writer of the id has ended the transaction."""
    name, producer_id, epoch = transaction
    request = EndTxnRequest(transactional_id=name, producer_id=producer_id, producer_epoch=epoch, committed=commit)
    try:
        client.ask_coordinator(TRANSACTION, name, request, 4)
    except KafkaError as error:
        if error.code not in ENDED:
            raise
        raise KafkaError(
            error.code, f"{name}: its time-out or a later writer of this id has ended the transaction"
        ) from None


def note_in_transaction(
    client: ClusterClient, transaction: Transaction, group: str, place: TopicPartition, number: int
) -> None:
    """Commit a number as the offset of a group, within the transaction."""
    name, producer_id, epoch = transaction
    add = AddOffsetsToTxnRequest(transactional_id=name, producer_id=producer_id, producer_epoch=epoch, group_id=group)
    client.ask_coordinator(TRANSACTION, name, add, 3)
    part = TxnOffsetCommitRequestPartition(
        partition_index=place[1], committed_offset=number, committed_metadata=PROGRESS
    )
    commit = TxnOffsetCommitRequest(
        transactional_id=name,
        group_id=group,
        producer_id=producer_id,
        producer_epoch=epoch,
        topics=[TxnOffsetCommitRequestTopic(name=place[0], partitions=[part])],
    )
    client.ask_coordinator(
        GROUP, group, commit, 3, lambda found: [part.error_code for each in found.topics for part in each.partitions]
    )


def noted(client: ClusterClient, group: str) -> int:
    """The largest committed number; 0 for none. Waits for transactions that are ending."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)], require_stable=True)

    def parts_of(answer: Any) -> list[Any]:
        return [part for each in answer.groups for topic in each.topics for part in topic.partitions]

    answer = client.ask_coordinator(
        GROUP, group, request, 8, lambda found: [each.error_code for each in [*found.groups, *parts_of(found)]]
    )
    parts = parts_of(answer)
    return max((part.committed_offset for part in parts), default=0)
