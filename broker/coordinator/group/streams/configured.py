"""A topology held against the topics that exist: numbers of tasks, topics that are missing, or what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.broker.coordinator.group.streams.partition_counts import PartitionCounts
from odradek.broker.coordinator.group.streams.problems import (
    Status,
    TopicProblem,
    TopicStatus,
    internal_error,
    listed,
)
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology
from odradek.broker.coordinator.group.topic_source import TopicSource
from odradek.broker.metadata.topic_names import check_topic_name
from odradek.protocol.errors import KafkaError
from odradek.protocol.java_hash_table import HashTable
from odradek.protocol.java_maps import hash_of_text


class ConfiguredSubtopology(NamedTuple):
    """``declared`` with the partition counts of its internal topics filled in, and how many ``tasks`` it has."""

    declared: Subtopology
    tasks: int

    @property
    def is_stateful(self) -> bool:
        """Whether it keeps state that a standby could follow."""
        return bool(self.declared.changelogs)


class ConfiguredTopology(NamedTuple):
    """``subtopologies`` in the order of their ids; None where topics do not allow to say.

    ``missing``: the internal topics to create. ``problem``: why tasks cannot be assigned yet, None if they can.
    """

    epoch: int
    subtopologies: Mapping[str, ConfiguredSubtopology] | None
    missing: Sequence[TopicInfo]
    problem: Status | None

    @property
    def is_ready(self) -> bool:
        """Whether tasks can be assigned."""
        return self.problem is None


def configure(topology: Topology, topics: TopicSource) -> ConfiguredTopology:
    """Hold a topology against the topics. KafkaError for a topology that can never work."""

    def existing(name: str) -> int | None:
        facts = topics.named(name)
        return None if facts is None else facts.partitions

    try:
        _check_sources(topology, topics)
        counts = PartitionCounts(topology, existing)
        ordered = sorted(topology.subtopologies.values(), key=lambda each: java_text(each.subtopology_id))
        subtopologies = {each.subtopology_id: _configured(each, counts) for each in ordered}
        missing = _missing(topology, subtopologies, topics)
    except TopicProblem as problem:
        return ConfiguredTopology(topology.epoch, None, (), problem.status)
    status = None
    if missing:
        text = f"Internal topics are missing: {listed([topic.name for topic in missing])}"
        status = Status(TopicStatus.MISSING_INTERNAL_TOPICS, text)
    return ConfiguredTopology(topology.epoch, subtopologies, missing, status)


def java_text(text: str) -> bytes:
    """A key that sorts texts as Java does."""
    return text.encode("utf-16-be", "surrogatepass")


def _check_sources(topology: Topology, topics: TopicSource) -> None:
    sources = {name for each in topology.subtopologies.values() for name in each.source_topics}
    missing = sorted((name for name in sources if topics.named(name) is None), key=java_text)
    if missing:
        raise TopicProblem(TopicStatus.MISSING_SOURCE_TOPICS, f"Source topics {listed(missing)} are missing.")


def _configured(declared: Subtopology, counts: PartitionCounts) -> ConfiguredSubtopology:
    if _has_twins(declared.repartition_sources) or _has_twins(declared.changelogs):
        raise internal_error()
    whole = declared._replace(
        repartition_sources=tuple(_counted(topic, counts) for topic in declared.repartition_sources),
        changelogs=tuple(_counted(topic, counts) for topic in declared.changelogs),
    )
    tasks = counts.tasks_of(declared)
    if tasks <= 0:
        raise internal_error()
    return ConfiguredSubtopology(whole, tasks)


def _has_twins(topics: Sequence[TopicInfo]) -> bool:
    return len({topic.name for topic in topics}) < len(topics)


def _counted(topic: TopicInfo, counts: PartitionCounts) -> TopicInfo:
    partitions = topic.partitions or counts.decided.get(topic.name, 0)
    names = [name for name, _ in topic.configs]
    if partitions < 1 or len(set(names)) < len(names):
        raise internal_error()
    try:
        check_topic_name(topic.name)
    except KafkaError as error:
        raise internal_error() from error
    return topic._replace(partitions=partitions)


def _missing(
    topology: Topology, subtopologies: Mapping[str, ConfiguredSubtopology], topics: TopicSource
) -> list[TopicInfo]:
    """The internal topics that do not exist, in Kafka's order; those that do must have the right size."""
    wanted: dict[str, TopicInfo] = {}
    order = HashTable(hash_of_text)
    for each in subtopologies.values():
        for topic in (*each.declared.repartition_sources, *each.declared.changelogs):
            wanted[topic.name] = topic
            order.add(topic.name)
    for name in topology.required_topics():
        facts = topics.named(name)
        expected = wanted.pop(name, None) if facts is not None else None
        if facts is None or expected is None:
            continue
        order.discard(name)
        if facts.partitions != expected.partitions:
            text = f"Existing topic {name} has different number of partitions: expected {expected.partitions}"
            raise TopicProblem(TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, f"{text}, found {facts.partitions}")
    return [wanted[name] for name in order]
