"""ShareGroupHeartbeat (76) and ShareGroupDescribe (77): version 1 (KIP-932).

A member chooses its id, joins with epoch 0, goes on with the epoch it was told and leaves with -1. The rules are the
group coordinator's (`odradek.broker.coordinator.group.share`).
"""

from __future__ import annotations

from odradek.broker.api.group_admin import ALL_GROUP_OPERATIONS
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.share.commands import ShareGroupHeartbeat
from odradek.broker.coordinator.group.share.group import ShareGroup
from odradek.broker.coordinator.group.share.members import JOIN, LEAVE, ShareMember
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.messages import share_group_describe as describe
from odradek.protocol.messages import share_group_heartbeat as heartbeat

_MAX_MEMBER_ID = 36
_ASSIGNOR = "simple"


def check_served(ctx: RequestContext, text: str | None = None) -> None:
    """UNSUPPORTED_VERSION, with this text, while the cluster's `share.version` is 0."""
    if ctx.services.image.feature(SHARE_VERSION) < 1:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


@handles(heartbeat.ShareGroupHeartbeatRequest)
def share_group_heartbeat(
    ctx: RequestContext, request: heartbeat.ShareGroupHeartbeatRequest
) -> heartbeat.ShareGroupHeartbeatResponse:
    """A member joins, lives or leaves."""
    check_served(ctx)
    if not request.member_id or len(request.member_id) > _MAX_MEMBER_ID:
        return heartbeat.ShareGroupHeartbeatResponse(error_code=ErrorCode.INVALID_REQUEST)
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
        reply = ctx.services.groups().ask_now(request.group_id, command, ctx.node)
    except KafkaError as error:
        return heartbeat.ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    return heartbeat.ShareGroupHeartbeatResponse(
        member_id=request.member_id,
        member_epoch=reply.member_epoch,
        heartbeat_interval_ms=reply.heartbeat_interval_ms,
        assignment=None if reply.assigned is None else _assignment(reply.assigned),
    )


def _check(request: heartbeat.ShareGroupHeartbeatRequest) -> None:
    for value, name in ((request.member_id, "MemberId"), (request.group_id, "GroupId"), (request.rack_id, "RackId")):
        if value is not None and not value.strip():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == JOIN and not request.subscribed_topic_names:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def _assignment(partitions: Partitions) -> heartbeat.Assignment:
    rows = [heartbeat.TopicPartitions(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    return heartbeat.Assignment(topic_partitions=rows)


@handles(describe.ShareGroupDescribeRequest)
def share_group_describe(
    ctx: RequestContext, request: describe.ShareGroupDescribeRequest
) -> describe.ShareGroupDescribeResponse:
    """State, epochs and members of share groups."""
    check_served(ctx)
    groups = [_describe(ctx, group_id) for group_id in sorted(request.group_ids, key=bool)]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ALL_GROUP_OPERATIONS
    return describe.ShareGroupDescribeResponse(groups=groups)


def _describe(ctx: RequestContext, group_id: str) -> describe.DescribedGroup:
    if not group_id:
        return describe.DescribedGroup(group_id="", error_code=ErrorCode.INVALID_GROUP_ID)
    try:
        group = ctx.services.groups().machine_for(group_id, ctx.node).group(group_id)
    except KafkaError as error:
        return describe.DescribedGroup(group_id=group_id, error_code=error.code)
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
        members=[_describe_member(ctx, member) for member in group.members.values()],
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
