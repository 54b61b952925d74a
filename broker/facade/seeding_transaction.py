"""The transaction that records are written in without a client (in the broker's thread)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.coordinator.transaction.commands import AddPartitions, EndTransaction, ProducerIdentity
from odradek.broker.metadata.image import TRANSACTION_VERSION
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition
    from odradek.protocol.records import Record

_TIMEOUT_MS = 60_000
"""The transaction timeout that Kafka's producers ask for, unless the broker's maximum is smaller."""


class SeedingTransaction:
    """A producer with a transactional id, as one that has just started: what the id left open before is aborted."""

    def __init__(self, cluster: Cluster, transactional_id: str) -> None:
        if not transactional_id:
            raise ValueError("a transactional_id is not empty")
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
            message = f"the coordinator of {self._id!r} waits for replicas that are kept behind"
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, message)
        if reply is None:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return reply

    def batch(self, partition: Partition, rows: list[Record]) -> bytes:
        """The next batch for a partition, which is part of the transaction from now on."""
        place = partition.topic.name, partition.index
        sequence = self._sequences.get(place, 0)
        if place not in self._partitions:
            add = AddPartitions(self._id, *self._producer, [place], self._version)
            self._transactions.ask_now(self._id, add)
            partition.log.producers.begin_verification(*self._producer, sequence, supports_epoch_bump=self._version > 0)
            self._partitions.add(place)
        self._sequences[place] = sequence + len(rows)
        producer_id, epoch = self._producer
        return build_batch(
            rows, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, transactional=True
        )

    def end(self, *, commit: bool) -> None:
        """Commit or abort; nothing was begun where nothing was written."""
        if self._partitions:
            self._transactions.ask_now(self._id, EndTransaction(self._id, *self._producer, commit, self._version))
