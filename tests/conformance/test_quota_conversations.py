"""The recorded conversations about client quotas are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RELEASE, Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.quota_conversations import CONVERSATIONS, transcribe
from tests.scenarios.target import Target, kafka_target


@pytest.fixture(scope="module")
def fresh() -> Iterator[Target]:
    """A Kafka of its own: no quota of another test is there, and none of these throttles others."""
    try:
        with kafka_target() as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, fresh: Target) -> None:
    expected = recorded("quota_conversations", RELEASE)[name]
    host, port = fresh.bootstrap.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == expected
