"""Heartbeats of share groups and what administrators see of them, as a real Kafka answers."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases

NAMES = ["members", "several_members", "wrong_members", "other_kinds", "topics_go", "switched_off"]


@pytest.mark.long("other_kinds", "several_members", "switched_off", "topics_go", "topics_go-4.3")
@pytest.mark.parametrize(("name", "release"), cases("share_conversations", NAMES))
def test_as_kafka_says_it(name: str, release: str) -> None:
    check_as_recorded(name, release)
