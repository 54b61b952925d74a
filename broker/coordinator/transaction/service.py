"""The transaction coordinators of a cluster, as the rest of the broker uses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.broker.coordinator.service import CoordinatorService
from odradek.broker.coordinator.transaction.commands import (
    GoOn,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    WriteMarkers,
)
from odradek.broker.coordinator.transaction.guard import Support, TransactionGuard, produce_error
from odradek.broker.coordinator.transaction.holds import HoldBook
from odradek.broker.coordinator.transaction.machine import TransactionMachine
from odradek.broker.coordinator.transaction.markers import is_gone, write_marker
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.runtime.machine import Effect, Producer
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.requests.context import RequestContext

TRANSACTION_TOPIC = "__transaction_state"


class _Settings:
    """`TransactionSettings` of one partition's coordinator, read from the live configuration."""

    def __init__(self, cluster: Cluster, partition: int) -> None:
        self._cluster = cluster
        self._partition = partition

    @property
    def transaction_version(self) -> int:
        return self._cluster.features.transaction_version

    @property
    def id_expiration_ms(self) -> int:
        return self._number("transactional.id.expiration.ms")

    @property
    def expire_interval_ms(self) -> int:
        return self._number("transaction.remove.expired.transaction.cleanup.interval.ms")

    @property
    def abort_interval_ms(self) -> int:
        return self._number("transaction.abort.timed.out.transaction.cleanup.interval.ms")

    def new_producer_id(self) -> int:
        partition = self._cluster.transactions.ensure_topic().partitions[self._partition]
        return self._cluster.producer_ids.allocate(partition.leader_id)

    def _number(self, name: str) -> int:
        return self._cluster.config.get_int(name)


class TransactionService(CoordinatorService[TransactionMachine]):
    """Transactional ids by their coordinators; what Produce, InitProducerId and tests want of them.

    Owner: the cluster. ``holds`` are kept here because they outlive the coordinators' machines.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.holds = HoldBook(self._go_on)
        super().__init__(cluster, TRANSACTION_TOPIC, self._machine, perform=self._write_markers, base_sequence=-1)
        self.guard = TransactionGuard(cluster)

    def _machine(self, partition: int) -> TransactionMachine:
        return TransactionMachine(_Settings(self._cluster, partition), self.holds)

    async def init_producer_id(self, ctx: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
        """InitProducerId with a transactional id (see broker/api/producers.py)."""
        try:
            identity = self._init_producer_id(ctx, request)
        except KafkaError as error:
            code = error.code
            if code is ErrorCode.PRODUCER_FENCED and ctx.api_version < 4:
                code = ErrorCode.INVALID_PRODUCER_EPOCH
            return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
        return InitProducerIdResponse(producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)

    def _init_producer_id(self, ctx: RequestContext, request: InitProducerIdRequest) -> ProducerIdentity:
        transactional_id = request.transactional_id
        assert transactional_id, "the handler answers requests without an id itself"
        shown = request.producer_id, request.producer_epoch
        expected = None if shown == (-1, -1) else ProducerIdentity(*shown)
        longest_ms = self._cluster.config.get_int("transaction.max.timeout.ms")
        if not 0 < request.transaction_timeout_ms <= longest_ms:
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        command = InitProducerId(transactional_id, request.transaction_timeout_ms, expected)
        identity = self.ask_now(transactional_id, command, ctx.node)
        if identity is None:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        return identity

    async def guard_append(
        self,
        *,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        api_version: int,
    ) -> Mapping[TopicPartition, KafkaError]:
        """See `odradek.broker.partitions.verification.TransactionGuard`."""
        support = Support.of_produce(api_version)
        errors = await self.guard.check(transactional_id, producer_id, producer_epoch, partitions, support)
        return {partition: produce_error(code, support) for partition, code in errors.items()}

    # -- the end of transactions

    def _write_markers(self, shard: Shard, effect: Effect) -> None:
        """Write what can be written now, and tell the coordinator."""
        assert isinstance(effect, WriteMarkers)
        producer = Producer(effect.producer_id, effect.producer_epoch)
        written: list[TopicPartition] = []
        for topic_name, index in effect.partitions:
            try:
                write_marker(
                    self._cluster.services,
                    topic_name,
                    index,
                    producer,
                    commit=effect.commit,
                    coordinator_epoch=shard.journal.leader_epoch,
                    transaction_version=effect.transaction_version,
                )
            except KafkaError as error:
                if not is_gone(error):
                    continue
            written.append((topic_name, index))
        again = len(written) < len(effect.partitions)
        shard.submit(MarkersWritten(effect.transactional_id, *producer, written, again))

    def _go_on(self, transactional_id: str) -> None:
        """A hold was released."""
        try:
            self.shard_for(transactional_id).submit(GoOn(transactional_id))
        except KafkaError:
            return  # nobody coordinates the id now; whoever does next goes on by itself
