"""The timers of a member, by their keys."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from odradek.broker.coordinator.group.consumer.commands import FenceMember
from odradek.broker.runtime.machine import Schedule


def session_key(group_id: str, member_id: str) -> Hashable:
    """Its session: runs anew with each heartbeat."""
    return ("consumer session", group_id, member_id)


@lru_cache(maxsize=1 << 12)
def session(group_id: str, member_id: str, timeout_ms: int) -> Schedule:
    """Let it begin. The same effect each time: every heartbeat has one, and nobody changes it."""
    return Schedule(session_key(group_id, member_id), timeout_ms, FenceMember(group_id, member_id))


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
