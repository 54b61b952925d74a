"""A simulation of consumers that watch a tree, as Kafka's did before there were group coordinators.

Each consumer is a node under ``/ids``; each owned partition is a node under ``/owners``. Everybody watches ``/ids`` and
shares out the partitions by itself when a watch fires. Time is simulated: nothing here waits.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count

from timeline import Event, Place, Story

BACKOFF_S = 2.0
"""How long a consumer waits that could not claim all its partitions."""


class Tree:
    """The nodes, the simulated time, and the watches: each fires once, and must be set again."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.ids: set[str] = set()
        self.owners: dict[Place, str] = {}
        self.watching: list[Watcher] = []
        self.told = 0
        self.requests = 0
        self.after_each: Callable[[], None] = lambda: None
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def at(self, when_s: float, action: Callable[[], None]) -> None:
        """Do something at a second."""
        heapq.heappush(self._agenda, (when_s, next(self._order), action))

    def run(self) -> None:
        while self._agenda:
            self.now_s, _, action = heapq.heappop(self._agenda)
            action()
            if not self._agenda or self._agenda[0][0] > self.now_s:
                self.after_each()

    def change_ids(self, ids: set[str]) -> None:
        """A consumer came or went: every watch fires. A server that lags tells its clients later."""
        self.requests += 1
        self.ids = ids
        fired, self.watching = self.watching, []
        for watcher in fired:
            self.told += 1
            self.at(self.now_s + watcher.lag_s, watcher.rebalance)

    def claim(self, place: Place, watcher: Watcher) -> bool:
        """Whether the partition was free, and is the watcher's now."""
        self.requests += 1
        return self.owners.setdefault(place, watcher.name) == watcher.name

    def release(self, place: Place) -> None:
        self.requests += 1
        del self.owners[place]


class Watcher:
    """A consumer. ``lag_s``: how far the server behind that it talks to."""

    def __init__(self, name: str, tree: Tree, places: Sequence[Place], tell: Callable[[Event], None]) -> None:
        self.name = name
        self.lag_s = 0.0
        self.owned: list[Place] = []
        self.known: set[str] = set()
        self._tree, self._places, self._tell = tree, places, tell

    def join(self) -> None:
        self._tree.change_ids(self._tree.ids | {self.name})
        self.rebalance()

    def leave(self) -> None:
        self._tree.watching = [each for each in self._tree.watching if each is not self]
        self._let_go()
        self._tree.change_ids(self._tree.ids - {self.name})

    def rebalance(self) -> None:
        """Let everything go, read the list, claim a share; if a share is still another's, all over again later."""
        if self.name not in self._tree.ids:
            return
        self._let_go()
        self.known = set(self._tree.ids)
        self._tree.requests += 1
        if self not in self._tree.watching:
            self._tree.watching.append(self)
        claimed: list[Place] = []
        for place in self._share():
            if not self._tree.claim(place, self):
                for each in claimed:
                    self._tree.release(each)
                self._tree.at(self._tree.now_s + BACKOFF_S, self.rebalance)
                return
            claimed.append(place)
        self.owned = claimed
        self._tell(Event(self._tree.now_s, self.name, True, frozenset(claimed)))

    def _share(self) -> list[Place]:
        """A range of each topic's partitions, by the place of the own name in the list."""
        share: list[Place] = []
        names = sorted(self.known)
        for topic in sorted({topic for topic, _ in self._places}):
            own = [place for place in self._places if place[0] == topic]
            each, more = divmod(len(own), len(names))
            number = names.index(self.name)
            begin = number * each + min(number, more)
            share += own[begin : begin + each + (number < more)]
        return share

    def _let_go(self) -> None:
        if not self.owned:
            return
        for place in self.owned:
            self._tree.release(place)
        self._tell(Event(self._tree.now_s, self.name, False, frozenset(self.owned)))
        self.owned = []


class SplitBrain:
    """Seconds in which members of the group went by different lists of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since: float | None = None

    def look(self, now_s: float, members: Sequence[Watcher]) -> None:
        differ = len({frozenset(member.known) for member in members}) > 1
        if differ and self._since is None:
            self._since = now_s
        elif not differ and self._since is not None:
            self.seconds += now_s - self._since
            self._since = None


def herd(members: int) -> tuple[int, int]:
    """One more consumer joins so many, each with two partitions: how many are told, and the requests to the tree."""
    tree, places = Tree(), [("t", index) for index in range(2 * members)]
    watchers = [Watcher(f"C{number:03}", tree, places, lambda _event: None) for number in range(members + 1)]
    for watcher in watchers[:-1]:
        watcher.join()
        tree.run()
    tree.told = tree.requests = 0
    watchers[-1].join()
    tree.run()
    return tree.told, tree.requests


def simulate(places: Sequence[Place], lag_s: float = 3.0) -> tuple[Story, float]:
    """The story of `groups.rehearse`, and for how many seconds the members went by different lists."""
    story = Story("Watchers on a tree (simulated); C1 asks a server that lags by 3 s from second 10 on", places)
    story.axis = "simulated seconds"
    tree, split = Tree(), SplitBrain()
    c0, c1, c2 = (Watcher(name, tree, places, story.events.append) for name in ("C0", "C1", "C2"))

    def lag() -> None:
        c1.lag_s = lag_s

    steps: list[tuple[float, str, Callable[[], None]]] = [
        (0, "C0 joins", c0.join),
        (5, "C1 joins", c1.join),
        (10, "", lag),
        (10, "C2 joins; C0 is busy", c2.join),
        (20, "C0 goes on", lambda: None),
        (25, "C1 leaves; C0 is busy", c1.leave),
        (35, "C0 goes on", lambda: None),
        (40, "C0 leaves", c0.leave),
        (45, "C2 leaves", c2.leave),
    ]
    for at_s, what, action in steps:
        tree.at(at_s, action)
        if what:
            story.marks.append((at_s, what))
    tree.after_each = lambda: split.look(tree.now_s, [each for each in (c0, c1, c2) if each.name in tree.ids])
    tree.run()
    story.end_s = 45
    return story, split.seconds
