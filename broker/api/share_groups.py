"""ShareGroupHeartbeat (76) and ShareGroupDescribe (77): version 1 (KIP-932).

A member chooses its id, joins with epoch 0, goes on with the epoch it was told and leaves with -1. The rules are the
group coordinator's (`odradek.broker.coordinator.group.share`).
"""

from __future__ import annotations

from functools import partial

from odradek.broker.api.group_admin import describe_groups_of_kind, require_topics
from odradek.broker.api.group_requests import check_text, invalid, require_read, sender_of
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.coordinator.group.epoch_group import JOINING, LEAVING
from odradek.broker.coordinator.group.share.group import (
    ShareGroup,
    ShareGroupHeartbeat,
    ShareMember,
)
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, awaited
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
    try:
        _check(request)
        command = ShareGroupHeartbeat(request, sender_of(ctx))
        reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return _refused_heartbeat(error)
    return awaited(reply, _refused_heartbeat)


def _refused_heartbeat(error: KafkaError) -> heartbeat.ShareGroupHeartbeatResponse:
    return heartbeat.ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)


def _check(request: heartbeat.ShareGroupHeartbeatRequest) -> None:
    check_text(request.member_id, "MemberId")
    check_text(request.group_id, "GroupId")
    check_text(request.rack_id, "RackId")
    if request.member_epoch == JOINING and not request.subscribed_topic_names:
        raise invalid("SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVING:
        raise invalid("MemberEpoch is invalid.")


@handles(
    describe.ShareGroupDescribeRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
    large_answers_from=0,
)
def share_group_describe(
    ctx: RequestContext, request: describe.ShareGroupDescribeRequest
) -> describe.ShareGroupDescribeResponse:
    """State, epochs and members of share groups."""
    check_served(ctx)
    groups = describe_groups_of_kind(
        ctx,
        request,
        ShareGroup,
        describe.DescribedGroup,
        partial(_describe, ctx),
        _assigned_topics,
        texts=COORDINATOR_TEXTS,
    )
    return describe.ShareGroupDescribeResponse(groups=groups)


def _assigned_topics(group: describe.DescribedGroup) -> set[str]:
    return {row.topic_name for member in group.members for row in member.assignment.topic_partitions}


def _describe(ctx: RequestContext, group: ShareGroup) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group.group_id,
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
