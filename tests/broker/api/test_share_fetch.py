"""ShareFetch, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import check_as_recorded
from tests.fakes.vectors import cases


@pytest.mark.long(
    "compacted",
    "connections",
    "deliveries",
    "first_looks",
    "many_locks",
    "record_limit",
    "sessions",
    "silent_members",
    "simple_work",
    "starting_points",
    "transactions",
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
        ],
    ),
)
def test_share_fetch_is_answered_as_recorded(name: str, release: str) -> None:
    check_as_recorded(name, release)
