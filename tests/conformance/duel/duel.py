"""Conversations one after the other, and what was found."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias

from tests.conformance.duel.comparing import plain
from tests.conformance.duel.conversation import Conversation, Differs, Parted
from tests.conformance.duel.drawing import Drawing
from tests.conformance.duel.learning import learn
from tests.conformance.duel.nodes import MOVING, assignments
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.shrinking import outcome, shrunk, with_less
from tests.conformance.duel.side import Side
from tests.conformance.duel.state import State
from tests.conformance.duel.steps import Answered, Step, written
from tests.conformance.duel.taming import SHORT_SESSION_MS
from tests.conformance.duel.ways import CHANGES_RIGHTS, MAY_WAIT, Way
from tests.conformance.duel.world import HASTY, TOPICS, World
from tests.scenarios.failures.targets import NODES

MOST_PARTITIONS = 5
"""Partitions of a topic whose state is compared, and one more."""
_A_NODE_MOVES = 0.02
_REST_S = 2.0
_RESTS = 500
"""The numbers of rests begin here."""
Sides: TypeAlias = tuple[Side, Side]
TRIES = 3
"""How often a difference is looked for again."""


@dataclass
class Found:
    """A kind of difference, the first conversation that showed it, and how often it was met."""

    kind: str
    difference: Differs
    steps: list[Step]
    seed: str
    times: int = 1
    again: bool = False
    """Whether it was seen again. What was not is left to timing, and no more than told."""


@dataclass
class Duel:
    """`versions`: API -> the versions that are drawn."""

    way: Way
    versions: dict[str, tuple[int, int]]
    found: dict[str, Found] = field(default_factory=dict)
    requests: int = 0
    conversations: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    skipped: tuple[re.Pattern[str], ...] = ()
    """Kinds that are not told."""
    lock: Lock = field(default_factory=Lock)
    """Who counts holds it."""

    def next_seed(self, seed: str) -> str:
        """The seed of the next conversation."""
        with self.lock:
            self.conversations += 1
            return f"{seed}/{self.conversations - 1}"

    def hold(self, sides: Sides, seed: str) -> Found | None:
        """One conversation; what it found that is new."""
        rng = random.Random(seed)
        world = World(rng, NODES if self.way.nodes else (0,))
        drawing = Drawing(world, rng.choice(self.way.oddness))
        weights = {api: weight for api, weight in self.way.themes(rng).items() if api in self.versions}
        conversation = Conversation(sides)
        first = _first_steps(self.way)
        steps: list[Step] = []
        try:
            for number in range(self.way.length):
                step = first.pop(0) if first else self._step(number, world, drawing, weights, conversation)
                if step is None:
                    continue
                self.requests += 1
                self.asked[f"{step.api} v{step.version}"] += 1
                for said in with_rest(step):
                    steps.append(said)
                    for answered in conversation.say(said):
                        _heard(world, answered)
                if step.on in conversation.parked and step.body.get("memberId"):
                    world.waiting.add(step.body["memberId"])
            for step in State(
                sorted(conversation.topics), MOST_PARTITIONS, self.versions, self.way.state_lines
            ).steps():
                steps.append(step)
                self.requests += 1
                conversation.say(step)
        except Differs as differs:
            return self._note(differs, steps, seed)
        except Parted:
            pass
        finally:
            with self.lock:
                self.passed += conversation.passed
            conversation.close()
        return None

    def _step(
        self, number: int, world: World, drawing: Drawing, weights: dict[str, int], conversation: Conversation
    ) -> Step | None:
        if self.way.nodes and world.chance(_A_NODE_MOVES):
            node = world.one(MOVING)
            verb = "start" if node in conversation.down else world.one(("stop", "kill"))
            return Step(number, "", verb, 0, {"node": node})
        free = [on for on in self.way.lines if on not in conversation.parked]
        api = world.rng.choices(list(weights), list(weights.values()))[0]
        if not free or (api in MAY_WAIT and len(free) == 1):
            return None
        version = world.rng.randint(*self.versions[api])
        form = drawing.request(api, version)
        on = "r" if self.way.rights and api in CHANGES_RIGHTS and world.chance(0.9) else world.one(free)
        return Step(number, on, api, version, form, waits=api in MAY_WAIT)

    def _note(self, differs: Differs, steps: list[Step], seed: str) -> Found | None:
        kind = kind_of(differs)
        with self.lock:
            if any(each.search(kind) for each in self.skipped):
                self.passed[kind] += 1
                return None
            if kind in self.found:
                self.found[kind].times += 1
                return None
            self.found[kind] = Found(kind, differs, steps, seed)
            return self.found[kind]


def with_rest(step: Step) -> Sequence[Step]:
    """A rest follows a member whose session is short, in which it times out on both sides."""
    if step.api == "JoinGroup":
        is_short = step.body["sessionTimeoutMs"] == SHORT_SESSION_MS
    else:
        is_short = step.api.endswith("GroupHeartbeat") and step.body["groupId"] in HASTY.values()
    return (step, Step(step.number + _RESTS, pause_s=_REST_S)) if is_short else (step,)


def _heard(world: World, answered: Answered) -> None:
    if answered.step.api in MAY_WAIT:
        world.waiting.discard(answered.step.body.get("memberId", ""))
    learn(world, answered)


def _topics_made(way: Way) -> Step:
    wanted: list[Form] = [
        {"name": name, "numPartitions": at + 1, "replicationFactor": 1, "assignments": [], "configs": []}
        for at, name in enumerate(TOPICS)
    ]
    if way.nodes:
        for topic in wanted:
            topic |= {"numPartitions": -1, "replicationFactor": -1, "assignments": assignments(topic["numPartitions"])}
    return Step(0, way.lines[-1], "CreateTopics", 7, {"topics": wanted, "timeoutMs": 10_000, "validateOnly": False})


def _first_steps(way: Way) -> list[Step]:
    """A conversation begins with three topics, and with groups whose members time out soon."""
    steps = [_topics_made(way)]
    for kind, group in HASTY.items():
        wanted = {"session.timeout.ms": SHORT_SESSION_MS, "heartbeat.interval.ms": SHORT_SESSION_MS // 2}
        configs = [{"name": f"{kind}.{name}", "configOperation": 0, "value": str(ms)} for name, ms in wanted.items()]
        body = {"resources": [{"resourceType": 32, "resourceName": group, "configs": configs}], "validateOnly": False}
        steps.append(Step(len(steps), way.lines[-1], "IncrementalAlterConfigs", 1, body))
    return steps


def kind_of(differs: Differs) -> str:
    """Differences of one kind have one text."""
    found = differs.difference
    return f"{found.path}: odradek {_shape(found.odradek)}, Kafka {_shape(found.kafka)}"


def _shape(value: Any) -> str:
    if isinstance(value, list):
        return "[..]" if value else "[]"
    if isinstance(value, dict):
        return json.dumps(value) if "outcome" in value else "{..}"
    if isinstance(value, str):
        return f'"{plain(value)[:40]}"'
    return str(value) if isinstance(value, bool) or value is None or abs(value) < 200 else "a number"


def as_test(found: Found) -> str:
    """A test of `test_duel`, to be pasted there."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", found.difference.answered.step.api).lower()
    called = f'    assert_alike(\n        sides,\n        r"""\n{written(found.steps)}""",\n    )\n'
    return f"# {found.difference}\ndef test_{name}(sides: Sides) -> None:\n{called}"


