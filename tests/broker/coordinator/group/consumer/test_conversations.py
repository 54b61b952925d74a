"""Whole conversations about consumer groups, word for word as a real Kafka held them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.fakes.vectors import cases, recorded
from tests.scenarios.consumer_group_conversations import CONVERSATIONS, transcribe


@pytest.mark.long("assignment_interval", "rebalance_timeout", "session_expiry", "session_of_classic_members")
@pytest.mark.parametrize(("name", "release"), cases("consumer_group_conversations", CONVERSATIONS))
def test_consumer_groups_are_answered_as_recorded(
    name: str, release: str, brokers: Callable[[str], KafkaBroker]
) -> None:
    assert (
        transcribe(name, brokers(release).bootstrap_servers) == recorded("consumer_group_conversations", release)[name]
    )
