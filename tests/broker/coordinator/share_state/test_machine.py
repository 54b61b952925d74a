"""The share coordinator's machine: loading again gives the same, snapshots and pruning."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.share_state import commands as c
from odradek.broker.coordinator.share_state.machine import (
    SNAPSHOT,
    UPDATE,
    PruneLog,
    ShareDelta,
    ShareState,
    ShareStateMachine,
    StoredStates,
    combine,
    decode_key,
    decode_snapshot,
    decode_update,
    encode_key,
    encode_snapshot,
    encode_update,
)
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.runtime.machine import Command, LogRecord, Outcome
from odradek.protocol.errors import KafkaError, ProtocolError
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey
from odradek.protocol.generated.stored.share_update import ShareUpdateKey
from odradek.protocol.stored import decode_share_record

TOPIC = bytes(15) + b"\1"
KEYS = [ShareKey("g", TOPIC, 0), ShareKey("g", TOPIC, 1), ShareKey("h", TOPIC, 0)]


CONFIG = BrokerConfig(
    {
        "odradek.kafka.version": "4.3",
        "share.coordinator.snapshot.update.records.per.snapshot": "3",
        "share.coordinator.state.topic.prune.interval.ms": "1000",
        "share.coordinator.cold.partition.snapshot.interval.ms": "5000",
    }
)


NEWEST = BrokerConfig({"share.coordinator.snapshot.update.records.per.snapshot": "3"})


class Driver:
    """A machine and its log."""

    def __init__(self, config: BrokerConfig = CONFIG) -> None:
        self.config = config
        self.partitions = {TOPIC: 2}
        self.log: list[LogRecord] = []
        self.machine = self.fresh()

    def fresh(self) -> ShareStateMachine:
        return ShareStateMachine(self.config, lambda topic_id: self.partitions.get(topic_id, 0))

    def ask(self, command: Command[Any], now_ms: int = 1_000) -> Outcome[Any]:
        outcome = self.machine.decide(command, now_ms)
        for new in outcome.records:
            offset = len(self.log)
            self.log.append(LogRecord(new.key, new.value, offset, -1, -1))
            self.replay(LogRecord(new.key, new.value, offset, -1, -1, new.decoded))
        return outcome

    def replay(self, record: LogRecord) -> None:
        self.machine.replay(record)

    def loaded(self, from_offset: int = 0) -> ShareStateMachine:
        machine = self.fresh()
        for record in self.log[from_offset:]:
            machine.replay(record)
        return machine


def write(key: ShareKey, first: int, start: int, leader_epoch: int = -1) -> c.WriteState:
    return c.WriteState(
        key,
        state_epoch=-1,
        leader_epoch=leader_epoch,
        start_offset=start,
        delivery_complete_count=1,
        batches=[StateBatch(first, first + 1, 2, 1)],
    )


COMMANDS = st.lists(
    st.one_of(
        st.builds(c.InitializeState, st.sampled_from(KEYS), st.integers(0, 3), st.integers(-1, 5)),
        st.builds(write, st.sampled_from(KEYS), st.integers(0, 20), st.integers(-1, 10), st.integers(-1, 3)),
        st.builds(c.ReadState, st.sampled_from(KEYS), st.integers(-1, 3)),
        st.builds(c.DeleteState, st.sampled_from(KEYS)),
        st.builds(c.SnapshotIdle),
    ),
    max_size=40,
)


@given(commands=COMMANDS)
def test_share_state_load_gives_what_was_there(commands: list[Command[Any]]) -> None:
    driver = Driver()
    pruned = 0
    for number, command in enumerate(commands):
        try:
            driver.ask(command, number * 2_000)
        except KafkaError:
            continue
    for effect in driver.ask(c.Prune()).effects:
        pruned = effect.offset if isinstance(effect, PruneLog) else pruned
    loaded = driver.loaded()
    assert loaded.states == driver.machine.states
    for key in driver.machine.states:
        assert loaded._stored.highest_leader_epoch(key) == driver.machine._stored.highest_leader_epoch(key)
        assert loaded._stored.highest_state_epoch(key) == driver.machine._stored.highest_state_epoch(key)
    assert driver.loaded(pruned).states == driver.machine.states


_UNHOSTED = "This server does not host this topic-partition."
_NEGATIVE = "The partition id cannot be a negative number."
A, NOWHERE, WRONG = KEYS[0], ShareKey("g", TOPIC, 2), ShareKey("g", TOPIC, -1)


def stores(
    key: ShareKey,
    state_epoch: int,
    leader_epoch: int,
    start: int = 0,
    count: int = 1,
    batches: Sequence[StateBatch] = (StateBatch(6, 7, 2, 1),),
) -> c.WriteState:
    return c.WriteState(
        key,
        state_epoch=state_epoch,
        leader_epoch=leader_epoch,
        start_offset=start,
        delivery_complete_count=count,
        batches=list(batches),
    )


def told(driver: Driver, command: Command[Any]) -> tuple[str, str | None]:
    """The error of a request."""
    with pytest.raises(KafkaError) as refused:
        driver.ask(command)
    return refused.value.code.name, refused.value.message


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        (c.InitializeState(WRONG, 4, 0), "INVALID_REQUEST", _NEGATIVE),
        (c.InitializeState(A, -1, 0), "INVALID_REQUEST", "The state epoch cannot be a negative number."),
        (c.InitializeState(A, 3, 0), "FENCED_STATE_EPOCH", None),
        (
            c.InitializeState(NOWHERE, 4, 0),
            "UNKNOWN_TOPIC_OR_PARTITION",
            _UNHOSTED,
        ),
        (c.ReadState(WRONG, 5), "INVALID_REQUEST", _NEGATIVE),
        (c.ReadState(A, -1), "INVALID_REQUEST", "The leader epoch cannot be a negative number."),
        (c.ReadState(NOWHERE, 5), "INVALID_REQUEST", "Read operation on uninitialized share partition not allowed."),
        (c.ReadState(A, 4), "FENCED_LEADER_EPOCH", None),
        (stores(WRONG, 4, 5), "INVALID_REQUEST", _NEGATIVE),
        (stores(A, 4, -1), "INVALID_REQUEST", "The leader epoch cannot be a negative number."),
        (stores(A, -1, 5), "INVALID_REQUEST", "The state epoch cannot be a negative number."),
        (stores(NOWHERE, 4, 5), "INVALID_REQUEST", "Write operation on uninitialized share partition not allowed."),
        (stores(A, 3, 4), "FENCED_LEADER_EPOCH", None),
        (stores(A, 3, 5), "FENCED_STATE_EPOCH", None),
        (c.DeleteState(WRONG), "INVALID_REQUEST", _NEGATIVE),
        (c.DeleteState(NOWHERE), "UNKNOWN_TOPIC_OR_PARTITION", _UNHOSTED),
        (c.ReadSummary(WRONG), "INVALID_REQUEST", _NEGATIVE),
        (c.ReadSummary(NOWHERE), "UNKNOWN_TOPIC_OR_PARTITION", _UNHOSTED),
    ],
)
def test_requests_about_share_states_are_checked_in_kafkas_order(
    command: Command[Any], code: str, text: str | None
) -> None:
    driver = Driver(NEWEST)
    driver.ask(c.InitializeState(A, 4, 0))
    driver.ask(c.ReadState(A, 5))
    before, end = dict(driver.machine.states), len(driver.log)
    error = told(driver, command)
    assert error[0] == code
    assert text is None or error[1] == text
    assert (driver.machine.states, len(driver.log)) == (before, end)


def test_epochs_that_are_as_new_are_taken() -> None:
    driver = Driver(NEWEST)
    driver.ask(c.InitializeState(A, 4, 0))
    driver.ask(c.ReadState(A, 5))
    driver.ask(stores(A, 4, 5))
    driver.ask(stores(A, 5, 6))
    driver.ask(c.InitializeState(A, 4, 0))
    driver.partitions = {TOPIC: 0}
    assert told(driver, stores(A, 4, 5))[0] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert told(driver, c.ReadState(A, 5))[0] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_first_read_of_a_leader_stores_its_epoch() -> None:
    driver = Driver(NEWEST)
    driver.ask(c.InitializeState(A, 4, 7))
    lengths = []
    for leader_epoch in (0, 2, 2, 3):
        reply = driver.ask(c.ReadState(A, leader_epoch)).reply
        assert (reply.state_epoch, reply.start_offset, list(reply.batches)) == (4, 7, [])
        lengths.append(len(driver.log))
    assert lengths == [1, 2, 2, 3]
    assert driver.loaded().states[A].leader_epoch == 3


def test_a_summary_tells_where_a_share_partition_is() -> None:
    driver = Driver(NEWEST)
    assert driver.ask(c.ReadSummary(A)).reply == c.StateSummary(0, 0, -1, -1)
    driver.ask(c.InitializeState(A, 4, -1))
    assert driver.ask(c.ReadSummary(A)).reply == c.StateSummary(4, 0, -1, -1)
    driver.ask(c.InitializeState(A, 5, 3))
    driver.ask(c.ReadState(A, 2))
    driver.ask(stores(A, 5, 2, start=6))
    assert driver.ask(c.ReadSummary(A)).reply == c.StateSummary(5, 2, 6, 1)
    assert driver.machine.states[A].snapshot_epoch == 1
    end = len(driver.log)
    driver.ask(c.DeleteState(KEYS[1]))
    assert len(driver.log) == end
    driver.ask(c.DeleteState(A))
    assert driver.ask(c.ReadSummary(A)).reply == c.StateSummary(0, 0, -1, -1)


def test_an_update_never_moves_the_start_back() -> None:
    driver = Driver(NEWEST)
    driver.ask(c.InitializeState(A, 4, 5))
    driver.ask(stores(A, 4, 0, 9, 2))
    for start, count, known in ((-1, -1, (9, 2)), (4, -1, (9, 2)), (4, 3, (9, 3)), (12, -1, (12, -1))):
        driver.ask(stores(A, 4, 0, start, count, []))
        state = driver.machine.states[A]
        assert (state.start_offset, state.delivery_complete_count) == known
    assert driver.loaded().states == driver.machine.states


def test_idle_share_partitions_wait_for_one_that_was_never_idle() -> None:
    driver = Driver()
    for key, now_ms in ((KEYS[0], 1_000), (KEYS[1], 3_000)):
        driver.ask(c.InitializeState(key, 0, 0), now_ms)
    assert [decode_key(record.key) for record in driver.ask(c.SnapshotIdle(), 6_000).records] == [KEYS[0]]
    assert [decode_key(record.key) for record in driver.ask(c.SnapshotIdle(), 8_000).records] == [KEYS[1]]
    driver.ask(c.InitializeState(KEYS[2], 0, 0), 9_000)
    found = driver.ask(c.SnapshotIdle(), 20_000)
    assert {decode_key(record.key) for record in found.records} == set(KEYS)
    assert {state.write_ms for state in driver.machine.states.values()} == {20_000}
    assert not found.atomic


def test_a_snapshot_after_so_many_updates() -> None:
    driver = Driver()
    driver.ask(c.InitializeState(KEYS[0], 0, 0))
    for number in range(8):
        driver.ask(write(KEYS[0], number, 0))
    kinds = ["snapshot" if record.key.startswith(SNAPSHOT) else "update" for record in driver.log]
    assert kinds == ["snapshot", *["update"] * 3, "snapshot", *["update"] * 3, "snapshot"]


def test_pruning_keeps_the_oldest_snapshot_that_counts() -> None:
    driver = Driver()
    driver.ask(c.InitializeState(KEYS[0], 0, 0))
    driver.ask(c.InitializeState(KEYS[1], 0, 0))
    for number in range(4):
        driver.ask(write(KEYS[0], number, 0))
    assert [e.offset for e in driver.ask(c.Prune()).effects if isinstance(e, PruneLog)] == [1]
    assert [e for e in driver.ask(c.Prune()).effects if isinstance(e, PruneLog)] == []


def test_idle_share_partitions_get_snapshots_once() -> None:
    driver = Driver()
    driver.ask(c.InitializeState(KEYS[0], 0, 0), 1_000)
    assert driver.ask(c.SnapshotIdle(), 5_999).records == []
    assert len(driver.ask(c.SnapshotIdle(), 6_000).records) == 1
    assert driver.ask(c.SnapshotIdle(), 60_000).records == []


def test_share_states_of_deleted_topics_are_forgotten() -> None:
    driver = Driver()
    for key in KEYS:
        driver.ask(c.InitializeState(key, 0, 0))
    driver.partitions.clear()
    driver.ask(c.ForgetDeletedTopics())
    assert driver.machine.states == {}
    assert driver.loaded().states == {}


RECORD_KEY = ShareKey("grüppe", bytes(range(16)), 7)
RECORDED = ShareState(3, 2, 1, 10, 4, (StateBatch(10, 12, 0, 1), StateBatch(13, 13, 4, 5)), 1_000, 2_000)
DELTA = ShareDelta(3, 1, -1, 2, (StateBatch(10, 12, 2, 1),))


def test_keys_of_share_state_records_come_back() -> None:
    for kind, expected in ((SNAPSHOT, ShareSnapshotKey), (UPDATE, ShareUpdateKey)):
        key = encode_key(kind, RECORD_KEY)
        assert decode_key(key) == RECORD_KEY
        about, _ = decode_share_record(key, None)
        assert isinstance(about, expected)
        assert (about.group_id, about.topic_id, about.partition) == RECORD_KEY


def test_values_of_share_state_records_come_back() -> None:
    assert decode_snapshot(encode_snapshot(RECORDED)) == RECORDED
    assert decode_update(encode_update(DELTA)) == DELTA


def test_share_state_records_of_other_versions_are_refused() -> None:
    with pytest.raises(ProtocolError, match="not version 0"):
        decode_snapshot(b"\0\7" + encode_snapshot(RECORDED)[2:])


def spread(batches: list[StateBatch] | tuple[StateBatch, ...], start: int) -> dict[int, tuple[int, int]]:
    """Delivery count and state of each offset: the largest that any batch says."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (count, state))
    return found


