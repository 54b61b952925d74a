"""How many partitions the internal topics of a topology have, decided from the topics that exist.

Repartition topics have what the application fixes, else as many as the widest source of the subtopology that writes
them; topics that are joined must have equally many; a changelog has one for each task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from odradek.broker.coordinator.group.streams.problems import TopicProblem, TopicStatus, internal_error
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order

T = TypeVar("T")
Existing = Callable[[str], int | None]
"""The partition count of a topic that exists."""


class PartitionCounts:
    """The counts of one topology. Raises TopicProblem, or the KafkaError of a topology that cannot work."""

    def __init__(self, topology: Topology, existing: Existing) -> None:
        self._subtopologies = topology.in_map_order()
        self._existing = existing
        self._fixed = {t.name: t.partitions for t in self._repartition_topics() if t.partitions != 0}
        self._flexible = {t.name for t in self._repartition_topics() if t.partitions == 0}
        self.decided = self._repartition_counts()
        for subtopology in self._subtopologies:
            for topics in _copartitioned(subtopology):
                self._even_out(topics)
        self._count_changelogs()

    def of(self, topic: str) -> int | None:
        """The count of a topic: its own if it exists, else what was decided."""
        existing = self._existing(topic)
        return self.decided.get(topic) if existing is None else existing

    def tasks_of(self, subtopology: Subtopology) -> int:
        """How many tasks a subtopology has."""
        return max(self._known(topic) for topic in subtopology.sources)

    def _repartition_topics(self) -> Iterable[TopicInfo]:
        return (topic for each in self._subtopologies for topic in each.repartition_sources)

    def _known(self, topic: str) -> int:
        count = self.of(topic)
        if count is None:
            raise internal_error()
        return count

    # -- repartition topics

    def _repartition_counts(self) -> dict[str, int]:
        counts = dict(self._fixed)
        waiting = [(sink, each) for each in self._subtopologies for sink in each.repartition_sinks]
        while waiting:
            still: list[tuple[str, Subtopology]] = []
            for sink, subtopology in waiting:
                if sink in counts:
                    continue
                count = self._widest_source(subtopology, counts)
                if count is None:
                    still.append((sink, subtopology))
                else:
                    counts[sink] = count
            if len(still) == len(waiting):
                text = "There may be loops in the topology that cannot be resolved."
                raise _invalid(f"Failed to compute number of partitions for all repartition topics. {text}")
            waiting = still
        if any(topic.name not in counts for topic in self._repartition_topics()):
            text = "because a repartition source topic is never used as a sink topic."
            raise _invalid(f"Failed to compute number of partitions for all repartition topics, {text}")
        return counts

    def _widest_source(self, subtopology: Subtopology, counts: dict[str, int]) -> int | None:
        """The most partitions among its sources that are known yet; those of repartition topics as decided."""
        known = [counts.get(topic.name) for topic in subtopology.repartition_sources]
        known += [self._existing(topic) for topic in subtopology.source_topics]
        return max((count for count in known if count is not None), default=None)

    # -- topics that are joined

    def _even_out(self, topics: list[str]) -> None:
        """Give the repartition topics of a group of joined topics one count."""
        if not topics:
            return
        internal = {t: self._known(t) for t in topics if t in self._fixed or t in self._flexible}
        external = {t: self._known(t) for t in topics if t not in internal}
        if external:
            count = _same_count(external, external.values())
        elif self._fixed:
            count = _same_count(internal, [self._known(topic) for topic in self._fixed])
        else:
            count = max(internal.values())
        for topic, own in internal.items():
            if topic in self._fixed and own != count:
                text = f"Number of partitions [{own}] of repartition topic [{topic}] doesn't match number of partitions"
                raise TopicProblem(TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, f"{text} [{count}] of the source topic.")
        self.decided.update(dict.fromkeys(internal, count))

    # -- changelogs

    def _count_changelogs(self) -> None:
        for subtopology in self._subtopologies:
            if not subtopology.sources:
                raise _invalid(f"No source topics found for subtopology {subtopology.subtopology_id}")
            count = self.tasks_of(subtopology)
            self.decided.update({topic.name: count for topic in subtopology.changelogs})


def _copartitioned(subtopology: Subtopology) -> list[list[str]]:
    """The groups of topics that must have equally many partitions, each as Kafka walks it."""
    groups: list[list[str]] = []
    for group in subtopology.copartition_groups:
        try:
            names = [_at(subtopology.source_topics, index) for index in group.source_topics]
            names += [_at(subtopology.repartition_sources, index).name for index in group.repartition_sources]
        except IndexError as error:
            raise internal_error() from error
        groups.append(java_order(names, hash_of_text))
    return groups


def _at(items: tuple[T, ...], index: int) -> T:
    if index < 0:
        raise IndexError(index)
    return items[index]


def _same_count(named: dict[str, int], counts: Iterable[int]) -> int:
    """The one count that all have."""
    distinct = set(counts)
    if len(distinct) > 1:
        rows = ", ".join(f"{topic}={named[topic]}" for topic in sorted(named))
        text = f"Following topics do not have the same number of partitions: [{{{rows}}}]"
        raise TopicProblem(TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)
    return distinct.pop()


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)
