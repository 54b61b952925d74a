"""The keys of the timers of streams groups."""

from __future__ import annotations

from collections.abc import Hashable


def session_key(group_id: str, member_id: str) -> Hashable:
    """When the member is dropped because nothing is heard of it."""
    return ("streams session", group_id, member_id)


def rebalance_key(group_id: str, member_id: str) -> Hashable:
    """When the member is dropped because it has not given up its tasks."""
    return ("streams rebalance", group_id, member_id)


def initial_delay_key(group_id: str) -> Hashable:
    """When a new group gets its first assignment."""
    return ("streams initial rebalance", group_id)


def member_timers(group_id: str, member_id: str) -> tuple[Hashable, ...]:
    """All timers of a member."""
    return (session_key(group_id, member_id), rebalance_key(group_id, member_id))
