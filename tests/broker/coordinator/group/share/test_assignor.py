"""The simple assignor gives each member exactly the partitions that Kafka's gave it in the recorded stories."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.share.assignor import assign
from odradek.protocol.uuids import uuid_from_text
from tests.broker.coordinator.group.story_group import StoryGroup, stories

ROWS = stories("share_assignments.json.gz")


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    row = ROWS[number]
    group = StoryGroup()
    for step, answer in zip(row["story"]["steps"], row["answer"], strict=True):
        spec = group.spec(group.follow(step))
        assert spec.homogeneous == (answer["type"] == "HOMOGENEOUS")
        assert group.hash() == answer["hash"]
        assignable = {uuid_from_text(text): frozenset(indexes) for text, indexes in step["assignable"].items()}
        assert group.records(spec, assign(spec, assignable)) == answer["records"]
