"""DeleteRecords (key 21): move the start of partitions (KIP-107).

Versions 0 to 2 (v2 is flexible) behave alike. Offset -1 means the high watermark; an offset before the log's start
changes nothing. Of a partition that is named twice the last entry counts, and the answer holds each topic once, in the
order of Kafka's hash maps. Topics that are only compacted refuse with
POLICY_VIOLATION, internal topics with INVALID_TOPIC_EXCEPTION. The answer waits until the logs of all live replicas
start there.
"""

from __future__ import annotations

from odradek.broker.api.delete_records_wait import Deleted, DeletionWait
from odradek.broker.api.partition_lookup import find_partition
from odradek.broker.requests.access import ByItem
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from odradek.protocol.java_maps import scala_order_by_topic


@handles(DeleteRecordsRequest, access=ByItem((Operation.DELETE, Resource.TOPIC)))
def delete_records(ctx: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse | DeletionWait:
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
    response = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[results[name, index] for index in indexes])
            for name, indexes in scala_order_by_topic(results)
        ]
    )
    return DeletionWait(ctx, request.timeout_ms, response, waiting) if waiting else response


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
