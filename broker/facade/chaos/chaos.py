"""`Chaos`: faults that a seed draws, applied while a test runs. `shrunk` finds the few that a failure needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from odradek.broker.facade.chaos.course import VERBS, Course, verb_named
from odradek.broker.facade.chaos.schedule import ANSWERS, ChaosFault, Shape, Wanted, draw, read_schedule, schedule_text
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.mistakes import checked, did_you_mean

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.broker import Broker

T = TypeVar("T")

KINDS: Mapping[str, float] = {
    "kill_node": 2,
    "stop_node": 1,
    "freeze_node": 1,
    "pause_replication": 2,
    "lag_replication": 1,
    "cut": 1,
    "slow": 1,
    "move_leader": 2,
    "elect": 0.5,
    "reassign": 0.5,
    "advance": 0.5,
    "answer": 1,
    "lose": 1,
    "disconnect": 1,
    "delay": 1,
}
"""The faults that are drawn by default, with their weights. Without `drop`, because a client waits its whole request
time-out for each, and without faults that concern few tests: bytes of answers, clients' links, disks and loading
coordinators (``also``).
"""


class Chaos:
    """Faults drawn by a seed: ``with odradek.Chaos(seed=7).run(broker): ...``.

    The same seed and the same cluster (nodes, topics, replicas) give the same schedule, on every machine. The run draws
    it when it begins.

    ``seconds``: the length of a run, on the broker's clock or in steps; no fault begins in its last tenth. ``faults``:
    the number of faults; fewer are drawn if there is no room. ``kinds``: names of verbs, or a mapping from the name to
    how often it is drawn. ``also``: the same, besides what is drawn by default. ``lasting``: the shortest and longest
    time of a fault, in seconds. ``at_once``: how many last at the same time. ``min_up``: how many nodes stay up; by
    default more than half. ``unclean``: whether leaders are elected that may lack records, where nobody leads.
    ``topics``: whose replicas are touched (default: all that exist when the run begins). ``jumps``: the shortest and
    longest jump of the clock, in seconds. ``apis``: whose requests are disturbed. ``clients``: whose links are cut or
    slow, by client id, where ``*`` stands for anything. ``only``: the numbers of the faults that are kept. ``heal``:
    whether the end of the run undoes what lasts.

    ValueError for names that are not known, with the nearest one, and for numbers that make no sense.
    """

    @checked
    def __init__(
        self,
        seed: int,
        *,
        seconds: float = 60.0,
        faults: int = 20,
        kinds: Iterable[str] | Mapping[str, float] | None = None,
        also: Iterable[str] | Mapping[str, float] = (),
        lasting: tuple[float, float] = (0.5, 5.0),
        at_once: int = 3,
        min_up: int | None = None,
        unclean: bool = False,
        topics: Iterable[str] | None = None,
        jumps: tuple[float, float] = (1.0, 60.0),
        apis: Iterable[str] | None = None,
        clients: Iterable[str] = ("*",),
        only: Iterable[int] | None = None,
        heal: bool = True,
    ) -> None:
        self.seed: int | None = seed
        self._wanted = Wanted(
            seconds,
            faults,
            _weights(_drawn_as_often(KINDS if kinds is None else kinds) | _drawn_as_often(also)),
            _span("lasting", lasting),
            at_once,
            min_up,
            _span("jumps", jumps),
            tuple(ANSWERS) if apis is None else _known_apis(apis),
            unclean,
            tuple(clients),
        )
        self._topics = None if topics is None else tuple(topics)
        self._only = None if only is None else frozenset(only)
        self._heal = heal
        self._given: list[ChaosFault] | None = None
        self._schedule: tuple[ChaosFault, ...] | None = None
        self._course: Course | None = None
        if not isinstance(seed, int):
            raise TypeError(f"seed={seed!r}: expected a whole number")
        if seconds <= 0 or faults < 0 or at_once < 1 or (min_up is not None and min_up < 0):
            raise ValueError(
                f"seconds={seconds}, faults={faults}, at_once={at_once}, min_up={min_up}: seconds and at_once are "
                "above 0, faults and min_up not below"
            )

    @classmethod
    def replay(
        cls, schedule: str | Iterable[str | ChaosFault], *, only: Iterable[int] | None = None, heal: bool = True
    ) -> Chaos:
        """Run a given schedule.

        It is the text of `schedule_text`, lines of it, or `ChaosFault` objects. ValueError for a line that is not a
        fault, and for an unknown verb.
        """
        chaos = cls(0, only=only, heal=heal)
        chaos.seed = None
        chaos._given = read_schedule(schedule)
        for fault in chaos._given:
            verb_named(fault.verb)
        return chaos

    def __repr__(self) -> str:
        return f"<Chaos: {self.origin}>"

    # -- what was drawn

    @property
    def origin(self) -> str:
        """The origin of the schedule: ``seed 7``, or ``a given schedule``."""
        return "a given schedule" if self.seed is None else f"seed {self.seed}"

    @property
    def schedule(self) -> tuple[ChaosFault, ...]:
        """The faults in the order of time. RuntimeError before a run (or `plan`) has shown the cluster."""
        if self._schedule is None:
            raise RuntimeError(
                "the schedule depends on the cluster: begin with run(broker), step(broker) or plan(broker)"
            )
        return self._schedule

    @property
    def schedule_text(self) -> str:
        """The schedule with a line for each fault, as `replay` reads it."""
        return schedule_text(self.schedule)

    @property
    def log(self) -> list[str]:
        """The applied faults with their times, as lines, and the omitted ones with the reason."""
        return [] if self._course is None else list(self._course.log)

    @property
    def finished(self) -> bool:
        """Whether everything in the schedule has been done and undone."""
        return self._course is not None and self._course.finished

    def plan(self, broker: Broker) -> tuple[ChaosFault, ...]:
        """Draw the schedule for this cluster without running it; ValueError for a topic that does not exist."""
        cluster = _cluster_of(broker)
        return self._plan(broker._look(lambda: _shape(cluster, self._topics)))

    def _plan(self, shape: Shape) -> tuple[ChaosFault, ...]:
        faults = draw(self.seed or 0, shape, self._wanted) if self._given is None else self._given
        self._schedule = tuple(fault for fault in faults if self._only is None or fault.number in self._only)
        return self._schedule

    # -- running

    @contextmanager
    def run(self, broker: Broker) -> Iterator[Chaos]:
        """Follow the schedule on the broker's clock inside of ``with``.

        The end of the block undoes faults that still last, and leaves out those still ahead. It works in plain code,
        asyncio and trio, because nothing here waits. An error that no fault should raise (such as a node's address that
        has been taken) is raised at the end.
        """
        course = self._begin(broker)
        broker._look(course.start)
        try:
            yield self
        finally:
            with suppress(BrokerClosedError):
                broker._look(course.heal if self._heal else course.stop)
        _raise(course)

    def step(self, broker: Broker, seconds: float = 1.0) -> list[str]:
        """Let ``seconds`` of the schedule pass at once.

        Returns a line for each fault that began or ended. Only steps move the schedule's time. The broker's clock does
        not, and only ``advance`` moves that. The first step begins the run; `heal` ends it.
        """
        if seconds < 0:
            raise ValueError(f"seconds={seconds}: a schedule does not go back")
        course = self._course
        if course is None or not course.is_for(broker.cluster):
            course = self._begin(broker)
        known = len(course.log)
        broker._look(lambda: course.reach(course.now + seconds))
        _raise(course)
        return course.log[known:]

    def heal(self, broker: Broker) -> None:
        """Undo faults that still last, and begin no more. Faults that are not of this schedule stay."""
        course = self._course
        if course is not None and course.is_for(broker.cluster):
            broker._look(course.heal)
            _raise(course)

    def _begin(self, broker: Broker) -> Course:
        planned = self.plan(broker)
        TRIALS.ran.append(self)
        self._schedule = tuple(fault for fault in planned if TRIALS.keeps(self, fault.number))
        self._course = Course(broker.cluster, self._schedule)
        return self._course


def _cluster_of(broker: Broker) -> Cluster:
    try:
        return broker.cluster
    except RuntimeError:  # a broker over HTTP has none
        raise ValueError(
            "odradek.Chaos works inside the broker's process, and this broker is in another one: start it without "
            "process=True, or use its verbs (kill_node, cut_clients, ...)"
        ) from None


def _raise(course: Course) -> None:
    failure, course.failure = course.failure, None
    if failure is not None:
        raise failure


def _shape(cluster: Cluster, names: tuple[str, ...] | None) -> Shape:
    """The parts of this cluster that a schedule may name."""
    known = {topic.name: topic for topic in cluster.topics.all()}
    for name in names or ():
        if name not in known:
            raise ValueError(f"no topic {name}{did_you_mean(name, known)}")
    topics = tuple(
        (name, tuple(tuple(sorted(partition.replicas)) for partition in known[name].partitions))
        for name in sorted(known if names is None else set(names))
    )
    return Shape(tuple(sorted(cluster.nodes)), topics)


def _drawn_as_often(kinds: Iterable[str] | Mapping[str, float]) -> dict[str, float]:
    return dict(kinds) if isinstance(kinds, Mapping) else dict.fromkeys(kinds, 1.0)


def _weights(weights: dict[str, float]) -> dict[str, float]:
    for name, weight in weights.items():
        verb_named(name)
        if not weight >= 0:
            raise ValueError(f"kinds: {name!r} is drawn {weight} times; a weight is not negative")
    if not any(weights.values()):
        raise ValueError(f"kinds: nothing to draw; there are {', '.join(VERBS)}")
    return weights


def _span(name: str, span: tuple[float, float]) -> tuple[float, float]:
    shortest, longest = span
    if not 0 <= shortest <= longest:
        raise ValueError(f"{name}={span}: expected the shortest and the longest time, in seconds")
    return (shortest, longest)


def _known_apis(apis: Iterable[str]) -> tuple[str, ...]:
    from odradek.protocol.apis import API_BY_NAME

    chosen = tuple(apis)
    for name in chosen:
        if name not in API_BY_NAME:
            raise ValueError(f"no API is called {name!r}{did_you_mean(name, API_BY_NAME)}")
    return chosen


# -- trials


_REMEMBERED = 1000


class Trials:
    """The schedules that ran since `begin`, oldest first, and the faults that a trial keeps.

    A fault is identified by the place of its `Chaos` among those that ran, and by its number in it.
    """

    def __init__(self) -> None:
        self.ran: deque[Chaos] = deque(maxlen=_REMEMBERED)
        self._kept: frozenset[tuple[int, int]] | None = None

    def begin(self) -> None:
        """Forget the schedules of the test before."""
        self.ran.clear()

    def keeps(self, chaos: Chaos, number: int) -> bool:
        """Whether the present trial keeps the fault of a `chaos` in `ran`. Outside of trials every fault is kept."""
        if self._kept is None:
            return True
        return (next(place for place, each in enumerate(self.ran) if each is chaos), number) in self._kept

    def faults(self) -> list[tuple[int, int]]:
        """All faults of the schedules that ran."""
        return [(place, fault.number) for place, chaos in enumerate(self.ran) for fault in chaos.schedule]

    @contextmanager
    def keeping(self, faults: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Schedules that run inside of ``with`` have these faults only."""
        before, self._kept = self._kept, frozenset(faults)
        self.begin()
        try:
            yield
        finally:
            self._kept = before


TRIALS = Trials()
"""Of this process; the pytest plugin begins it with each test."""


def shrunk(faults: Sequence[T], fails: Callable[[Sequence[T]], bool], tries: int = 100) -> list[T]:
    """A minimal set of faults with which the test still fails, by Zeller's delta debugging.

    `fails` runs the test with some of them. The test has failed with all of `faults`. The set may be empty. After
    `tries` runs the smallest set so far is returned.
    """
    kept = list(faults)
    left = tries

    def still_fails(some: Sequence[T]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(some)

    if not kept or still_fails([]):
        return []
    parts = 2
    while len(kept) > 1 and left > 0:
        size = -(-len(kept) // parts)
        pieces = [kept[start : start + size] for start in range(0, len(kept), size)]
        for piece in pieces:
            rest = [fault for fault in kept if fault not in piece]
            if len(pieces) > 2 and still_fails(piece):
                kept, parts = piece, 2
                break
            if still_fails(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), parts * 2)
    return kept
