"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from tests.broker.coordinator.group.story_group import check_story, stories

ROWS = stories("assignments.json.gz")


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    assign = ASSIGNORS[ROWS[number]["story"]["assignor"]]
    check_story(ROWS[number], lambda spec, _: assign(spec))
