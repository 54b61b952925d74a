"""How the answers of a request's parts become one list of topics, in Kafka's order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from odradek.protocol.java_maps import hash_of_text, java_order

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


def together(partitions: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Partitions (topic, number) in their order, those of a topic together; the topics as in a Java map."""
    by_topic: dict[str, list[tuple[str, int]]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    return [partition for topic in java_order(by_topic, hash_of_text) for partition in by_topic[topic]]
