"""Random producers, coordinator reloads, compactions, time jumps, held and failing markers: nothing lost or doubled.

The partitions are real partition logs. A value counts as committed when its producer's EndTransaction(commit) was
answered without an error; everything else must never show up for a read_committed reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odradek.broker.coordinator.transaction.holds import Hold, marker_point
from odradek.broker.coordinator.transaction.states import IN_PROGRESS, RULES
from odradek.broker.coordinator.transaction.transaction import (
    MarkersWritten,
    ProducerIdentity,
    TopicPartition,
    WriteMarkers,
)
from odradek.broker.runtime.machine import Effect, LogRecord
from odradek.broker.runtime.shard import Shard
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from tests.fakes.examples import examples
from tests.fakes.journal import FakeJournal
from tests.fakes.transactions import FakeTransactionCoordinator

PLACES: list[TopicPartition] = [("a", 0), ("a", 1), ("b", 0)]
# The producers of an id all speak one version: an EndTxn of version 2 takes the epoch after its own for its own bump,
# so a version 1 producer in between would let an older one back in (in Kafka too).
IDS = {"t": 2, "u": 0}
HOLD_POINTS = ["PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", *map(marker_point, PLACES)]


class Coordinator(FakeTransactionCoordinator):
    """With partition logs that take the markers."""

    def __init__(self) -> None:
        self.logs = {place: PartitionLog(*place, LogConfig(), MemoryBackend()) for place in PLACES}
        super().__init__()

    def _write_markers(self, shard: Shard[Any], effect: Effect) -> None:
        assert isinstance(effect, WriteMarkers)
        written = [place for place in effect.partitions if place not in self.broken]
        for place in written:
            batch = build_end_txn_batch(
                EndTxnMarker(effect.prepared.commits, 0),
                producer_id=effect.prepared.producer_id,
                producer_epoch=effect.prepared.producer_epoch,
                timestamp=self.clock.now_ms(),
            )
            self.logs[place].append(batch, now_ms=self.clock.now_ms(), leader_epoch=0, origin=AppendOrigin.COORDINATOR)
        again = len(written) < len(effect.partitions)
        shard.post(MarkersWritten(effect.prepared, written, again))


class Client:
    """A producer as a careful client library drives it: after an error that it cannot repeat it starts anew."""

    def __init__(self, transactional_id: str, version: int) -> None:
        self.transactional_id = transactional_id
        self.version = version
        self.identity: ProducerIdentity | None = None
        self.sequences: dict[TopicPartition, int] = {}
        self.open: list[tuple[TopicPartition, bytes]] = []

    def took_over(self, identity: ProducerIdentity | None) -> None:
        self.identity = identity
        self.sequences.clear()
        self.open.clear()


class World:
    """What a random story may do, and what must hold at any time; older producers of an id live on as zombies."""

    def __init__(self) -> None:
        self.coordinator = Coordinator()
        self.clients: list[Client] = []
        self.committed: list[tuple[TopicPartition, bytes]] = []
        self.values = 0
        self.holds: list[Hold] = []

    # -- clients

    def new_producer(self, transactional_id: str) -> None:
        client = Client(transactional_id, IDS[transactional_id])
        self.clients.append(client)
        self._init(client, None)

    def recover(self, number: int) -> None:
        """KIP-360: the same producer wants a new epoch."""
        client = self._client(number)
        if client is not None and client.identity is not None:
            self._init(client, client.identity)

    def _init(self, client: Client, expected: ProducerIdentity | None) -> None:
        try:
            identity = self.coordinator.init(client.transactional_id, 20_000, expected)
        except KafkaError as error:
            if error.code is ErrorCode.PRODUCER_FENCED:
                client.took_over(None)
            elif error.code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                raise
            return
        if identity is not None:
            client.took_over(identity)

    def write(self, number: int, place: TopicPartition) -> None:
        client = self._client(number)
        if client is None or client.identity is None:
            return
        try:
            self.coordinator.add(
                client.identity, place, transactional_id=client.transactional_id, version=client.version
            )
        except KafkaError:
            return
        value = b"%d" % self.values
        self.values += 1
        sequence = client.sequences.get(place, 0)
        batch = build_batch(
            [Record(0, self.coordinator.clock.now_ms(), None, value)],
            producer_id=client.identity.producer_id,
            producer_epoch=client.identity.producer_epoch,
            base_sequence=sequence,
            transactional=True,
        )
        self.coordinator.logs[place].append(batch, now_ms=self.coordinator.clock.now_ms(), leader_epoch=0)
        client.sequences[place] = sequence + 1
        client.open.append((place, value))

    def end(self, number: int, commit: bool, repeat: bool) -> None:
        client = self._client(number)
        if client is None or client.identity is None:
            return
        shown = client.identity
        if not self._end(client, shown, commit):
            return
        if commit:
            self.committed += client.open
        client.open.clear()
        if client.version == 2:
            client.sequences.clear()
        if repeat:
            self._end(client, shown, commit)

    def _end(self, client: Client, shown: ProducerIdentity, commit: bool) -> bool:
        try:
            following = self.coordinator.end(
                shown, commit, transactional_id=client.transactional_id, version=client.version
            )
        except KafkaError:
            return False
        if client.version == 2:
            client.identity = following
        return True

    def _client(self, number: int) -> Client | None:
        return self.clients[-1 - number] if number < len(self.clients) else None

    # -- the world

    def time_passes(self, seconds: float) -> None:
        self.coordinator.advance(seconds)

    def coordinator_moves(self) -> None:
        self.coordinator.reload()

    def coordinator_moves_after_compaction(self) -> None:
        self.coordinator.reload(self.coordinator.journal.compacted())

    def partitions_break(self, places: set[TopicPartition]) -> None:
        self.coordinator.broken = places

    def hold(self, transactional_id: str, at: str) -> None:
        self.holds.append(self.coordinator.holds.hold(transactional_id, at))

    def release_all(self) -> None:
        while self.holds:
            self.holds.pop().release()

    # -- what must hold at any time

    def no_bug(self) -> None:
        assert self.coordinator.bugs == []

    def a_reload_equals_the_live_state(self) -> None:
        live = self.coordinator.machine.transactions
        assert rebuilt(self.coordinator, self.coordinator.journal) == live
        assert rebuilt(self.coordinator, self.coordinator.journal.compacted()) == live

    def only_ways_of_the_table_are_taken(self) -> None:
        last: dict[str, int] = {}
        for transactional_id, transaction in self.coordinator.stored_records():
            if transaction is None:
                last.pop(transactional_id, None)
                continue
            before = last.get(transactional_id)
            if before is not None:
                assert transaction.state in RULES[before].transitions  # type: ignore[index]
            last[transactional_id] = transaction.state

    def no_reader_passes_an_open_transaction(self) -> None:
        for log in self.coordinator.logs.values():
            opened: dict[int, int] = {}
            for batch in batches(log):
                if batch.is_control:
                    opened.pop(batch.producer_id, None)
                else:
                    opened.setdefault(batch.producer_id, batch.base_offset)
            assert log.last_stable_offset == min([*opened.values(), log.log_end_offset])

    def nothing_shows_that_was_not_committed(self) -> None:
        for place, log in self.coordinator.logs.items():
            shown = visible(log)
            assert len(shown) == len(set(shown))
            assert {(place, value) for value in shown} <= set(self.committed)

    def check(self) -> None:
        """All of the above."""
        self.no_bug()
        self.a_reload_equals_the_live_state()
        self.only_ways_of_the_table_are_taken()
        self.no_reader_passes_an_open_transaction()
        self.nothing_shows_that_was_not_committed()

    def finish(self) -> None:
        """When everything works again, all transactions end, and exactly the committed values are there."""
        self.release_all()
        self.coordinator.broken = set()
        self.coordinator.advance(1)
        self.coordinator.advance(45)
        self.no_bug()
        for transaction in self.coordinator.machine.transactions.values():
            assert transaction.state not in IN_PROGRESS
        for place, log in self.coordinator.logs.items():
            assert log.last_stable_offset == log.log_end_offset
            assert sorted(visible(log)) == sorted(value for where, value in self.committed if where == place)


def rebuilt(coordinator: Coordinator, journal: FakeJournal) -> dict[str, object]:
    """The durable state that another coordinator finds in the log."""
    machine = coordinator.new_machine()
    for batch in journal.batches:
        for record in batch.records():
            assert record.key is not None
            machine.replay(LogRecord(record.key, record.value, record.offset, -1, -1))
    return dict(machine.transactions)


def batches(log: PartitionLog) -> list:  # type: ignore[type-arg]
    parts = log.read(0, max_bytes=1 << 30, up_to_offset=log.log_end_offset).parts
    return [batch for part in parts for batch in iter_batches(part)]


def visible(log: PartitionLog) -> list[bytes]:
    """What a read_committed reader gets, by the rules of a client: up to the LSO, without the aborted transactions."""
    end = log.last_stable_offset
    aborted = sorted(log.aborted_transactions(0, end), key=lambda each: each[1])
    skipping: set[int] = set()
    values: list[bytes] = []
    for batch in batches(log):
        if batch.base_offset >= end:
            break
        while aborted and aborted[0][1] <= batch.last_offset:
            skipping.add(aborted.pop(0)[0])
        if batch.is_control:
            skipping.discard(batch.producer_id)
        elif batch.producer_id not in skipping:
            values += [bytes(record.value or b"") for record in batch.records()]
    return values


Happening = tuple[str, *tuple[Any, ...]]
"""The name of a rule and its arguments."""


def story(random: Random, length: int) -> Iterator[Happening]:
    """What happens: mostly work, now and then trouble. Drawn here, because `hypothesis` alone prefers dull stories."""
    for _ in range(length):
        number = random.choice([0, 0, 0, 1, 1, 2, 3])
        kind = random.random()
        if kind < 0.4:
            yield "write", number, random.choice(PLACES)
        elif kind < 0.7:
            yield "end", number, random.random() < 0.7, random.random() < 0.3
        elif kind < 0.82:
            calm: list[Happening] = [("partitions_break", set()), ("release_all",), ("time_passes", 0.2)]
            yield random.choice(calm)
        else:
            trouble: list[Happening] = [
                ("new_producer", random.choice(list(IDS))),
                ("recover", number),
                ("time_passes", random.choice([0.05, 11, 35])),
                ("coordinator_moves",),
                ("coordinator_moves_after_compaction",),
                ("partitions_break", set(random.sample(PLACES, random.randint(1, 2)))),
                ("hold", random.choice(list(IDS)), random.choice(HOLD_POINTS)),
            ]
            yield random.choice(trouble)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32), length=st.integers(10, 80))
def test_transactions_lose_and_double_nothing_whatever_happens(seed: int, length: int) -> None:
    world = World()
    for transactional_id in IDS:
        world.new_producer(transactional_id)
    for name, *arguments in story(Random(seed), length):
        getattr(world, name)(*arguments)
        world.check()
    world.finish()
