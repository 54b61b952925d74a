"""The topology of a Streams application: as its members declare it, configured for the topics, described for people.

Configuring gives the number of tasks, the missing topics, or the reason why the topology cannot run. A repartition
topic has the number of partitions that the application fixes, else that of the widest source of the subtopology that
writes to it. Joined topics must have the same number. A changelog has one partition for each task. Descriptions
(KIP-1331) are for people alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple, TypeVar

from odradek.broker.coordinator.group.topics import TopicSource
from odradek.broker.metadata.image import check_topic_name
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_describe as d
from odradek.protocol.generated.messages import streams_group_heartbeat as h
from odradek.protocol.generated.messages import streams_group_topology_description_update as u
from odradek.protocol.generated.stored.streams_group_topology import (
    CopartitionGroup,
    Subtopology,
    TopicConfig,
    TopicInfo,
)
from odradek.protocol.java_maps import HashTable, hash_of_text, java_order


def sources_of(subtopology: Subtopology) -> list[str]:
    """All topics that it reads."""
    return [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]


class Topology(NamedTuple):
    """``subtopologies`` by id, in the order in which they were declared, in the form in which the log has them.

    A subtopology is split into tasks, one for each partition of its sources. Its internal topics may have 0 for a
    number that the broker decides on.
    """

    epoch: int
    subtopologies: Mapping[str, Subtopology]

    def in_map_order(self) -> list[Subtopology]:
        """The subtopologies as Kafka walks them."""
        return [self.subtopologies[each] for each in java_order(self.subtopologies, hash_of_text)]

    def required_topics(self) -> list[str]:
        """The names of all topics that it reads or keeps state in, as Kafka walks them."""
        names: list[str] = []
        for each in self.in_map_order():
            names += sources_of(each)
            names += [topic.name for topic in each.state_changelog_topics]
        return java_order(names, hash_of_text)

    def readers(self) -> dict[str, str]:
        """Source topics and the id of the subtopology that reads each."""
        return {topic: each.subtopology_id for each in self.in_map_order() for topic in sources_of(each)}


def declared(topology: h.Topology) -> Topology:
    """The topology that a member declares. UNKNOWN_SERVER_ERROR without a text where Kafka does not explain it."""
    subtopologies = {each.subtopology_id: _as_stored(each) for each in topology.subtopologies}
    if topology.epoch < 0 or len(subtopologies) < len(topology.subtopologies):
        raise internal_error()
    return Topology(topology.epoch, subtopologies)


def _as_stored(each: h.Subtopology) -> Subtopology:
    return Subtopology(
        each.subtopology_id,
        each.source_topics,
        each.source_topic_regex,
        [_stored_topic(topic) for topic in each.state_changelog_topics],
        each.repartition_sink_topics,
        [_stored_topic(topic) for topic in each.repartition_source_topics],
        [
            CopartitionGroup(topics.source_topics, topics.source_topic_regex, topics.repartition_source_topics)
            for topics in each.copartition_groups
        ],
    )


def _stored_topic(topic: h.TopicInfo) -> TopicInfo:
    configs = [TopicConfig(row.key, row.value) for row in topic.topic_configs]
    return TopicInfo(topic.name, topic.partitions, topic.replication_factor, configs)


class TopicStatus(IntEnum):
    """The codes of a heartbeat's statuses."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6


class Status(NamedTuple):
    """One status with its message."""

    code: TopicStatus
    detail: str


class TopicProblem(Exception):
    """The topics do not fit the topology. ``status``: the status that members get."""

    def __init__(self, code: TopicStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = Status(code, detail)


def internal_error() -> KafkaError:
    """The error for a request that Kafka refuses without a reason."""
    return KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)


def listed(names: list[str], others: str = "more") -> str:
    """Up to three names, and how many others there are."""
    left = len(names) - 3
    return ", ".join(names[:3]) + (f" and {left} {others}" if left > 0 else "")


_TOPICS = "additional topics"

