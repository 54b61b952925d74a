"""The recorded conversations about consumer groups are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.consumer_group_conversations import CONVERSATIONS, transcribe


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_consumer_groups_is_as_recorded(name: str, bootstrap: str) -> None:
    assert transcribe(name, bootstrap) == recorded("consumer_group_conversations", RELEASE)[name]
