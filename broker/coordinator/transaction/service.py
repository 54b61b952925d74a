"""The transaction coordinators of a cluster, as the rest of the broker uses them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import Any

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.service import CoordinatorService, HasId, InternalTopic, Surroundings, TopicStore
from odradek.broker.coordinator.transaction.commands import (
    GoOn,
    HoldReached,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    WriteMarkers,
)
from odradek.broker.coordinator.transaction.holds import HoldBook
from odradek.broker.coordinator.transaction.machine import TransactionMachine
from odradek.broker.coordinator.transaction.markers import MarkerWriter, is_gone
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.coordinator.transaction.verification import (
    Asked,
    Errors,
    Support,
    TransactionVerifier,
    produce_error,
)
from odradek.broker.runtime.machine import Effect, Producer
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError

Refusals = dict[TopicPartition, KafkaError]


class LiveSettings:
    """`TransactionSettings` of one partition's coordinator, read from the live configuration.

    `transaction_version()` is the finalized level of the feature; `new_producer_id(partition)` allocates for the
    coordinator of that partition.
    """

    def __init__(
        self,
        config: BrokerConfig,
        transaction_version: Callable[[], int],
        new_producer_id: Callable[[int], int],
        partition: int,
    ) -> None:
        self._config = config
        self._transaction_version = transaction_version
        self._new_producer_id = new_producer_id
        self._partition = partition

    @property
    def transaction_version(self) -> int:
        return self._transaction_version()

    @property
    def id_expiration_ms(self) -> int:
        return self._config.get_int("transactional.id.expiration.ms")

    @property
    def expire_interval_ms(self) -> int:
        return self._config.get_int("transaction.remove.expired.transaction.cleanup.interval.ms")

    @property
    def request_timeout_ms(self) -> int:
        return self._config.get_int("request.timeout.ms")

    @property
    def abort_interval_ms(self) -> int:
        return self._config.get_int("transaction.abort.timed.out.transaction.cleanup.interval.ms")

    def new_producer_id(self) -> int:
        return self._new_producer_id(self._partition)


class TransactionService(CoordinatorService[TransactionMachine]):
    """The transaction coordinators, as Produce, InitProducerId and tests use them. Owner: the cluster.

    `holds` are kept here because they outlive the coordinators' machines. `allocate(node_id)` returns a producer id
    that was never used.
    """

    def __init__(
        self,
        topic: InternalTopic,
        surroundings: Surroundings,
        *,
        topics: TopicStore,
        config: BrokerConfig,
        markers: MarkerWriter,
        transaction_version: Callable[[], int],
        allocate: Callable[[int], int],
        cuts: Collection[frozenset[int]] = (),
    ) -> None:
        def machine(partition: int) -> TransactionMachine:
            return TransactionMachine(LiveSettings(config, transaction_version, new_producer_id, partition), self.holds)

        def new_producer_id(partition: int) -> int:
            return allocate(topic.ensure()[partition].leader_id)

        super().__init__(topic, surroundings, machine, perform=self._perform_effect)
        self.holds = HoldBook(self._go_on)
        self.markers = markers
        self._cuts = cuts
        self.verifier = TransactionVerifier(topics, config, surroundings.clock, self.begin)
        self._config = config

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdentity | None, node: HasId
    ) -> ProducerIdentity | ReplySlot[ProducerIdentity | None] | None:
        """The producer id and epoch that the id has from now on, or where to wait for them; None while an older
        transaction ends (CONCURRENT_TRANSACTIONS). `expected`: those that the client has, if any.
        """
        if not 0 < timeout_ms <= self._config.get_int("transaction.max.timeout.ms"):
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        return self.begin(transactional_id, InitProducerId(transactional_id, timeout_ms, expected), node)

    def verify_append(
        self,
        *,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[TopicPartition],
        api_version: int,
        node_id: int,
    ) -> Refusals | Coroutine[Any, Any, Refusals]:
        support = Support.of_produce(api_version)
        if not self.reached_from(node_id, transactional_id):
            return _refusals(dict.fromkeys(partitions, ErrorCode.NETWORK_EXCEPTION), support)
        errors = self.verifier.verify_now(transactional_id, producer_id, producer_epoch, partitions, support)
        if isinstance(errors, Asked):
            return _refusals_later(errors, support)
        return _refusals(errors, support)

    def reached_from(self, node_id: int, transactional_id: str) -> bool:
        """Whether a node reaches the coordinator of an id."""
        return not self._cuts or frozenset((node_id, self.leader_for(transactional_id))) not in self._cuts

    async def wait_to_retry(self, began_ms: int) -> bool:
        return await self.verifier.wait_to_retry(began_ms)

    # -- the end of transactions

    def _perform_effect(self, shard: Shard[TransactionMachine], effect: Effect) -> None:
        if isinstance(effect, HoldReached):
            self.holds.reached(effect.transactional_id, effect.at)
        else:
            assert isinstance(effect, WriteMarkers)
            self._write_markers(shard, effect)

    def _write_markers(self, shard: Shard[TransactionMachine], effect: WriteMarkers) -> None:
        """Write the markers that can be written now, and tell the coordinator, which completes the transaction if none
        is missing.
        """
        producer = Producer(effect.producer_id, effect.producer_epoch)
        coordinator_id = -1 if self.topic.partitions is None else self.topic.partitions[shard.partition].leader_id
        written: list[TopicPartition] = []
        again = False
        for topic_name, index in effect.partitions:
            try:
                uncommitted = self.markers.write(
                    topic_name,
                    index,
                    producer,
                    commit=effect.commit,
                    coordinator_epoch=shard.journal.leader_epoch,
                    transaction_version=effect.transaction_version,
                    coordinator_id=coordinator_id,
                )
            except KafkaError as error:
                if not is_gone(error):
                    again = True
                    continue
                uncommitted = None
            if uncommitted is None:
                written.append((topic_name, index))
            else:
                uncommitted.then(partial(self._marker_settled, shard, effect, (topic_name, index)))
        if written or again or not effect.partitions:
            shard.follow_up(MarkersWritten(effect.transactional_id, *producer, written, again))

    @staticmethod
    def _marker_settled(
        shard: Shard[TransactionMachine], effect: WriteMarkers, partition: TopicPartition, error: KafkaError | None
    ) -> None:
        """Handle a marker that waited for replicas: it is committed, or must be written again."""
        if shard.is_active:
            written = [partition] if error is None or is_gone(error) else []
            producer = Producer(effect.producer_id, effect.producer_epoch)
            shard.follow_up(MarkersWritten(effect.transactional_id, *producer, written, not written))

    def _go_on(self, transactional_id: str) -> None:
        """Continue a transaction whose hold was released."""
        try:
            self.shard_for(transactional_id).submit(GoOn(transactional_id))
        except KafkaError:
            return  # the id has no coordinator now; the next one continues by itself


def _refusals(errors: Errors, support: Support) -> Refusals:
    return {partition: produce_error(code, support) for partition, code in errors.items()}


async def _refusals_later(asked: Asked, support: Support) -> Refusals:
    return _refusals(await asked.errors(), support)
