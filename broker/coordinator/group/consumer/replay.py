"""Applies each record of a consumer group to the group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from odradek.broker.coordinator.group.assignment import Partitions, stored_order
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import (
    LEAVING,
    NOTHING,
    ClassicMember,
    Epochs,
    Member,
    MemberState,
    as_far_as,
    sorted_names,
    standing,
)
from odradek.broker.coordinator.group.consumer.regexes import ResolvedRegex
from odradek.broker.coordinator.group.records import decode_value, known_key, record_type_of, value_of
from odradek.broker.runtime.machine import LogRecord, NewRecord
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
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
)
from odradek.protocol.generated.stored.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.message import CoordinatorRecord

Written = NewRecord | LogRecord

DELETES_GROUP: Final = ConsumerGroupMetadataKey.RECORD_TYPE
"""The record type whose tombstone ends a group."""
CHANGE_TOPICS: Final = (ConsumerGroupMemberMetadataKey.RECORD_TYPE, ConsumerGroupRegularExpressionKey.RECORD_TYPE)
"""The record types that may change which topics a group subscribes to."""


def applied(group_id: str, records: Sequence[NewRecord]) -> ConsumerGroup:
    """The group that these records make."""
    group = ConsumerGroup(group_id)
    for record in records:
        known = REPLAYS.get(record_type_of(record.key))
        if known is not None:
            key_class, change = known
            change(group, known_key(key_class, record.key), record)
    return group


def _apply_member(group: ConsumerGroup, key: Any, record: Written) -> None:
    member_id: str = key.member_id
    if record.value is None:
        group.remove_member(member_id)
        return
    decoded: Member = record.decoded or _read_member(member_id, record.value)
    present = group.members.get(member_id)
    if present is not None:
        decoded = as_far_as(decoded, present)
    group.put_member(decoded)


def _read_member(member_id: str, value: bytes) -> Member:
    """The member without any assignment yet."""
    decoded = decode_value(ConsumerGroupMemberMetadataValue, value)
    classic = None
    if decoded.classic_member_metadata is not None:
        protocols = tuple((p.name, bytes(p.metadata)) for p in decoded.classic_member_metadata.supported_protocols)
        classic = ClassicMember(decoded.classic_member_metadata.session_timeout_ms, protocols)
    return Member(
        member_id,
        instance_id=decoded.instance_id,
        rack_id=decoded.rack_id,
        client_id=decoded.client_id,
        client_host=decoded.client_host,
        topics=sorted_names(decoded.subscribed_topic_names),
        regex=decoded.subscribed_topic_regex,
        rebalance_timeout_ms=decoded.rebalance_timeout_ms,
        server_assignor=decoded.server_assignor,
        classic=classic,
    )


def _apply_epoch(group: ConsumerGroup, key: Any, record: Written) -> None:
    decoded = value_of(ConsumerGroupMetadataValue, record)
    if decoded is not None:
        group.set_epoch(decoded.epoch, decoded.metadata_hash)


def _apply_partition_metadata(group: ConsumerGroup, key: Any, record: Written) -> None:
    decoded = value_of(ConsumerGroupPartitionMetadataValue, record)
    topics = None
    if decoded is not None:
        topics = {topic.topic_name: (topic.topic_id, topic.num_partitions) for topic in decoded.topics}
    group.stored_topics = topics


def _apply_target(group: ConsumerGroup, key: Any, record: Written) -> None:
    member_id: str = key.member_id
    if record.value is None:
        group.target.remove(member_id)
        return
    partitions: Partitions | None = record.decoded
    if partitions is None:
        rows = decode_value(ConsumerGroupTargetAssignmentMemberValue, record.value).topic_partitions
        partitions = stored_order({row.topic_id: row.partitions for row in rows})
    group.target.set(member_id, partitions)


def _apply_target_epoch(group: ConsumerGroup, key: Any, record: Written) -> None:
    decoded = value_of(ConsumerGroupTargetAssignmentMetadataValue, record)
    if decoded is None:
        group.set_assignment(-1, 0)
    else:
        group.set_assignment(decoded.assignment_epoch, decoded.assignment_timestamp)


def _apply_current(group: ConsumerGroup, key: Any, record: Written) -> None:
    member_id: str = key.member_id
    present = group.members.get(member_id)
    if record.value is None:
        if present is not None:
            gone = standing(present, LEAVING, LEAVING, present.state, NOTHING, NOTHING)
            group.put_member(gone)
        return
    decoded: Member = record.decoded or _read_current(member_id, record.value)
    group.put_member(as_far_as(present or Member(member_id), decoded))


def _read_current(member_id: str, value: bytes) -> Member:
    """A member with the fields of this record only."""
    decoded = decode_value(ConsumerGroupCurrentMemberAssignmentValue, value)
    return Member(
        member_id,
        epoch=decoded.member_epoch,
        previous_epoch=decoded.previous_member_epoch,
        state=_STATES.get(decoded.state, MemberState.UNKNOWN),
        assigned=_epochs(decoded.assigned_partitions, decoded.member_epoch),
        revoking=_epochs(decoded.partitions_pending_revocation, decoded.member_epoch),
    )


def _epochs(rows: Iterable[TopicPartitions], member_epoch: int) -> Epochs:
    """The epochs of partitions; older brokers stored none, so the member's own epoch takes their place."""
    epochs: Epochs = {}
    for row in rows:
        since = row.assignment_epochs
        if since is None or len(since) != len(row.partitions):
            since = [max(member_epoch, 0)] * len(row.partitions)
        epochs[row.topic_id] = dict(zip(row.partitions, since, strict=True))
    return epochs


def _apply_regex(group: ConsumerGroup, key: Any, record: Written) -> None:
    regex: str = key.regular_expression
    decoded = value_of(ConsumerGroupRegularExpressionValue, record)
    if decoded is None:
        group.set_regex(regex, None)
    else:
        group.set_regex(regex, ResolvedRegex(frozenset(decoded.topics), decoded.version, decoded.timestamp))


_STATES = {int(state): state for state in MemberState}
Change = Callable[[ConsumerGroup, Any, Written], None]

REPLAYS: Final[dict[int, tuple[type[CoordinatorRecord], Change]]] = {
    kind.RECORD_TYPE: (kind, change)
    for kind, change in (
        (ConsumerGroupMetadataKey, _apply_epoch),
        (ConsumerGroupPartitionMetadataKey, _apply_partition_metadata),
        (ConsumerGroupMemberMetadataKey, _apply_member),
        (ConsumerGroupTargetAssignmentMetadataKey, _apply_target_epoch),
        (ConsumerGroupTargetAssignmentMemberKey, _apply_target),
        (ConsumerGroupCurrentMemberAssignmentKey, _apply_current),
        (ConsumerGroupRegularExpressionKey, _apply_regex),
    )
}
"""By record type: the class of its key, and what it does to its group. A tombstone of something that does not exist
does nothing.
"""