SOME = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size, state, count),
        st.integers(0, 30),
        st.integers(0, 8),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=6,
)


@given(writes=st.lists(st.tuples(SOME, st.integers(-1, 25)), max_size=5))
def test_says_the_same_of_each_offset_as_the_model(writes: list[tuple[list[StateBatch], int]]) -> None:
    stored: list[StateBatch] = []
    start = -1
    everything: list[StateBatch] = []
    for new, moved in writes:
        start = max(start, moved)
        stored = combine(stored, new, start)
        everything += new
        assert spread(stored, -1) == spread(everything, start)
        for one, other in itertools.pairwise(stored):
            assert one.last_offset < other.first_offset


def test_neighbours_with_the_same_content_become_one() -> None:
    assert combine([StateBatch(0, 4, 2, 1)], [StateBatch(5, 9, 2, 1)], 0) == [(0, 9, 2, 1)]


def test_share_state_drops_batches_before_the_start() -> None:
    assert combine([StateBatch(0, 4, 2, 1), StateBatch(6, 9, 0, 1)], [], 7) == [(7, 9, 0, 1)]


def test_a_late_answer_does_not_take_back_a_later_delivery() -> None:
    assert combine([StateBatch(0, 9, 0, 2)], [StateBatch(3, 4, 2, 1)], 0) == [(0, 9, 0, 2)]


