"""How the answers of a request's parts become one list of topics."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)


def merged(refused: Iterable[tuple[Hashable, T]], accepted: list[tuple[Hashable, T]]) -> list[T]:
    """Response topics (with `partitions`) under their keys, as Kafka's response builders put them together.

    First what was refused without asking the coordinator, a topic once; the coordinator's answers join these, or stand
    as they are if nothing was refused.
    """
    known: dict[Hashable, T] = {}
    for key, topic in refused:
        _join(known, key, topic)
    if not known:
        return [topic for _, topic in accepted]
    for key, topic in accepted:
        _join(known, key, topic)
    return list(known.values())


def _join(known: dict[Hashable, T], key: Hashable, topic: T) -> None:
    there = known.setdefault(key, topic)
    if there is not topic:
        there.partitions += topic.partitions
