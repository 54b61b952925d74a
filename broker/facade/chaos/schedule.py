"""A schedule of faults as values and as text, and how a seed draws it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, TypeVar

from odradek.broker.metadata.image import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

_LINE = re.compile(
    r"^\s*(?:#(?P<number>\d+)\s+)?(?P<at>\d+(?:\.\d+)?)\s+(?P<call>\w+\(.*\))(?:\s+for\s+(?P<lasts>\S+))?\s*$"
)


class ChaosFault(NamedTuple):
    """One fault of a schedule: ``verb(*arguments, **options)``, `at` so many seconds, undone after `lasts` seconds.

    `lasts` is None for a verb that is over at once (``move_leader``, ``advance``). `number`: its place in the drawn
    schedule, from 1. As text: ``#3   12.500 kill_node(2) for 3.2``.
    """

    number: int
    at: float
    verb: str
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    lasts: float | None = None

    @property
    def call(self) -> str:
        """The verb with its arguments, as Python code."""
        given = [repr(value) for value in self.arguments] + [f"{name}={value!r}" for name, value in self.options]
        return f"{self.verb}({', '.join(given)})"

    @property
    def ends(self) -> float:
        """The time of its end, in seconds."""
        return self.at + (self.lasts or 0.0)

    def __str__(self) -> str:
        lasts = "" if self.lasts is None else f" for {self.lasts:.3f}"
        return f"#{self.number:<3} {self.at:8.3f} {self.call}{lasts}"


def schedule_text(faults: Iterable[ChaosFault]) -> str:
    """A line for each fault, in the order of time; `read_schedule` reads it."""
    return "\n".join(map(str, faults))


def read_schedule(lines: str | Iterable[str | ChaosFault]) -> list[ChaosFault]:
    """The faults of a text, or of lines and `ChaosFault` objects, in the order of time.

    Empty lines are skipped. ValueError for a line that is not a fault.
    """
    given: Sequence[str | ChaosFault] = lines.splitlines() if isinstance(lines, str) else list(lines)
    faults = []
    for place, line in enumerate(given, start=1):
        if isinstance(line, ChaosFault):
            faults.append(line)
        elif line.strip():
            faults.append(_read_line(line, place))
    return sorted(faults, key=lambda fault: fault.at)


def _read_line(line: str, place: int) -> ChaosFault:
    found = _LINE.match(line)
    if found is None:
        raise ValueError(
            f"line {place}: {line.strip()!r} is not a fault: expected a line like `12.5 kill_node(2) for 3.2`"
        )
    try:
        verb, arguments, options = _read_call(found["call"])
        lasts = None if found["lasts"] is None else float(found["lasts"])
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"line {place}: {line.strip()!r}: {error}") from None
    return ChaosFault(int(found["number"] or place), float(found["at"]), verb, arguments, options, lasts)


def _read_call(text: str) -> tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    """The name, the arguments and the options of a call whose arguments are plain values."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("not a verb with its arguments")
    arguments = tuple(ast.literal_eval(each) for each in call.args)
    options = tuple((each.arg or "", ast.literal_eval(each.value)) for each in call.keywords)
    return call.func.id, arguments, options


T = TypeVar("T")

_TRIES = 20
_QUIET_PART = 0.1
"""The last part of a run, in which no fault begins."""

