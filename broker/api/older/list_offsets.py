"""ListOffsets version 0: the offsets at which segments begin, the latest first, and no times.

A segment is as old as its last change. Asked for a time, it names segments that were changed no later.
"""

from __future__ import annotations

from typing import Final

from odradek.broker.api.list_offsets import EARLIEST, LATEST
from odradek.broker.api.lookups import find_partition
from odradek.broker.partitions.partition import Partition
from odradek.broker.releases.release import Release
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Serve
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.generated.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

_CONSUMER: Final = -1
_DEBUGGING: Final = -2


def older(serve: Serve, version: int, release: Release) -> Serve:
    return serve if version else list_offsets


def list_offsets(ctx: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """The offsets of each partition, and then those that the client may not see."""
    allowed = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [topic.name for topic in request.topics])
    answered: list[ListOffsetsTopicResponse] = []
    denied: list[ListOffsetsTopicResponse] = []
    for topic in request.topics:
        rows = []
        for asked in topic.partitions:
            row = ListOffsetsPartitionResponse(asked.partition_index)
            rows.append(row)
            if topic.name not in allowed:
                row.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                continue
            try:
                row.old_style_offsets = _offsets(ctx, request.replica_id, topic.name, asked)
            except (KafkaError, CorruptDataError) as error:
                row.error_code = error.code
        (answered if topic.name in allowed else denied).append(ListOffsetsTopicResponse(topic.name, rows))
    return ListOffsetsResponse(topics=answered + denied)


def _offsets(ctx: RequestContext, replica_id: int, name: str, asked: ListOffsetsPartition) -> list[int]:
    known = asked.timestamp >= 0 or asked.timestamp in (LATEST, EARLIEST)
    if not known and not ctx.release.reads_unknown_timestamps:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    partition = find_partition(ctx, name, asked.partition_index)
    if replica_id != _DEBUGGING or ctx.node.id not in partition.replicas:
        partition.check_leader(ctx.node.id)
    found = _begins(partition, asked.timestamp, ctx.services.clock.now_ms())[: max(0, asked.max_num_offsets)]
    limit = partition.log.high_watermark
    if replica_id != _CONSUMER or all(offset <= limit for offset in found):
        return found
    return [limit, *(offset for offset in found if offset <= limit)]


def _begins(partition: Partition, timestamp: int, now_ms: int) -> list[int]:
    """Where segments begin, and the end of a log whose last segment has records; the latest first."""
    log = partition.log
    places = [(max(each.base_offset, log.log_start_offset), each.last_modified_ms) for each in log.segments]
    if log.segments[-1].next_offset > log.segments[-1].base_offset:
        places.append((log.log_end_offset, now_ms))
    if timestamp == EARLIEST:
        places = places[:1]
    elif timestamp != LATEST:
        while places and places[-1][1] > timestamp:
            places.pop()
    return sorted((offset for offset, _ in places), reverse=True)