def settle(sides: Sides, found: Found) -> None:
    """See it again, and leave out all requests that it does not take."""

    def shows(steps: Sequence[Step]) -> bool:
        differs = outcome(sides, steps)
        return differs is not None and kind_of(differs) == found.kind

    found.again = any(shows(found.steps) for _ in range(TRIES))
    if found.again:
        found.steps = with_less(shrunk(found.steps, shows), shows)


def run(
    sides: Sides,
    duel: Duel,
    requests: int,
    seed: str,
    tell: Callable[[Found], None] = lambda found: None,
    at_most_s: float = 1e9,
) -> float:
    """Conversations until that many requests were asked, or the time is over; the seconds that they took.

    Most of a conversation's time is spent in waits for Kafka, so `way.abreast` of them go on at once.
    """
    began = time.monotonic()

    def holds(own: Sides) -> None:
        while duel.requests < requests and time.monotonic() - began < at_most_s:
            found = duel.hold(own, duel.next_seed(seed))
            if found:
                settle(own, found)
                tell(found)

    with ThreadPoolExecutor(duel.way.abreast) as pool:
        speakers = [pool.submit(holds, (sides[0].again(), sides[1].again())) for _ in range(duel.way.abreast)]
    for each in speakers:
        each.result()
    return time.monotonic() - began
