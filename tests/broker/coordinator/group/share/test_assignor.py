"""The simple assignor gives each member exactly the partitions that Kafka's gave it in the recorded stories."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, Partitions
from odradek.broker.coordinator.group.share.assignor import assign
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.protocol.uuids import uuid_from_text
from tests.broker.coordinator.group.story_group import check_story, stories

ROWS = stories("share_assignments.json.gz")


def with_states(spec: GroupSpec, step: Any) -> dict[str, Partitions]:
    """The target, where the partitions have a state that the step names."""
    return assign(spec, {uuid_from_text(text): frozenset(indexes) for text, indexes in step["assignable"].items()})


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    check_story(ROWS[number], with_states)


def test_members_whose_topics_are_all_missing_lose_everything() -> None:
    topic_id, target = bytes(15) + b"\1", TargetAssignment()
    target.set("one", {topic_id: (0, 1)})
    members = {"one": MemberSpec(None, [], 0), "two": MemberSpec(None, [], 1)}
    spec = GroupSpec(members, False, {topic_id: 2}, target)
    assert assign(spec, {topic_id: frozenset({0, 1})}) == {"one": {}, "two": {}}  # as Kafka's did in a story
