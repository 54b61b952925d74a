"""What streams groups have since Kafka 4.4, word for word as a real Kafka 4.4.0 said it."""

from __future__ import annotations

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.vectors import recorded
from tests.scenarios.streams_static_members import CONVERSATIONS, transcribe
from tests.scenarios.target import SCENARIO_CONFIG


@pytest.mark.long("sessions")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_static_members_of_streams_groups_are_answered_as_recorded(name: str) -> None:
    expected = recorded("streams_static_members")[name]
    with KafkaBroker(config=SCENARIO_CONFIG, clock=PatientClock(), kafka_version="4.4") as broker:
        assert transcribe(name, broker.bootstrap_servers) == expected
        assert broker.bugs == []
