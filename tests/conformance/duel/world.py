"""What a conversation knows: names that it uses, and what the answers told it. All ids are symbols."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

TOPICS = ("t0-${run}", "t1-${run}", "t2-${run}")
"""With 1, 2 and 3 partitions."""
MORE_TOPICS = ("n0-${run}", "n1-${run}")
"""Those that the conversation itself creates and deletes."""
HASTY = {"consumer": "ch-${run}", "share": "sh-${run}", "streams": "zh-${run}"}
"""Groups whose members time out in the rest that follows each heartbeat."""
GROUPS = {
    "classic": ("g0-${run}", "g1-${run}"),
    "consumer": ("c0-${run}", "c1-${run}", HASTY["consumer"]),
    "share": ("s0-${run}", "s1-${run}", HASTY["share"]),
    "streams": ("z0-${run}", HASTY["streams"]),
}
TRANSACTIONAL_IDS = ("x0-${run}", "x1-${run}")


@dataclass
class Member:
    """A member of a group. `epoch`: its generation in a classic group."""

    id: str
    epoch: int = -1
    instance: str | None = None
    leads: bool = False
    protocol: str = "range"
    owned: Any = None
    """What it was last assigned, in the form of the next heartbeat."""
    session: int = 0
    """The next epoch of its share session."""
    acquired: dict[tuple[str, int], list[tuple[int, int]]] = field(default_factory=dict)
    """Records that it has from share fetches: by topic id and partition, first and last offsets."""


@dataclass
class Producer:
    """A producer id. `transactional_id`: None for an idempotent producer."""

    id: str
    epoch: int
    transactional_id: str | None = None
    sequences: dict[tuple[str, int], int] = field(default_factory=dict)
    """Topic and partition -> the next sequence."""


class World:
    """The pools that requests are drawn from."""

    def __init__(self, rng: random.Random, nodes: Sequence[int] = (0,)) -> None:
        self.rng = rng
        self.nodes = nodes
        self.topics: dict[str, int] = dict(zip(TOPICS, (1, 2, 3), strict=True))
        self.topic_ids: dict[str, str] = {
            name: f"${{id of {name.replace('${run}', 'run')}.topicId}}" for name in TOPICS
        }
        self.ends: dict[tuple[str, int], int] = {}
        self.members: dict[str, list[Member]] = {}
        self.producers: list[Producer] = []
        self.sessions: list[tuple[str, int]] = []
        self.hmacs: list[str] = []
        self.instances: list[tuple[str, int]] = []
        """Client instance ids and subscription ids of telemetry."""
        self.waiting: set[str] = set()
        """Members whose request waits."""
        self.made = 0

    def one(self, pool: Sequence[T]) -> T:
        return self.rng.choice(pool)

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def topic(self) -> str:
        return self.one(list(self.topics))

    def named(self, topic: str) -> str:
        """The name of a topic that is given by name or id."""
        return next((name for name, known in self.topic_ids.items() if known == topic), topic)

    def topic_id(self) -> str:
        return self.topic_ids.get(self.topic(), "AAAAAAAAAAAAAAAAAAAAAA")

    def partition(self, topic: str) -> int:
        return self.rng.randrange(max(1, self.topics.get(topic, 1)))  # a topic can be made with no partitions

    def group(self, kind: str) -> str:
        hasty = HASTY.get(kind)
        if hasty and self.chance(0.05):
            return hasty
        return self.one([name for name in GROUPS[kind] if name != hasty])

    def any_group(self) -> str:
        return self.group(self.one(list(GROUPS)))

    def member(self, group: str, missing: float = 0.0) -> Member | None:
        """One of a group, or None: if there is none, and with a chance of `missing`."""
        members = [each for each in self.members.get(group, ()) if each.id not in self.waiting]
        return None if not members or self.chance(missing) else self.one(members)

    def known(self, group: str, member_id: str) -> Member:
        """The member of that id, which is new if it is not known."""
        members = self.members.setdefault(group, [])
        for each in members:
            if each.id == member_id:
                return each
        members.append(Member(member_id))
        return members[-1]

    def forget(self, group: str, member_id: str) -> None:
        self.members[group] = [each for each in self.members.get(group, ()) if each.id != member_id]

    def producer(self, transactional: bool | None = None) -> Producer | None:
        """One of the producers; `transactional`: with such an id, without one, or either."""
        found = [each for each in self.producers if transactional in (None, each.transactional_id is not None)]
        return self.one(found) if found else None

    def new_name(self) -> str:
        self.made += 1
        return str(self.made)
