"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from tests.broker.coordinator.group.story_group import check_story, stories

ROWS = stories("assignments")


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    release, row = ROWS[number]
    assign = ASSIGNORS[row["story"]["assignor"]]
    check_story(release, row, lambda spec, _: assign(spec))
