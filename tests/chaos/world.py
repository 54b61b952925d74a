"""One run: a cluster of three, its clients, chaos by a seed, checks at the end. No time passes but the run's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import trio
from trio._core import _run as trio_run
from trio.testing import MockClock

from odradek import Chaos, ChaosFault, open_broker
from odradek.types import TrioBroker
from tests.chaos import checker
from tests.chaos.copier import Copier
from tests.chaos.group import Member, Reader, committed
from tests.chaos.history import History, Place
from tests.chaos.producer import IdempotentProducer, TransactionalId, TransactionalProducer
from tests.chaos.unmarked import watched_markers
from tests.chaos.wire import Wire, WrongError

NODES = 3
SECONDS = 16.0
SETTLE_S = 120.0
IN: list[Place] = [("in", 0), ("in", 1)]
OUT: Place = ("out", 0)
PAIR: list[Place] = [("left", 0), ("right", 0), ("right", 1)]
CONFIG = {
    "min.insync.replicas": 2,
    "default.replication.factor": 3,
    "replica.lag.time.max.ms": 2000,
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "group.initial.rebalance.delay.ms": 0,
    "broker.session.timeout.ms": 2000,
    "broker.heartbeat.interval.ms": 500,
    "transaction.max.timeout.ms": 900_000,
}
KINDS = {
    "kill_node": 3,
    "stop_node": 1,
    "freeze_node": 1.5,
    "pause_replication": 2,
    "lag_replication": 1,
    "cut": 1,
    "slow": 1,
    "move_leader": 3,
    "elect": 1,
    "reassign": 1,
    "advance": 0.5,
    "answer": 2,
    "drop": 1,
    "lose": 2,
    "disconnect": 1,
    "delay": 1,
}

USUAL: dict[str, Any] = {"faults": 12, "lasting": (0.3, 4.0)}
HARSH: dict[str, Any] = {"faults": 30, "lasting": (0.3, 6.0), "at_once": 6, "min_up": 0}
"""Of every other seed: now and then no node is left."""

BELOW = {"break_answer": 3, "cut_clients": 3, "slow_clients": 2, "fail_disk": 2, "hold_load": 3}
"""Faults below the API, besides the others where ``also=BELOW`` asks for them."""


@dataclass
class Outcome:
    """What a run came to: `wrong` is empty where every promise was kept. `unmarked`: see `watched_markers`.

    `repeated`: Kafka itself breaks a promise in this run, so it was made again with markers that wait.
    """

    seed: int
    wrong: list[str] = field(default_factory=list)
    schedule: tuple[ChaosFault, ...] = ()
    log: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fingerprint: int = 0
    virtual_s: float = 0.0
    unmarked: list[str] = field(default_factory=list)
    repeated: bool = False


class World:
    """The clients of one run."""

    def __init__(self, broker: TrioBroker, seed: int) -> None:
        self.broker = broker
        self.seed = seed
        self.history = History()
        self.ports = {node.id: node.first.port for node in broker.cluster.nodes.values()}
        self.wires: list[Wire] = []
        random = self.random("shape")
        second = random.random() < 0.5
        timeout_ms = random.choice((5_000, 60_000))
        self.writers: list[Any] = [
            *(IdempotentProducer(self.wire(f"p{i}"), place, self.history) for i, place in enumerate(IN)),
            IdempotentProducer(self.wire("p2"), IN[0], self.history),
            TransactionalProducer(
                TransactionalId(self.wire("t0"), self.history, second=second, timeout_ms=timeout_ms), PAIR
            ),
            TransactionalProducer(
                TransactionalId(self.wire("t1"), self.history, second=not second, timeout_ms=60_000), PAIR
            ),
        ]
        self.followers: list[Any] = [
            *(Reader(self._member("readers", PAIR, i)) for i in range(2)),
            *(self._copier(i, second=(i == 0) == second) for i in range(2)),
        ]
        self.observer = self.wire("observer")

    def random(self, name: str) -> Random:
        return Random(f"{self.seed} {name}")

    def wire(self, name: str) -> Wire:
        wire = Wire(name, self.ports, self.random(name))
        self.wires.append(wire)
        return wire

    def _member(self, group: str, places: list[Place], number: int) -> Member:
        name = f"{group}{number}"
        return Member(self.wire(name), self.wire(f"{name} heart"), group, places, self.history)

    def _copier(self, number: int, *, second: bool) -> Copier:
        identity = TransactionalId(self.wire(f"c{number}"), self.history, second=second, timeout_ms=60_000)
        return Copier(self._member("copiers", IN, number), identity, OUT)

    async def all_read(self) -> None:
        """Return when both groups have come to the ends of what they read."""
        for group, places in (("copiers", IN), ("readers", PAIR)):
            for place in places:
                while await committed(self.observer, group, place, self.history) < self._last_record(place) + 1:
                    self.observer.doing = f"waiting for {group} at {place}"
                    await trio.sleep(0.5)

    def waiting(self) -> str:
        """What each client is at."""
        return "a client gets nowhere: " + "; ".join(f"{wire.name}: {wire.doing}" for wire in self.wires)

    def _last_record(self, place: Place) -> int:
        """The offset of the last record that is no marker and was not aborted; -1 if there is none."""
        return max((offset for offset, _ in checker.read(self.broker, place)), default=-1)


async def _watch(world: World) -> None:
    """Look at the replicas all the time."""
    while True:
        for wrong in checker.disagreeing(world.broker):
            raise WrongError(wrong)
        await trio.sleep(0.3)


async def _run(world: World, chaos: Chaos, outcome: Outcome, seconds: float) -> None:
    async with trio.open_nursery() as watching:
        watching.start_soon(_watch, world)
        await _work(world, chaos, outcome, seconds)
        watching.cancel_scope.cancel()


async def _work(world: World, chaos: Chaos, outcome: Outcome, seconds: float) -> None:
    writing, reading = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        for follower in world.followers:
            nursery.start_soon(follower.run, reading)
        async with trio.open_nursery() as writers:
            for writer in world.writers:
                writers.start_soon(writer.run, writing)
            with chaos.run(world.broker):
                outcome.schedule = chaos.schedule
                await trio.sleep(seconds)
            writing.set()
            writers.cancel_scope.deadline = trio.current_time() + SETTLE_S
        _ended(writers, world)
        with trio.move_on_after(SETTLE_S) as scope:
            await world.all_read()
        if scope.cancelled_caught:
            raise WrongError(world.waiting())
        reading.set()
        nursery.cancel_scope.deadline = trio.current_time() + SETTLE_S
    _ended(nursery, world)


def _ended(nursery: trio.Nursery, world: World) -> None:
    """The tasks of the nursery have ended by themselves."""
    if nursery.cancel_scope.cancelled_caught:
        raise WrongError(world.waiting())


async def _main(outcome: Outcome, chaos: Chaos, seconds: float) -> None:
    topics = {name: {"partitions": count, "replication_factor": 3} for name, count in _topics().items()}
    async with open_broker(nodes=NODES, topics=topics, config=CONFIG) as broker:
        broker.cluster.ensure_topic("__consumer_offsets")
        broker.cluster.ensure_topic("__transaction_state")
        world = World(broker, outcome.seed)
        try:
            await _run(world, chaos, outcome, seconds)
            await checker.settle(broker)
            outcome.wrong += checker.check(broker, world.history)
        except BaseException as error:
            outcome.wrong += [*_reasons(error)]
            await checker.settle(broker)
            outcome.wrong += checker.lost(broker, world.history)
        for wire in world.wires:
            await wire.close()
        outcome.wrong += [f"bug: {bug}" for bug in broker.bugs]
        outcome.log = chaos.log
        outcome.counts = world.history.counts
        outcome.fingerprint = checker.fingerprint(broker)
        outcome.virtual_s = trio.current_time()


def _topics() -> dict[str, int]:
    counts: dict[str, int] = {}
    for topic, partition in [*IN, OUT, *PAIR]:
        counts[topic] = max(counts.get(topic, 0), partition + 1)
    return counts


def _reasons(error: BaseException) -> Iterable[str]:
    """What went wrong, without the groups that nurseries wrap around it; anything but a WrongError with its place."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _reasons(each)
    elif isinstance(error, WrongError):
        yield str(error)
    elif isinstance(error, Exception):
        import traceback

        yield "".join(traceback.format_exception(error))
    else:
        raise error


