"""Checks a member's heartbeat (epoch, tasks, group size), and whether the group's topology can be assigned yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.broker.coordinator.group.epoch_group import fenced
from odradek.broker.coordinator.group.streams.commands import StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.group import SoftState, Step, StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member, Owned
from odradek.broker.coordinator.group.streams.records import topology_record
from odradek.broker.coordinator.group.streams.topic_creation import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import (
    ConfiguredSubtopology,
    ConfiguredTopology,
    Status,
    TopicInfo,
    TopicStatus,
    Topology,
    configure,
    internal_error,
)
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.protocol.errors import ErrorCode, KafkaError


def check_room(group: StreamsGroup, max_size: int) -> None:
    """A full group accepts no member, not even one that joins again."""
    if len(group.members) >= max_size:
        text = f"The streams group has reached its maximum capacity of {max_size} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def check_epoch(member: Member, epoch: int, owned: Owned | None) -> None:
    """FENCED_MEMBER_EPOCH, unless the epoch is the member's.

    The one before is fine if what the member owns fits: the answer that told the new epoch may have been lost.
    """
    if epoch in (0, member.epoch):
        return
    if epoch > member.epoch:
        raise fenced("streams", "greater", epoch, member)
    if epoch != member.previous_epoch or owned is None or not owned.all_in(member.assigned):
        raise fenced("streams", "smaller", epoch, member)


def check_tasks(owned: Owned | None, subtopologies: Mapping[str, ConfiguredSubtopology]) -> None:
    """INVALID_REQUEST for tasks that the topology does not have."""
    for tasks in owned or ():
        for subtopology_id, partitions in tasks.items():
            subtopology = subtopologies.get(subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {subtopology_id} does not exist in the topology.")
            _check_partitions(subtopology_id, partitions, subtopology.tasks)


def _check_partitions(subtopology_id: str, partitions: Sequence[int], tasks: int) -> None:
    for partition in partitions:
        if not 0 <= partition < tasks:
            text = f"Task {partition} for subtopology {subtopology_id} is invalid."
            raise _invalid(f"{text} Number of tasks for this subtopology: {tasks}")


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, text)


_NOT_READY = -1
_REASONS_SHOWN = 3


class Readiness(NamedTuple):
    """``validated``: the epoch of a topology that can be assigned, -1 for one that cannot.

    ``changed``: topics or the topology are not as the group's record says.
    """

    configured: ConfiguredTopology
    metadata_hash: int
    validated: int
    changed: bool


class Topologies:
    """Initialises topologies and compares them with the topics. Owner: the streams kind."""

    def __init__(self, topics: TopicCache) -> None:
        self._topics = topics

    def declared(self, step: Step, command: StreamsGroupHeartbeat) -> Topology:
        """The group's topology; the first member that declares one initialises it."""
        present, asked = step.group.topology, command.topology
        if present is None:
            if asked is None:
                raise internal_error()
            step.records.append(topology_record(command.group_id, asked))
            return asked
        if asked is not None and present.epoch <= asked.epoch and present != asked:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
        return present

    def tell_stale(self, step: Step, member: Member) -> None:
        """Give a member with a topology of an older epoch a status about that."""
        present = step.group.topology
        if present is not None and member.topology_epoch < present.epoch:
            text = f"The member's topology epoch {member.topology_epoch} is behind the group's topology epoch"
            step.statuses.append(Status(TopicStatus.STALE_TOPOLOGY, f"{text} {present.epoch}."))

    def readiness(self, step: Step, command: StreamsGroupHeartbeat, topology: Topology) -> Readiness:
        """Compare the topology with the topics. Raises KafkaError for tasks of the member that do not exist."""
        group, soft = step.group, step.group.soft
        metadata_hash = group.metadata_hash
        configured = soft.configured
        if configured is None or group.topology is None or not soft.topics_checked:
            metadata_hash = self._topics.hash_of(topology.required_topics())
            if configured is None or group.topology is None or metadata_hash != group.metadata_hash:
                configured = soft.configured = configure(topology, self._topics)
            step.later.append(_topics_are_checked)
        validated = topology.epoch if configured.is_ready else _NOT_READY
        if configured.is_ready and configured.subtopologies is not None:
            check_tasks(command.owned, configured.subtopologies)
        changed = metadata_hash != group.metadata_hash or validated != group.validated_topology_epoch
        return Readiness(configured, metadata_hash, validated, changed)

    def tell_problem(
        self, step: Step, command: StreamsGroupHeartbeat, configured: ConfiguredTopology, retry_ms: int
    ) -> None:
        """Tell the member why tasks cannot be assigned, and have missing internal topics created, if the client may do
        that.

        A topic that could not be created is not tried again for ``retry_ms``; meanwhile members get the reason.
        """
        problem = configured.problem
        if problem is None:
            return
        missing = configured.missing
        forbidden = command.forbidden([topic.name for topic in missing]) if command.forbidden and missing else []
        if forbidden:
            detail = f"{problem.detail}; Unauthorized to CREATE on topics {', '.join(forbidden)}."
            step.statuses.append(problem._replace(detail=detail))
            return
        refused = step.group.soft.refused_at(step.now_ms)
        reasons = [f"{topic.name} ({refused[topic.name][0]})" for topic in missing if topic.name in refused]
        if reasons:
            problem = problem._replace(detail=f"{problem.detail}; Creation failed: {_some(reasons)}.")
        step.statuses.append(problem)
        wanted: list[TopicInfo] = [topic for topic in missing if topic.name not in refused]
        if wanted:
            step.effects.append(CreateInternalTopics(step.group.group_id, wanted, retry_ms))


def _topics_are_checked(soft: SoftState) -> None:
    soft.topics_checked = soft.configured is not None


def _some(reasons: list[str]) -> str:
    more = len(reasons) - _REASONS_SHOWN
    return ", ".join(reasons[:_REASONS_SHOWN]) + (f" and {more} more" if more > 0 else "")
