"""Commits offsets for a group that has no members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.coordinator.group.groups import CommitOffsets, OffsetToCommit
from odradek.broker.facade.groups.info import TopicPartition, check_places
from odradek.broker.partitions.lookups import find_partition, find_topic
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.varint import MAX_STRING_BYTES

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition_registry import PartitionRegistry


def set_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit offsets as an admin client does, in the broker's thread. Raises KafkaError if the coordinator refuses."""
    if len(group_id.encode(errors="replace")) > MAX_STRING_BYTES:  # no answer could tell of the group
        raise ValueError(f"a group id has {MAX_STRING_BYTES} bytes at most")
    check_places(offsets)
    stored = [_offset(cluster.topics, place, offset) for place, offset in offsets.items()]
    groups = cluster.groups
    groups.topic.ensure()
    groups.shard_for(group_id).finish_loading()
    try:
        codes: list[ErrorCode] = groups.ask_now(group_id, CommitOffsets(group_id, stored))
    except KafkaError as error:
        raise KafkaError(error.code, f"group {group_id!r}: {_reason(error.code)}") from None
    for place, code in zip(offsets, codes, strict=True):
        if code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(code), f"group {group_id!r}, {place[0]}-{place[1]}: {_reason(code)}")


def _offset(topics: PartitionRegistry, place: TopicPartition, offset: int) -> OffsetToCommit:
    name, index = place
    topic = find_topic(topics, name)
    find_partition(topic, index)
    return OffsetToCommit(name, topic.topic_id, index, offset, -1, "")


def _reason(code: ErrorCode) -> str:
    if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.STALE_MEMBER_EPOCH):
        return "offsets can be set only while the group has no members"
    return "the coordinator refused the offset"
