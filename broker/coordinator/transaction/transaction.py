"""One transactional id as `__transaction_state` holds it and its record form; the commands and effects."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple, final

from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.runtime.machine import Effect, LogRecord, NewRecord, Producer
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr
from odradek.protocol.stored import decode_transaction_record, encode_record_key, encode_record_value

TopicPartition = tuple[str, int]

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
MAX_EPOCH = 32767
LAST_USABLE_EPOCH = MAX_EPOCH - 1
"""The last epoch of a client. The one above it is reserved for fencing that client."""

NO_PARTITIONS: frozenset[TopicPartition] = frozenset()


@final
@mypyc_attr(acyclic=True)
class Transaction:
    """The durable state of a transactional id: the content of its newest stored record. Times in milliseconds since
    1970.

    `previous_producer_id` is the producer id before the last transition, `next_producer_id` the one that takes over
    when the markers are written (-1: none; it exists when the epochs are used up). `client_transaction_version` is 2
    when the last request on the transaction was a version 2 one (KIP-890). `start_ms` is -1 while nothing has begun.
    A value: nobody changes one.
    """

    def __init__(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        timeout_ms: int,
        state: TransactionState = TransactionState.EMPTY,
        partitions: frozenset[TopicPartition] = NO_PARTITIONS,
        start_ms: int = -1,
        last_update_ms: int = -1,
        previous_producer_id: int = NO_PRODUCER_ID,
        next_producer_id: int = NO_PRODUCER_ID,
        next_producer_epoch: int = NO_PRODUCER_EPOCH,
        client_transaction_version: int = 0,
    ) -> None:
        self.transactional_id: Final = transactional_id
        self.producer_id: Final = producer_id
        self.producer_epoch: Final = producer_epoch
        self.timeout_ms: Final = timeout_ms
        self.state: Final = state
        self.partitions: Final = partitions
        self.start_ms: Final = start_ms
        self.last_update_ms: Final = last_update_ms
        self.previous_producer_id: Final = previous_producer_id
        self.next_producer_id: Final = next_producer_id
        self.next_producer_epoch: Final = next_producer_epoch
        self.client_transaction_version: Final = client_transaction_version

    @property
    def producer(self) -> Producer:
        """In whose name its records and its markers are written."""
        return Producer(self.producer_id, self.producer_epoch)

    @property
    def commits(self) -> bool:
        """Whether it is ending with a commit."""
        return self.state is TransactionState.PREPARE_COMMIT

    @property
    def epoch_exhausted(self) -> bool:
        """Whether the producer can get no higher epoch, so that it gets a new producer id next."""
        return self.producer_epoch >= LAST_USABLE_EPOCH

    def with_partitions(self, partitions: frozenset[TopicPartition]) -> Transaction:
        """The same with other partitions."""
        fields = list(self._fields())
        fields[_PARTITIONS_AT] = partitions
        return Transaction(*fields)

    def _fields(self) -> tuple[Any, ...]:
        """All fields, in the order of the arguments."""
        return (
            self.transactional_id,
            self.producer_id,
            self.producer_epoch,
            self.timeout_ms,
            self.state,
            self.partitions,
            self.start_ms,
            self.last_update_ms,
            self.previous_producer_id,
            self.next_producer_id,
            self.next_producer_epoch,
            self.client_transaction_version,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transaction) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __reduce__(self) -> tuple[Any, ...]:
        return Transaction, self._fields()

    def __repr__(self) -> str:
        return f"Transaction{self._fields()!r}"


_PARTITIONS_AT = 5


def record_key(transactional_id: str) -> bytes:
    """The key of the id's records."""
    return encode_record_key(TransactionLogKey(transactional_id))


def record_value(transaction: Transaction, transaction_version: int) -> bytes:
    """The value that stores `transaction`: version 1, or version 0 while the cluster's transaction.version is 0."""
    state = transaction.state
    partitions = None if state is TransactionState.EMPTY else _grouped(transaction.partitions)
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=state,
        transaction_partitions=partitions,
        transaction_last_update_timestamp_ms=transaction.last_update_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
    )
    if transaction_version < 1:
        return encode_record_value(value, 0)
    value.previous_producer_id = transaction.previous_producer_id
    value.next_producer_id = transaction.next_producer_id
    value.next_producer_epoch = transaction.next_producer_epoch
    value.client_transaction_version = transaction.client_transaction_version
    return encode_record_value(value, 1)


def read_record(key: bytes, value: bytes | None) -> tuple[str, Transaction | None]:
    """The transactional id of a stored record, and its state or None for a tombstone."""
    stored_key, stored = decode_transaction_record(key, value)
    assert isinstance(stored_key, TransactionLogKey)
    transactional_id = stored_key.transactional_id
    if stored is None:
        return transactional_id, None
    assert isinstance(stored, TransactionLogValue)
    state = TransactionState(stored.transaction_status)
    return transactional_id, Transaction(
        transactional_id,
        producer_id=stored.producer_id,
        producer_epoch=stored.producer_epoch,
        timeout_ms=stored.transaction_timeout_ms,
        state=state,
        partitions=frozenset(
            (item.topic, partition) for item in stored.transaction_partitions or () for partition in item.partition_ids
        ),
        start_ms=stored.transaction_start_timestamp_ms,
        last_update_ms=stored.transaction_last_update_timestamp_ms,
        previous_producer_id=stored.previous_producer_id,
        next_producer_id=stored.next_producer_id,
        next_producer_epoch=stored.next_producer_epoch,
        client_transaction_version=stored.client_transaction_version,
    )


