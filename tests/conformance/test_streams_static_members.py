"""The recorded conversations about static members of streams groups are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION
from tests.fakes.vectors import recorded
from tests.scenarios.streams_static_members import CONVERSATIONS, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_static_members_of_streams_groups_is_as_recorded(name: str, bootstrap: str) -> None:
    assert transcribe(name, bootstrap) == recorded("streams_static_members")[name]