@pytest.mark.parametrize(
    ("stored", "new", "kept"),
    [
        ([], [(7, 2, 0, 1)], []),
        ([], [(5, 4, 0, 1)], []),
        ([], [(9, 6, 2, 2)], [(9, 6, 2, 2)]),
        ([], [(7, 2, 0, 1), (8, 9, 0, 1)], [(8, 9, 0, 1)]),
        ([], [(6, 8, 0, 1), (10, 9, 0, 1), (9, 10, 0, 1)], [(6, 10, 0, 1)]),
        ([], [(8, 9, 0, 1), (7, 6, 0, 1)], None),
        ([], [(10, 7, 0, 1), (6, 12, 2, 1)], None),
        ([(5, 9, 0, 1)], [(9, 6, 2, 2)], None),
        ([(9, 6, 2, 2)], [(5, 9, 0, 1)], None),
        ([(9, 6, 2, 2)], [(20, 22, 0, 1)], None),
    ],
)
def test_a_share_batch_that_ends_before_it_begins_is_kept_only_alone(
    stored: list[tuple[int, ...]], new: list[tuple[int, ...]], kept: list[tuple[int, ...]] | None
) -> None:
    """The answers of a real broker."""
    before, asked = [StateBatch(*batch) for batch in stored], [StateBatch(*batch) for batch in new]
    if kept is not None:
        assert combine(before, asked, 5) == kept
        return
    with pytest.raises(KafkaError, match="Unable to write share group state"):
        combine(before, asked, 5)


