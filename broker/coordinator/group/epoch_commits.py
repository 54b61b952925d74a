"""Whether a member in an epoch may commit or read offsets: what is the same for all kinds of groups that have epochs.

A commit with an older epoch is fine for what the member has had since then (KIP-1251); a fetch has to name the present
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.epoch_group import EpochMember, known_member
from odradek.protocol.errors import ErrorCode, KafkaError

EPOCHS_FROM = 9
"""OffsetCommit versions that know member epochs."""

M = TypeVar("M", bound=EpochMember)
CheckAge = Callable[[M, CommitOffsets | TxnOffsetCommit], None]
"""Raises unless the member may commit all this with the epoch that the command names, which is not its own."""


def committing_member(members: Mapping[str, M], command: CommitOffsets | TxnOffsetCommit) -> M | None:
    """The member that commits; None where an administrator commits for a group without members."""
    if command.generation_id < 0 and not members:
        return None
    return known_member(command.group_id, members, command.member_id)


def refuse_old_version(protocol: str) -> KafkaError:
    """What a member hears that uses an OffsetCommit without epochs."""
    text = f"OffsetCommit version 9 or above must be used by members using the {protocol} group protocol"
    return KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)


def check_trusting(members: Mapping[str, M], command: TxnOffsetCommit, check_age: CheckAge[M]) -> None:
    """TxnOffsetCommit; producers that name no member are trusted."""
    if command.generation_id == -1 and not command.member_id and command.instance_id is None:
        return
    member = committing_member(members, command)
    if member is None or command.generation_id == member.epoch:
        return
    try:
        check_age(member, command)
    except KafkaError as error:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from error


def fetching_member(group_id: str, members: Mapping[str, M], member_id: str | None, epoch: int) -> M | None:
    """The member that fetches in another epoch than its own; None where all is well."""
    if member_id is None and epoch < 0:
        return None
    member = known_member(group_id, members, member_id)
    return None if epoch == member.epoch else member


def other_epoch(epoch: int, member: EpochMember) -> KafkaError:
    """What a member hears that fetches in an epoch that is not its own."""
    text = f"The received member epoch {epoch} does not match the expected member epoch {member.epoch}."
    return KafkaError(ErrorCode.STALE_MEMBER_EPOCH, text)