def said_by(record: NewRecord | LogRecord) -> tuple[str, Transaction | None]:
    """The same as `read_record`, without decoding if the record carries the decoded value."""
    decoded: Transaction | None = record.decoded
    return read_record(record.key, record.value) if decoded is None else (decoded.transactional_id, decoded)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partition numbers in rising order under their topics; topics in a Java hash map's order, as in Kafka."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    if len(topics) < 2:
        return topics
    return {topic: topics[topic] for topic in java_order(topics, hash_of_text)}


def _grouped(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    return [PartitionsSchema(topic, numbers) for topic, numbers in by_topic(partitions).items()]


def tombstones(transactional_ids: Iterable[str]) -> list[NewRecord]:
    """The records that delete ids."""
    return [NewRecord(record_key(transactional_id)) for transactional_id in transactional_ids]


class ProducerIdentity(NamedTuple):
    """The identity that a producer sends, which shows whether it is the current one."""

    producer_id: int
    producer_epoch: int


@mypyc_attr(allow_interpreted_subclasses=True)
class InitProducerId:
    """Make the asker the only producer of the id.

    `expected`: the identity that the asker had (KIP-360), None for a new producer. Reply: its new identity, or None
    while an open transaction is being aborted, so that the asker must try again (CONCURRENT_TRANSACTIONS).
    """

    __slots__ = ("expected", "timeout_ms", "transactional_id")
    reply: ProducerIdentity | None

    def __init__(self, transactional_id: str, timeout_ms: int, expected: ProducerIdentity | None = None) -> None:
        self.transactional_id = transactional_id
        self.timeout_ms = timeout_ms
        self.expected = expected


@mypyc_attr(allow_interpreted_subclasses=True)
class AddPartitions:
    """Add partitions to the id's transaction, beginning one if need be. `client_version`: 0, or 2 with KIP-890."""

    __slots__ = ("client_version", "partitions", "producer_epoch", "producer_id", "transactional_id")
    reply: None

    def __init__(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Iterable[TopicPartition],
        client_version: int = 0,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.partitions = frozenset(partitions)
        self.client_version = client_version


@mypyc_attr(allow_interpreted_subclasses=True)
class VerifyPartitions:
    """Ask whether partitions are part of the id's open transaction: NONE or TRANSACTION_ABORTABLE for each."""

    __slots__ = ("partitions", "producer_epoch", "producer_id", "transactional_id")
    reply: dict[TopicPartition, ErrorCode]

    def __init__(
        self, transactional_id: str, producer_id: int, producer_epoch: int, partitions: Collection[TopicPartition]
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.partitions = partitions


@mypyc_attr(allow_interpreted_subclasses=True)
class EndTransaction:
    """Commit or abort. Reply: the producer's identity from now on (a new epoch with `client_version` 2)."""

    __slots__ = ("client_version", "commit", "producer_epoch", "producer_id", "transactional_id")
    reply: ProducerIdentity

    def __init__(
        self, transactional_id: str, producer_id: int, producer_epoch: int, commit: bool, client_version: int = 0
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.commit = commit
        self.client_version = client_version


@mypyc_attr(allow_interpreted_subclasses=True)
class MarkersWritten:
    """These partitions have got the marker of the transaction, which was `prepared` when they were to get it.

    `again`: other markers could not be written now, and must be tried again later.
    """

    __slots__ = ("again", "partitions", "prepared")
    reply: None

    def __init__(self, prepared: Transaction, partitions: Collection[TopicPartition], again: bool = False) -> None:
        self.prepared = prepared
        self.partitions = partitions
        self.again = again


@mypyc_attr(allow_interpreted_subclasses=True)
class GoOn:
    """Continue the end of a transaction that was held or could not write its markers."""

    reply: None

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id


@mypyc_attr(allow_interpreted_subclasses=True)
class AbortTimedOut:
    """Abort the transactions that have been open for longer than their timeout. A timer's command."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class AbortTransaction:
    """Abort and fence a transaction that has been open for too long, if it is still the same one."""

    reply: None

    def __init__(self, expected: Transaction) -> None:
        self.expected = expected


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireIds:
    """Forget the transactional ids that have not been used for a long time. A timer's command."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class WriteMarkers(Effect):
    """Write the marker of a prepared transaction into each of these partitions, then give `MarkersWritten`."""

    __slots__ = ("partitions", "prepared")

    def __init__(self, prepared: Transaction, partitions: Collection[TopicPartition]) -> None:
        self.prepared = prepared
        self.partitions = partitions
