"""The heap gives the lightest item, and equal ones in Java's order."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import member_order
from odradek.broker.coordinator.group.streams.member import NO_TARGET, Target
from odradek.broker.coordinator.group.streams.sticky import JavaHeap, MemberSpec, SubtopologySpec, assign


@given(st.lists(st.integers(0, 9)))
def test_the_lightest_first(weights: list[int]) -> None:
    heap = JavaHeap(lambda item: item, weights)
    assert [heap.pop() for _ in range(len(heap))] == sorted(weights)


def test_equal_items_as_a_priority_queue_of_java_gives_them() -> None:
    """Polled and offered again, as the assignor does; the order was seen on JDK 17."""
    heap = JavaHeap(lambda item: 0, "abcde")
    assert [heap.pop() for _ in range(5)] == list("aedcb")


def test_an_empty_heap() -> None:
    with pytest.raises(IndexError):
        JavaHeap(lambda item: 0, "").pop()


ROWS = json.loads(gzip.decompress((Path(__file__).parents[4] / "vectors" / "task_assignments.json.gz").read_bytes()))


class StoryGroup:
    """A group that is told a story: what Kafka's group knows of its members, and nothing more."""

    def __init__(self) -> None:
        self.processes: dict[str, str] = {}
        self.targets: dict[str, Target] = {}
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
        present = list(self.processes)
        member_id, process_id = step.get("join", (None, ""))
        updated = member_id in self.processes
        order = member_order(present, self.peak, () if member_id is None or updated else (member_id,))
        if member_id is not None:
            self.processes[member_id] = process_id
        self.peak = max(self.peak, len(self.processes) + updated)
        specs = {each: MemberSpec(self.processes[each], self.targets.get(each, NO_TARGET)) for each in order}
        assigned = assign(specs, self.shape, self.standbys)
        changed = {each: target for each, target in assigned.items() if self.targets.get(each) != target}
        self.targets.update(changed)
        return changed


def listed(target: Target) -> list[Any]:
    return [[[name, sorted(tasks[name])] for name in sorted(tasks)] for tasks in (target.active, target.standby)]


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_story(number: int) -> None:
    row = ROWS[number]
    group = StoryGroup()
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


def test_nobody_gets_nothing() -> None:
    assert assign({}, {"0": SubtopologySpec(3, True)}, 1) == {}
