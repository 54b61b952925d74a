"""What each record of a consumer group does to the group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from odradek.broker.coordinator.group.assignment import stored_order
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import LEAVING, ClassicMember, Epochs, Member, MemberState
from odradek.broker.coordinator.group.consumer.regexes import ResolvedRegex
from odradek.broker.coordinator.group.records import decode_key, decode_value, record_type_of
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.message import CoordinatorRecord
from odradek.protocol.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.stored.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from odradek.protocol.stored.consumer_group_metadata import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue
from odradek.protocol.stored.consumer_group_partition_metadata import ConsumerGroupPartitionMetadataKey
from odradek.protocol.stored.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from odradek.protocol.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from odradek.protocol.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


def group_id_of(record_type: int, key: bytes) -> str:
    """The group that a record is about."""
    group_id: str = decode_key(_KEYS[record_type], key).group_id  # type: ignore[attr-defined]
    return group_id


def deletes_group(record_type: int, value: bytes | None) -> bool:
    """Whether the record is the one that ends a group."""
    return record_type == ConsumerGroupMetadataKey.RECORD_TYPE and value is None


def changes_topics(record_type: int) -> bool:
    """Whether a record may change which topics the group subscribes to."""
    return record_type in (ConsumerGroupMemberMetadataKey.RECORD_TYPE, ConsumerGroupRegularExpressionKey.RECORD_TYPE)


def apply(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    """Change a group as a record says. Tombstones of what is not there change nothing, as in a compacted log."""
    record_type = record_type_of(key)
    _APPLY[record_type](group, key, value)


def applied(group_id: str, records: Sequence[NewRecord]) -> ConsumerGroup:
    """The group that these records make."""
    group = ConsumerGroup(group_id)
    for key, value in records:
        if record_type_of(key) in _APPLY:
            apply(group, key, value)
    return group


def _apply_member(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    member_id = decode_key(ConsumerGroupMemberMetadataKey, key).member_id
    if value is None:
        group.remove_member(member_id)
        return
    said = decode_value(ConsumerGroupMemberMetadataValue, value)
    classic = None
    if said.classic_member_metadata is not None:
        protocols = tuple((p.name, bytes(p.metadata)) for p in said.classic_member_metadata.supported_protocols)
        classic = ClassicMember(said.classic_member_metadata.session_timeout_ms, protocols)
    present = group.members.get(member_id) or Member(member_id)
    group.put_member(
        present._replace(
            instance_id=said.instance_id,
            rack_id=said.rack_id,
            client_id=said.client_id,
            client_host=said.client_host,
            topics=tuple(sorted(set(said.subscribed_topic_names))),
            regex=said.subscribed_topic_regex,
            rebalance_timeout_ms=said.rebalance_timeout_ms,
            server_assignor=said.server_assignor,
            classic=classic,
        )
    )


def _apply_epoch(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    if value is not None:
        decoded = decode_value(ConsumerGroupMetadataValue, value)
        group.set_epoch(decoded.epoch, decoded.metadata_hash)


def _apply_partition_metadata(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    group.has_partition_metadata = value is not None


def _apply_target(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    member_id = decode_key(ConsumerGroupTargetAssignmentMemberKey, key).member_id
    if value is None:
        group.target.remove(member_id)
        return
    rows = decode_value(ConsumerGroupTargetAssignmentMemberValue, value).topic_partitions
    group.target.set(member_id, stored_order((row.topic_id, row.partitions) for row in rows))


def _apply_target_epoch(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    if value is None:
        group.set_assignment(-1, 0)
        return
    decoded = decode_value(ConsumerGroupTargetAssignmentMetadataValue, value)
    group.set_assignment(decoded.assignment_epoch, decoded.assignment_timestamp)


def _apply_current(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    member_id = decode_key(ConsumerGroupCurrentMemberAssignmentKey, key).member_id
    present = group.members.get(member_id)
    if value is None:
        if present is not None:
            gone = present._replace(epoch=LEAVING, previous_epoch=LEAVING, assigned={}, revoking={})
            group.put_member(gone)
        return
    decoded = decode_value(ConsumerGroupCurrentMemberAssignmentValue, value)
    group.put_member(
        (present or Member(member_id))._replace(
            epoch=decoded.member_epoch,
            previous_epoch=decoded.previous_member_epoch,
            state=_STATES.get(decoded.state, MemberState.UNKNOWN),
            assigned=_epochs(decoded.assigned_partitions, decoded.member_epoch),
            revoking=_epochs(decoded.partitions_pending_revocation, decoded.member_epoch),
        )
    )


def _epochs(rows: Iterable[TopicPartitions], member_epoch: int) -> Epochs:
    """Older brokers stored no epochs of partitions: the member's own counts then."""
    epochs: Epochs = {}
    for row in rows:
        since = row.assignment_epochs
        if since is None or len(since) != len(row.partitions):
            since = [max(member_epoch, 0)] * len(row.partitions)
        epochs[row.topic_id] = dict(zip(row.partitions, since, strict=True))
    return epochs


def _apply_regex(group: ConsumerGroup, key: bytes, value: bytes | None) -> None:
    regex = decode_key(ConsumerGroupRegularExpressionKey, key).regular_expression
    if value is None:
        group.set_regex(regex, None)
        return
    decoded = decode_value(ConsumerGroupRegularExpressionValue, value)
    group.set_regex(regex, ResolvedRegex(frozenset(decoded.topics), decoded.version, decoded.timestamp))


_STATES = {int(state): state for state in MemberState}
_KEYS: Mapping[int, type[CoordinatorRecord]] = {
    kind.RECORD_TYPE: kind
    for kind in (
        ConsumerGroupMetadataKey,
        ConsumerGroupPartitionMetadataKey,
        ConsumerGroupMemberMetadataKey,
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMemberKey,
        ConsumerGroupCurrentMemberAssignmentKey,
        ConsumerGroupRegularExpressionKey,
    )
}
_APPLY: Mapping[int, Callable[[ConsumerGroup, bytes, bytes | None], None]] = {
    ConsumerGroupMetadataKey.RECORD_TYPE: _apply_epoch,
    ConsumerGroupPartitionMetadataKey.RECORD_TYPE: _apply_partition_metadata,
    ConsumerGroupMemberMetadataKey.RECORD_TYPE: _apply_member,
    ConsumerGroupTargetAssignmentMetadataKey.RECORD_TYPE: _apply_target_epoch,
    ConsumerGroupTargetAssignmentMemberKey.RECORD_TYPE: _apply_target,
    ConsumerGroupCurrentMemberAssignmentKey.RECORD_TYPE: _apply_current,
    ConsumerGroupRegularExpressionKey.RECORD_TYPE: _apply_regex,
}
