"""The records that a consumer group consists of, written as Kafka 4.4.0 writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from odradek.broker.coordinator.group.assignment import Partitions, order_once_stored
from odradek.broker.coordinator.group.consumer.member import ClassicMember, Epochs, Member, before_all, standing
from odradek.broker.coordinator.group.consumer.regexes import ResolvedRegex
from odradek.broker.coordinator.group.records import (
    MemberKeys,
    encode_key,
    encode_known_key,
    encode_value,
    new_record,
    record_with_value,
)
from odradek.broker.coordinator.group.topics import StoredTopics
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    TopicMetadata,
)
from odradek.protocol.generated.stored.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.text_cache import text_cache


def member_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's identity and subscription."""
    value = _member_value(
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.topics,
        member.regex,
        member.rebalance_timeout_ms,
        member.server_assignor,
        member.classic,
    )
    return record_with_value(_member_keys.of(group_id, member.member_id), value, before_all(member))


@text_cache(1 << 8)
def _member_value(
    instance_id: str | None,
    rack_id: str | None,
    client_id: str,
    client_host: str,
    topics: tuple[str, ...],
    regex: str | None,
    rebalance_timeout_ms: int,
    server_assignor: str | None,
    classic: ClassicMember | None,
) -> bytes:
    """The value of that record, as stored. Most members of a group have the same."""
    metadata = None
    if classic is not None:
        protocols = [ClassicProtocol(name, offered) for name, offered in classic.protocols]
        metadata = ClassicMemberMetadata(classic.session_timeout_ms, protocols)
    return encode_value(
        ConsumerGroupMemberMetadataValue(
            instance_id=instance_id,
            rack_id=rack_id,
            client_id=client_id,
            client_host=client_host,
            subscribed_topic_names=list(topics),
            subscribed_topic_regex=regex,
            rebalance_timeout_ms=rebalance_timeout_ms,
            server_assignor=server_assignor,
            classic_member_metadata=metadata,
        )
    )


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> NewRecord:
    """The group's epoch."""
    decoded = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return record_with_value(_epoch_key(group_id), encode_value(decoded), decoded)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> NewRecord:
    """The target of one member."""
    rows = [TopicPartition(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    value = encode_value(ConsumerGroupTargetAssignmentMemberValue(rows))
    return record_with_value(_target_keys.of(group_id, member_id), value, order_once_stored(partitions))


def target_epoch_record(group_id: str, epoch: int, timestamp: int) -> NewRecord:
    """The target assignment of all is complete."""
    decoded = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp)
    return record_with_value(_target_epoch_key(group_id), encode_value(decoded), decoded)


def current_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's reconciliation."""
    assigned, revoking = _in_order(member.assigned), _in_order(member.revoking)
    if assigned is not member.assigned or revoking is not member.revoking:
        member = standing(member, member.epoch, member.previous_epoch, member.state, assigned, revoking)
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_rows(assigned),
        partitions_pending_revocation=_rows(revoking),
    )
    return record_with_value(_current_keys.of(group_id, member.member_id), encode_value(value), member)


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> NewRecord:
    """The topics that a pattern matches."""
    topics = sorted(resolved.topics)
    value = ConsumerGroupRegularExpressionValue(topics=topics, version=resolved.version, timestamp=resolved.timestamp)
    return new_record(encode_key(ConsumerGroupRegularExpressionKey(group_id, regex)), value)


def regex_tombstone(group_id: str, regex: str) -> NewRecord:
    """The record that deletes a pattern which no member uses."""
    return NewRecord(encode_key(ConsumerGroupRegularExpressionKey(group_id, regex)))


def partition_metadata_record(group_id: str, topics: StoredTopics) -> NewRecord:
    """The topics of a group, as Kafka 4.0 stores them."""
    rows = [TopicMetadata(topic_id, name, partitions) for name, (topic_id, partitions) in topics.items()]
    return new_record(
        encode_key(ConsumerGroupPartitionMetadataKey(group_id)), ConsumerGroupPartitionMetadataValue(rows)
    )


def partition_metadata_tombstone(group_id: str) -> NewRecord:
    """The record that deletes the partition metadata of Kafka 4.0, which the metadata hash has replaced."""
    return NewRecord(encode_key(ConsumerGroupPartitionMetadataKey(group_id)))


def member_tombstones(group_id: str, member_id: str) -> list[NewRecord]:
    """The records that remove one member."""
    return [NewRecord(keys.of(group_id, member_id)) for keys in (_current_keys, _target_keys, _member_keys)]


def group_tombstones(group_id: str, member_ids: Iterable[str], regexes: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group with its members."""
    ids = list(member_ids)
    return [
        *(NewRecord(_current_keys.of(group_id, member_id)) for member_id in ids),
        *(NewRecord(_target_keys.of(group_id, member_id)) for member_id in ids),
        NewRecord(_target_epoch_key(group_id)),
        *(NewRecord(_member_keys.of(group_id, member_id)) for member_id in ids),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        partition_metadata_tombstone(group_id),
        NewRecord(_epoch_key(group_id)),
    ]


@text_cache(1 << 12)
def _epoch_key(group_id: str) -> bytes:
    return encode_known_key(ConsumerGroupMetadataKey(group_id))


@text_cache(1 << 12)
def _target_epoch_key(group_id: str) -> bytes:
    return encode_known_key(ConsumerGroupTargetAssignmentMetadataKey(group_id))


_member_keys: Final = MemberKeys(ConsumerGroupMemberMetadataKey)
_target_keys: Final = MemberKeys(ConsumerGroupTargetAssignmentMemberKey)
_current_keys: Final = MemberKeys(ConsumerGroupCurrentMemberAssignmentKey)


def _in_order(epochs: Epochs) -> Epochs:
    """The same with the partitions of each topic in rising order, as they are stored."""
    for partitions in epochs.values():
        if len(partitions) > 1:
            break
    else:
        return epochs
    return {
        topic_id: partitions if len(partitions) < 2 else dict(sorted(partitions.items()))
        for topic_id, partitions in epochs.items()
    }


def _rows(epochs: Epochs) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id, list(partitions), list(partitions.values()))
        for topic_id, partitions in epochs.items()
    ]
