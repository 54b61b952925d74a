"""Whole conversations about records, word for word what a real Kafka answered."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.fakes.brokers import broker_fixture
from tests.fakes.vectors import recorded
from tests.scenarios.data_plane_wire import CONVERSATIONS, transcribe

BEFORE_4_1 = "transactions_v2"
"""The conversation that was also held with a Kafka 4.0.2, which takes any first sequence."""
running = broker_fixture(scope="module")


def told(name: str, broker: KafkaBroker) -> list[Any]:
    return transcribe(name, broker.bootstrap_servers)


@pytest.mark.long("sessions", "waiting")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_requests_about_records_are_answered_as_recorded(name: str, running: KafkaBroker) -> None:
    assert told(name, running) == recorded("data_plane_wire")[name]


def test_conversation_with_an_older_release() -> None:
    before, since = recorded("data_plane_wire", "4.0")[BEFORE_4_1], recorded("data_plane_wire")[BEFORE_4_1]
    assert before != since
    for release, expected in (("4.0", before), ("4.1", since)):
        with KafkaBroker(kafka_version=release) as broker:
            assert told(BEFORE_4_1, broker) == expected
            assert broker.bugs == []
