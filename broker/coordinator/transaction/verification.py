"""Whether a batch may be written as part of a transaction: verified with its coordinator, or registered (KIP-890).

An older client adds its partitions to the transaction itself; the partition's leader only asks whether it has. A client
of transactions version 2 (Produce 12, TxnOffsetCommit 5) leaves the adding to the leader.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.transaction.transaction import AddPartitions, TopicPartition, VerifyPartitions
from odradek.broker.runtime.machine import Command
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.partitions.partition_registry import PartitionRegistry

_UNREACHABLE = frozenset(
    {
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class Support(Enum):
    """The abilities of the client, by the version of its request."""

    VERIFY = auto()
    """Adds partitions itself, does not know TRANSACTION_ABORTABLE."""
    VERIFY_ABORTABLE = auto()
    """Adds partitions itself, knows TRANSACTION_ABORTABLE."""
    REGISTER = auto()
    """Transactions version 2: the broker adds the partitions."""

    @classmethod
    def of_produce(cls, version: int) -> Support:
        """For a Produce request of that version."""
        return cls.REGISTER if version > 11 else cls.VERIFY_ABORTABLE if version > 10 else cls.VERIFY

    @classmethod
    def of_txn_offset_commit(cls, version: int) -> Support:
        """For a TxnOffsetCommit request of that version."""
        return cls.REGISTER if version > 4 else cls.VERIFY_ABORTABLE if version > 3 else cls.VERIFY


Errors = dict[TopicPartition, ErrorCode]


class Asked:
    """Partitions that a coordinator is adding to a transaction.

    It waits for its own replicas. `known`: the errors of other partitions.
    """

    def __init__(self, slot: ReplySlot[None], partitions: Collection[TopicPartition], known: Errors) -> None:
        self._slot = slot
        self._partitions = partitions
        self._known = known

    async def errors(self) -> Errors:
        """Wait for the coordinator; returns the partitions that it refused, with their errors."""
        try:
            await self._slot.wait()
        except KafkaError as error:
            return self._known | dict.fromkeys(self._partitions, _for_leader(error.code))
        return self._known


class Claim(NamedTuple):
    """What a producer says: these partitions, which it wants to write, are part of its transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: Collection[TopicPartition]
    support: Support


