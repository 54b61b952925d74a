"""The transaction coordinators of a cluster: the service, the markers that end transactions, and ListTransactions.

Patterns of transactional ids are RE2 syntax and match whole ids (ListTransactions 2, KIP-1152).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.service import CoordinatorService, InternalTopic, Surroundings
from odradek.broker.coordinator.transaction.holds import HoldBook
from odradek.broker.coordinator.transaction.machine import TransactionMachine
from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    MAX_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    GoOn,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    TopicPartition,
    Transaction,
    WriteMarkers,
)
from odradek.broker.coordinator.transaction.verification import (
    Asked,
    Claim,
    Errors,
    Support,
    TransactionVerifier,
    produce_error,
)
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.waiters import Waiter
from odradek.broker.runtime.machine import Effect, Producer
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.patterns import PatternError, compile_pattern
from odradek.protocol.record_batch import FORMAT_OF_BATCHES
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Node
    from odradek.broker.partitions.partition_registry import PartitionRegistry

# What ends the attempt for good: the partition is gone, or somebody newer has taken the transaction over. Anything else
# (a partition without a leader, too few replicas, a full disk) is tried again.
_UNKNOWN_VERSION = -1
_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


class UncommittedMarker:
    """A marker that not all replicas in sync of its partition have."""

    def __init__(self, partition: Partition, offset: int) -> None:
        self._partition = partition
        self._offset = offset
        self._epoch = partition.leader_epoch

    def then(self, settled: Callable[[KafkaError | None], None]) -> Callable[[], None]:
        """Call `settled` with None when it is committed, or with the error when its leader knows that it never will be.

        Returns a function to cancel that.
        """
        self._settled = settled
        return self._listen()

    def _listen(self) -> Callable[[], None]:
        waiters = self._partition.waiters
        waiter = Waiter(1 << 62, lambda: self._look(waiter))
        waiters.add(waiter)
        return lambda: waiters.discard(waiter)

    def _look(self, waiter: Waiter) -> None:
        partition = self._partition
        partition.waiters.discard(waiter)
        if waiter.over:
            return
        if partition.deleted:
            self._settled(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        elif partition.leader_epoch != self._epoch:
            self._settled(KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif partition.log.high_watermark > self._offset:
            self._settled(None)
        else:
            self._listen()

    async def committed(self, clock: BrokerClock, timeout_ms: int) -> None:
        """Wait until it is committed. Raises the error of `then`, or REQUEST_TIMED_OUT."""
        slot: ReplySlot[None] = ReplySlot()
        forget = self.then(lambda error: slot.complete(None) if error is None else slot.fail(error))
        try:
            with clock.move_on_after(timeout_ms / 1000):
                return await slot.wait()
        finally:
            forget()
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)


class MarkerWriter:
    """Writes the markers of one cluster. `groups()` gives its group coordinators, made when they are first needed.

    `cuts`: pairs of nodes that do not reach each other now; `frozen`: nodes that answer nobody.
    """

    def __init__(
        self,
        topics: PartitionRegistry,
        nodes: Mapping[int, Node],
        groups: Callable[[], CoordinatorService[Any]],
        clock: BrokerClock,
        cuts: Collection[frozenset[int]] = (),
        frozen: Container[int] = (),
    ) -> None:
        self._cuts = cuts
        self._frozen = frozen
        self._topics = topics
        self._nodes = nodes
        self._groups = groups
        self._clock = clock

    def write(
        self,
        topic_name: str,
        index: int,
        producer: Producer,
        *,
        commit: bool,
        coordinator_epoch: int,
        transaction_version: int = 0,
        node: Node | None = None,
        coordinator_id: int = -1,
    ) -> UncommittedMarker | None:
        """Append a marker to one partition.

        In `__consumer_offsets` also settle the offsets that were pending on it. While replicas lack the marker, it
        returns an `UncommittedMarker`.

        With `node`, that node must lead the partition; with `coordinator_id`, that node must reach its leader.
        `transaction_version` 2 asks for a newer epoch than the partition knows (KIP-890), except where the same marker
        is there already. Raises `KafkaError`, then nothing is written.
        """
        partition = self._target(topic_name, index, producer, node)
        if self._is_out_of_reach(partition.leader_id, coordinator_id):
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)
        if transaction_version >= 2:
            _check_new_epoch(partition, producer)
        elif transaction_version == _UNKNOWN_VERSION:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # as Kafka
        if partition.log.config.message_format < FORMAT_OF_BATCHES:
            return None  # older formats have no transactions
        if topic_name == CONSUMER_OFFSETS:
            offset = self._groups().shard(index, node).complete_transaction(producer, commit, coordinator_epoch)
            return self._uncommitted(partition, offset)
        now_ms = self._clock.now_ms()
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        offset = partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).last_offset
        return self._uncommitted(partition, offset)

    def _is_out_of_reach(self, leader_id: int, coordinator_id: int) -> bool:
        if leader_id in self._frozen:
            return True
        return bool(self._cuts) and frozenset((coordinator_id, leader_id)) in self._cuts

    @staticmethod
    def _uncommitted(partition: Partition, offset: int) -> UncommittedMarker | None:
        if partition.replica_set is None or partition.log.high_watermark > offset:
            return None
        return UncommittedMarker(partition, offset)

    def _target(self, topic_name: str, index: int, producer: Producer, node: Node | None) -> Partition:
        """The partition, if it can take a marker now."""
        topic = self._topics.get(topic_name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if producer.id == NO_PRODUCER_ID or producer.epoch == NO_PRODUCER_EPOCH:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a marker needs a producer: {producer}")
        partition = topic.partitions[index]
        if partition.leader_id < 0 and node is None:
            # Kafka 4.4.0 treats a partition without a leader as deleted: its transaction stays open.
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        leader = self._nodes.get(partition.leader_id)
        if leader is None or not leader.up or (node is not None and partition.leader_id != node.id):
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        return partition


def _check_new_epoch(partition: Partition, producer: Producer) -> None:
    state = partition.log.producers.get(producer.id)
    if state is None or state.producer_epoch != producer.epoch:
        return
    if state.current_txn_first_offset is not None and producer.epoch != MAX_EPOCH:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"a marker of a version 2 transaction needs an epoch above {state.producer_epoch} in {partition!r}",
        )


def is_gone(error: KafkaError) -> bool:
    """Whether the partition that refused a marker was deleted, so that its marker is no longer needed."""
    return error.code in _GONE


Refusals = dict[TopicPartition, KafkaError]


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
        topics: PartitionRegistry,
        config: BrokerConfig,
        markers: MarkerWriter,
        transaction_version: Callable[[], int],
        allocate: Callable[[int], int],
        cuts: Collection[frozenset[int]] = (),
    ) -> None:
        def machine(partition: int) -> TransactionMachine:
            def new_producer_id() -> int:
                return allocate(topic.ensure()[partition].leader_id)

            return TransactionMachine(config, transaction_version, new_producer_id, self.holds)

        super().__init__(topic, surroundings, machine, handle_effect=self._write_markers)
        self.holds = HoldBook(self._go_on)
        self.markers = markers
        self._cuts = cuts
        self.verifier = TransactionVerifier(topics, config, surroundings.clock, self.begin)
        self._config = config

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, expected: ProducerIdentity | None, node: Node
    ) -> ProducerIdentity | ReplySlot[ProducerIdentity | None] | None:
        """The producer id and epoch that the id has from now on, or where to wait for them; None while an older
        transaction ends (CONCURRENT_TRANSACTIONS). `expected`: those that the client has, if any.
        """
        if not 0 < timeout_ms <= self._config.get_int("transaction.max.timeout.ms"):
            raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        return self.begin(transactional_id, InitProducerId(transactional_id, timeout_ms, expected), node)

    def verify_append(self, claim: Claim, node_id: int) -> Refusals | Coroutine[Any, Any, Refusals]:
        """Verify partitions, or register them in the transaction, before the leader appends to them (KIP-890).

        This is one attempt. CONCURRENT_TRANSACTIONS of a producer that registers means that `verifier.wait_to_retry`
        may help. Returns Produce's error for each partition that must not be written; a coroutine of it where the
        coordinator waits for its replicas. Asked only for partitions whose log has no transaction of this producer
        open.
        """
        if not self.reached_from(node_id, claim.transactional_id):
            return _refusals(dict.fromkeys(claim.partitions, ErrorCode.NETWORK_EXCEPTION), claim.support)
        errors = self.verifier.verify_now(claim)
        return _refusals_later(errors, claim.support) if isinstance(errors, Asked) else _refusals(errors, claim.support)

    def reached_from(self, node_id: int, transactional_id: str) -> bool:
        """Whether a node reaches the coordinator of an id."""
        return not self._cuts or frozenset((node_id, self.leader_for(transactional_id))) not in self._cuts

    # -- the end of transactions

    def _write_markers(self, shard: Shard[TransactionMachine], effect: Effect) -> None:
        """Write the markers that can be written now. The shard's next step completes the transaction if none is
        missing.
        """
        assert isinstance(effect, WriteMarkers)
        prepared = effect.prepared
        coordinator_id = -1 if self.topic.partitions is None else self.topic.partitions[shard.partition].leader_id
        written: list[TopicPartition] = []
        again = False
        for topic_name, index in effect.partitions:
            try:
                uncommitted = self.markers.write(
                    topic_name,
                    index,
                    prepared.producer,
                    commit=prepared.commits,
                    coordinator_epoch=shard.journal.leader_epoch,
                    transaction_version=prepared.client_transaction_version,
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
                uncommitted.then(partial(self._marker_settled, shard, prepared, (topic_name, index)))
        if written or again or not effect.partitions:
            shard.post(MarkersWritten(prepared, written, again))

    @staticmethod
    def _marker_settled(
        shard: Shard[TransactionMachine], prepared: Transaction, partition: TopicPartition, error: KafkaError | None
    ) -> None:
        """Handle a marker that waited for replicas: it is committed, or must be written again."""
        if shard.is_active:
            written = [partition] if error is None or is_gone(error) else []
            shard.post(MarkersWritten(prepared, written, not written))

    def _go_on(self, transactional_id: str) -> None:
        """Continue a transaction whose hold was released."""
        try:
            self.shard_for(transactional_id).post(GoOn(transactional_id))
        except KafkaError:
            return  # the id has no coordinator now; the next one continues by itself


def _refusals(errors: Errors, support: Support) -> Refusals:
    return {partition: produce_error(code, support) for partition, code in errors.items()}


async def _refusals_later(asked: Asked, support: Support) -> Refusals:
    return _refusals(await asked.errors(), support)


def select_transactions(
    transactions: TransactionService,
    node: Node,
    *,
    now_ms: int,
    states: Collection[str] = (),
    producer_ids: Collection[int] = (),
    longer_than_ms: int = -1,
    id_pattern: str | None = None,
) -> tuple[list[Transaction], list[str]]:
    """The ids coordinated by `node` that pass all filters, and the unknown names among `states`.

    Empty filters, a negative duration and an empty pattern let all pass. Raises COORDINATOR_LOAD_IN_PROGRESS while a
    coordinator loads, INVALID_REGULAR_EXPRESSION for a bad pattern.
    """
    try:
        pattern = compile_pattern(id_pattern) if id_pattern else None
    except PatternError as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{id_pattern}: {error}") from None
    known = {name: TransactionState.from_label(name) for name in states}
    wanted = set(known.values()) - {None}
    ids = set(producer_ids)
    found = [
        transaction
        for transaction in coordinated_by(transactions, node)
        if (not states or transaction.state in wanted)
        and (not ids or transaction.producer_id in ids)
        and (longer_than_ms < 0 or now_ms - transaction.start_ms > longer_than_ms)
        and (pattern is None or pattern.fullmatch(transaction.transactional_id))
    ]
    return found, [name for name, state in known.items() if state is None]


def coordinated_by(transactions: TransactionService, node: Node) -> list[Transaction]:
    """The ids coordinated by `node`, as DescribeTransactions shows them.

    Raises COORDINATOR_LOAD_IN_PROGRESS while one of its coordinators loads.
    """
    found: list[Transaction] = []
    for shard in transactions.shards(node):
        if shard.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        found += filter(None, map(shard.machine.described, shard.machine.transactions))
    return found
