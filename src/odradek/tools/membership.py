"""A member of a consumer group that reads one topic (KIP-848): the coordinator assigns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from uuid import uuid4

from odradek.pipeline.cluster_client import GROUP, ClusterClient
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic

_REBALANCE_MS = 60_000
_LEAVE = -1


def commit(
    client: ClusterClient, request: OffsetCommitRequest, version: int, offsets: Mapping[tuple[str, int], int]
) -> None:
    """Commit offsets by topic and partition, for the group and the member of a request that has none yet."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, partition), at in offsets.items():
        topics.setdefault(topic, []).append(OffsetCommitRequestPartition(partition, at))
    request.topics = [OffsetCommitRequestTopic(topic, partitions=parts) for topic, parts in topics.items()]
    client.ask_coordinator(
        GROUP,
        request.group_id,
        request,
        version,
        lambda answer: [each.error_code for topic in answer.topics for each in topic.partitions],
    )


class Membership:
    """Joins with the first `beat`. KafkaError for what the coordinator refuses."""

    def __init__(self, client: ClusterClient, group: str, topic: str) -> None:
        self._client, self._group, self._topic = client, group, topic
        self._member, self._epoch = str(uuid4()), 0
        self._owned: list[TopicPartitions] = []
        self._next = 0.0

    def beat(self) -> Sequence[int]:
        """The partitions that the member has now; a heartbeat is sent when it is due."""
        if time.monotonic() >= self._next:
            first = self._epoch == 0
            self._heartbeat([self._topic] if first else None, [] if first else self._owned)
        return [partition for topic in self._owned for partition in topic.partitions]

    def _heartbeat(self, topics: list[str] | None, owned: list[TopicPartitions]) -> None:
        asked = ConsumerGroupHeartbeatRequest(
            self._group, self._member, self._epoch, None, None, _REBALANCE_MS, topics, topic_partitions=owned
        )
        answer = self._client.ask_coordinator(
            GROUP, self._group, asked, asked.MAX_VERSION, lambda answer: [answer.error_code]
        )
        self._epoch = answer.member_epoch
        self._next = time.monotonic() + answer.heartbeat_interval_ms / 1000
        if answer.assignment is not None:
            self._owned = [
                TopicPartitions(each.topic_id, each.partitions) for each in answer.assignment.topic_partitions
            ]
            self._next = 0.0  # what is owned now is told at once

    def committed(self, partitions: Sequence[int]) -> Mapping[int, int]:
        """What the group has committed of these partitions; -1 for nothing."""
        asked = OffsetFetchRequest(self._group, [OffsetFetchRequestTopic(self._topic, list(partitions))])
        answer = self._client.ask_coordinator(GROUP, self._group, asked, 7, lambda answer: [answer.error_code])
        return {each.partition_index: each.committed_offset for each in answer.topics[0].partitions}

    def commit(self, positions: Mapping[int, int]) -> None:
        """Commit what is read next of each partition."""
        offsets = {(self._topic, partition): at for partition, at in positions.items() if at >= 0}
        if offsets and self._epoch > 0:
            commit(self._client, OffsetCommitRequest(self._group, self._epoch, self._member), 9, offsets)

    def leave(self) -> None:
        """Give the partitions back."""
        if self._epoch > 0:
            self._epoch = _LEAVE
            self._heartbeat(None, self._owned)
