"""The members of consumer groups, and the records that Kafka 4.4.0 writes of a group.

Members are values. A decision makes a new one from the old; only a replayed record puts it into the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from odradek.broker.coordinator.group.assignment import Partitions, order_once_stored
from odradek.broker.coordinator.group.records import (
    EpochRecords,
    encode_key,
    encode_value,
    key_of_group,
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
from odradek.protocol.native import mypyc_attr
from odradek.protocol.text_cache import text_cache

Epochs = dict[bytes, dict[int, int]]
"""Partitions by topic id, each with the member epoch in which the member got it."""
NOTHING: Final[Epochs] = {}
"""Never changed, like every part of a member."""


class MemberState(IntEnum):
    """The states of a member's reconciliation, numbered as stored."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


STABLE: Final = MemberState.STABLE
UNREVOKED_PARTITIONS: Final = MemberState.UNREVOKED_PARTITIONS
UNRELEASED_PARTITIONS: Final = MemberState.UNRELEASED_PARTITIONS
"""The same states, without a look into the class of an `Enum` for each, which takes as long as ten small calls."""


class ClassicMember(NamedTuple):
    """The JoinGroup of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Member:
    """One member, an immutable value.

    ``topics``: the names it subscribes to, sorted. ``regex``: "" for none. ``assigned``: the partitions that it owns or
    has just been given; ``revoking``: those that it must revoke and has not yet. ``classic``: None for a member of the
    consumer protocol.
    """

    __slots__ = (
        "assigned",
        "classic",
        "client_host",
        "client_id",
        "epoch",
        "instance_id",
        "member_id",
        "previous_epoch",
        "rack_id",
        "rebalance_timeout_ms",
        "regex",
        "revoking",
        "server_assignor",
        "state",
        "topics",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topics: tuple[str, ...] = (),
        regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = None,
        classic: ClassicMember | None = None,
        epoch: int = 0,
        previous_epoch: int = -1,
        state: MemberState = STABLE,
        assigned: Epochs = NOTHING,
        revoking: Epochs = NOTHING,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topics = topics
        self.regex = regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic = classic
        self.epoch = epoch
        self.previous_epoch = previous_epoch
        self.state = state
        self.assigned = assigned
        self.revoking = revoking

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Member) and same_identity(self, other) and same_progress(self, other)

    def __repr__(self) -> str:
        return f"Member({self.member_id!r}, epoch={self.epoch}, {self.state!r}, {self.assigned!r}, {self.revoking!r})"

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has arrived at the target assignment of that epoch."""
        return self.state is STABLE and self.epoch == target_epoch


def same_identity(one: Member, other: Member) -> bool:
    """Whether two members differ at most in their partitions and epochs."""
    return (
        one.member_id == other.member_id
        and one.topics == other.topics
        and one.instance_id == other.instance_id
        and one.rack_id == other.rack_id
        and one.client_id == other.client_id
        and one.client_host == other.client_host
        and one.regex == other.regex
        and one.rebalance_timeout_ms == other.rebalance_timeout_ms
        and one.server_assignor == other.server_assignor
        and one.classic == other.classic
    )


def same_progress(one: Member, other: Member) -> bool:
    """Whether two members differ at most in their subscription and identity."""
    return (
        one.epoch == other.epoch
        and one.previous_epoch == other.previous_epoch
        and one.state is other.state
        and one.assigned == other.assigned
        and one.revoking == other.revoking
    )


def with_progress(
    member: Member, epoch: int, previous_epoch: int, state: MemberState, assigned: Epochs, revoking: Epochs
) -> Member:
    """The same identity and subscription with this progress."""
    return Member(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.topics,
        member.regex,
        member.rebalance_timeout_ms,
        member.server_assignor,
        member.classic,
        epoch,
        previous_epoch,
        state,
        assigned,
        revoking,
    )


def with_progress_of(member: Member, other: Member) -> Member:
    """The member with the partitions and epochs of another one."""
    return with_progress(member, other.epoch, other.previous_epoch, other.state, other.assigned, other.revoking)


def without_progress(member: Member) -> Member:
    """The member without any assignment, as in the record of its subscription."""
    return with_progress(member, 0, -1, STABLE, NOTHING, NOTHING)


def in_epoch(member: Member, epoch: int, state: MemberState, assigned: Epochs, revoking: Epochs) -> Member:
    """A member after a step of its reconciliation."""
    return with_progress(member, epoch, member.epoch, state, assigned, revoking)


def renamed(old: Member, member_id: str) -> Member:
    """A static member under another id: it keeps its partitions, and must join."""
    new = with_progress(old, 0, 0, old.state, old.assigned, old.revoking)
    new.member_id = member_id
    return new


def sorted_names(topics: Iterable[str]) -> tuple[str, ...]:
    """The names that a member subscribes to, each once: members with the same subscription share the object."""
    return _shared(tuple(sorted(set(topics))))


@text_cache(1 << 10)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    return names


def without_epochs(epochs: Epochs) -> Partitions:
    """The partitions alone."""
    return {topic_id: tuple(partitions) for topic_id, partitions in epochs.items()}


def with_epoch(partitions: Partitions, epoch: int) -> Epochs:
    """Partitions that were all given in one epoch."""
    return {topic_id: dict.fromkeys(indexes, epoch) for topic_id, indexes in partitions.items()}


class ResolvedRegex(NamedTuple):
    """The topics that a pattern matched when topics had that ``version``, at that time (milliseconds)."""

    topics: frozenset[str]
    version: int
    timestamp: int


NO_TOPICS = ResolvedRegex(frozenset(), 0, 0)
"""The topics of a pattern that is not resolved yet."""


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
    return record_with_value(RECORDS.member.of(group_id, member.member_id), value, without_progress(member))


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
    return record_with_value(key_of_group(ConsumerGroupMetadataKey, group_id), encode_value(decoded), decoded)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> NewRecord:
    """The target of one member."""
    rows = [TopicPartition(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    value = encode_value(ConsumerGroupTargetAssignmentMemberValue(rows))
    return record_with_value(RECORDS.target.of(group_id, member_id), value, order_once_stored(partitions))


def current_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's reconciliation."""
    assigned, revoking = _in_order(member.assigned), _in_order(member.revoking)
    if assigned is not member.assigned or revoking is not member.revoking:
        member = with_progress(member, member.epoch, member.previous_epoch, member.state, assigned, revoking)
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_rows(assigned),
        partitions_pending_revocation=_rows(revoking),
    )
    return record_with_value(RECORDS.current.of(group_id, member.member_id), encode_value(value), member)


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


def group_tombstones(group_id: str, member_ids: Iterable[str], regexes: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group with its members."""
    return [
        *RECORDS.tombstones(group_id, member_ids),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        partition_metadata_tombstone(group_id),
        NewRecord(key_of_group(ConsumerGroupMetadataKey, group_id)),
    ]


RECORDS: Final = EpochRecords(
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


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
