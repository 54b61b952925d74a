"""The topology of a Streams application, as its members declare it: values, compared as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from odradek.protocol.java_maps import hash_of_text, java_order


class TopicInfo(NamedTuple):
    """An internal topic that the application needs. 0 stands for a number that the broker decides."""

    name: str
    partitions: int = 0
    replication_factor: int = 0
    configs: tuple[tuple[str, str], ...] = ()


class CopartitionGroup(NamedTuple):
    """Topics that must have equally many partitions, by their index in the lists of their subtopology."""

    source_topics: tuple[int, ...] = ()
    source_regexes: tuple[int, ...] = ()
    repartition_sources: tuple[int, ...] = ()


class Subtopology(NamedTuple):
    """A part of the topology that is split into tasks, one for each partition of its sources."""

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    source_regexes: tuple[str, ...] = ()
    changelogs: tuple[TopicInfo, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    repartition_sources: tuple[TopicInfo, ...] = ()
    copartition_groups: tuple[CopartitionGroup, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """All topics that it reads."""
        return (*self.source_topics, *(topic.name for topic in self.repartition_sources))


class Topology(NamedTuple):
    """``subtopologies`` by id, in the order in which they were declared."""

    epoch: int
    subtopologies: Mapping[str, Subtopology]

    def in_map_order(self) -> list[Subtopology]:
        """The subtopologies as Kafka walks them."""
        return [self.subtopologies[each] for each in java_order(self.subtopologies, hash_of_text)]

    def required_topics(self) -> list[str]:
        """The names of all topics that it reads or keeps state in, as Kafka walks them."""
        names = (
            name for each in self.in_map_order() for name in (*each.sources, *(topic.name for topic in each.changelogs))
        )
        return java_order(names, hash_of_text)

    def readers(self) -> dict[str, str]:
        """Source topics and the id of the subtopology that reads each."""
        return {topic: each.subtopology_id for each in self.in_map_order() for topic in each.sources}
