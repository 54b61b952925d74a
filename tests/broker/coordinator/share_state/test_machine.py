"""The share coordinator's machine: loading again gives the same, snapshots and pruning."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.share_state import commands as c
from odradek.broker.coordinator.share_state.machine import PruneLog, ShareStateMachine
from odradek.broker.coordinator.share_state.stored_states import SNAPSHOT
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.runtime.machine import Command, LogRecord, Outcome
from odradek.protocol.errors import KafkaError

TOPIC = bytes(15) + b"\1"
KEYS = [ShareKey("g", TOPIC, 0), ShareKey("g", TOPIC, 1), ShareKey("h", TOPIC, 0)]


class Settings:
    updates_per_snapshot = 3
    prune_interval_ms = 1_000
    idle_interval_ms = 5_000
    write_timeout_ms = 5_000
    reads_without_leader = True
    refuses_negative_epochs = False
    writes_whole_updates = False
    fenced_state = "fenced"


class Driver:
    """A machine and its log."""

    def __init__(self) -> None:
        self.partitions = {TOPIC: 2}
        self.log: list[LogRecord] = []
        self.machine = self.fresh()

    def fresh(self) -> ShareStateMachine:
        return ShareStateMachine(Settings(), lambda topic_id: self.partitions.get(topic_id, 0))

    def ask(self, command: Command[Any], now_ms: int = 1_000) -> Outcome[Any]:
        outcome = self.machine.decide(command, now_ms)
        for new in outcome.records:
            record = LogRecord(new.key, new.value, len(self.log), -1, -1)
            self.log.append(record)
            self.replay(record.with_decoded(new.decoded))
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
def test_what_is_loaded_is_what_was_there(commands: list[Command[Any]]) -> None:
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


def test_deleted_topics_are_forgotten() -> None:
    driver = Driver()
    for key in KEYS:
        driver.ask(c.InitializeState(key, 0, 0))
    driver.partitions.clear()
    driver.ask(c.ForgetDeletedTopics())
    assert driver.machine.states == {}
    assert driver.loaded().states == {}