class TransactionVerifier:
    """Asks the coordinators of one cluster on behalf of its partition leaders.

    `ask(transactional_id, command)` gives the coordinator's reply (or the slot of it), or raises its `KafkaError`.
    """

    def __init__(
        self,
        topics: PartitionRegistry,
        config: BrokerConfig,
        clock: BrokerClock,
        ask: Callable[[str, Command[Any]], Any],
    ) -> None:
        self._topics = topics
        self._config = config
        self._clock = clock
        self._ask = ask

    def begin(self, claim: Claim) -> Errors | Coroutine[Any, Any, Errors]:
        """The partitions that must not be written, with the error as the partition's leader answers it.

        It is a coroutine if the coordinator must be waited for. With version 2, whose clients do not wait themselves,
        it also waits while the previous transaction writes its markers.
        """
        found = self.verify_now(claim)
        return self._wait(found, claim) if isinstance(found, Asked) or _must_wait(found, claim.support) else found

    async def _wait(self, found: Errors | Asked, claim: Claim) -> Errors:
        began_ms = self._clock.now_ms()
        may_go_on = True
        while True:
            errors = await found.errors() if isinstance(found, Asked) else found
            if not may_go_on or not _must_wait(errors, claim.support):
                return errors
            may_go_on = await self.wait_to_retry(began_ms)
            found = self.verify_now(claim)

    async def wait_to_retry(self, began_ms: int) -> bool:
        """Wait `add.partitions.to.txn.retry.backoff.ms`, for a transaction that ends.

        False when the next attempt is the last: `began_ms` lies `add.partitions.to.txn.retry.backoff.max.ms` back.
        """
        await self._clock.sleep(self._config.get_int("add.partitions.to.txn.retry.backoff.ms") / 1000)
        longest_ms = self._config.get_int("add.partitions.to.txn.retry.backoff.max.ms")
        return self._clock.now_ms() < began_ms + longest_ms

    def verify_now(self, claim: Claim) -> Errors | Asked:
        """One attempt of `begin`, without waiting."""
        registers = claim.support is Support.REGISTER
        if not registers and not self._config.get_bool("transaction.partition.verification.enable"):
            return {}
        errors: Errors = {}
        asked: list[TopicPartition] = []
        for partition in claim.partitions:
            if self._knows_later_epoch(partition, claim):
                errors[partition] = ErrorCode.INVALID_PRODUCER_EPOCH
            else:
                asked.append(partition)
        if not claim.transactional_id:
            return errors | dict.fromkeys(asked, ErrorCode.INVALID_REQUEST)
        if not asked:
            return errors
        return self._register(claim, asked, errors) if registers else errors | self._verify(claim, asked)

    def _knows_later_epoch(self, partition: TopicPartition, claim: Claim) -> bool:
        """Whether the log knows a newer epoch of this producer id, so that the coordinator need not be asked."""
        name, index = partition
        topic = self._topics.get(name)
        if topic is None or not 0 <= index < len(topic.partitions):
            return False
        return topic.partitions[index].log.producers.knows_later_epoch(claim.producer_id, claim.producer_epoch)

    def _register(self, claim: Claim, partitions: Collection[TopicPartition], known: Errors) -> Errors | Asked:
        topics = self._topics
        unknown = {
            (name, index): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            for name, index in partitions
            if (topic := topics.get(name)) is None or not 0 <= index < len(topic.partitions)
        }
        if unknown:
            return known | dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | unknown
        command = AddPartitions(claim.transactional_id, claim.producer_id, claim.producer_epoch, partitions, 2)
        try:
            reply = self._ask(claim.transactional_id, command)
        except KafkaError as error:
            return known | dict.fromkeys(partitions, _for_leader(error.code))
        return Asked(reply, partitions, known) if isinstance(reply, ReplySlot) else known

    def _verify(self, claim: Claim, partitions: Collection[TopicPartition]) -> Errors:
        command = VerifyPartitions(claim.transactional_id, claim.producer_id, claim.producer_epoch, partitions)
        try:
            found = self._ask(claim.transactional_id, command)
            assert not isinstance(found, ReplySlot), "nothing is written"
        except KafkaError as error:
            return dict.fromkeys(partitions, _for_leader(error.code))
        missing = ErrorCode.TRANSACTION_ABORTABLE
        if claim.support is Support.VERIFY:
            missing = ErrorCode.INVALID_TXN_STATE
        return {partition: missing for partition, code in found.items() if code is not ErrorCode.NONE}


def _must_wait(errors: Errors, support: Support) -> bool:
    return support is Support.REGISTER and ErrorCode.CONCURRENT_TRANSACTIONS in errors.values()


# The coordinator's error as the partition's leader answers it. Producers do not expect to be fenced by a partition, so
# an old epoch is INVALID_PRODUCER_EPOCH. Only the right coordinator is ever asked, so NOT_COORDINATOR means that there
# is none.
_TO_LEADER = {
    ErrorCode.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


def _for_leader(code: ErrorCode) -> ErrorCode:
    return _TO_LEADER.get(code, code)


def produce_error(code: ErrorCode, support: Support) -> KafkaError:
    """Produce's error for a refused partition.

    A coordinator that cannot answer now becomes NOT_ENOUGH_REPLICAS, which every producer retries without asking for
    metadata first.
    """
    if code is ErrorCode.INVALID_TXN_STATE:
        return KafkaError(code, "Partition was not added to the transaction")
    waits = code is ErrorCode.CONCURRENT_TRANSACTIONS and support is not Support.REGISTER
    if code in _UNREACHABLE or waits:
        text = f"Unable to verify the partition has been added to the transaction. Underlying error: {code.name}"
        return KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, text)
    return KafkaError(code)
