"""The recorded conversations about client metrics are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.telemetry_conversations import CONVERSATIONS, transcribe


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_client_metrics_is_as_recorded(name: str, bootstrap: str) -> None:
    assert transcribe(name, bootstrap) == recorded("telemetry_conversations", RELEASE)[name]
