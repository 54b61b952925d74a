"""The recorded conversations about share groups are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RELEASE, RealKafka
from tests.fakes.vectors import recorded
from tests.scenarios.share_conversations import CONFIG, CONVERSATIONS, transcribe

NOT_REPEATED = frozenset({"offsets"})
"""A real Kafka, asked once more, may answer the fetch of this one without records, however often it is repeated."""


@pytest.fixture(scope="module")
def configured() -> Iterator[str]:
    """host:port of a real Kafka with the configs that the conversations need."""
    with RealKafka(config=CONFIG) as kafka:
        yield kafka.bootstrap_servers


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if name not in NOT_REPEATED])
def test_conversation_about_share_groups_is_as_recorded(name: str, configured: str) -> None:
    assert transcribe(name, configured) == recorded("share_conversations", RELEASE)[name]
