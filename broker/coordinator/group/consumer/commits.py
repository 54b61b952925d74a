"""Whether a member of a consumer group may commit or read offsets, by the member epoch that it names.

A commit with an older epoch is fine for partitions that the member has had since then (KIP-1251); a fetch has to name
the present one. Members of the classic protocol hear of generations instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.primitives import ZERO_UUID

EPOCHS_FROM = 9
"""OffsetCommit versions that know member epochs; members of the consumer protocol have to use one of them."""

Members = Mapping[str, Member]


def check_commit(members: Members, command: CommitOffsets) -> None:
    """OffsetCommit."""
    epoch = command.generation_id
    if epoch < 0 and not members:
        return
    member = _member(command.group_id, members, command.member_id)
    if member.classic is None and command.api_version < EPOCHS_FROM:
        text = "OffsetCommit version 9 or above must be used by members using the consumer group protocol"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
    if epoch != member.epoch:
        _check_age(member, epoch, command)


def check_transactional_commit(members: Members, command: TxnOffsetCommit) -> None:
    """TxnOffsetCommit; producers that name no member are trusted."""
    epoch = command.generation_id
    if epoch < 0 and not members:
        return
    if epoch == -1 and not command.member_id and command.instance_id is None:
        return
    member = _member(command.group_id, members, command.member_id)
    if epoch == member.epoch:
        return
    try:
        _check_age(member, epoch, command)
    except KafkaError as error:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from error


def check_fetch(group_id: str, members: Members, member_id: str | None, epoch: int) -> None:
    """OffsetFetch."""
    if member_id is None and epoch < 0:
        return
    member = _member(group_id, members, member_id)
    if epoch == member.epoch:
        return
    if member.classic is not None:
        text = f"The received generation id {epoch} does not match the expected member epoch {member.epoch}."
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION, text)
    text = f"The received member epoch {epoch} does not match the expected member epoch {member.epoch}."
    raise KafkaError(ErrorCode.STALE_MEMBER_EPOCH, text)


def _member(group_id: str, members: Members, member_id: str | None) -> Member:
    member = None if member_id is None else members.get(member_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")
    return member


def _check_age(member: Member, epoch: int, command: CommitOffsets | TxnOffsetCommit) -> None:
    """Raises unless the member has had every partition of the commit since ``epoch``, which is not its own."""
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
