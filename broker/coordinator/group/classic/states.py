"""The states of a classic group: what each request gets in each of them, and where each can lead.

Source: Kafka's group protocol as amended by KIP-134 (initial delay), KIP-345 (static members), KIP-394 (member ids) and
KIP-447 (transactional commits), and the observed behaviour of Kafka 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class GroupState(Enum):
    """The names that DescribeGroups and ListGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY = GroupState.EMPTY
PREPARING_REBALANCE = GroupState.PREPARING_REBALANCE
COMPLETING_REBALANCE = GroupState.COMPLETING_REBALANCE
STABLE = GroupState.STABLE
DEAD = GroupState.DEAD

TRANSITIONS: Mapping[GroupState, Mapping[GroupState, str]] = {
    EMPTY: {
        PREPARING_REBALANCE: "a member joins",
        DEAD: "the group is deleted, or expires with its last offset",
    },
    PREPARING_REBALANCE: {
        COMPLETING_REBALANCE: "all members have joined, or the time to join is over and some have",
        EMPTY: "all members are gone",
    },
    COMPLETING_REBALANCE: {
        STABLE: "the leader's assignment is stored",
        PREPARING_REBALANCE: "a member joins, leaves, fails, or does not sync in time; the assignment is refused",
    },
    STABLE: {
        PREPARING_REBALANCE: "a member joins, leaves or fails; the leader joins again; a subscription changes",
    },
    DEAD: {},
}
"""From each state: the states that may follow it, and why. Anything else is a bug.

When the coordinator moves, a group leaves no state: the next coordinator finds it Empty or Stable in the log.
"""

ACTIONS: Mapping[GroupState, Mapping[str, str]] = {
    EMPTY: {
        "JoinGroup": "unknown member: added (or told its member id first), a rebalance begins; known member id: "
        "UNKNOWN_MEMBER_ID unless it was given out before",
        "SyncGroup": "UNKNOWN_MEMBER_ID",
        "Heartbeat": "UNKNOWN_MEMBER_ID",
        "LeaveGroup": "UNKNOWN_MEMBER_ID",
        "OffsetCommit": "stored if it names no generation, else UNKNOWN_MEMBER_ID",
        "TxnOffsetCommit": "stored as pending if it names no generation, else UNKNOWN_MEMBER_ID",
        "OffsetDelete": "deleted",
        "DeleteGroups": "deleted, with its offsets",
    },
    PREPARING_REBALANCE: {
        "JoinGroup": "answered when the join phase ends",
        "SyncGroup": "REBALANCE_IN_PROGRESS",
        "Heartbeat": "REBALANCE_IN_PROGRESS, and the session goes on",
        "LeaveGroup": "removed; may end the join phase",
        "OffsetCommit": "stored for the generation that ends",
        "TxnOffsetCommit": "stored as pending",
        "OffsetDelete": "NON_EMPTY_GROUP, or GROUP_SUBSCRIBED_TO_TOPIC for topics of a consumer group",
        "DeleteGroups": "NON_EMPTY_GROUP",
    },
    COMPLETING_REBALANCE: {
        "JoinGroup": "known and unchanged: told the generation again; else a rebalance begins",
        "SyncGroup": "answered when the leader's assignment is stored",
        "Heartbeat": "NONE",
        "LeaveGroup": "removed, a rebalance begins",
        "OffsetCommit": "REBALANCE_IN_PROGRESS",
        "TxnOffsetCommit": "stored as pending",
        "OffsetDelete": "as in PreparingRebalance",
        "DeleteGroups": "NON_EMPTY_GROUP",
    },
    STABLE: {
        "JoinGroup": "unchanged follower: told the generation again; known static member with a new id: takes its "
        "place; else a rebalance begins",
        "SyncGroup": "the member's assignment",
        "Heartbeat": "NONE",
        "LeaveGroup": "removed, a rebalance begins",
        "OffsetCommit": "stored, and the session goes on",
        "TxnOffsetCommit": "stored as pending",
        "OffsetDelete": "as in PreparingRebalance",
        "DeleteGroups": "NON_EMPTY_GROUP",
    },
    DEAD: dict.fromkeys(
        (
            "JoinGroup",
            "SyncGroup",
            "Heartbeat",
            "LeaveGroup",
            "OffsetCommit",
            "TxnOffsetCommit",
            "OffsetDelete",
            "DeleteGroups",
        ),
        "cannot be met: a dead group is not found any more",
    ),
}
"""What each request gets in each state, given valid ids and generation."""

CAN_REBALANCE = frozenset({EMPTY, COMPLETING_REBALANCE, STABLE})
"""The states that a rebalance can begin in."""
