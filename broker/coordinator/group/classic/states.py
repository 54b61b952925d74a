"""The states of a classic group: what each request gets in each of them, and where each can lead.

This table is the only place that says so: the decisions look up their answers here, and README.md shows it. Sources:
Kafka's group protocol as amended by KIP-134 (initial delay), KIP-345 (static members), KIP-394 (member ids), KIP-447
(transactional commits) and KIP-814 (a static leader that comes back), and the answers of Apache Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from odradek.protocol.errors import ErrorCode


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


class JoinAction(Enum):
    """The results of JoinGroup."""

    JOIN = "joins; a rebalance begins"
    JOIN_PHASE = "joins"
    TELL_AGAIN = "told its generation again"
    TAKE_PLACE = "takes its place; with another protocol a rebalance begins"
    UNKNOWN = "UNKNOWN_MEMBER_ID"


class SyncAction(Enum):
    """The results of SyncGroup, after the member and the generation are checked."""

    STORE = "the assignment is stored and handed out"
    WAIT = "waits for the leader"
    GIVE = "its assignment"
    REJOIN = "REBALANCE_IN_PROGRESS"
    UNKNOWN = "UNKNOWN_MEMBER_ID"


class DepartureAction(Enum):
    """The consequences of members that leave or fail."""

    NOTHING = "nothing"
    LOOK = "the join phase may end"
    REBALANCE = "a rebalance begins"


class CommitAction(Enum):
    """The results of OffsetCommit, after the member and the generation are checked."""

    STORE = "stored, of anybody"
    STORE_AND_BEAT = "stored, and the session goes on"
    REJOIN = "REBALANCE_IN_PROGRESS"


class DeletionAction(Enum):
    """The results of DeleteGroups and OffsetDelete."""

    DELETE = "deleted"
    REFUSE = "NON_EMPTY_GROUP"
    REFUSE_SUBSCRIBED = "GROUP_SUBSCRIBED_TO_TOPIC; NON_EMPTY_GROUP where members are no consumers"


class JoinActions(NamedTuple):
    """The results of JoinGroup by the kind of member.

    `new`: without an id, or with one that it was just given. `returning`: a static member without its id. `follower`
    and `leader`: members with unchanged protocols. `changed`: a member with other protocols.
    """

    new: JoinAction
    returning: JoinAction
    follower: JoinAction
    leader: JoinAction
    changed: JoinAction

    def of_member(self, *, leads: bool, unchanged: bool) -> JoinAction:
        """The action for a member that shows its id."""
        if not unchanged:
            return self.changed
        return self.leader if leads else self.follower


class StateRules(NamedTuple):
    """The rules of one state.

    `heartbeat`: the result of Heartbeat, after the member and the generation are checked; the session restarts. An
    empty group has no members: requests that name one are refused before, and `commit` is for those that name none.
    TxnOffsetCommit is stored in every state. `next`: the states that may follow, with the reason; any other one is a
    bug. No state is left when the coordinator moves: the next one finds the group Empty or Stable in the log.
    """

    join: JoinActions
    sync_leader: SyncAction
    sync_follower: SyncAction
    heartbeat: ErrorCode
    departure: DepartureAction
    commit: CommitAction
    delete: DeletionAction
    delete_offsets: DeletionAction
    next: Mapping[GroupState, str]


_J = JoinAction

RULES: Mapping[GroupState, StateRules] = {
    EMPTY: StateRules(
        join=JoinActions(new=_J.JOIN, returning=_J.JOIN, follower=_J.UNKNOWN, leader=_J.UNKNOWN, changed=_J.UNKNOWN),
        sync_leader=SyncAction.UNKNOWN,
        sync_follower=SyncAction.UNKNOWN,
        heartbeat=ErrorCode.UNKNOWN_MEMBER_ID,
        departure=DepartureAction.NOTHING,
        commit=CommitAction.STORE,
        delete=DeletionAction.DELETE,
        delete_offsets=DeletionAction.DELETE,
        next={
            PREPARING_REBALANCE: "a member joins",
            DEAD: "the group is deleted, or expires with its last offset",
        },
    ),
    PREPARING_REBALANCE: StateRules(
        join=JoinActions(
            new=_J.JOIN_PHASE,
            returning=_J.JOIN_PHASE,
            follower=_J.JOIN_PHASE,
            leader=_J.JOIN_PHASE,
            changed=_J.JOIN_PHASE,
        ),
        sync_leader=SyncAction.REJOIN,
        sync_follower=SyncAction.REJOIN,
        heartbeat=ErrorCode.REBALANCE_IN_PROGRESS,
        departure=DepartureAction.LOOK,
        commit=CommitAction.STORE_AND_BEAT,
        delete=DeletionAction.REFUSE,
        delete_offsets=DeletionAction.REFUSE_SUBSCRIBED,
        next={
            COMPLETING_REBALANCE: "all members have joined, or the time to join is over and some have",
            EMPTY: "all members are gone",
        },
    ),
    COMPLETING_REBALANCE: StateRules(
        join=JoinActions(new=_J.JOIN, returning=_J.JOIN, follower=_J.TELL_AGAIN, leader=_J.TELL_AGAIN, changed=_J.JOIN),
        sync_leader=SyncAction.STORE,
        sync_follower=SyncAction.WAIT,
        heartbeat=ErrorCode.NONE,
        departure=DepartureAction.REBALANCE,
        commit=CommitAction.REJOIN,
        delete=DeletionAction.REFUSE,
        delete_offsets=DeletionAction.REFUSE_SUBSCRIBED,
        next={
            STABLE: "the leader's assignment is stored",
            PREPARING_REBALANCE: "a member joins, leaves, fails, or does not sync in time; the assignment is refused",
        },
    ),
    STABLE: StateRules(
        join=JoinActions(new=_J.JOIN, returning=_J.TAKE_PLACE, follower=_J.TELL_AGAIN, leader=_J.JOIN, changed=_J.JOIN),
        sync_leader=SyncAction.GIVE,
        sync_follower=SyncAction.GIVE,
        heartbeat=ErrorCode.NONE,
        departure=DepartureAction.REBALANCE,
        commit=CommitAction.STORE_AND_BEAT,
        delete=DeletionAction.REFUSE,
        delete_offsets=DeletionAction.REFUSE_SUBSCRIBED,
        next={
            PREPARING_REBALANCE: "a member joins, leaves or fails; the leader joins again; a subscription changes",
        },
    ),
}
"""No request sees a group in DEAD, because it is no longer found."""