ANSWERS: Mapping[str, Sequence[str]] = {
    "Produce": ("NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "UNKNOWN_TOPIC_OR_PARTITION"),
    "Fetch": ("NOT_LEADER_OR_FOLLOWER", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"),
    "ListOffsets": ("NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE"),
    "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
    "OffsetCommit": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "OffsetFetch": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "JoinGroup": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "SyncGroup": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"),
    "Heartbeat": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"),
    "InitProducerId": ("NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS"),
    "AddPartitionsToTxn": ("NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS"),
    "AddOffsetsToTxn": ("NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS"),
    "TxnOffsetCommit": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "EndTxn": ("NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS"),
}
"""Retriable errors that Kafka answers while a cluster is in trouble."""

COORDINATED = (CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE)
"""Topics whose leaders are coordinators, which load them."""


class Shape(NamedTuple):
    """The parts of a cluster that a schedule may name. `topics`: for each topic the nodes of each partition's replicas,
    in order.
    """

    nodes: tuple[int, ...]
    topics: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]

    @property
    def replicas(self) -> list[tuple[str, int, int]]:
        """Every replica of the partitions that have several: topic, partition, node."""
        return [
            (topic, index, node)
            for topic, partitions in self.topics
            for index, nodes in enumerate(partitions)
            if len(nodes) > 1
            for node in nodes
        ]


class Wanted(NamedTuple):
    """The options of a schedule, as `Chaos` explains them. ``min_up``: None for more than half of the nodes."""

    seconds: float
    faults: int
    weights: Mapping[str, float]
    lasting: tuple[float, float]
    at_once: int
    min_up: int | None
    jumps: tuple[float, float]
    apis: Sequence[str]
    unclean: bool = False
    clients: Sequence[str] = ("*",)


class _Drawn(NamedTuple):
    """A fault without its time. `takes`: the things that no other fault may take at the same time; `down`: it takes a
    node down.
    """

    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}
    takes: object = None
    lasts: bool = True
    down: bool = False


def draw(seed: int, shape: Shape, wanted: Wanted) -> list[ChaosFault]:
    """The faults in the order of time; fewer than wanted if there is no room for them."""
    random = Random(f"odradek chaos {seed}")
    begin = wanted.seconds * (1 - _QUIET_PART)
    times = sorted(round(random.uniform(0, begin), 3) for _ in range(wanted.faults))
    drawn: list[tuple[ChaosFault, _Drawn]] = []
    for at in times:
        for _ in range(_TRIES):
            verb = _pick(random, wanted.weights)
            lasts = round(random.uniform(*wanted.lasting), 3)
            try:
                one = _DRAWERS[verb](random, shape, wanted)
            except _NothingError:
                continue
            ends = min(at + lasts, wanted.seconds)
            fault = ChaosFault(
                len(drawn) + 1,
                at,
                verb,
                one.arguments,
                tuple(one.options.items()),
                round(ends - at, 3) if one.lasts else None,
            )
            if _has_room(fault, one, drawn, shape, wanted):
                drawn.append((fault, one))
                break
    return [fault for fault, _ in drawn]


def _pick(random: Random, weights: Mapping[str, float]) -> str:
    names = sorted(weights)
    return random.choices(names, [weights[name] for name in names])[0]


def _has_room(
    fault: ChaosFault, one: _Drawn, drawn: Iterable[tuple[ChaosFault, _Drawn]], shape: Shape, wanted: Wanted
) -> bool:
    """Whether the fault may begin while these others last."""
    lasting = [other for earlier, other in drawn if earlier.ends > fault.at]
    if one.lasts and len(lasting) >= wanted.at_once:
        return False
    if one.takes is not None and any(other.takes == one.takes for other in lasting):
        return False
    min_up = len(shape.nodes) // 2 + 1 if wanted.min_up is None else wanted.min_up
    return not one.down or len(shape.nodes) - sum(other.down for other in lasting) > min_up


class _NothingError(Exception):
    """There is nothing that such a fault could name."""


def _one_of(random: Random, choices: Sequence[T]) -> T:
    if not choices:
        raise _NothingError
    return random.choice(choices)


