"""Real consumers in a real group: they join and leave, and one is in the middle of a long record meanwhile.

The broker's clock stands still, except where the story moves it: what the picture shows does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from members import Member, all_taken, wait_until
from timeline import Event, Place, Story

import odradek

SETTLED_S, RECORD_S = 5.0, 10.0
"""How long the group is left alone after each change; how long the long record takes."""

BROKER = {
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 100,
    "group.consumer.session.timeout.ms": 60_000,
}
_CLASSIC = {"heartbeat.interval.ms": 100, "session.timeout.ms": 120_000}
KINDS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "range": ("Classic, eager (range)", {**_CLASSIC, "partition.assignment.strategy": "range"}),
    "roundrobin": ("Classic, eager (roundrobin)", {**_CLASSIC, "partition.assignment.strategy": "roundrobin"}),
    "cooperative-sticky": (
        "Classic, cooperative (cooperative-sticky)",
        {**_CLASSIC, "partition.assignment.strategy": "cooperative-sticky"},
    ),
    "consumer": ("Consumer group, KIP-848 (uniform)", {"group.protocol": "consumer"}),
}


class Rehearsal:
    """One group under one protocol. ``shares``: who owned what each time the group had settled."""

    def __init__(self, broker: odradek.KafkaBroker, kind: str, topics: Mapping[str, int]) -> None:
        places = [(topic, index) for topic, partitions in topics.items() for index in range(partitions)]
        title, settings = KINDS[kind]
        self.story = Story(title, places)
        self.shares: list[dict[str, set[Place]]] = []
        self._kind, self._topics, self._broker = kind, list(topics), broker
        self._group = broker.group(f"group-{kind}")
        self._settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": self._group.group_id, **settings}
        self._began_ms = broker.clock.now_ms()
        self._members: dict[str, Member] = {}

    def run(self) -> None:
        """C0, C1 and C2 come, C1, C0 and C2 go. C0 is busy when C2 comes and when C1 goes."""
        self._change("C0 joins", lambda: self._join("C0"))
        self._change("C1 joins", lambda: self._join("C1"))
        self._change("C2 joins", lambda: self._join("C2"), lambda: bool(self._members["C2"].owned))
        self._change("C1 leaves", lambda: self._leave("C1"), lambda: len(self._members["C2"].owned) == 3)
        self._change("C0 leaves", lambda: self._leave("C0"))
        self.story.marks.append((self._now_s(), "C2 leaves"))
        self._leave("C2")
        self.story.end_s = self._now_s()

    def _change(self, what: str, act: Callable[[], None], done_without_c0: Callable[[], bool] | None = None) -> None:
        """Something happens and the group settles; with ``done_without_c0`` C0 works on a long record meanwhile.

        The condition says when a consumer group has done what it does without C0.
        """
        self.story.marks.append((self._now_s(), what if done_without_c0 is None else f"{what}; C0 is busy"))
        if done_without_c0 is not None:
            self._members["C0"].begin_record()
        act()
        if done_without_c0 is not None:
            self._wait_for_the_others(done_without_c0)
            self._broker.clock.advance(RECORD_S)
            self.story.marks.append((self._now_s(), "C0 goes on"))
            self._members["C0"].end_record()
        self._settle()
        self._broker.clock.advance(SETTLED_S)

    def _wait_for_the_others(self, done_without_c0: Callable[[], bool]) -> None:
        """Until nothing more happens before C0 goes on."""
        if self._kind == "consumer":
            wait_until(done_without_c0, "the others have what they get without C0")
            return
        self._group.wait(lambda info: info.state == "PreparingRebalance")
        if self._kind != "cooperative-sticky":
            others = [member for name, member in self._members.items() if name != "C0"]
            wait_until(lambda: not any(member.owned for member in others), "eager members give up everything")

    def _settle(self) -> None:
        """Until each partition has an owner who took it; a cooperative assignor needs two rounds for that."""
        wait_until(self._all_taken, "all partitions are shared out and taken")
        self.shares.append({name: set(member.owned) for name, member in self._members.items()})

    def _all_taken(self) -> bool:
        return all_taken(self._group.info, self._members, len(self.story.places))

    def _join(self, name: str) -> None:
        self._members[name] = Member(name, self._topics, self._settings, self._now_s, self._tell)

    def _leave(self, name: str) -> None:
        self._members.pop(name).leave()

    def _tell(self, event: Event) -> None:
        if event.places:  # a cooperative member also hears "nothing changes", more or less often
            self.story.events.append(event)

    def _now_s(self) -> float:
        return (self._broker.clock.now_ms() - self._began_ms) / 1000


def herd(broker: odradek.KafkaBroker, kind: str, members: int) -> int:
    """One more consumer joins so many, each with two partitions: how many of them are told to give something up."""
    topic, group = f"herd-{kind}", broker.group(f"herd-{kind}")
    broker.create_topic(topic, 2 * members)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": group.group_id, **KINDS[kind][1]}
    gave_up: set[str] = set()

    def tell(event: Event) -> None:
        if event.places and not event.gained:
            gave_up.add(event.member)

    def join(name: str) -> Member:
        return Member(name, [topic], settings, lambda: 0.0, tell)

    def settle() -> None:
        group.wait(lambda info: info.state == "Stable" and len(info.members) == len(everybody))
        wait_until(lambda: _shared(everybody, 2 * members), f"{topic} is shared out")

    everybody = [join(f"C{number}") for number in range(members)]
    settle()
    gave_up.clear()
    everybody.append(join("one more"))
    settle()
    told = len(gave_up)
    for member in everybody:
        member.ask_to_leave()
    for member in everybody:
        member.leave()
    return told


def _shared(members: Sequence[Member], partitions: int) -> bool:
    """Whether each partition has one owner, and no member has two more than another."""
    sizes = [len(member.owned) for member in members]
    owned = set().union(*(member.owned for member in members))
    return len(owned) == sum(sizes) == partitions and max(sizes) - min(sizes) <= 1


def rehearse(broker: odradek.KafkaBroker, topics: Mapping[str, int]) -> Sequence[Rehearsal]:
    """The story under each protocol."""
    rehearsals = []
    with broker.clock.stopped():
        for kind in KINDS:
            rehearsals.append(Rehearsal(broker, kind, topics))
            rehearsals[-1].run()
    return rehearsals
