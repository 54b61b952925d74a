"""ShareGroupHeartbeat (76) and ShareGroupDescribe (77): version 1 (KIP-932).

A member chooses its id, joins with epoch 0, goes on with the epoch it was told and leaves with -1. The rules are the
group coordinator's (`odradek.broker.coordinator.group.share`).
"""

from __future__ import annotations

from odradek.broker.api.group_admin import HIDDEN_TOPICS, by_coordinator, describable, require_topics
from odradek.broker.api.group_requests import check_text, invalid, require_read
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.share.group import (
    JOIN,
    LEAVE,
    HeartbeatReply,
    ShareGroup,
    ShareGroupHeartbeat,
    ShareMember,
)
from odradek.broker.requests.access import ByItem
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import share_group_describe as describe
from odradek.protocol.generated.messages import share_group_heartbeat as heartbeat
from odradek.protocol.java_maps import hash_of_text, java_order

_MAX_MEMBER_ID = 36
_ASSIGNOR = "simple"


def check_served(ctx: RequestContext, text: str | None = None) -> None:
    """UNSUPPORTED_VERSION, with this text, while the cluster's `share.version` is 0."""
    if ctx.services.image.feature(SHARE_VERSION) < 1:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


COORDINATOR_TEXTS = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "The coordinator is loading and hence can't process requests.",
    ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator.",
}
"""Requests about share groups alone say them."""


@handles(
    heartbeat.ShareGroupHeartbeatRequest,
    access=ByItem((Operation.READ, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
)
def share_group_heartbeat(
    ctx: RequestContext, request: heartbeat.ShareGroupHeartbeatRequest
) -> heartbeat.ShareGroupHeartbeatResponse | Later:
    """A member joins, lives or leaves."""
    check_served(ctx)
    require_read(ctx, request.group_id)
    if not request.member_id or len(request.member_id) > _MAX_MEMBER_ID:
        return heartbeat.ShareGroupHeartbeatResponse(error_code=ErrorCode.INVALID_REQUEST)
    require_topics(ctx, request.subscribed_topic_names)
    command = ShareGroupHeartbeat(
        request.group_id,
        request.member_id,
        request.member_epoch,
        client_id=ctx.client_id or "",
        client_host=f"/{ctx.connection.peer_host}",
        rack_id=request.rack_id,
        topics=request.subscribed_topic_names,
    )
    try:
        _check(request)
        reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return _refused_heartbeat(error)
    return later(reply, lambda told: _heartbeat_response(request, told), _refused_heartbeat)


def _heartbeat_response(
    request: heartbeat.ShareGroupHeartbeatRequest, reply: HeartbeatReply
) -> heartbeat.ShareGroupHeartbeatResponse:
    return heartbeat.ShareGroupHeartbeatResponse(
        member_id=request.member_id,
        member_epoch=reply.member_epoch,
        heartbeat_interval_ms=reply.heartbeat_interval_ms,
        assignment=None if reply.assigned is None else _assignment(reply.assigned),
    )


def _refused_heartbeat(error: KafkaError) -> heartbeat.ShareGroupHeartbeatResponse:
    return heartbeat.ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)


def _check(request: heartbeat.ShareGroupHeartbeatRequest) -> None:
    check_text(request.member_id, "MemberId")
    check_text(request.group_id, "GroupId")
    check_text(request.rack_id, "RackId")
    if request.member_epoch == JOIN and not request.subscribed_topic_names:
        raise invalid("SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE:
        raise invalid("MemberEpoch is invalid.")


def _assignment(partitions: Partitions) -> heartbeat.Assignment:
    rows = [heartbeat.TopicPartitions(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    return heartbeat.Assignment(topic_partitions=rows)


@handles(
    describe.ShareGroupDescribeRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
)
def share_group_describe(
    ctx: RequestContext, request: describe.ShareGroupDescribeRequest
) -> describe.ShareGroupDescribeResponse:
    """State, epochs and members of share groups."""
    check_served(ctx)
    shown, hidden = describable(ctx, request.group_ids)
    refused = [
        describe.DescribedGroup(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id)
        for group_id in hidden
    ]
    without_id = [group_id for group_id in shown if not group_id]
    groups = [_describe(ctx, group_id) for group_id in [*without_id, *by_coordinator(ctx, filter(None, shown))]]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ctx.operations(Resource.GROUP, group.group_id)
    if ctx.authorizer is not None:
        groups = _without_hidden_topics(ctx, groups)
    return describe.ShareGroupDescribeResponse(groups=refused + groups)


def _without_hidden_topics(ctx: RequestContext, groups: list[describe.DescribedGroup]) -> list[describe.DescribedGroup]:
    """Leave out groups whose members have a topic that the client may not see."""
    topics = [
        {row.topic_name for member in group.members for row in member.assignment.topic_partitions} for group in groups
    ]
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, sorted(set().union(*topics)))
    return [
        group
        if names <= shown
        else describe.DescribedGroup(
            error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, error_message=HIDDEN_TOPICS, group_id=group.group_id
        )
        for group, names in zip(groups, topics, strict=True)
    ]


def _describe(ctx: RequestContext, group_id: str) -> describe.DescribedGroup:
    if not group_id:
        return describe.DescribedGroup(group_id="", error_code=ErrorCode.INVALID_GROUP_ID)
    try:
        group = ctx.services.groups().machine_for(group_id, ctx.node).group(group_id)
    except KafkaError as error:
        return describe.DescribedGroup(
            group_id=group_id, error_code=error.code, error_message=error.message or COORDINATOR_TEXTS.get(error.code)
        )
    if not isinstance(group, ShareGroup):
        what = "not found" if group is None else "is not a share group"
        return describe.DescribedGroup(
            group_id=group_id,
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} {what}.",
        )
    return describe.DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=_ASSIGNOR,
        members=[_describe_member(ctx, member) for member in group.in_map_order()],
    )


def _describe_member(ctx: RequestContext, member: ShareMember) -> describe.Member:
    rows = []
    for topic_id, indexes in member.assigned.items():
        topic = ctx.services.topics.by_id(topic_id)
        if topic is not None:
            rows.append(describe.TopicPartitions(topic_id, topic.name, list(indexes)))
    return describe.Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=java_order(member.topics, hash_of_text),
        assignment=describe.Assignment(topic_partitions=rows),
    )
