"""What JoinGroup and SyncGroup come to, as values; the handlers turn them into responses."""

from __future__ import annotations

from typing import NamedTuple

from odradek.protocol.errors import ErrorCode


class JoinedMember(NamedTuple):
    """A member as the leader is told of it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinReply(NamedTuple):
    """A generation as one of its members is told of it, or an error with the id that goes with it.

    `members` has all members for the leader, nobody for others. `skip_assignment`: the leader need not assign.
    """

    error_code: ErrorCode = ErrorCode.NONE
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncReply(NamedTuple):
    """The assignment of one member, or an error."""

    error_code: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


def join_refused(member_id: str, error: ErrorCode) -> JoinReply:
    """The reply to a refused JoinGroup; `member_id` is "" where Kafka does not repeat it."""
    return JoinReply(error, member_id)


def sync_refused(error: ErrorCode) -> SyncReply:
    """The reply to a refused SyncGroup."""
    return SyncReply(error)
