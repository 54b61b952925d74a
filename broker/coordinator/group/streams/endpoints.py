"""Who answers interactive queries for which partitions: what members with an endpoint are told of each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from odradek.broker.coordinator.group.streams.configured import ConfiguredSubtopology, ConfiguredTopology
from odradek.broker.coordinator.group.streams.member import Endpoint, Member
from odradek.broker.coordinator.group.streams.problems import internal_error
from odradek.broker.coordinator.group.streams.tasks import in_map_order
from odradek.broker.coordinator.group.topic_source import TopicSource
from odradek.protocol.java_maps import hash_of_text, java_order

TopicPartitions = tuple[str, tuple[int, ...]]
"""A topic and some of its partitions."""


class EndpointPartitions(NamedTuple):
    """The source partitions of the tasks of one member."""

    endpoint: Endpoint
    active: Sequence[TopicPartitions]
    standby: Sequence[TopicPartitions]


def endpoints(
    members: Iterable[Member], configured: ConfiguredTopology, topics: TopicSource
) -> list[EndpointPartitions]:
    """Of all members that have an endpoint. KafkaError while the topics do not allow to say."""
    return [_of_member(member, member.endpoint, configured, topics) for member in members if member.endpoint]


def _of_member(
    member: Member, endpoint: Endpoint, configured: ConfiguredTopology, topics: TopicSource
) -> EndpointPartitions:
    subtopologies = configured.subtopologies
    if subtopologies is None:
        raise internal_error()
    return EndpointPartitions(
        endpoint,
        _partitions(member.assigned.active, subtopologies, topics),
        _partitions(member.assigned.standby, subtopologies, topics),
    )


def _partitions(
    tasks: Mapping[str, Iterable[int]], subtopologies: Mapping[str, ConfiguredSubtopology], topics: TopicSource
) -> list[TopicPartitions]:
    rows: list[TopicPartitions] = []
    for subtopology in in_map_order(tasks):
        configured = subtopologies.get(subtopology)
        if configured is None:
            raise internal_error()
        partitions = sorted(tasks[subtopology])
        for topic in java_order(configured.declared.sources, hash_of_text):
            facts = topics.named(topic)
            if facts is None:
                raise internal_error()
            rows.append((topic, tuple(partitions[: facts.partitions])))
    return rows