def run(
    seed: int,
    *,
    only: Iterable[int] | None = None,
    schedule: Sequence[str | ChaosFault] | str | None = None,
    seconds: float = SECONDS,
    markers_wait: bool = False,
    **options: Any,
) -> Outcome:
    """The run of a seed; ``schedule`` instead of what the seed draws, ``only`` some faults of it."""
    if schedule is None:
        harsh = HARSH if seed % 2 else {}
        chaos = Chaos(seed, seconds=seconds, only=only, kinds=KINDS, jumps=(1.0, 30.0), **(USUAL | harsh | options))
    else:
        chaos = Chaos.replay(schedule, only=only)
    outcome = Outcome(seed)
    with _repeatable(seed), watched_markers(wait=markers_wait) as outcome.unmarked:
        trio.run(_main, outcome, chaos, seconds, clock=MockClock(autojump_threshold=0))
    return outcome


def run_as_promised(seed: int, **how: Any) -> Outcome:
    """`run`; where Kafka itself leaves a marker out and so breaks a promise, again with markers that wait."""
    outcome = run(seed, **how)
    if outcome.wrong and outcome.unmarked:
        outcome = run(seed, markers_wait=True, **how)
        outcome.repeated = True
    return outcome


@contextmanager
def _repeatable(seed: int) -> Any:
    """trio shuffles its tasks: by the seed, as under hypothesis."""
    before, state = trio_run._ALLOW_DETERMINISTIC_SCHEDULING, trio_run._r.getstate()
    trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]
    trio_run._r.seed(seed)
    try:
        yield
    finally:
        trio_run._ALLOW_DETERMINISTIC_SCHEDULING = before  # type: ignore[misc]
        trio_run._r.setstate(state)
