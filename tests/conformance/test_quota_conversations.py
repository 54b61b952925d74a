"""The recorded conversations about client quotas are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.quota_conversations import CONVERSATIONS, transcribe
from tests.scenarios.target import Target, usual_target


@pytest.fixture(scope="module")
def fresh() -> Iterator[Target]:
    """A Kafka of its own: no quota of another test is there, and none of these throttles others."""
    with usual_target("kafka") as started:
        yield started


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_quotas_is_as_recorded(name: str, fresh: Target) -> None:
    assert transcribe(name, fresh.bootstrap) == recorded("quota_conversations", RELEASE)[name]
