"""Whole conversations about groups, word for word as a real Kafka 4.4.0 held them (see the scenario module)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.threaded import KafkaBroker
from tests.fakes.brokers import broker_fixture
from tests.fakes.vectors import cases, recorded
from tests.scenarios import consumer_group_conversations as consumer
from tests.scenarios import streams_group_conversations as streams
from tests.scenarios import streams_static_members as static
from tests.scenarios.group_conversations import CONVERSATIONS, transcribe
from tests.scenarios.older_groups import config_of
from tests.scenarios.older_groups import transcribe as older_transcribe
from tests.scenarios.target import SCENARIO_CONFIG

BEFORE_4_0 = recorded("group_conversations", "3.9")
LOOK_EVERY_S = 0.02


class PatientClock(BrokerClock):
    """Real time but for what the machine took away: no more than `LOOK_EVERY_S` pass between two looks at the clock.

    The conversations have members that are out after a second, and others that must not be out because a busy machine
    let the second pass between two of their requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen = self._shown = time.monotonic()
        self.face.source = self._look

    def _look(self) -> float:
        now = time.monotonic()
        self._shown += min(now - self._seen, LOOK_EVERY_S)
        self._seen = now
        return self._shown

    def seconds_until(self, deadline: float) -> float:
        return min(super().seconds_until(deadline), LOOK_EVERY_S)


broker = broker_fixture(scope="module", clock=PatientClock())


@pytest.mark.long(
    "followers",
    "leader_leaves",
    "rebalance_timeout",
    "static_follower",
    "static_while_rebalancing",
    "sync_timeout",
    "votes",
)
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_classic_groups_are_answered_as_recorded(name: str, broker: KafkaBroker) -> None:
    assert transcribe(name, broker.bootstrap_servers) == recorded("group_conversations")[name]


@pytest.mark.long
@pytest.mark.parametrize("name", BEFORE_4_0)
def test_classic_groups_before_4_0_are_answered_as_recorded(name: str) -> None:
    """Kafka 3.9.1, but for what it stores (see docs/versions.md)."""
    with KafkaBroker(config=config_of("classic", "3.9", name), clock=PatientClock(), kafka_version="3.9") as broker:
        told, expected = older_transcribe("classic", "3.9", name, broker.bootstrap_servers), BEFORE_4_0[name]
        assert broker.bugs == []
    assert without_log(told) == without_log(expected)


@pytest.mark.long("assignment_interval", "rebalance_timeout", "session_expiry", "session_of_classic_members")
@pytest.mark.parametrize(("name", "release"), cases("consumer_group_conversations", consumer.CONVERSATIONS))
def test_consumer_groups_are_answered_as_recorded(
    name: str, release: str, brokers: Callable[[str], KafkaBroker]
) -> None:
    expected = recorded("consumer_group_conversations", release)[name]
    assert consumer.transcribe(name, brokers(release).bootstrap_servers) == expected


@pytest.mark.long("4.3", "assignment_interval", "initial_delay", "rebalance_timeout", "session_expiry")
@pytest.mark.parametrize(("name", "release"), cases("streams_group_conversations", streams.CONVERSATIONS))
def test_streams_groups_are_answered_as_recorded(
    name: str, release: str, brokers: Callable[[str], KafkaBroker]
) -> None:
    expected = recorded("streams_group_conversations", release)[name]
    assert streams.transcribe(name, brokers(release).bootstrap_servers) == expected


@pytest.mark.long("sessions")
@pytest.mark.parametrize("name", static.CONVERSATIONS)
def test_static_members_of_streams_groups_are_answered_as_recorded(name: str) -> None:
    with KafkaBroker(config=SCENARIO_CONFIG, clock=PatientClock(), kafka_version="4.4") as broker:
        assert static.transcribe(name, broker.bootstrap_servers) == recorded("streams_static_members")[name]
        assert broker.bugs == []


def without_log(transcript: list[Any]) -> list[Any]:
    return [row for row in transcript if not row[0].startswith("log of ")]
