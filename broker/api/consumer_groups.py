"""ConsumerGroupHeartbeat (68), ConsumerGroupDescribe (69): groups of the consumer protocol (KIP-848).

ConsumerGroupHeartbeat 0 to 1: from v1 members make their own ids and may subscribe by pattern (RE2/J).
ConsumerGroupDescribe 0 to 1: v1 tells which protocol each member speaks (KIP-1099).
Both are UNSUPPORTED_VERSION while the cluster's `group.version` is 0, or the broker does not offer the protocol.

The rules are the group coordinator's (`odradek.broker.coordinator.group.consumer`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from odradek.broker.api.group_admin import describe_groups_of_kind, require_topics
from odradek.broker.api.group_requests import check_text, invalid, is_offered, require_read, sender_of
from odradek.broker.config.broker_config import CONSUMER_ASSIGNORS
from odradek.broker.controller.feature_levels import GROUP_VERSION
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup, ConsumerGroupHeartbeat, Member
from odradek.broker.coordinator.group.consumer.progress import preferred_assignor
from odradek.broker.coordinator.group.epoch_group import AWAY, LEAVING
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, awaited
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_describe import Assignment as DescribedAssignment
from odradek.protocol.generated.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from odradek.protocol.generated.messages.consumer_group_describe import Member as DescribedMember
from odradek.protocol.generated.messages.consumer_group_describe import TopicPartitions as DescribedPartitions
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from odradek.protocol.java_maps import in_set_order

_OWN_MEMBER_ID_FROM: Final = 1
_CLASSIC, _CONSUMER = 0, 1


# -- ConsumerGroupHeartbeat


@handles(
    ConsumerGroupHeartbeatRequest, access=ByItem((Operation.READ, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC))
)
def consumer_group_heartbeat(
    ctx: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | Later:
    """A member joins, lives, tells what it owns, or leaves."""
    _check_served(ctx)
    require_read(ctx, request.group_id)
    if request.subscribed_topic_names:
        require_topics(ctx, request.subscribed_topic_names)
    _check(ctx, request)
    command = ConsumerGroupHeartbeat(request, sender_of(ctx))
    return awaited(ctx.services.groups().begin(request.group_id, command, ctx.node))


def _check_served(ctx: RequestContext) -> None:
    if ctx.services.image.features.get(GROUP_VERSION, 0) < 1 or not is_offered(ctx, "consumer"):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)


def _check(ctx: RequestContext, request: ConsumerGroupHeartbeatRequest) -> None:
    """The error of a request that is invalid for every group, checked before the coordinator is looked up."""
    epoch = request.member_epoch
    if ctx.api_version >= _OWN_MEMBER_ID_FROM or epoch > 0 or epoch == LEAVING:
        check_text(request.member_id, "MemberId")
    check_text(request.group_id, "GroupId")
    check_text(request.instance_id, "InstanceId")
    check_text(request.rack_id, "RackId")
    if epoch == 0:
        _check_first(request)
    elif epoch == AWAY and request.instance_id is None:
        raise invalid("InstanceId can't be null.")
    elif epoch < AWAY:
        raise invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in (assignors := _assignors(ctx)):
        text = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: "
        raise KafkaError(ErrorCode.UNSUPPORTED_ASSIGNOR, f"{text}{', '.join(assignors)}.")


def _assignors(ctx: RequestContext) -> list[str]:
    listed = ctx.services.config.get("group.consumer.assignors")
    assert isinstance(listed, tuple)
    return [CONSUMER_ASSIGNORS[name] for name in listed]


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")


# -- ConsumerGroupDescribe


@handles(
    ConsumerGroupDescribeRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
    large_answers_from=0,
)
def consumer_group_describe(
    ctx: RequestContext, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """Epochs, and members with their assignments and targets."""
    _check_served(ctx)
    groups = describe_groups_of_kind(
        ctx, request, ConsumerGroup, DescribedGroup, partial(_describe, ctx), _assigned_topics
    )
    return ConsumerGroupDescribeResponse(groups=groups)


def _assigned_topics(group: DescribedGroup) -> set[str]:
    return {
        row.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for row in assignment.topic_partitions
    }


def _describe(ctx: RequestContext, group: ConsumerGroup) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group) or _assignors(ctx)[0],
        members=[_member(ctx, group, member) for member in group.in_map_order()],
    )


def _member(ctx: RequestContext, group: ConsumerGroup, member: Member) -> DescribedMember:
    present: dict[bytes, list[int]] = {}
    for epochs in (
        (member.assigned, member.revoking) if ctx.release.describes_revoked_partitions else (member.assigned,)
    ):
        for topic_id, partitions in epochs.items():
            present.setdefault(topic_id, []).extend(partitions)
    return DescribedMember(
        member_id=member.member_id,
        instance_id=member.metadata.instance_id,
        rack_id=member.metadata.rack_id,
        member_epoch=member.epoch,
        client_id=member.metadata.client_id,
        client_host=member.metadata.client_host,
        subscribed_topic_names=in_set_order(member.metadata.topics),
        subscribed_topic_regex=member.metadata.regex,
        assignment=_assignment(ctx, present.items()),
        target_assignment=_assignment(ctx, group.target.of(member.member_id).items()),
        member_type=_CONSUMER if member.metadata.classic is None else _CLASSIC,
    )


def _assignment(ctx: RequestContext, partitions: Iterable[tuple[bytes, Iterable[int]]]) -> DescribedAssignment:
    """Topics that do not exist any more are left out."""
    rows: list[DescribedPartitions] = []
    for topic_id, indexes in partitions:
        topic = ctx.services.image.topics_by_id.get(topic_id)
        if topic is not None:
            rows.append(DescribedPartitions(topic_id, topic.name, sorted(indexes)))
    return DescribedAssignment(rows)
