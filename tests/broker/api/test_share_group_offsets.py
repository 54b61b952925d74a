"""Where share groups stand, word for word as a real Kafka answers (see the scenario module)."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import cases, check_as_recorded

NOT_YET = {"offsets"}
"""A real 4.4.0 gives a group that has lost its last member another assignment epoch."""


@pytest.mark.parametrize(("name", "release"), cases("share_conversations", ["offsets"], NOT_YET))
def test_as_kafka_says_it(name: str, release: str) -> None:
    check_as_recorded(name, release)
