"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from tests.broker.coordinator.group.story_group import StoryGroup, stories

ROWS = stories("assignments.json.gz")


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    row = ROWS[number]
    group = StoryGroup()
    for step, answer in zip(row["story"]["steps"], row["answer"], strict=True):
        spec = group.spec(group.follow(step))
        assert spec.homogeneous == (answer["type"] == "HOMOGENEOUS")
        assert group.hash() == answer["hash"]
        target = ASSIGNORS[row["story"]["assignor"]](spec)
        assert group.records(spec, target) == answer["records"]
