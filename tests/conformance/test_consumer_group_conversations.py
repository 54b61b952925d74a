"""The recorded conversations about consumer groups are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.consumer_group_conversations import CONVERSATIONS, transcribe
from tests.scenarios.target import Target


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, broker: Target) -> None:
    expected = recorded("consumer_group_conversations", RELEASE)[name]
    host, port = broker.bootstrap.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == expected
