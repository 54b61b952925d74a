"""The heap gives the lightest item, and equal ones in Java's order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import member_order
from odradek.broker.coordinator.group.streams.group import NO_TARGET, Target
from odradek.broker.coordinator.group.streams.sticky import JavaHeap, MemberSpec, SubtopologySpec, assign
from odradek.broker.releases.release import Release, release_of
from tests.broker.coordinator.group.story_group import PARTS, tell


@given(st.lists(st.integers(0, 9)))
def test_java_heap_pops_the_lightest_first(weights: list[int]) -> None:
    heap = JavaHeap(lambda item: item, weights)
    assert [heap.pop() for _ in range(len(heap))] == sorted(weights)


def test_equal_items_as_a_priority_queue_of_java_gives_them() -> None:
    """Polled and offered again, as the assignor does; the order was seen on JDK 17."""
    heap = JavaHeap(lambda item: 0, "abcde")
    assert [heap.pop() for _ in range(5)] == list("aedcb")


def test_java_heap_that_is_empty_pops_nothing() -> None:
    with pytest.raises(IndexError):
        JavaHeap(lambda item: 0, "").pop()


class StoryGroup:
    """A group that is told a story: what Kafka's group knows of its members, and nothing more."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.processes: dict[str, str] = {}
        self.targets: dict[str, Target] = {}
        self.taken: dict[str, Target] = {}
        self.restored: dict[str, dict[tuple[str, int], int]] = {}
        self.shape: dict[str, SubtopologySpec] = {}
        self.standbys = 0
        self.peak = 0

    def follow(self, step: Any) -> dict[str, Target]:
        """Returns the new targets of those whose target has changed, in Kafka's order."""
        if "subtopologies" in step:
            self.shape = {name: SubtopologySpec(*step["subtopologies"][name]) for name in sorted(step["subtopologies"])}
        self.standbys = step.get("standbys", self.standbys)
        if "leave" in step:
            del self.processes[step["leave"]]
            self.targets.pop(step["leave"])
        for member_id in step.get("take", ()):
            self.taken[member_id] = self.targets[member_id]
            self.peak = max(self.peak, len(self.processes) + 1)
        for member_id, (offsets, _) in step.get("restored", {}).items():
            self.restored[member_id] = {(name, index): offset for name, index, offset in offsets}
        by_holdings = self.release.assigns_streams_by_holdings
        specs = {each: self.spec(each) for each in self.order(*step.get("join", ()))}
        assigned = assign(specs, self.shape, self.standbys, by_holdings=by_holdings)
        changed = {each: target for each, target in assigned.items() if self.targets.get(each) != target}
        self.targets.update(changed)
        return changed

    def order(self, joins: str | None = None, process_id: str = "") -> list[str]:
        """The members as the assignor meets them, with one that joins or changes its process."""
        present, peak, updated = list(self.processes), self.peak, joins in self.processes
        if joins is not None:
            self.processes[joins] = process_id
        self.peak = max(self.peak, len(self.processes) + updated)
        if self.release.counts_newcomers or joins is None or updated:
            return member_order(list(self.processes), self.peak if self.release.counts_newcomers else peak)
        return member_order(present, peak, (joins,))

    def spec(self, member_id: str) -> MemberSpec:
        process_id = self.processes[member_id]
        if self.release.assigns_streams_by_holdings:
            return MemberSpec(process_id, self.taken.get(member_id, NO_TARGET), self.restored.get(member_id, {}))
        return MemberSpec(process_id, self.targets.get(member_id, NO_TARGET))


def listed(target: Target) -> list[Any]:
    return [[[name, sorted(tasks[name])] for name in sorted(tasks)] for tasks in (target.active, target.standby)]


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_the_sticky_assignor_of_streams_groups_assigns_as_recorded(part: int) -> None:
    tell("task_assignments", part, as_kafkas)


def as_kafkas(release: str, row: Any) -> None:
    group = StoryGroup(release_of(release))
    for step, answer in zip(row["story"]["steps"], row["answer"], strict=True):
        changed = group.follow(step)
        assert [[member_id, *listed(target)] for member_id, target in changed.items()] == answer


shapes = st.dictionaries(
    st.sampled_from(["0", "1", "2"]), st.builds(SubtopologySpec, st.integers(1, 9), st.booleans()), min_size=1
)
groups = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.sampled_from(["p1", "p2", "p3"]), min_size=1)


@given(shapes, groups, st.integers(0, 3))
def test_each_task_is_active_once_and_copies_are_elsewhere(
    shape: dict[str, SubtopologySpec], members: dict[str, str], standbys: int
) -> None:
    targets = assign({each: MemberSpec(process, NO_TARGET) for each, process in members.items()}, shape, standbys)
    active = [(name, task) for target in targets.values() for name in target.active for task in target.active[name]]
    assert sorted(active) == sorted((name, task) for name, spec in shape.items() for task in range(spec.tasks))
    by_process: dict[str, list[tuple[str, int]]] = {}
    for member_id, target in targets.items():
        for tasks in (target.active, target.standby):
            held = by_process.setdefault(members[member_id], [])
            held += [(name, task) for name in tasks for task in tasks[name]]
    for held in by_process.values():
        assert len(held) == len(set(held))
    counts = [sum(map(len, target.active.values())) for target in targets.values()]
    if len(set(members.values())) == len(members):
        assert max(counts) - min(counts) <= 1


def test_sticky_assignor_without_members_assigns_nothing() -> None:
    assert assign({}, {"0": SubtopologySpec(3, True)}, 1) == {}
