"""Kafka's sticky task assignor: members keep their tasks, processes get equal loads, standbys go to other processes.

The choice of members is exactly Kafka's. It depends on the order in which Java's hash maps and heaps return members of
equal load, so there is a heap here that returns equal items in the order of `java.util.PriorityQueue`. Source:
behaviour of the assignors of 4.3.1 and 4.4.0, recorded in the tests' vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from odradek.broker.coordinator.group.streams.group import Target, Tasks
from odradek.broker.coordinator.group.streams.topology import java_text
from odradek.protocol.java_maps import HashTable, hash_of_text, slots_for

T = TypeVar("T")


class JavaHeap(Generic[T]):
    """The item of least ``weight`` comes first. The weight of an item may change only while it is not in the heap."""

    def __init__(self, weight: Callable[[T], float], items: Iterable[T] = ()) -> None:
        self._weight = weight
        self._items: list[T] = []
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: T) -> None:
        """Put an item in: it rises past the heavier ones."""
        items, weight = self._items, self._weight
        items.append(item)
        own = weight(item)
        place = len(items) - 1
        while place > 0:
            parent = (place - 1) >> 1
            if own >= weight(items[parent]):
                break
            items[place] = items[parent]
            place = parent
        items[place] = item

    def pop(self) -> T:
        """Remove the lightest item. The last one sinks from its place. Raises IndexError without any."""
        items = self._items
        lightest = items[0]
        last = items.pop()
        if items:
            self._sink(last)
        return lightest

    def _sink(self, item: T) -> None:
        items, weight = self._items, self._weight
        own, count, place = weight(item), len(items), 0
        while place < count >> 1:
            child = 2 * place + 1
            right = child + 1
            if right < count and weight(items[child]) > weight(items[right]):
                child = right
            if own <= weight(items[child]):
                break
            items[place] = items[child]
            place = child
        items[place] = item


Task = tuple[str, int]
"""Subtopology id and partition."""


class MemberSpec(NamedTuple):
    """A member as the assignor sees it: its process, and the tasks that it was to have, or has, until now.

    ``offsets``: up to where it has restored tasks, as it has told.
    """

    process_id: str
    target: Target
    offsets: Mapping[Task, int] = {}


class SubtopologySpec(NamedTuple):
    """A subtopology as the assignor sees it."""

    tasks: int
    stateful: bool


class _Process:
    """The tasks of one process. ``counts``: the number of tasks by member."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.held: set[Task] = set()
        self.active: dict[str, list[Task]] = {}
        self.standby: dict[str, list[Task]] = {}
        self.load = 0.0
        self._given = 0
        self._order = HashTable(hash_of_text)
        self._by_load: JavaHeap[str] | None = None

    def add_member(self, member_id: str) -> None:
        self.counts[member_id] = 0
        self._order.add(member_id)

    def give(self, member_id: str, task: Task, active: bool) -> int:
        """Give a task to a member; returns how many it has then."""
        self._by_load = None
        return self._give(member_id, task, active)

    def give_to_least_loaded(self, task: Task, active: bool) -> int:
        """Give a task to whichever member has the fewest; returns how many that one has then."""
        if len(self.counts) == 1:
            return self._give(next(iter(self.counts)), task, active)
        if self._by_load is None:
            self._by_load = JavaHeap(self.counts.__getitem__, self._order)
        member_id = self._by_load.pop()
        count = self._give(member_id, task, active)
        self._by_load.add(member_id)
        return count

    def _give(self, member_id: str, task: Task, active: bool) -> int:
        self.held.add(task)
        (self.active if active else self.standby).setdefault(member_id, []).append(task)
        count = self.counts[member_id] = self.counts[member_id] + 1
        self._given += 1
        self.load = self._given / len(self.counts)
        return count


