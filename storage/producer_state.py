"""The producers of a partition: epochs, sequences of the last five batches, open transactions.

The rules are those of Kafka's ProducerAppendInfo: a batch is checked against a producer's entry first, and the entry
changes only after the batch is in the log.
Source: KIP-98 (idempotence, transactions), KIP-360 (any sequence accepted without state), KIP-890 (transactions v2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from odradek.protocol.control import read_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import (
    MAX_SEQUENCE,
    NO_PRODUCER_EPOCH,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    RecordBatch,
    next_sequence,
)

KEPT_BATCHES = 5
"""The number of batches kept for a producer: as many as a client may have in flight."""


class BatchMetadata(NamedTuple):
    """One of the last batches of a producer."""

    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


class CompletedTxn(NamedTuple):
    """A transaction that a marker has ended on this partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class ProducerState:
    """One producer on one partition. Owner: ProducerStates."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "current_txn_first_offset",
        "last_sequence",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = NO_TIMESTAMP
        self.current_txn_first_offset: int | None = None
        self.batches: deque[BatchMetadata] = deque(maxlen=KEPT_BATCHES)
        self.last_sequence = NO_SEQUENCE
        """The timestamp of its last batch."""

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else -1

    def copied(self) -> ProducerState:
        """An independent copy."""
        other = ProducerState(self.producer_id)
        other.producer_epoch = self.producer_epoch
        other.coordinator_epoch = self.coordinator_epoch
        other.last_timestamp = self.last_timestamp
        other.current_txn_first_offset = self.current_txn_first_offset
        other.batches = self.batches.copy()
        other.last_sequence = self.last_sequence
        return other

    def find_duplicate(self, epoch: int, base_sequence: int, last_sequence: int) -> BatchMetadata | None:
        """The kept batch with these sequences, if this epoch wrote it."""
        if epoch == self.producer_epoch:
            for batch in self.batches:
                if batch.base_sequence == base_sequence and batch.last_sequence == last_sequence:
                    return batch
        return None

    def __repr__(self) -> str:
        return (
            f"ProducerState({self.producer_id}/{self.producer_epoch}, last sequence {self.last_sequence}, "
            f"transaction from {self.current_txn_first_offset})"
        )


class VerificationState(NamedTuple):
    """A producer whose first transactional batch is being verified with the coordinator (KIP-890).

    It stays, also when the coordinator has refused, until a batch or a marker of the transaction is written.
    `lowest_sequence` is the smallest sequence of its newest epoch that came meanwhile. `supports_epoch_bump`: the
    producer used transactions v2 when it began, where a producer without batches must begin at sequence 0.
    """

    began_ms: int
    producer_epoch: int
    lowest_sequence: int
    supports_epoch_bump: bool


class ProducerStates:
    """All producers of a partition and its open transactions. Owner: the partition log."""

    __slots__ = ("_by_id", "_name", "_ongoing", "_rewound", "_unreplicated", "_verifying")

    def __init__(self, name: str) -> None:
        self._name = name
        self._by_id: dict[int, ProducerState] = {}
        # First offset -> producer id. Transactions begin at ascending offsets, so insertion order is offset order.
        self._ongoing: dict[int, int] = {}
        # Ended transactions whose marker is not yet below the high watermark: first offset -> marker offset.
        self._unreplicated: dict[int, int] = {}
        self._verifying: dict[int, VerificationState] = {}
        self._rewound: dict[int, int] = {}

    def get(self, producer_id: int) -> ProducerState | None:
        return self._by_id.get(producer_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[ProducerState]:
        return iter(self._by_id.values())

    # --- checks -------------------------------------------------------------------------------------------------------

    def check_data(
        self, producer_id: int, epoch: int, base_sequence: int, last_offset_delta: int, offset: int, transactional: bool
    ) -> BatchMetadata | None:
        """Raise unless a client's batch may be appended at `offset`; returns the kept batch that it repeats, if any."""
        state = self._by_id.get(producer_id)
        if state is not None:
            if (
                epoch == state.producer_epoch
                and base_sequence == state.last_sequence + 1
                and (transactional or state.current_txn_first_offset is None)
                and not self._verifying
            ):
                return None  # the usual next batch passes all checks below
            last_sequence = next_sequence(base_sequence, last_offset_delta)
            duplicate = state.find_duplicate(epoch, base_sequence, last_sequence)
            if duplicate is not None:
                return duplicate
            self._check_epoch(state, epoch, offset)
        self._check_sequence(state, producer_id, epoch, base_sequence, offset)
        if state is not None and state.current_txn_first_offset is not None and not transactional:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"Expected transactional write from producer {producer_id} at offset {offset} in {self._name}",
            )
        return None

    def _check_epoch(self, state: ProducerState, epoch: int, offset: int) -> None:
        if epoch < state.producer_epoch:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {state.producer_id} at offset {offset} in {self._name} is {epoch}, "
                f"which is smaller than the last seen epoch {state.producer_epoch}",
            )

    def _check_sequence(
        self, state: ProducerState | None, producer_id: int, epoch: int, sequence: int, offset: int
    ) -> None:
        verifying = self._verifying.get(producer_id) if self._verifying else None
        if verifying is not None:
            unknown = state is None or not state.batches
            if (unknown and verifying.supports_epoch_bump and sequence != 0) or sequence > verifying.lowest_sequence:
                raise self._out_of_order(producer_id, offset, sequence, "producer is being verified")
        if state is None:
            return
        if self._rewound and self._rewound.get(producer_id) == state.last_sequence:
            return  # the producer is ahead of this log, which has been rewound
        if epoch != state.producer_epoch:
            if sequence != 0 and state.producer_epoch != NO_PRODUCER_EPOCH:
                raise self._out_of_order(producer_id, offset, sequence, f"first of epoch {epoch}")
            return
        last = state.last_sequence
        if sequence != last + 1 and not (sequence == 0 and last == MAX_SEQUENCE):
            raise self._out_of_order(producer_id, offset, sequence, f"{last} (current end sequence number)")

    def _out_of_order(self, producer_id: int, offset: int, sequence: int, why: str) -> KafkaError:
        return KafkaError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Out of order sequence number for producer {producer_id} at offset {offset} in partition {self._name}: "
            f"{sequence} (incoming seq. number), {why}",
        )

    def check_epoch(self, producer_id: int, epoch: int, offset: int) -> None:
        """Raise unless a coordinator's batch for this producer may be appended at `offset`."""
        state = self._by_id.get(producer_id)
        if state is not None:
            self._check_epoch(state, epoch, offset)

    def check_marker(self, producer_id: int, epoch: int, coordinator_epoch: int, offset: int) -> None:
        """Raise unless a transaction marker may be appended at `offset`; an unknown producer has the epochs -1."""
        state = self._by_id.get(producer_id) or ProducerState(producer_id)
        self._check_epoch(state, epoch, offset)
        if state.coordinator_epoch > coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producerId {producer_id} at offset {offset} in partition "
                f"{self._name}: {coordinator_epoch} (zombie), {state.coordinator_epoch} (current)",
            )

    # --- changes ------------------------------------------------------------------------------------------------------

    def data_appended(self, producer_id: int, epoch: int, batch: BatchMetadata, *, transactional: bool) -> None:
        """Note an appended data batch."""
        state = self._by_id.get(producer_id)
        if state is None or state.producer_epoch != epoch:
            state = self._entry(producer_id, epoch)
        state.batches.append(batch)
        state.last_sequence = batch[1]
        state.last_timestamp = batch[4]
        if transactional and state.current_txn_first_offset is None:
            state.current_txn_first_offset = batch.base_offset
            self._ongoing[batch.base_offset] = producer_id
        if self._verifying and transactional:
            self._verifying.pop(producer_id, None)

    def marker_appended(
        self, producer_id: int, epoch: int, coordinator_epoch: int, *, commit: bool, offset: int, timestamp: int
    ) -> CompletedTxn | None:
        """Note an appended marker; returns the transaction that it ended, None if none was open."""
        state = self._entry(producer_id, epoch)
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = timestamp
        first = state.current_txn_first_offset
        state.current_txn_first_offset = None
        verifying = self._verifying.get(producer_id) if self._verifying else None
        if verifying is not None and not (verifying.supports_epoch_bump and verifying.producer_epoch == epoch):
            del self._verifying[producer_id]  # a marker of v2 has the epoch of the transaction that follows
        if first is None:
            return None
        self._ongoing.pop(first, None)
        self._unreplicated[first] = offset
        return _new(CompletedTxn, (producer_id, first, offset, not commit))

    def _entry(self, producer_id: int, epoch: int) -> ProducerState:
        state = self._by_id.get(producer_id)
        if state is None:
            state = self._by_id[producer_id] = ProducerState(producer_id)
        if epoch != state.producer_epoch:
            state.batches.clear()
            state.last_sequence = NO_SEQUENCE
            state.producer_epoch = epoch
        return state

    def replay(self, batch: RecordBatch) -> CompletedTxn | None:
        """Note a batch of the log (copied, or read again after a restart) without any check."""
        if not batch.has_producer_id:
            return None
        if batch.is_control:
            marker = read_end_txn_batch(batch)
            if marker is None:
                return None
            return self.marker_appended(
                batch.producer_id,
                batch.producer_epoch,
                marker.coordinator_epoch,
                commit=marker.commit,
                offset=batch.base_offset,
                timestamp=batch.max_timestamp,
            )
        metadata = BatchMetadata(
            batch.base_sequence, batch.last_sequence, batch.base_offset, batch.last_offset, batch.max_timestamp
        )
        self.data_appended(batch.producer_id, batch.producer_epoch, metadata, transactional=batch.is_transactional)
        return None

    def restore(self, state: ProducerState) -> None:
        """Take over an entry from a snapshot."""
        state.last_sequence = state.batches[-1].last_sequence if state.batches else NO_SEQUENCE
        self._by_id[state.producer_id] = state
        first = state.current_txn_first_offset
        if first is not None:
            self._ongoing[first] = state.producer_id
            self._ongoing = dict(sorted(self._ongoing.items()))

    # --- transactions -------------------------------------------------------------------------------------------------

    @property
    def first_ongoing_offset(self) -> int | None:
        """First offset of the oldest open transaction."""
        return next(iter(self._ongoing), None) if self._ongoing else None

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """The first offset of an open transaction, or of an ended one whose marker is not replicated yet."""
        if self._unreplicated:
            done = [first for first, marker in self._unreplicated.items() if marker < high_watermark]
            for first in done:
                del self._unreplicated[first]
        ongoing = self.first_ongoing_offset
        if not self._unreplicated:
            return ongoing
        first = min(self._unreplicated)
        return first if ongoing is None else min(first, ongoing)

    def has_ongoing_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether this producer, in this epoch, has an open transaction on the partition."""
        state = self._by_id.get(producer_id)
        return state is not None and state.current_txn_first_offset is not None and state.producer_epoch == epoch

    def knows_later_epoch(self, producer_id: int, epoch: int) -> bool:
        """Whether the log has a newer epoch of this producer id."""
        state = self._by_id.get(producer_id)
        return state is not None and epoch < state.producer_epoch

    def begin_verification(
        self, producer_id: int, epoch: int, sequence: int, now_ms: int, *, supports_epoch_bump: bool
    ) -> None:
        """Note that a first transactional batch waits for the coordinator's answer; keeps the lowest sequence.

        Nothing is noted of an epoch that is older than what the log or an earlier verification knows: a fenced producer
        does not hold up the one that replaced it.
        """
        if self.knows_later_epoch(producer_id, epoch):
            return
        known = self._verifying.get(producer_id)
        if known is None:
            self._verifying[producer_id] = VerificationState(now_ms, epoch, sequence, supports_epoch_bump)
        elif epoch > known.producer_epoch or (epoch == known.producer_epoch and sequence < known.lowest_sequence):
            self._verifying[producer_id] = known._replace(producer_epoch=epoch, lowest_sequence=sequence)

    def rewind(self) -> None:
        """Accept any next sequence of each producer, once, because the log has been rewound to an earlier state and its
        clients have not.

        Otherwise a producer that has written since would fail with an error that its client takes for lost data.
        """
        self._rewound = {
            state.producer_id: state.last_sequence
            for state in self._by_id.values()
            if state.current_txn_first_offset is None
        }

    # --- housekeeping -------------------------------------------------------------------------------------------------

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Remove producers that last wrote `expiration_ms` ago and have no open transaction; returns their number.

        Verifications that began then and led to nothing go, too.
        """
        gone = [
            state.producer_id
            for state in self._by_id.values()
            if state.current_txn_first_offset is None and now_ms - state.last_timestamp >= expiration_ms
        ]
        for producer_id in gone:
            del self._by_id[producer_id]
        if self._verifying:
            old = [each for each, state in self._verifying.items() if now_ms - state.began_ms >= expiration_ms]
            for producer_id in old:
                del self._verifying[producer_id]
        return len(gone)

    def copied(self) -> ProducerStates:
        """A copy of the producers for another log. Verifications under way stay with this log."""
        other = ProducerStates(self._name)
        other._by_id = {producer_id: state.copied() for producer_id, state in self._by_id.items()}
        other._ongoing = dict(self._ongoing)
        other._unreplicated = dict(self._unreplicated)
        return other

    def clear(self) -> None:
        self._by_id.clear()
        self._ongoing.clear()
        self._unreplicated.clear()
        self._verifying.clear()
