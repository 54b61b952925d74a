"""ShareFetch and ShareAcknowledge, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases


@pytest.mark.long(
    "compacted",
    "connections",
    "deliveries",
    "first_looks",
    "lock_timeouts",
    "many_locks",
    "record_limit",
    "sessions",
    "silent_members",
    "simple_work",
    "starting_points",
    "transactions",
    "wrong_acknowledgements",
)
@pytest.mark.parametrize(
    ("name", "release"),
    cases(
        "share_conversations",
        [
            "simple_work",
            "first_looks",
            "deliveries",
            "record_limit",
            "many_locks",
            "sessions",
            "starting_points",
            "by_duration",
            "transactions",
            "connections",
            "silent_members",
            "compacted",
            "wrong_acknowledgements",
            "lock_timeouts",
        ],
    ),
)
def test_share_fetch_and_acknowledge_answer_as_kafka(name: str, release: str) -> None:
    check_as_recorded(name, release)
