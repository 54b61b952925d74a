"""Whether a member of a streams group may commit or read offsets, by the member epoch that it names.

A commit with an older epoch is fine for source partitions of tasks that the member has had active since then
(KIP-1251); a fetch has to name the present one.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.commands import CommitOffsets, OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.topology import Topology
from odradek.protocol.errors import ErrorCode, KafkaError

EPOCHS_FROM = 9
"""OffsetCommit versions that know member epochs."""


def check_commit(members: Mapping[str, Member], topology: Topology | None, command: CommitOffsets) -> None:
    """OffsetCommit."""
    if command.generation_id < 0 and not members:
        return
    member = _member(command.group_id, members, command.member_id)
    if command.api_version < EPOCHS_FROM:
        text = "OffsetCommit version 9 or above must be used by members using the streams group protocol"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
    _check_epoch(member, topology, command)


def check_transactional_commit(
    members: Mapping[str, Member], topology: Topology | None, command: TxnOffsetCommit
) -> None:
    """TxnOffsetCommit; producers that name no member are trusted."""
    if command.generation_id < 0 and not members:
        return
    if command.generation_id == -1 and not command.member_id and command.instance_id is None:
        return
    member = _member(command.group_id, members, command.member_id)
    try:
        _check_epoch(member, topology, command)
    except KafkaError as error:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from error


def check_fetch(group_id: str, members: Mapping[str, Member], member_id: str | None, epoch: int) -> None:
    """OffsetFetch."""
    if member_id is None and epoch < 0:
        return
    member = _member(group_id, members, member_id)
    if epoch != member.epoch:
        text = f"The received member epoch {epoch} does not match the expected member epoch {member.epoch}."
        raise _stale(text)


def _member(group_id: str, members: Mapping[str, Member], member_id: str | None) -> Member:
    member = None if member_id is None else members.get(member_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")
    return member


def _check_epoch(member: Member, topology: Topology | None, command: CommitOffsets | TxnOffsetCommit) -> None:
    epoch = command.generation_id
    if epoch == member.epoch:
        return
    if epoch > member.epoch:
        raise _stale(f"Received member epoch {epoch} is newer than current member epoch {member.epoch}.")
    if topology is None:
        raise _stale("Topology is not available for offset commit validation.")
    readers = topology.readers()
    for offset in command.offsets:
        _check_task(member, readers, offset, epoch)


def _check_task(member: Member, readers: Mapping[str, str], offset: OffsetToCommit, epoch: int) -> None:
    subtopology = readers.get(offset.topic)
    if subtopology is None:
        raise _stale(f"Topic {offset.topic} is not in the topology.")
    task = f"{subtopology}-{offset.partition}"
    given = member.assigned.active.get(subtopology, {}).get(offset.partition)
    if given is None:
        given = member.revoking.active.get(subtopology, {}).get(offset.partition)
    if given is None:
        raise _stale(f"Task {task} is not assigned or pending revocation for member.")
    if epoch < given:
        raise _stale(f"Received member epoch {epoch} is older than assignment epoch {given} for task {task}.")


def _stale(text: str) -> KafkaError:
    return KafkaError(ErrorCode.STALE_MEMBER_EPOCH, text)
