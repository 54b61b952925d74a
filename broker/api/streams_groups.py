"""Groups of Kafka Streams applications (KIP-1071, KIP-1331).

StreamsGroupHeartbeat (88) and StreamsGroupDescribe (89) in versions 0 and 1, StreamsGroupTopologyDescriptionUpdate (93)
in version 0, which a broker with a plugin for descriptions takes. They are UNSUPPORTED_VERSION
while `streams.version` is 0, or the broker does not offer the protocol. Other topologies and patterns for source topics
are refused, as Kafka does; static members and task offsets are, before Kafka 4.4.

The rules are the group coordinator's (`odradek.broker.coordinator.group.streams`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from odradek.broker.api.group_admin import describe_groups_of_kind, require_topics
from odradek.broker.api.group_requests import check_text, invalid, is_offered, require_read, sender_of
from odradek.broker.controller.feature_levels import STREAMS_VERSION
from odradek.broker.coordinator.group.epoch_group import AWAY, JOINING, LEAVING
from odradek.broker.coordinator.group.groups import Forbidden
from odradek.broker.coordinator.group.settings import StreamsConfigs
from odradek.broker.coordinator.group.streams.group import (
    Member,
    StreamsGroup,
    StreamsGroupHeartbeat,
    Target,
    UpdateDescription,
)
from odradek.broker.coordinator.group.streams.topology import internal_error
from odradek.broker.metadata.image import INTERNAL_TOPICS, check_topic_name
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, awaited
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_describe as d
from odradek.protocol.generated.messages import streams_group_heartbeat as h
from odradek.protocol.generated.messages import streams_group_topology_description_update as u
from odradek.protocol.generated.stored import streams_group_topology as stored

_NO_DESCRIPTION, _DESCRIBED = 1, 3
"""The statuses of a topology description (KIP-1331) that somebody asks for; 2 is for a plugin that fails."""


# -- StreamsGroupHeartbeat


@handles(
    h.StreamsGroupHeartbeatRequest,
    access=ByItem(
        (Operation.READ, Resource.GROUP),
        (Operation.DESCRIBE, Resource.TOPIC),
        (Operation.CREATE, Resource.CLUSTER),
        (Operation.CREATE, Resource.TOPIC),
    ),
)
def streams_group_heartbeat(
    ctx: RequestContext, request: h.StreamsGroupHeartbeatRequest
) -> h.StreamsGroupHeartbeatResponse | Later:
    """A member joins, lives, tells what it owns, or leaves."""
    _check_served(ctx)
    require_read(ctx, request.group_id)
    if request.topology is not None:
        names = list(dict.fromkeys(name for each in request.topology.subtopologies for name in _names(each)))
        _check_topic_names(names)
        require_topics(ctx, names)
    if not ctx.release.has_static_streams_members:
        _check_unsupported(request)
    _check(request)
    sender = sender_of(ctx)
    sender.forbidden = _forbidden_topics(ctx)
    return awaited(ctx.services.groups().begin(request.group_id, StreamsGroupHeartbeat(request, sender), ctx.node))


def _check_served(ctx: RequestContext) -> None:
    if ctx.services.image.feature(STREAMS_VERSION) < 1 or not is_offered(ctx, "streams"):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)


def _forbidden_topics(ctx: RequestContext) -> Forbidden | None:
    """The check of the client's right to create internal topics; None without an authorizer."""
    if ctx.authorizer is None:
        return None

    def forbidden(names: Sequence[str]) -> Sequence[str]:
        if ctx.allows(Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME, tell=False):
            return []
        allowed = ctx.allowed(Operation.CREATE, Resource.TOPIC, names)
        return [name for name in names if name not in allowed]

    return forbidden


def _check_topic_names(names: Sequence[str]) -> None:
    """STREAMS_INVALID_TOPOLOGY for names that no topology may have; checked before the group's coordinator is looked
    up.
    """
    internal = [name for name in names if name in INTERNAL_TOPICS]
    if internal:
        text = f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)
    invalid = [name for name in names if not _is_valid(name)]
    if invalid:
        text = f"Topic names {','.join(invalid)} are not valid topic names."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


def _names(each: h.Subtopology | d.Subtopology) -> Iterable[str]:
    yield from each.source_topics
    yield from each.repartition_sink_topics
    yield from (topic.name for topic in each.repartition_source_topics)
    yield from (topic.name for topic in each.state_changelog_topics)


def _is_valid(name: str) -> bool:
    try:
        check_topic_name(name)
    except KafkaError:
        return False
    return True


def _check_unsupported(request: h.StreamsGroupHeartbeatRequest) -> None:
    """What Kafka had not before 4.4."""
    if request.instance_id is not None:
        raise invalid("Static membership is not yet supported.")
    if request.task_offsets is not None:
        raise invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None:
        raise invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks:
        raise invalid("WarmupTasks are not supported yet.")


def _check(request: h.StreamsGroupHeartbeatRequest) -> None:
    """The error of a request that is invalid for every group."""
    if request.topology is not None and any(each.source_topic_regex for each in request.topology.subtopologies):
        raise invalid("Regular expressions for source topics are not supported yet.")
    epoch = request.member_epoch
    check_text(request.member_id, "MemberId")
    check_text(request.group_id, "GroupId")
    check_text(request.instance_id, "InstanceId")
    check_text(request.rack_id, "RackId")
    if epoch == JOINING:
        _check_first(request)
    elif epoch == AWAY:
        if request.instance_id is None:
            raise invalid("InstanceId can't be null.")
    elif epoch < LEAVING:
        raise invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if (request.active_tasks, request.standby_tasks, request.warmup_tasks).count(None) in (1, 2):
        raise invalid("If one task-type is non-null, all must be non-null.")
    if epoch != JOINING and request.topology is not None:
        raise invalid("Topology can only be provided when (re-)joining.")