MOST_TASKS = 100_000
"""Assigning them takes half a second, in which no other client is served."""

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
        """The number of tasks of a subtopology."""
        return max(self._known(topic) for topic in sources_of(subtopology))

    def _repartition_topics(self) -> Iterable[TopicInfo]:
        return (topic for each in self._subtopologies for topic in each.repartition_source_topics)

    def _known(self, topic: str) -> int:
        count = self.of(topic)
        if count is None:
            raise internal_error()
        return count

    # -- repartition topics

    def _repartition_counts(self) -> dict[str, int]:
        counts = dict(self._fixed)
        waiting = [(sink, each) for each in self._subtopologies for sink in each.repartition_sink_topics]
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
        known = [counts.get(topic.name) for topic in subtopology.repartition_source_topics]
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
            if not sources_of(subtopology):
                raise _invalid(f"No source topics found for subtopology {subtopology.subtopology_id}")
            count = self.tasks_of(subtopology)
            self.decided.update({topic.name: count for topic in subtopology.state_changelog_topics})


def _copartitioned(subtopology: Subtopology) -> list[list[str]]:
    """The groups of topics that must have equally many partitions, each as Kafka walks it."""
    groups: list[list[str]] = []
    for group in subtopology.copartition_groups:
        try:
            names = [_at(subtopology.source_topics, index) for index in group.source_topics]
            names += [
                _at(subtopology.repartition_source_topics, index).name for index in group.repartition_source_topics
            ]
        except IndexError as error:
            raise internal_error() from error
        groups.append(java_order(names, hash_of_text))
    return groups


def _at(items: Sequence[T], index: int) -> T:
    if index < 0:
        raise IndexError(index)
    return items[index]


def _same_count(named: dict[str, int], counts: Iterable[int]) -> int:
    """The common partition count of all; TopicProblem if they differ."""
    distinct = set(counts)
    if len(distinct) > 1:
        rows = ", ".join(f"{topic}={named[topic]}" for topic in sorted(named))
        text = f"Following topics do not have the same number of partitions: [{{{rows}}}]"
        raise TopicProblem(TopicStatus.INCORRECTLY_PARTITIONED_TOPICS, text)
    return distinct.pop()


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


class ConfiguredSubtopology(NamedTuple):
    """``declared`` with the partition counts of its internal topics filled in, and how many ``tasks`` it has."""

    declared: Subtopology
    tasks: int

    @property
    def is_stateful(self) -> bool:
        """Whether it keeps state that a standby could follow."""
        return bool(self.declared.state_changelog_topics)


