"""A transaction coordinator on a fake log, with fake partitions that take the markers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.transaction.holds import HoldBook
from odradek.broker.coordinator.transaction.machine import TransactionMachine
from odradek.broker.coordinator.transaction.transaction import (
    AddPartitions,
    EndTransaction,
    GoOn,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    TopicPartition,
    Transaction,
    VerifyPartitions,
    WriteMarkers,
    read_record,
)
from odradek.broker.runtime.machine import Command, Effect
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal

START_MS = 1_700_000_000_000


class Marker(NamedTuple):
    """A marker as a partition got it."""

    producer_id: int
    producer_epoch: int
    commit: bool


class FakeTransactionCoordinator:
    """One partition's coordinator, driven step by step; time moves only through `advance`.

    Configs have Kafka's defaults; producer ids count from 0. ``broken`` partitions refuse their markers. ``markers`` is
    what each partition got, in order.
    """

    def __init__(self) -> None:
        self.clock = clock_at(START_MS)
        self.config = BrokerConfig()
        self.transaction_version = 2
        self.producer_ids = count()
        self.journal = FakeJournal()
        self.holds = HoldBook(lambda transactional_id: self._go_on(transactional_id))
        self.markers: dict[TopicPartition, list[Marker]] = {}
        self.broken: set[TopicPartition] = set()
        self.bugs: list[tuple[str, BaseException]] = []
        self.shard = self._start()

    def _start(self) -> Shard[Any]:
        shard = Shard(
            "__transaction_state",
            0,
            self.new_machine,
            self.journal,
            self.clock,
            handle_effect=self._write_markers,
            report=lambda where, error: self.bugs.append((where, error)),
        )
        shard.start()
        while shard.state is ShardState.LOADING:
            shard.load_slice()
        return shard

    def new_machine(self) -> TransactionMachine:
        return TransactionMachine(
            self.config, lambda: self.transaction_version, lambda: next(self.producer_ids), self.holds
        )

    def _write_markers(self, shard: Shard[Any], effect: Effect) -> None:
        assert isinstance(effect, WriteMarkers)
        written = [partition for partition in effect.partitions if partition not in self.broken]
        for partition in written:
            marker = Marker(*effect.prepared.producer, effect.prepared.commits)
            self.markers.setdefault(partition, []).append(marker)
        again = len(written) < len(effect.partitions)
        shard.post(MarkersWritten(effect.prepared, written, again))

    def _go_on(self, transactional_id: str) -> None:
        self.shard.post(GoOn(transactional_id))

    # -- driving it

    @property
    def machine(self) -> TransactionMachine:
        machine: TransactionMachine = self.shard.machine
        return machine

    def ask(self, command: Command[Any]) -> Any:
        return self.shard.ask_now(command)

    def code_of(self, command: Command[Any]) -> ErrorCode:
        """NONE, or the error that the command gets."""
        try:
            self.ask(command)
        except KafkaError as error:
            return error.code
        return ErrorCode.NONE

    def advance(self, seconds: float) -> None:
        """Move the clock and carry out what is due."""
        self.clock.advance(seconds)
        self.shard.fire_due()

    def reload(self, journal: FakeJournal | None = None) -> None:
        """Another coordinator takes over, from the same log or from ``journal``."""
        self.shard.close()
        self.journal = journal or self.journal
        self.shard = self._start()

    def state(self, transactional_id: str) -> Transaction:
        found = self.machine.described(transactional_id)
        assert found is not None
        return found

    def stored(self, transactional_id: str) -> list[Transaction | None]:
        """Every record of the id, in the order of the log."""
        return [transaction for found, transaction in self.stored_records() if found == transactional_id]

    def stored_records(self) -> Iterator[tuple[str, Transaction | None]]:
        for batch in self.journal.batches:
            for record in batch.records():
                assert record.key is not None
                yield read_record(record.key, record.value)

    # -- commands in short

    def init(
        self, transactional_id: str = "t", timeout_ms: int = 60_000, expected: tuple[int, int] | None = None
    ) -> ProducerIdentity | None:
        shown = None if expected is None else ProducerIdentity(*expected)
        reply: ProducerIdentity | None = self.ask(InitProducerId(transactional_id, timeout_ms, shown))
        return reply

    def begin(self, transactional_id: str = "t", timeout_ms: int = 60_000) -> ProducerIdentity:
        identity = self.init(transactional_id, timeout_ms)
        assert identity is not None
        return identity

    def add(
        self, producer: ProducerIdentity, *partitions: TopicPartition, transactional_id: str = "t", version: int = 0
    ) -> None:
        self.ask(AddPartitions(transactional_id, *producer, partitions or [("a", 0)], version))

    def verify(
        self, producer: ProducerIdentity, *partitions: TopicPartition, transactional_id: str = "t"
    ) -> dict[TopicPartition, ErrorCode]:
        verdict: dict[TopicPartition, ErrorCode] = self.ask(VerifyPartitions(transactional_id, *producer, partitions))
        return verdict

    def end(
        self, producer: ProducerIdentity, commit: bool, *, transactional_id: str = "t", version: int = 0
    ) -> ProducerIdentity:
        reply: ProducerIdentity = self.ask(EndTransaction(transactional_id, *producer, commit, version))
        return reply