@given(
    st.lists(
        st.builds(StateBatch, st.integers(0, 9), st.integers(0, 9), st.just(0), st.integers(1, 2)),
        min_size=2,
        max_size=5,
    )
)
def test_share_batches_of_any_ends_are_combined_or_refused(batches: list[StateBatch]) -> None:
    try:
        combined = combine((), batches, -1)
    except KafkaError:
        assert any(batch.last_offset < batch.first_offset for batch in batches)
        return
    assert all(one.last_offset < other.first_offset for one, other in itertools.pairwise(combined))


KEY = ShareKey("g", bytes(range(16)), 0)
OTHER = ShareKey("g", bytes(range(16)), 1)
STATE = ShareState(0, 3, 5, 10, 0, (), 1_000, 1_000)
ENOUGH = 2


def snapshot(state: ShareState | None, offset: int = 0, key: ShareKey = KEY) -> LogRecord:
    value = None if state is None else encode_snapshot(state)
    return LogRecord(encode_key(SNAPSHOT, key), value, offset, -1, -1)


def update(delta: ShareDelta, offset: int = 0) -> LogRecord:
    return LogRecord(encode_key(UPDATE, KEY), encode_update(delta), offset, -1, -1)


def replayed(*records: LogRecord) -> StoredStates:
    stored = StoredStates()
    for record in records:
        stored.replay(record, ENOUGH)
    return stored