class ConfiguredTopology(NamedTuple):
    """``subtopologies`` in the order of their ids; None if topics are missing or do not fit.

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
    """Compare a topology with the topics. KafkaError for a topology that can never work."""

    def existing(name: str) -> int | None:
        facts = topics.named(name)
        return None if facts is None else facts.partitions

    try:
        _check_sources(topology, topics)
        counts = PartitionCounts(topology, existing)
        ordered = sorted(topology.subtopologies.values(), key=lambda each: java_text(each.subtopology_id))
        subtopologies = {each.subtopology_id: _configured(each, counts) for each in ordered}
        tasks = sum(each.tasks for each in subtopologies.values())
        if tasks > MOST_TASKS:
            raise _invalid(f"The topology has {tasks} tasks, and odradek assigns at most {MOST_TASKS}.")
        missing = _missing(topology, subtopologies, topics)
    except TopicProblem as problem:
        return ConfiguredTopology(topology.epoch, None, (), problem.status)
    status = None
    if missing:
        text = f"Internal topics are missing: {listed([topic.name for topic in missing], _TOPICS)}"
        status = Status(TopicStatus.MISSING_INTERNAL_TOPICS, text)
    return ConfiguredTopology(topology.epoch, subtopologies, missing, status)


def java_text(text: str) -> bytes:
    """A key that sorts texts as Java does."""
    return text.encode("utf-16-be", "surrogatepass")


def _check_sources(topology: Topology, topics: TopicSource) -> None:
    sources = {name for each in topology.subtopologies.values() for name in each.source_topics}
    missing = sorted((name for name in sources if topics.named(name) is None), key=java_text)
    if missing:
        raise TopicProblem(TopicStatus.MISSING_SOURCE_TOPICS, f"Source topics {listed(missing, _TOPICS)} are missing.")


def _configured(declared: Subtopology, counts: PartitionCounts) -> ConfiguredSubtopology:
    if _has_twins(declared.repartition_source_topics) or _has_twins(declared.state_changelog_topics):
        raise internal_error()
    whole = declared.replace(
        repartition_source_topics=[_counted(topic, counts) for topic in declared.repartition_source_topics],
        state_changelog_topics=[_counted(topic, counts) for topic in declared.state_changelog_topics],
    )
    tasks = counts.tasks_of(declared)
    if tasks <= 0:
        raise internal_error()
    return ConfiguredSubtopology(whole, tasks)


def _has_twins(topics: Sequence[TopicInfo]) -> bool:
    return len({topic.name for topic in topics}) < len(topics)


def _counted(topic: TopicInfo, counts: PartitionCounts) -> TopicInfo:
    partitions = topic.partitions or counts.decided.get(topic.name, 0)
    names = [config.key for config in topic.topic_configs]
    if partitions < 1 or len(set(names)) < len(names):
        raise internal_error()
    try:
        check_topic_name(topic.name)
    except KafkaError as error:
        raise internal_error() from error
    return topic.replace(partitions=partitions)


def _missing(
    topology: Topology, subtopologies: Mapping[str, ConfiguredSubtopology], topics: TopicSource
) -> list[TopicInfo]:
    """The internal topics that do not exist, in Kafka's order; those that do must have the right size."""
    wanted: dict[str, TopicInfo] = {}
    order = HashTable(hash_of_text)
    for each in subtopologies.values():
        for topic in (*each.declared.repartition_source_topics, *each.declared.state_changelog_topics):
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


SOURCE, PROCESSOR, SINK = 1, 2, 3

NOT_STORED = -1
"""In place of a topology's epoch: there is no description."""
UNCERTAIN = -2
"""In place of a topology's epoch: a description is being stored or deleted."""


class DescriptionEpochs(NamedTuple):
    """The epoch of the topology whose description is stored, and of the last one whose description was refused."""

    stored: int = NOT_STORED
    failed: int = NOT_STORED


NO_DESCRIPTION = DescriptionEpochs()


def as_shown(description: u.TopologyDescription) -> d.TopologyDescription:
    """The description as StreamsGroupDescribe shows it, with the fields that its kinds of nodes have.

    No name comes twice in a field. Raises INVALID_REQUEST for a kind of node that does not exist, or is not where it
    may be.
    """
    return d.TopologyDescription(
        [
            d.TopologyDescriptionSubtopology(each.subtopology_id, [_shown_node(node) for node in each.nodes])
            for each in description.subtopologies
        ],
        [_shown_store(store) for store in description.global_stores],
    )


def _shown_store(store: u.TopologyDescriptionGlobalStore) -> d.TopologyDescriptionGlobalStore:
    shown = d.TopologyDescriptionGlobalStore(_shown_node(store.source), _shown_node(store.processor))
    if (shown.source.node_type, shown.processor.node_type) != (SOURCE, PROCESSOR):
        text = "Global store must be composed of a source and a processor node."
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    return shown


def _shown_node(node: u.TopologyDescriptionNode) -> d.TopologyDescriptionNode:
    kind = node.node_type
    if kind not in (SOURCE, PROCESSOR, SINK):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown topology node type: {kind}")
    return d.TopologyDescriptionNode(
        node.name,
        kind,
        _once(node.source_topics) if kind == SOURCE else [],
        node.sink_topic if kind == SINK else None,
        _once(node.stores) if kind == PROCESSOR else [],
        _once(node.successors),
    )


def _once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))