def _node(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    node = random.choice(shape.nodes)
    return _Drawn((node,), takes=("node", node), down=True)


def _replica(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    replica = _one_of(random, shape.replicas)
    return _Drawn(replica, takes=("replica", *replica))


def _lag(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    replica = _replica(random, shape, wanted)
    measure = random.choice(({"records": random.randint(1, 20)}, {"seconds": round(random.uniform(0.1, 2), 3)}))
    return replica._replace(options=measure)


def _link(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    if len(shape.nodes) < 2:
        raise _NothingError
    pair = tuple(sorted(random.sample(shape.nodes, 2)))
    return _Drawn(pair, takes=("link", *pair))


def _slow(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    return _link(random, shape, wanted)._replace(options={"ms": random.randint(5, 1500)})


def _leader(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    return _Drawn(_one_of(random, shape.replicas), lasts=False)


def _election(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    place = _one_of(random, shape.replicas)[:2]
    unclean = {"unclean": True} if wanted.unclean and random.random() < 0.5 else {}
    return _Drawn(place, unclean, lasts=False)


def _reassignment(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    place = _one_of(random, shape.replicas)[:2]
    count = max(1, sum(replica[:2] == place for replica in shape.replicas))
    return _Drawn((*place, random.sample(shape.nodes, count)), takes=("reassignment", *place))


def _jump(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    return _Drawn((round(random.uniform(*wanted.jumps), 3),), lasts=False)


def _request(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    api = _one_of(random, wanted.apis)
    where = {"node": random.choice(shape.nodes)} if random.random() < 0.5 else {}
    return _Drawn((api,), {**where, "times": random.randint(1, 5)})


def _answer(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    one = _request(random, shape, wanted)
    [api] = one.arguments
    return one._replace(arguments=(api, _one_of(random, ANSWERS.get(api, ()))))


def _delay(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    one = _request(random, shape, wanted)
    return one._replace(arguments=(*one.arguments, random.randint(10, 2000)))


def _broken_answer(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    """Faults from which a client recovers: neither damaged bytes nor an answer that never comes."""
    one = _request(random, shape, wanted)
    harm = random.choice(
        (
            {"cut_after": random.randint(0, 60), "how": random.choice(("close", "reset"))},
            {"stall_after": random.randint(0, 60), "stall_ms": random.randint(10, 2000)},
            {"pieces": random.randint(1, 30), "pause_ms": random.randint(0, 5)},
        )
    )
    return one._replace(options={**one.options, **harm})


def _client(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    ends = (_one_of(random, wanted.clients), random.choice(shape.nodes))
    return _Drawn(ends, takes=("client", *ends))


def _cut_client(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    return _client(random, shape, wanted)._replace(options={"how": random.choice(("silent", "reset", "close"))})


def _slow_client(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    one = _client(random, shape, wanted)
    return one._replace(options={"ms": random.randint(5, 500), "jitter": random.randint(0, 50)})


def _failing_disk(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    node = random.choice(shape.nodes)
    return _Drawn((node, random.choice(("full", "write"))), takes=("node", node), down=True)


def _slow_disk(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    node = random.choice(shape.nodes)
    return _Drawn((node,), {"ms": random.randint(5, 500)}, takes=("disk", node))


def _held_load(random: Random, shape: Shape, wanted: Wanted) -> _Drawn:
    places = [(topic, index) for topic, nodes in shape.topics if topic in COORDINATED for index in range(len(nodes))]
    place = _one_of(random, places)
    return _Drawn(place, {"now": random.random() < 0.5}, takes=("load", *place))


_DRAWERS: Mapping[str, Callable[[Random, Shape, Wanted], _Drawn]] = {
    "kill_node": _node,
    "stop_node": _node,
    "freeze_node": _node,
    "pause_replication": _replica,
    "lag_replication": _lag,
    "cut": _link,
    "slow": _slow,
    "move_leader": _leader,
    "elect": _election,
    "reassign": _reassignment,
    "advance": _jump,
    "answer": _answer,
    "drop": _request,
    "lose": _request,
    "disconnect": _request,
    "delay": _delay,
    "break_answer": _broken_answer,
    "cut_clients": _cut_client,
    "slow_clients": _slow_client,
    "fail_disk": _failing_disk,
    "slow_disk": _slow_disk,
    "hold_load": _held_load,
}
