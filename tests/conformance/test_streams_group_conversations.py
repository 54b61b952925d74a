"""The recorded conversations about streams groups are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.streams_group_conversations import CONVERSATIONS, transcribe

REPEATED = [name for name in CONVERSATIONS if not name.startswith("walk_") and name != "other_kinds"]
"""The others are held against their recording only. A real Kafka may write the records of a random walk another way
again, and lists a group whose kind has just changed as the one or the other."""


@pytest.mark.parametrize("name", REPEATED)
def test_conversation_about_streams_groups_is_as_recorded(name: str, bootstrap: str) -> None:
    assert transcribe(name, bootstrap) == recorded("streams_group_conversations", RELEASE)[name]
