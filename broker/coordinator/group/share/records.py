"""The records that a share group consists of in `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.records import encode_key, new_record
from odradek.broker.coordinator.group.share.members import ShareMember, TopicStates
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored import share_group_current_member_assignment as current
from odradek.protocol.generated.stored import share_group_state_partition_metadata as states
from odradek.protocol.generated.stored import share_group_target_assignment_member as target
from odradek.protocol.generated.stored.share_group_member_metadata import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from odradek.protocol.generated.stored.share_group_metadata import ShareGroupMetadataKey, ShareGroupMetadataValue
from odradek.protocol.generated.stored.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.message import CoordinatorRecord


def member_record(group_id: str, member: ShareMember) -> NewRecord:
    """Who a member is and what it subscribes to."""
    value = ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
    )
    return _record(ShareGroupMemberMetadataKey(group_id, member.member_id), value)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> NewRecord:
    """The group's epoch, and the hash of the topics from which it was decided."""
    return _record(ShareGroupMetadataKey(group_id), ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash))


def target_record(group_id: str, member_id: str, partitions: Partitions) -> NewRecord:
    """What a member is to have."""
    rows = [target.TopicPartition(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    return _record(
        target.ShareGroupTargetAssignmentMemberKey(group_id, member_id),
        target.ShareGroupTargetAssignmentMemberValue(topic_partitions=rows),
    )


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> NewRecord:
    """Of which epoch the target assignment is, and when it was computed."""
    return _record(
        ShareGroupTargetAssignmentMetadataKey(group_id),
        ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=now_ms),
    )


def current_record(group_id: str, member: ShareMember) -> NewRecord:
    """What a member has, and its epochs."""
    rows = [current.TopicPartitions(topic_id, list(indexes)) for topic_id, indexes in member.assigned.items()]
    value = current.ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=0,
        assigned_partitions=rows,
    )
    return _record(current.ShareGroupCurrentMemberAssignmentKey(group_id, member.member_id), value)


def states_record(
    group_id: str,
    initializing: Mapping[bytes, TopicStates],
    initialized: Mapping[bytes, TopicStates],
    deleting: Mapping[bytes, str],
) -> NewRecord:
    """Which share partitions the share coordinator stores, or begins or ceases to."""
    value = states.ShareGroupStatePartitionMetadataValue(
        initializing_topics=_topic_rows(initializing),
        initialized_topics=_topic_rows(initialized),
        deleting_topics=[states.TopicInfo(topic_id, name) for topic_id, name in deleting.items()],
    )
    return _record(states.ShareGroupStatePartitionMetadataKey(group_id), value)


def member_tombstones(group_id: str, member_id: str) -> list[NewRecord]:
    """A member is gone."""
    return [
        _tombstone(current.ShareGroupCurrentMemberAssignmentKey(group_id, member_id)),
        _tombstone(target.ShareGroupTargetAssignmentMemberKey(group_id, member_id)),
        _tombstone(ShareGroupMemberMetadataKey(group_id, member_id)),
    ]


def group_tombstones(group_id: str, members: Sequence[str]) -> list[NewRecord]:
    """A group is gone, with its members if it has any."""
    return [
        *(_tombstone(current.ShareGroupCurrentMemberAssignmentKey(group_id, member)) for member in members),
        *(_tombstone(target.ShareGroupTargetAssignmentMemberKey(group_id, member)) for member in members),
        _tombstone(ShareGroupTargetAssignmentMetadataKey(group_id)),
        *(_tombstone(ShareGroupMemberMetadataKey(group_id, member)) for member in members),
        _tombstone(states.ShareGroupStatePartitionMetadataKey(group_id)),
        _tombstone(ShareGroupMetadataKey(group_id)),
    ]


def _topic_rows(topics: Mapping[bytes, TopicStates]) -> list[states.TopicPartitionsInfo]:
    return [states.TopicPartitionsInfo(topic_id, row.name, sorted(row.partitions)) for topic_id, row in topics.items()]


def _record(key: CoordinatorRecord, value: CoordinatorRecord) -> NewRecord:
    return new_record(encode_key(key), value)


def _tombstone(key: CoordinatorRecord) -> NewRecord:
    return NewRecord(encode_key(key))


def topic_states(rows: Iterable[states.TopicPartitionsInfo]) -> dict[bytes, TopicStates]:
    """The rows of a stored record by topic id."""
    return {row.topic_id: TopicStates(row.topic_name, frozenset(row.partitions)) for row in rows}
