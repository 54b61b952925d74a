"""A group that is told a recorded story (`tests.scenarios.assignments`)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from odradek.broker.coordinator.group.assignment import (
    GroupSpec,
    MemberSpec,
    Partitions,
    TargetAssignment,
    member_order,
    stored_order,
)
from odradek.broker.coordinator.group.topics import group_hash, topic_hash
from odradek.broker.releases.release import release_of
from odradek.protocol.java_maps import in_set_order
from odradek.protocol.uuids import uuid_from_text, uuid_to_text

VECTORS = Path(__file__).parents[3] / "vectors"
PARTS = 16
"""Tests of stories tell them in so many parts: who tells one reads them, not everybody who collects tests."""


@cache
def stories(name: str) -> list[tuple[str, Any]]:
    """The stories of Kafka 4.4 and 4.3 in vectors, each with the release that answered."""
    files = {"4.4": f"{name}.json.gz", "4.3": f"{name}-4.3.json.gz"}
    return [
        (release, row)
        for release, file in files.items()
        for row in json.loads(gzip.decompress((VECTORS / file).read_bytes()))
    ]


def tell(name: str, part: int, check: Callable[[str, Any], None]) -> None:
    """Check each story of one part; what fails says which it was."""
    for number, (release, row) in enumerate(stories(name)):
        if number % PARTS == part:
            try:
                check(release, row)
            except AssertionError as error:
                error.add_note(f"story {number} of {name}, told by Kafka {release}")
                raise


class StoryGroup:
    """A group that is told a story: what Kafka's group knows of its members, and nothing more."""

    def __init__(self, counts_newcomers: bool) -> None:
        self.counts_newcomers = counts_newcomers
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
        peak, self.peak = self.peak, max(self.peak, len(self.members) + self.updated)
        if self.counts_newcomers:
            order = member_order(list(self.members), self.peak)
        else:
            present = [member_id for member_id in self.members if member_id != new]
            order = member_order(present, peak, () if new is None else (new,))
        counts = {uuid_from_text(t["id"]): len(t["racks"]) for t in self.topics.values()}
        return GroupSpec(
            {member_id: self._member(self.members[member_id]) for member_id in order},
            len({frozenset(member["topics"]) for member in self.members.values()}) <= 1,
            counts,
            self.target,
            None if new in self.target.sizes else new,
        )

    def _member(self, member: Any) -> MemberSpec:
        names = in_set_order(member["topics"])
        ids = [uuid_from_text(self.topics[name]["id"]) for name in names if name in self.topics]
        return MemberSpec(member["instance"], ids, len(names))

    def hash(self) -> int:
        names = {name for member in self.members.values() for name in member["topics"]}
        known = [self.topics[name] for name in names if name in self.topics]
        return group_hash({t["name"]: topic_hash(t["name"], uuid_from_text(t["id"]), t["racks"]) for t in known})

    def records(self, spec: GroupSpec, target: dict[str, Partitions]) -> list[list[Any]]:
        """The targets that are stored, which the group takes over: those that say something new."""
        records: list[list[Any]] = []
        for member_id in spec.members:
            assigned = target.get(member_id, self.target.of(member_id))
            before = self.target.by_member.get(member_id)
            if before is None or _as_sets(assigned) != _as_sets(before):
                rows = [[uuid_to_text(topic_id), list(partitions)] for topic_id, partitions in assigned.items()]
                records.append([member_id, rows])
                self.target.set(member_id, stored_order(assigned))
        return records


def check_story(release: str, row: Any, assign: Callable[[GroupSpec, Any], dict[str, Partitions]]) -> None:
    """A story's group gets what Kafka's got with each step; `assign`: the target for a group and a step."""
    group = StoryGroup(release_of(release).counts_newcomers)
    for step, answer in zip(row["story"]["steps"], row["answer"], strict=True):
        spec = group.spec(group.follow(step))
        assert spec.homogeneous == (answer["type"] == "HOMOGENEOUS")
        assert group.hash() == answer["hash"]
        assert group.records(spec, assign(spec, step)) == answer["records"]


def _as_sets(partitions: Any) -> Any:
    return {topic_id: frozenset(indexes) for topic_id, indexes in partitions.items()}
