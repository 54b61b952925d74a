"""The replies of refused requests."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.commands import join_refused, sync_refused
from odradek.protocol.errors import ErrorCode


def test_a_refused_join_names_no_generation_and_no_protocol() -> None:
    reply = join_refused("m", ErrorCode.UNKNOWN_MEMBER_ID)
    assert (reply.error_code, reply.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "m")
    assert (reply.generation_id, reply.protocol_type, reply.protocol_name, reply.leader) == (-1, None, None, "")
    assert reply.members == ()
    assert not reply.skip_assignment


def test_a_refused_sync_has_no_assignment() -> None:
    reply = sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)
    assert (reply.error_code, reply.assignment) == (ErrorCode.REBALANCE_IN_PROGRESS, b"")
    assert (reply.protocol_type, reply.protocol_name) == (None, None)
