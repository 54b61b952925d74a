"""The recorded conversations about share groups are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RELEASE, RealKafka, Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.share_conversations import CONFIG, CONVERSATIONS, transcribe

NOT_REPEATED = frozenset({"offsets"})
"""A real Kafka, asked once more, may answer the fetch of this one without records, however often it is repeated."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a real Kafka with the configs that the conversations need."""
    try:
        with RealKafka(config=CONFIG) as kafka:
            yield kafka.port
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if name not in NOT_REPEATED])
def test_conversation(name: str, port: int) -> None:
    expected = recorded("share_conversations", RELEASE)[name]
    assert transcribe(name, "127.0.0.1", port) == expected
