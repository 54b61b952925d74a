"""JoinGroup (11), Heartbeat (12), LeaveGroup (13), SyncGroup (14): membership in groups of the classic protocol.

JoinGroup 0 to 9: v1 has a rebalance timeout; from v4 a new member is told its id first (KIP-394); v5 has static members
(KIP-345); v7 returns the protocol type (KIP-559); v8 has a reason (KIP-800); v9 lets a static leader skip assigning
(KIP-814). SyncGroup 0 to 5: v3 static members; v5 names protocol type and name, which must be the group's.
Heartbeat 0 to 4: v3 static members. LeaveGroup 0 to 5: v3 removes several members, also by instance id; v5 reason.

The rules are the group coordinator's (`odradek.broker.coordinator.group`). JoinGroup and SyncGroup wait for the other
members. While the coordinator loads, Heartbeat gets NONE.
Difference from Kafka: a JoinGroup or SyncGroup that the same member sends again while the first one waits makes the
first one answered with REBALANCE_IN_PROGRESS (Kafka never answers it).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from odradek.broker.api.group_requests import may_read, require_read, sender_of
from odradek.broker.coordinator.group.classic.group import (
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
    join_refused,
)
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, awaited, later
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupResponse
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_JOIN_NULL_PROTOCOL_FROM: Final = 7
_SYNC_PROTOCOL_FROM: Final = 5


@handles(
    JoinGroupRequest,
    access=ByItem((Operation.READ, Resource.GROUP)),
    differs="a second JoinGroup of a waiting member answers the first: REBALANCE_IN_PROGRESS",
)
def join_group(ctx: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse | Later:
    """Join a group; the answer comes when the join phase ends."""
    if not may_read(ctx, request.group_id):
        return _joined(ctx, join_refused("", ErrorCode.GROUP_AUTHORIZATION_FAILED))
    if not request.group_id:
        return _joined(ctx, join_refused(request.member_id, ErrorCode.INVALID_GROUP_ID))
    command = JoinGroup(request, sender_of(ctx))
    try:
        reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return _join_refused(ctx, error)
    return later(reply, partial(_joined, ctx), partial(_join_refused, ctx))


def _joined(ctx: RequestContext, response: JoinGroupResponse) -> JoinGroupResponse:
    if not response.protocol_name:
        response.protocol_name = "" if ctx.api_version < _JOIN_NULL_PROTOCOL_FROM else None
    return response


def _join_refused(ctx: RequestContext, error: KafkaError) -> JoinGroupResponse:
    return _joined(ctx, join_refused("", error.code))


@handles(
    SyncGroupRequest,
    access=ByItem((Operation.READ, Resource.GROUP)),
    differs="a second SyncGroup of a waiting member answers the first: REBALANCE_IN_PROGRESS",
)
def sync_group(ctx: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse | Later:
    """Bring (leader) and get the assignment; the answer comes when the leader has brought it."""
    named = request.protocol_type is not None and request.protocol_name is not None
    if ctx.api_version >= _SYNC_PROTOCOL_FROM and not named:
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    require_read(ctx, request.group_id)
    _check_group_id(request.group_id)
    return awaited(ctx.services.groups().begin(request.group_id, SyncGroup(request), ctx.node))


@handles(HeartbeatRequest, access=ByItem((Operation.READ, Resource.GROUP)))
def heartbeat(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | Later:
    """Keep a member's session, and learn of a rebalance."""
    require_read(ctx, request.group_id)
    _check_group_id(request.group_id)
    try:
        reply = ctx.services.groups().begin(request.group_id, Heartbeat(request), ctx.node)
    except KafkaError as error:
        return _refused_heartbeat(error)
    return awaited(reply, _refused_heartbeat)


def _refused_heartbeat(error: KafkaError) -> HeartbeatResponse:
    if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return HeartbeatResponse()
    return HeartbeatResponse(error_code=error.code)


@handles(LeaveGroupRequest, access=ByItem((Operation.READ, Resource.GROUP)))
def leave_group(ctx: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse | Later:
    """Leave a group, or remove members from it."""
    require_read(ctx, request.group_id)
    _check_group_id(request.group_id)
    return awaited(ctx.services.groups().begin(request.group_id, LeaveGroup(request, ctx.api_version), ctx.node))


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
