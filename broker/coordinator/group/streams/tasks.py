"""Tasks of a Streams application: a subtopology and a partition; each is active, a standby or a warm-up somewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from odradek.protocol.java_maps import hash_of_text, java_order

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology id; no subtopology is without partitions."""

TaskEpochs = Mapping[str, Mapping[int, int]]
"""The same, with the epoch in which each task was assigned."""

NO_TASKS: Tasks = {}
NO_EPOCHS: TaskEpochs = {}


class Target(NamedTuple):
    """The tasks that a member is to have."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS


class Held(NamedTuple):
    """Tasks that a member has, or has to give up."""

    active: TaskEpochs = NO_EPOCHS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not (self.active or self.standby or self.warmup)


class Owned(NamedTuple):
    """The tasks that a member says it has, as it has sent them."""

    active: Mapping[str, Sequence[int]]
    standby: Mapping[str, Sequence[int]]
    warmup: Mapping[str, Sequence[int]]

    def any_of(self, held: Held) -> bool:
        """Whether it has any of these."""
        return _meet(self.active, held.active) or _meet(self.standby, held.standby) or _meet(self.warmup, held.warmup)

    def all_in(self, held: Held) -> bool:
        """Whether it has none but these."""
        return (
            _within(self.active, held.active)
            and _within(self.standby, held.standby)
            and _within(self.warmup, held.warmup)
        )


NO_TARGET = Target()
NOTHING_HELD = Held()


def in_map_order(subtopologies: Iterable[str]) -> list[str]:
    """Subtopology ids as Kafka walks them."""
    return java_order(sorted(subtopologies), hash_of_text)


def _meet(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return any(
        partition in other[subtopology]
        for subtopology, partitions in one.items()
        if subtopology in other
        for partition in partitions
    )


def _within(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return all(
        subtopology in other and all(partition in other[subtopology] for partition in partitions)
        for subtopology, partitions in one.items()
    )
