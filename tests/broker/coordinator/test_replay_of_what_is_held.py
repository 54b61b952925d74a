"""A coordinator replays what it holds. Decoding its own records, as a load does, gives the very same state."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.runtime.machine import Command, LogRecord
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group import test_properties as classic
from tests.broker.coordinator.group.consumer import test_properties as consumer
from tests.broker.coordinator.group.share import test_kind as share
from tests.broker.coordinator.group.share.driver import OTHER, ShareDriver
from tests.broker.coordinator.group.streams import test_kind as streams
from tests.broker.coordinator.share_state import test_machine as state_machine
from tests.broker.coordinator.transaction import test_machine_properties as transactions
from tests.fakes.consumer_group_driver import ConsumerDriver
from tests.fakes.examples import examples
from tests.fakes.group_driver import GroupDriver
from tests.fakes.replay_twins import ReplayTwins, TwinJournal

_WALKS = settings(
    max_examples=examples(30), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)


class ConsumerGroups(consumer.GroupLife):
    """Consumer groups with members of both protocols, up and down."""

    def __init__(self) -> None:
        super().__init__()
        self.driver = ConsumerDriver(consumer.CONFIG, journal=TwinJournal(GroupMachine))


class ClassicGroups(classic.Groups):
    """Classic groups, offsets, offsets in transactions."""

    @initialize(delay=st.sampled_from([0, 3_000]), pauses=st.booleans())
    def begin(self, delay: int, pauses: bool) -> None:
        super().begin(delay, pauses)
        settled = classic.SETTINGS._replace(initial_rebalance_delay_ms=delay)
        self.driver = GroupDriver(settled, TwinJournal(GroupMachine), pauses=pauses)


class StreamsGroups(streams.Members):
    """Streams groups."""

    @initialize(standbys=st.integers(0, 2), delay=st.sampled_from([0, 700]), interval=st.sampled_from([0, 900]))
    def begin(self, standbys: int, delay: int, interval: int) -> None:
        super().begin(standbys, delay, interval)
        self.driver.journal = TwinJournal(GroupMachine)
        self.driver.reload()


ConsumerGroups.TestCase.settings = _WALKS
TestConsumerGroups = ConsumerGroups.TestCase


ClassicGroups.TestCase.settings = _WALKS
TestClassicGroups = ClassicGroups.TestCase


StreamsGroups.TestCase.settings = _WALKS
TestStreamsGroups = StreamsGroups.TestCase


class TwinShareDriver(ShareDriver):
    """Share groups."""

    def __init__(self) -> None:
        super().__init__()
        self.twins = ReplayTwins(self.fresh)

    def replay(self, record: LogRecord) -> None:
        super().replay(record)
        self.twins.replay([record])


@settings(max_examples=examples(60), deadline=None)
@given(steps=share.STEPS)
def test_share_groups_replay_what_they_hold(steps: list[tuple[Any, ...]]) -> None:
    driver = TwinShareDriver()
    driver.topics.put("u", OTHER, 1)
    for step in steps:
        try:
            share.take(driver, step)
        except KafkaError:
            continue
    assert driver.twins.told == sum(record.value is not None for record in driver.log)


class TwinStateDriver(state_machine.Driver):
    """Share state."""

    def __init__(self) -> None:
        super().__init__()
        self.twins = ReplayTwins(self.fresh)

    def replay(self, record: LogRecord) -> None:
        super().replay(record)
        self.twins.replay([record])


@settings(max_examples=examples(60), deadline=None)
@given(commands=state_machine.COMMANDS)
def test_share_state_replays_what_it_holds(commands: list[Command[Any]]) -> None:
    driver = TwinStateDriver()
    for number, command in enumerate(commands):
        try:
            driver.ask(command, number * 2_000)
        except KafkaError:
            continue
    assert driver.twins.told == sum(record.value is not None for record in driver.log)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32), length=st.integers(10, 60))
def test_transactions_replay_what_they_hold(seed: int, length: int) -> None:
    world = transactions.World()
    journal = TwinJournal(world.coordinator.new_machine)
    world.coordinator.reload(journal)
    for transactional_id in transactions.IDS:
        world.new_producer(transactional_id)
    for name, *arguments in transactions.story(Random(seed), length):
        if name != "coordinator_moves_after_compaction":
            getattr(world, name)(*arguments)
    assert journal.twins.told > 0


def test_the_debug_switch_takes_away_what_records_say() -> None:
    """A process that is started with it decodes; one without it does not."""
    program = "from odradek.broker.runtime.journal import stored; "
    program += "from odradek.broker.runtime.machine import NewRecord; "
    program += "print(stored([NewRecord(b'k', b'v', 'said')], 0, None)[0].decoded)"
    for value, said in (("1", "None"), ("0", "said"), ("", "said")):
        environment = {**os.environ, "ODRADEK_DECODE_OWN_RECORDS": value}
        told = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert told.stdout.strip() == said