class _Quota:
    """The number of tasks of each member in an even distribution. It changes as members become full."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.limit = _share(tasks, members)

    def given(self, count: int) -> None:
        """A member has ``count`` tasks now."""
        if count == self.limit:
            self._members -= 1
            self._tasks -= count
            self.limit = _share(self._tasks, self._members)


def _share(tasks: int, members: int) -> int:
    return 0 if members == 0 else -(-tasks // members)


class _Assignment:
    """One run of the assignor."""

    def __init__(
        self,
        members: Mapping[str, MemberSpec],
        subtopologies: Mapping[str, SubtopologySpec],
        standbys: int,
        *,
        by_holdings: bool,
    ) -> None:
        self._members = members
        self._by_holdings = by_holdings
        self._standbys = standbys
        self._active = [(name, index) for name, spec in subtopologies.items() for index in range(spec.tasks)]
        self._stateful = [task for task in self._active if subtopologies[task[0]].stateful]
        self._active_quota = _Quota(len(self._active), len(members))
        self._quota = _Quota(len(self._active) + len(self._stateful) * standbys, len(members))
        self._processes: dict[str, _Process] = {}
        self._order = HashTable(hash_of_text, slots=slots_for(len(members)))
        self._had_active: dict[Task, str] = {}
        self._candidates: dict[Task, list[tuple[int, int, str]]] = {}
        for member_id, spec in members.items():
            self._enter(member_id, spec)
        self._had_standby = {task: _ranked(found) for task, found in self._candidates.items()}

    def _enter(self, member_id: str, spec: MemberSpec) -> None:
        process = self._processes.get(spec.process_id)
        if self._by_holdings:
            self._order.add_first(spec.process_id)
        else:
            self._order.add(spec.process_id)
        if process is None:
            process = self._processes[spec.process_id] = _Process()
        process.add_member(member_id)
        for task in _tasks(spec.target.active):
            self._had_active[task] = member_id
        offsets = dict(spec.offsets)
        for task in _tasks(spec.target.standby):
            self._candidates.setdefault(task, []).append((_HAD, offsets.pop(task, 0), member_id))
        for task, offset in offsets.items():
            self._candidates.setdefault(task, []).append((_RESTORED, offset, member_id))

    def _process_of(self, member_id: str) -> _Process:
        return self._processes[self._members[member_id].process_id]

    def _by_load(self) -> JavaHeap[_Process]:
        return JavaHeap(lambda process: process.load, [self._processes[each] for each in self._order])

    # -- active tasks

    def assign_active(self) -> None:
        """Assign active tasks: to the former owner, then to a former standby, then to the least loaded process."""
        by_partition = sorted(self._active, key=_partition_first)
        rest = [task for task in by_partition if not self._keep_active(task, self._had_active.get(task))]
        rest = [task for task in rest if not self._keep_active(task, self._least_loaded(self._had_standby.get(task)))]
        rest.sort(key=_subtopology_first)
        processes = self._by_load()
        for task in rest:
            process = processes.pop()
            self._count_active(process.give_to_least_loaded(task, True))
            processes.add(process)

    def _keep_active(self, task: Task, member_id: str | None) -> bool:
        """Give a task to a member, unless it has enough."""
        if member_id is None:
            return False
        process = self._process_of(member_id)
        if process.counts[member_id] >= self._active_quota.limit:
            return False
        self._count_active(process.give(member_id, task, True))
        return True

    def _count_active(self, count: int) -> None:
        self._active_quota.given(count)
        self._quota.given(count)

    def _least_loaded(self, members: Sequence[str] | None, task: Task | None = None) -> str | None:
        """The first of the members, or one with less load.

        If the first one's process has the task there is none, or that one is passed over.
        """
        if task is not None and self._by_holdings and members:
            members = [each for each in members if task not in self._process_of(each).held]
        if not members:
            return None
        chosen = members[0]
        first = self._process_of(chosen)
        load, count = first.load, first.counts[chosen]
        for member_id in members[1:]:
            process = self._process_of(member_id)
            own = process.counts[member_id]
            if process.load < load and own < count and (task is None or task not in process.held):
                load, count, chosen = process.load, own, member_id
        return chosen if task is None or task not in first.held else None

    # -- standby tasks

    def assign_standby(self) -> None:
        """Assign standbys: to a process that had the task, then to the least loaded process without it."""
        rest: list[tuple[Task, int]] = []
        for task in sorted(self._stateful, key=_partition_first, reverse=True):
            for number in range(self._standbys):
                if not self._keep_standby(task):
                    rest.append((task, self._standbys - number))
                    break
        processes = self._by_load()
        for task, copies in sorted(rest, key=lambda each: _subtopology_first(each[0]), reverse=True):
            for _ in range(copies):
                if not self._give_standby(processes, task):
                    break

    def _keep_standby(self, task: Task) -> bool:
        had_active = self._had_active.get(task)
        if had_active is not None and self._give_if_new(task, had_active):
            return True
        had_standby = self._least_loaded(self._had_standby.get(task), task)
        return had_standby is not None and self._give_if_room(task, had_standby)

    def _give_if_new(self, task: Task, member_id: str) -> bool:
        return task not in self._process_of(member_id).held and self._give_if_room(task, member_id)

    def _give_if_room(self, task: Task, member_id: str) -> bool:
        process = self._process_of(member_id)
        if process.counts[member_id] >= self._quota.limit:
            return False
        self._quota.given(process.give(member_id, task, False))
        return True

    def _give_standby(self, processes: JavaHeap[_Process], task: Task) -> bool:
        """Passes over processes that have the task; they are put back last out, first in."""
        passed: list[_Process] = []
        found = False
        while len(processes):
            process = processes.pop()
            passed.append(process)
            if task not in process.held:
                self._quota.given(process.give_to_least_loaded(task, False))
                found = True
                break
        for process in reversed(passed):
            processes.add(process)
        return found

    # -- the result

    def targets(self) -> dict[str, Target]:
        """The tasks of each member."""
        made: dict[str, Target] = {}
        for member_id in self._members:
            process = self._process_of(member_id)
            active, standby = process.active.get(member_id, ()), process.standby.get(member_id, ())
            made[member_id] = Target(_compact(active), _compact(standby))
        return made


def assign(
    members: Mapping[str, MemberSpec],
    subtopologies: Mapping[str, SubtopologySpec],
    standbys: int,
    *,
    by_holdings: bool = False,
) -> dict[str, Target]:
    """The target of each member. ``members`` stand in Kafka's order, ``subtopologies`` in the order of their ids.

    ``standbys``: how many standby tasks each stateful task is to have, on other processes. ``by_holdings``: the targets
    of ``members`` are what they have (Kafka 4.4). Then processes stand in another order, and of those that had a
    standby, one whose process has the task already is passed over.
    """
    run = _Assignment(members, subtopologies, standbys, by_holdings=by_holdings)
    if members:
        run.assign_active()
        if standbys > 0:
            run.assign_standby()
    return run.targets()


_HAD, _RESTORED = range(2)
"""A candidate for a standby: it has the standby, or has told an offset of the task."""


def _ranked(candidates: list[tuple[int, int, str]]) -> list[str]:
    """Those that have the standby come first, and of equals those that have restored most."""
    return [member_id for *_, member_id in sorted(candidates, key=lambda each: (each[0], -each[1]))]


def _tasks(tasks: Tasks) -> list[Task]:
    return [(subtopology, partition) for subtopology, partitions in tasks.items() for partition in partitions]


def _compact(tasks: Sequence[Task]) -> dict[str, frozenset[int]]:
    by_subtopology: dict[str, set[int]] = {}
    for subtopology, partition in tasks:
        by_subtopology.setdefault(subtopology, set()).add(partition)
    return {subtopology: frozenset(partitions) for subtopology, partitions in by_subtopology.items()}


def _partition_first(task: Task) -> tuple[int, bytes]:
    return task[1], java_text(task[0])


def _subtopology_first(task: Task) -> tuple[bytes, int]:
    return java_text(task[0]), task[1]