def _check_first(request: h.StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    for tasks, what in (
        (request.active_tasks, "ActiveTasks"),
        (request.standby_tasks, "StandbyTasks"),
        (request.warmup_tasks, "WarmupTasks"),
    ):
        if tasks is None or tasks:
            raise invalid(f"{what} must be empty when (re-)joining.")
    if request.topology is None:
        raise invalid("Topology must be non-null when (re-)joining.")
    for each in request.topology.subtopologies:
        for topic in each.state_changelog_topics:
            if topic.partitions != 0:
                text = f"Changelog topic {topic.name} must have an undefined partition count, but it is set to"
                raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, f"{text} {topic.partitions}.")


# -- StreamsGroupDescribe


@handles(
    d.StreamsGroupDescribeRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
    large_answers_from=0,
)
def streams_group_describe(
    ctx: RequestContext, request: d.StreamsGroupDescribeRequest
) -> d.StreamsGroupDescribeResponse:
    """Epochs, topology, and members with their tasks and target tasks."""
    _check_served(ctx)
    groups = describe_groups_of_kind(
        ctx,
        request,
        StreamsGroup,
        d.DescribedGroup,
        partial(_describe, with_description=request.include_topology_description),
        _declared_topics,
        hidden_topics="The described group uses topics that the client is not authorized to describe.",
    )
    return d.StreamsGroupDescribeResponse(groups=groups)


def _declared_topics(group: d.DescribedGroup) -> set[str]:
    subtopologies = (group.topology.subtopologies or ()) if group.topology else ()
    return {name for each in subtopologies for name in _names(each)}


def _describe(group: StreamsGroup, *, with_description: bool) -> d.DescribedGroup:
    answer = d.DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name="sticky",
        topology=_described_topology(group),
        members=[_described_member(group, member) for member in group.in_map_order()],
    )
    if with_description:
        description = group.described
        answer.topology_description_status = _NO_DESCRIPTION if description is None else _DESCRIBED
        answer.topology_description = description
    return answer


def _described_topology(group: StreamsGroup) -> d.Topology:
    """With the numbers of partitions that were decided, once tasks can be assigned."""
    topology = group.topology
    if topology is None:
        raise internal_error()
    configured = group.soft.configured
    subtopologies = topology.subtopologies
    if configured is not None and configured.is_ready and configured.subtopologies is not None:
        subtopologies = {name: each.declared for name, each in configured.subtopologies.items()}
    return d.Topology(topology.epoch, [_described_subtopology(subtopologies[name]) for name in sorted(subtopologies)])


def _described_subtopology(each: stored.Subtopology) -> d.Subtopology:
    return d.Subtopology(
        each.subtopology_id,
        sorted(each.source_topics),
        sorted(each.repartition_sink_topics),
        _described_topics(each.state_changelog_topics),
        _described_topics(each.repartition_source_topics),
    )


def _described_topics(topics: Iterable[stored.TopicInfo]) -> list[d.TopicInfo]:
    return [
        d.TopicInfo(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            [d.KeyValue(row.key, row.value) for row in topic.topic_configs],
        )
        for topic in sorted(topics, key=lambda each: (each.name, each.partitions, each.replication_factor))
    ]


def _described_member(group: StreamsGroup, member: Member) -> d.Member:
    target, held, metadata = group.target_of(member.member_id), member.assigned, member.metadata
    endpoint = metadata.user_endpoint
    return d.Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        topology_epoch=metadata.topology_epoch,
        process_id=metadata.process_id,
        user_endpoint=None if endpoint is None else d.Endpoint(endpoint.host, endpoint.port),
        client_tags=[d.KeyValue(tag.key, tag.value) for tag in metadata.client_tags],
        task_offsets=[d.TaskOffset(*row) for row in group.soft.offsets.get(member.member_id, ())],
        task_end_offsets=[d.TaskOffset(*row) for row in group.soft.end_offsets.get(member.member_id, ())],
        assignment=_assignment(held.as_target()),
        target_assignment=_assignment(target),
    )


def _assignment(tasks: Target) -> d.Assignment:
    return d.Assignment(_described_tasks(tasks.active), _described_tasks(tasks.standby), _described_tasks(tasks.warmup))


def _described_tasks(tasks: Mapping[str, Iterable[int]]) -> list[d.TaskIds]:
    return [d.TaskIds(name, sorted(tasks[name])) for name in sorted(tasks)]


# -- StreamsGroupTopologyDescriptionUpdate


@handles(u.StreamsGroupTopologyDescriptionUpdateRequest, access=ByItem((Operation.READ, Resource.GROUP)))
def streams_group_topology_description_update(
    ctx: RequestContext, request: u.StreamsGroupTopologyDescriptionUpdateRequest
) -> u.StreamsGroupTopologyDescriptionUpdateResponse | Later:
    """A member describes the topology of its group."""
    _check_served(ctx)
    require_read(ctx, request.group_id)
    groups = ctx.services.groups()
    if not StreamsConfigs(groups.configs).keeps_descriptions:
        text = "The broker has no streams group topology description plugin configured."
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
    check_text(request.member_id, "MemberId")
    check_text(request.group_id, "GroupId")
    return awaited(groups.begin(request.group_id, UpdateDescription(request), ctx.node))
