"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, member_order, stored_order
from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from odradek.broker.coordinator.group.metadata_hash import group_hash, topic_hash
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.protocol.java_hash_table import in_set_order
from odradek.protocol.uuids import uuid_from_text, uuid_to_text

ROWS = json.loads(gzip.decompress((Path(__file__).parents[4] / "vectors" / "assignments.json.gz").read_bytes()))


class StoryGroup:
    """A group that is told a story: what Kafka's group knows of its members, and nothing more."""

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        self.topics: dict[str, Any] = {}
        self.target = TargetAssignment()
        self.peak = 0
        self.updated = False

    def follow(self, step: Any) -> str | None:
        """Returns who has joined as a new member."""
        self.topics.update({topic["name"]: topic for topic in step.get("topics", ())})
        leaves = step.get("leave")
        if leaves is not None:
            del self.members[leaves]
            self.target.remove(leaves)
        joins = step.get("join")
        self.updated = False
        if joins is None:
            return None
        new = joins["id"] not in self.members
        self.updated = not new
        self.members[joins["id"]] = joins
        return joins["id"] if new else None

    def spec(self, new: str | None) -> GroupSpec:
        present = [member_id for member_id in self.members if member_id != new]
        order = member_order(present, self.peak, () if new is None else (new,))
        self.peak = max(self.peak, len(self.members) + self.updated)
        counts = {uuid_from_text(t["id"]): len(t["racks"]) for t in self.topics.values()}
        return GroupSpec(
            {member_id: self._member(self.members[member_id]) for member_id in order},
            len({frozenset(member["topics"]) for member in self.members.values()}) <= 1,
            counts,
            self.target,
        )

    def _member(self, member: Any) -> MemberSpec:
        names = in_set_order(member["topics"])
        ids = [uuid_from_text(self.topics[name]["id"]) for name in names if name in self.topics]
        return MemberSpec(member["instance"], ids, len(names))

    def hash(self) -> int:
        names = {name for member in self.members.values() for name in member["topics"]}
        known = [self.topics[name] for name in names if name in self.topics]
        return group_hash({t["name"]: topic_hash(t["name"], uuid_from_text(t["id"]), t["racks"]) for t in known})


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    row = ROWS[number]
    group = StoryGroup()
    for step, answer in zip(row["story"]["steps"], row["answer"], strict=True):
        new = group.follow(step)
        spec = group.spec(new)
        assert spec.homogeneous == (answer["type"] == "HOMOGENEOUS")
        assert group.hash() == answer["hash"]
        target = ASSIGNORS[row["story"]["assignor"]](spec)
        records: list[list[Any]] = []
        for member_id in spec.members:
            assigned = target.get(member_id, group.target.of(member_id))
            if group.target.by_member.get(member_id) is None or _as_sets(assigned) != _as_sets(
                group.target.of(member_id)
            ):
                rows = [[uuid_to_text(topic_id), list(partitions)] for topic_id, partitions in assigned.items()]
                records.append([member_id, rows])
        assert records == answer["records"]
        for member_id, rows in records:
            stored = stored_order({uuid_from_text(topic_id): partitions for topic_id, partitions in rows})
            group.target.set(member_id, stored)


def _as_sets(partitions: Any) -> Any:
    return {topic_id: frozenset(indexes) for topic_id, indexes in partitions.items()}
