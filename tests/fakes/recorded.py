"""Conversations with a broker of the test's own, held against those of a real Kafka of its release."""

from __future__ import annotations

from odradek.broker.facade.threaded import KafkaBroker
from tests.fakes.vectors import recorded
from tests.scenarios.share_conversations import CONFIG, transcribe


def check_as_recorded(name: str, release: str) -> None:
    """Hold a conversation about share groups, and see that every word of it is as recorded."""
    with KafkaBroker(config=CONFIG, kafka_version=release) as broker:
        assert transcribe(name, broker.bootstrap_servers) == recorded("share_conversations", release)[name]
        assert broker.bugs == []
