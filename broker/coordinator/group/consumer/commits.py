"""Whether a member of a consumer group may commit or read offsets, by the member epoch that it names.

A commit with an older epoch is fine for partitions that the member has had since then (KIP-1251); a fetch has to name
the present one. Members of the classic protocol hear of generations instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.broker.coordinator.group.epoch_commits import (
    EPOCHS_FROM,
    check_trusting,
    committing_member,
    fetching_member,
    other_epoch,
    refuse_old_version,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.primitives import ZERO_UUID

Members = Mapping[str, Member]


def check_commit(members: Members, command: CommitOffsets) -> None:
    """OffsetCommit."""
    member = committing_member(members, command)
    if member is None:
        return
    if member.classic is None and command.api_version < EPOCHS_FROM:
        raise refuse_old_version("consumer")
    if command.generation_id != member.epoch:
        _check_age(member, command)


def check_transactional_commit(members: Members, command: TxnOffsetCommit) -> None:
    """TxnOffsetCommit."""
    check_trusting(members, command, _check_age)


def check_fetch(group_id: str, members: Members, member_id: str | None, epoch: int) -> None:
    """OffsetFetch."""
    member = fetching_member(group_id, members, member_id, epoch)
    if member is None:
        return
    if member.classic is not None:
        text = f"The received generation id {epoch} does not match the expected member epoch {member.epoch}."
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION, text)
    raise other_epoch(epoch, member)


def _check_age(member: Member, command: CommitOffsets | TxnOffsetCommit) -> None:
    """Raises unless the member has had every partition of the commit since the epoch that it names."""
    epoch = command.generation_id
    code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
    if epoch > member.epoch:
        raise KafkaError(code, f"epoch {epoch} is newer than the current member epoch {member.epoch}")
    for offset in command.offsets:
        given = None
        if offset.topic_id != ZERO_UUID:
            given = member.assigned.get(offset.topic_id, {}).get(offset.partition)
            if given is None:
                given = member.revoking.get(offset.topic_id, {}).get(offset.partition)
        if given is None or epoch < given:
            raise KafkaError(code, f"{offset.topic}-{offset.partition} was not the member's in epoch {epoch}")