def test_share_state_remembers_the_highest_epochs() -> None:
    stored = replayed(snapshot(STATE), snapshot(STATE._replace(state_epoch=1, leader_epoch=2)))
    assert stored.states[KEY].state_epoch == 1
    assert (stored.highest_state_epoch(KEY), stored.highest_leader_epoch(KEY)) == (3, 5)
    assert (stored.highest_state_epoch(OTHER), stored.highest_leader_epoch(OTHER)) == (-1, -1)


def test_an_update_leaves_what_it_does_not_say() -> None:
    done = StateBatch(10, 12, 2, 1)
    state = replayed(snapshot(STATE), update(ShareDelta(0, -1, -1, 3, (done,)))).states[KEY]
    assert (state.leader_epoch, state.start_offset, state.delivery_complete_count) == (5, 10, 3)
    assert state.batches == (done,)
    moved = replayed(snapshot(STATE), update(ShareDelta(0, 6, 13, 0, ()))).states[KEY]
    assert (moved.leader_epoch, moved.start_offset) == (6, 13)


def test_an_update_without_its_snapshot_is_all_that_is_known() -> None:
    state = replayed(update(ShareDelta(4, 2, 7, 0, ()))).states[KEY]
    assert (state.snapshot_epoch, state.state_epoch, state.leader_epoch, state.start_offset) == (4, 0, 2, 7)


def test_updates_count_until_there_are_enough_for_a_snapshot() -> None:
    delta = ShareDelta(0, -1, -1, 0, ())
    stored = replayed(snapshot(STATE), update(delta))
    assert stored.updates_of(KEY) == 1
    stored.replay(snapshot(STATE), ENOUGH)
    assert stored.updates_of(KEY) == 1
    stored.replay(update(delta), ENOUGH)
    stored.replay(snapshot(STATE), ENOUGH)
    assert stored.updates_of(KEY) == 0


def test_the_oldest_of_the_last_snapshots() -> None:
    stored = replayed(snapshot(STATE, 3), snapshot(STATE, 5, OTHER), snapshot(STATE, 9))
    assert stored.oldest_snapshot == 5
    stored.replay(snapshot(None, 10, OTHER), ENOUGH)
    assert (stored.oldest_snapshot, list(stored.states)) == (9, [KEY])
    assert replayed().oldest_snapshot == 0
