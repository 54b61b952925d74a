"""The commands of the transaction coordinator, its questions, and its effects."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import TopicPartition, Transaction
from odradek.broker.runtime.machine import Effect
from odradek.protocol.errors import ErrorCode
from odradek.protocol.native import mypyc_attr


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
    """These partitions have got the marker of the transaction that `producer_id` is ending.

    `again`: other markers could not be written now, and must be tried again later.
    """

    __slots__ = ("again", "partitions", "producer_epoch", "producer_id", "transactional_id")
    reply: None

    def __init__(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Collection[TopicPartition],
        again: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.partitions = partitions
        self.again = again


@mypyc_attr(allow_interpreted_subclasses=True)
class GoOn:
    """Continue the end of a transaction that was held or could not write its markers."""

    __slots__ = ("transactional_id",)
    reply: None

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id


@mypyc_attr(allow_interpreted_subclasses=True)
class AbortTimedOut:
    """Abort the transactions that have been open for longer than their timeout. A timer's command."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class AbortTransaction:
    """Abort and fence a transaction that has been open for too long, if it is still the same one."""

    __slots__ = ("expected",)
    reply: None

    def __init__(self, expected: Transaction) -> None:
        self.expected = expected


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireIds:
    """Forget the transactional ids that have not been used for a long time. A timer's command."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class DescribeTransaction:
    """The id's state, with the partitions whose marker is still missing if it is ending; None if it is unknown."""

    __slots__ = ("transactional_id",)
    reply: Transaction | None

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id


@mypyc_attr(allow_interpreted_subclasses=True)
class WriteMarkers(Effect):
    """Write the marker of a transaction into each of these partitions, then tell `MarkersWritten`."""

    __slots__ = ("commit", "partitions", "producer_epoch", "producer_id", "transaction_version", "transactional_id")

    def __init__(self, transaction: Transaction, partitions: Collection[TopicPartition]) -> None:
        self.transactional_id = transaction.transactional_id
        self.producer_id = transaction.producer_id
        self.producer_epoch = transaction.producer_epoch
        self.commit = transaction.state is TransactionState.PREPARE_COMMIT
        self.transaction_version = transaction.client_transaction_version
        self.partitions = partitions


@mypyc_attr(allow_interpreted_subclasses=True)
class HoldReached(Effect):
    """The transaction has reached a point where it is held."""

    __slots__ = ("at", "transactional_id")

    def __init__(self, transactional_id: str, at: str) -> None:
        self.transactional_id = transactional_id
        self.at = at
