"""Whole conversations about streams groups, word for word as a real Kafka held them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.fakes.vectors import cases, recorded
from tests.scenarios.streams_group_conversations import CONVERSATIONS, transcribe


@pytest.mark.long("4.3", "assignment_interval", "initial_delay", "rebalance_timeout", "session_expiry")
@pytest.mark.parametrize(("name", "release"), cases("streams_group_conversations", CONVERSATIONS))
def test_streams_groups_are_answered_as_recorded(
    name: str, release: str, brokers: Callable[[str], KafkaBroker]
) -> None:
    assert (
        transcribe(name, brokers(release).bootstrap_servers) == recorded("streams_group_conversations", release)[name]
    )
