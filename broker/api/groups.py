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

from typing import Final

from odradek.broker.api.group_requests import may_read, require_read, visible_topics
from odradek.broker.coordinator.group.classic.group import (
    Heartbeat,
    JoinGroup,
    JoinReply,
    LeaveGroup,
    SyncGroup,
    SyncReply,
    join_refused,
)
from odradek.broker.requests.access import ByItem
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_JOIN_NULL_PROTOCOL_FROM: Final = 7
_SYNC_PROTOCOL_FROM: Final = 5
_LEAVE_BATCHED_FROM: Final = 3


@handles(
    JoinGroupRequest,
    access=ByItem((Operation.READ, Resource.GROUP)),
    differs="a second JoinGroup of a waiting member answers the first: REBALANCE_IN_PROGRESS",
)
def join_group(ctx: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse | Later:
    """Join a group; the answer comes when the join phase ends."""
    if not may_read(ctx, request.group_id):
        return _join_response(ctx, join_refused("", ErrorCode.GROUP_AUTHORIZATION_FAILED))
    session = request.session_timeout_ms
    command = JoinGroup(
        request.group_id,
        request.member_id,
        instance_id=request.group_instance_id,
        client_id=ctx.client_id or "",
        host=f"/{ctx.connection.peer_host}",
        protocol_type=request.protocol_type,
        protocols=tuple((p.name, bytes(p.metadata)) for p in request.protocols),
        session_timeout_ms=session,
        rebalance_timeout_ms=session if ctx.api_version == 0 else request.rebalance_timeout_ms,
        api_version=ctx.api_version,
        visible=visible_topics(ctx),
    )
    if not request.group_id:
        return _join_response(ctx, join_refused(request.member_id, ErrorCode.INVALID_GROUP_ID))
    try:
        reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return _join_response(ctx, join_refused("", error.code))
    return later(
        reply,
        lambda told: _join_response(ctx, told),
        lambda late: _join_response(ctx, join_refused("", late.code)),
    )


def _join_response(ctx: RequestContext, reply: JoinReply) -> JoinGroupResponse:
    protocol_name = reply.protocol_name or None
    if protocol_name is None and ctx.api_version < _JOIN_NULL_PROTOCOL_FROM:
        protocol_name = ""
    return JoinGroupResponse(
        error_code=reply.error_code,
        generation_id=reply.generation_id,
        protocol_type=reply.protocol_type,
        protocol_name=protocol_name,
        leader=reply.leader,
        skip_assignment=reply.skip_assignment,
        member_id=reply.member_id,
        members=[
            JoinGroupResponseMember(member_id=member_id, group_instance_id=instance_id, metadata=metadata)
            for member_id, instance_id, metadata in reply.members
        ],
    )


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
    command = SyncGroup(
        request.group_id,
        request.member_id,
        request.generation_id,
        instance_id=request.group_instance_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments={a.member_id: bytes(a.assignment) for a in request.assignments},
    )
    return later(ctx.services.groups().begin(request.group_id, command, ctx.node), _sync_response)


def _sync_response(reply: SyncReply) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=reply.error_code,
        protocol_type=reply.protocol_type,
        protocol_name=reply.protocol_name,
        assignment=reply.assignment,
    )


@handles(HeartbeatRequest, access=ByItem((Operation.READ, Resource.GROUP)))
def heartbeat(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | Later:
    """Keep a member's session, and learn of a rebalance."""
    require_read(ctx, request.group_id)
    _check_group_id(request.group_id)
    command = Heartbeat(request.group_id, request.member_id, request.generation_id, request.group_instance_id)
    try:
        code = ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return _refused_heartbeat(error)
    if isinstance(code, ReplySlot):
        return later(code, _told, _refused_heartbeat)
    return HeartbeatResponse(error_code=code)


def _told(code: ErrorCode) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=code)


def _refused_heartbeat(error: KafkaError) -> HeartbeatResponse:
    if error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        return HeartbeatResponse()
    return HeartbeatResponse(error_code=error.code)


@handles(LeaveGroupRequest, access=ByItem((Operation.READ, Resource.GROUP)))
def leave_group(ctx: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse | Later:
    """Leave a group, or remove members from it."""
    require_read(ctx, request.group_id)
    _check_group_id(request.group_id)
    if ctx.api_version < _LEAVE_BATCHED_FROM:
        command = LeaveGroup(request.group_id, [(request.member_id, None)])
        reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
        return later(reply, lambda codes: LeaveGroupResponse(error_code=codes[0]))
    command = LeaveGroup(request.group_id, [(m.member_id, m.group_instance_id) for m in request.members])
    reply = ctx.services.groups().begin(request.group_id, command, ctx.node)
    return later(reply, lambda codes: _left(request, codes))


def _left(request: LeaveGroupRequest, codes: list[ErrorCode]) -> LeaveGroupResponse:
    return LeaveGroupResponse(
        members=[
            MemberResponse(member_id=m.member_id, group_instance_id=m.group_instance_id, error_code=code)
            for m, code in zip(request.members, codes, strict=True)
        ]
    )


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
