"""DeleteRecords (key 21): move the start of partitions (KIP-107).

Versions 0 to 2 (v2 is flexible) behave alike. Offset -1 means the high watermark; an offset before the log's start
changes nothing. Of a partition that is named twice the last entry counts, and the answer holds each topic once, in the
order of Kafka's hash maps. Topics that are only compacted refuse with
POLICY_VIOLATION, internal topics with INVALID_TOPIC_EXCEPTION.
"""

from __future__ import annotations

from odradek.broker.api.partition_lookup import find_partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import scala_order_by_topic
from odradek.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)


@handles(DeleteRecordsRequest)
def delete_records(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Delete what lies before an offset, partition by partition; each answers for itself."""
    now_ms = ctx.services.clock.now_ms()
    wanted = {(topic.name, asked.partition_index): asked for topic in request.topics for asked in topic.partitions}
    results: dict[tuple[str, int], DeleteRecordsPartitionResult] = {}
    for (topic_name, index), asked in wanted.items():
        result = DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
        try:
            result.low_watermark = _delete(ctx, topic_name, asked, now_ms)
        except KafkaError as error:
            result.error_code = error.code
        results[topic_name, index] = result
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[results[name, index] for index in indexes])
            for name, indexes in scala_order_by_topic(results)
        ]
    )


def _delete(ctx: RequestContext, topic_name: str, asked: DeleteRecordsPartition, now_ms: int) -> int:
    """The new low watermark."""
    partition = find_partition(ctx, topic_name, asked.partition_index)
    if partition.topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition.check_leader(ctx.node.id)
    if not partition.log.config.delete:
        raise KafkaError(ErrorCode.POLICY_VIOLATION)
    return partition.delete_records(asked.offset, now_ms=now_ms)
