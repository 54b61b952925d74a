"""Whether a member of a streams group may commit or read offsets, by the member epoch that it names.

A commit with an older epoch is fine for source partitions of tasks that the member has had active since then
(KIP-1251); a fetch has to name the present one.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.commands import CommitOffsets, OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.group.epoch_commits import (
    EPOCHS_FROM,
    check_trusting,
    committing_member,
    fetching_member,
    other_epoch,
    refuse_old_version,
)
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.topology import Topology
from odradek.protocol.errors import ErrorCode, KafkaError


def check_commit(members: Mapping[str, Member], topology: Topology | None, command: CommitOffsets) -> None:
    """OffsetCommit."""
    member = committing_member(members, command)
    if member is None:
        return
    if command.api_version < EPOCHS_FROM:
        raise refuse_old_version("streams")
    if command.generation_id != member.epoch:
        _check_age(member, topology, command)


def check_transactional_commit(
    members: Mapping[str, Member], topology: Topology | None, command: TxnOffsetCommit
) -> None:
    """TxnOffsetCommit."""
    check_trusting(members, command, lambda member, asked: _check_age(member, topology, asked))


def check_fetch(group_id: str, members: Mapping[str, Member], member_id: str | None, epoch: int) -> None:
    """OffsetFetch."""
    member = fetching_member(group_id, members, member_id, epoch)
    if member is not None:
        raise other_epoch(epoch, member)


def _check_age(member: Member, topology: Topology | None, command: CommitOffsets | TxnOffsetCommit) -> None:
    """Raises unless the member has had the tasks of all partitions of the commit since the epoch that it names."""
    epoch = command.generation_id
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
