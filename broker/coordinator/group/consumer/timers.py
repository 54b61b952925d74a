"""The timers of a member, by their keys."""

from __future__ import annotations

from collections.abc import Hashable


def session_key(group_id: str, member_id: str) -> Hashable:
    """Its session: runs anew with each heartbeat."""
    return ("consumer session", group_id, member_id)


def rebalance_key(group_id: str, member_id: str) -> Hashable:
    """The time that it has to give up partitions."""
    return ("consumer rebalance", group_id, member_id)


def join_key(group_id: str, member_id: str) -> Hashable:
    """The time that a classic member has to join again once it was told to."""
    return ("consumer join", group_id, member_id)


def sync_key(group_id: str, member_id: str) -> Hashable:
    """The time that a classic member has to sync once it has joined."""
    return ("consumer sync", group_id, member_id)


def member_timers(group_id: str, member_id: str) -> tuple[Hashable, ...]:
    """All of them."""
    return (
        session_key(group_id, member_id),
        rebalance_key(group_id, member_id),
        join_key(group_id, member_id),
        sync_key(group_id, member_id),
    )
