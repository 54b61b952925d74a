"""DeleteRecords (key 21): move the start of partitions (KIP-107).

Versions 0 to 2 (v2 is flexible) behave alike. Offset -1 means the high watermark; an offset before the log's start
changes nothing. Of a partition that is named twice the last entry counts, and the answer holds each topic once, in the
order of Kafka's hash maps. Topics that are only compacted refuse with
POLICY_VIOLATION, internal topics with INVALID_TOPIC_EXCEPTION. The answer waits until the logs of all live replicas
start there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.api.lookups import find_partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import OutcomeWait
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from odradek.protocol.java_maps import scala_order_by_topic, trie_order_by_topic

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition


_REFUSED = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@handles(DeleteRecordsRequest, access=ByItem((Operation.DELETE, Resource.TOPIC)))
def delete_records(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse | OutcomeWait:
    """Delete what lies before an offset, partition by partition; each answers for itself."""
    wanted = {(topic.name, asked.partition_index): asked for topic in request.topics for asked in topic.partitions}
    allowed = ctx.allowed(Operation.DELETE, Resource.TOPIC, [topic.name for topic in request.topics])
    results: dict[tuple[str, int], DeleteRecordsPartitionResult] = {}
    waiting: list[Deleted] = []
    for (topic_name, index), asked in wanted.items():
        result = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
        try:
            if topic_name not in allowed:
                raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            deleted = _delete(ctx, topic_name, asked, result)
            if not deleted.settle(ctx):
                waiting.append(deleted)
        except KafkaError as error:
            result.error_code = error.code
        results[topic_name, index] = result
    # Kafka's map is an immutable one where there is nothing to delete.
    order = (
        scala_order_by_topic
        if any(each.error_code not in _REFUSED for each in results.values())
        else trie_order_by_topic
    )
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[results[name, index] for index in indexes])
            for name, indexes in order(results)
        ]
    )
    if not waiting:
        return response
    clock, timeout_ms = ctx.services.clock, request.timeout_ms
    return OutcomeWait(clock, timeout_ms, waiting, lambda deleted, due: deleted.settle(ctx), lambda: response)


def _delete(
    ctx: RequestContext,
    topic_name: str,
    asked: DeleteRecordsPartition,
    result: DeleteRecordsPartitionResult,
) -> Deleted:
    """Move the start of the leader's log."""
    partition = find_partition(ctx, topic_name, asked.partition_index)
    if partition.topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(ctx.node.id)
    if not partition.log.config.delete:
        raise KafkaError(ErrorCode.POLICY_VIOLATION)
    start = partition.delete_records(asked.offset)
    return Deleted(partition, partition.leader_epoch, start if asked.offset < 0 else asked.offset, result)


class Deleted(NamedTuple):
    """A partition whose leader, in this epoch, has deleted what lies before `offset`, and its answer so far."""

    partition: Partition
    leader_epoch: int
    offset: int
    answer: DeleteRecordsPartitionResult

    def settle(self, ctx: RequestContext) -> bool:
        """Put the outcome into the answer; False while there is none. Until then the answer has the first low
        watermark.
        """
        partition = self.partition
        if partition.deleted:
            self.answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif partition.leader_epoch != self.leader_epoch:
            self.answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        else:
            brokers = ctx.services.image.brokers
            low = partition.low_watermark(lambda node: node in brokers and not brokers[node].fenced)
            if low < self.offset:
                self.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
                if self.answer.low_watermark < 0:
                    self.answer.low_watermark = low
                return False
            self.answer.error_code, self.answer.low_watermark = ErrorCode.NONE, low
            return True
        self.answer.low_watermark = -1
        return True
