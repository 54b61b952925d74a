"""ListOffsets (key 2) and OffsetForLeaderEpoch (key 23).

ListOffsets versions 1 to 11 (`older/list_offsets.py` has 0, for releases before 4.0): v2 isolation level, v4 leader
epochs (KIP-320), v5 OFFSET_NOT_AVAILABLE (KIP-207), v6 flexible, v7 max timestamp (KIP-734), v8 earliest local offset
(KIP-405), v9 latest tiered offset (KIP-1005), v10 timeout for remote storage (KIP-1075), v11 earliest pending upload
(KIP-1023). Where a log is not tiered the local start is the log's start, and the tiered questions are answered "none".
A partition named twice is INVALID_REQUEST. The answer holds each topic once, in the order of Kafka's hash maps.

OffsetForLeaderEpoch versions 2 to 4: v3 adds the replica id (KIP-392), v4 is flexible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import trio

from odradek.broker.api.lookups import find_partition
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.generated.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from odradek.protocol.java_maps import scala_order_by_topic
from odradek.protocol.record_batch import FORMAT_OF_BATCHES
from odradek.storage.partition_log import PartitionLog, Tier
from odradek.storage.segment_lookup import LargeLook, Looks

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

# Special timestamp -> the first version in which it may be asked for.
_SPECIAL = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}

READ_COMMITTED = 1
CONSUMER = -1
"""The replica id of an ordinary client; isolation concerns no other."""

DEBUGGING = -2
"""The replica id of a client that asks whichever replica it likes."""

_LEADER_EPOCH_FROM = 4
_OPENED_AT_ONCE = 50
"""Partitions whose logs are opened without giving way."""
_NOT_AVAILABLE_FROM = 5


@handles(
    ListOffsetsRequest,
    access=ByItem((Operation.DESCRIBE, Resource.TOPIC)),
    older="list_offsets.older",
)
def list_offsets(
    ctx: RequestContext, request: ListOffsetsRequest
) -> ListOffsetsResponse | Coroutine[Any, Any, ListOffsetsResponse]:
    """The offsets that stand at a time or a special place of each partition."""
    looks = Looks()
    if sum(len(topic.partitions) for topic in request.topics) > _OPENED_AT_ONCE:
        return _after_opening(ctx, request, looks)
    try:
        return _list_offsets(ctx, request, looks)
    except LargeLook as large:
        return _after_looking(ctx, request, looks, large)


async def _after_opening(ctx: RequestContext, request: ListOffsetsRequest, looks: Looks) -> ListOffsetsResponse:
    """The first use of a partition makes its files, which takes a disk some milliseconds: others are served between."""
    for topic in request.topics:
        if not ctx.allows(Operation.DESCRIBE, Resource.TOPIC, topic.name, tell=False):
            continue
        for asked in topic.partitions:
            with suppress(KafkaError):  # which the answer tells
                partition = find_partition(ctx, topic.name, asked.partition_index)
                if not partition.opened:
                    partition.open()
                    await trio.lowlevel.checkpoint()
    try:
        return _list_offsets(ctx, request, looks)
    except LargeLook as large:
        return await _after_looking(ctx, request, looks, large)


async def _after_looking(
    ctx: RequestContext, request: ListOffsetsRequest, looks: Looks, large: LargeLook
) -> ListOffsetsResponse:
    """The worker decodes large batches, and the request is served anew with what it found there."""
    while True:
        large.found(await ctx.services.worker.do(large.run))
        try:
            return _list_offsets(ctx, request, looks)
        except LargeLook as next_one:
            large = next_one


def _list_offsets(ctx: RequestContext, request: ListOffsetsRequest, looks: Looks) -> ListOffsetsResponse:
    allowed = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [topic.name for topic in request.topics])
    if allowed and not 0 <= request.isolation_level <= READ_COMMITTED:
        # What Kafka says to a level that it does not know, once there is something to look for.
        refused: ListOffsetsResponse = error_response(request, ctx.api_version, ErrorCode.UNKNOWN_SERVER_ERROR)
        return refused
    denied = [topic for topic in request.topics if topic.name not in allowed]
    named = Counter((topic.name, asked.partition_index) for topic in request.topics for asked in topic.partitions)
    answers: dict[tuple[str, int], ListOffsetsPartitionResponse] = {}
    for topic in request.topics:
        if topic.name not in allowed:
            continue
        for asked in topic.partitions:
            answer = ListOffsetsPartitionResponse(asked.partition_index)
            try:
                if named[topic.name, asked.partition_index] > 1:
                    raise KafkaError(ErrorCode.INVALID_REQUEST)
                timestamp = _special_or_time(ctx, asked.timestamp)
                partition = find_partition(ctx, topic.name, asked.partition_index)
                _answer(ctx, request, partition, asked, timestamp, answer, looks)
            except (KafkaError, CorruptDataError) as error:
                answer.error_code = error.code
            if ctx.api_version < _LEADER_EPOCH_FROM:
                answer.leader_epoch = -1
            answers[topic.name, asked.partition_index] = answer
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name=name, partitions=[answers[name, index] for index in indexes])
            for name, indexes in scala_order_by_topic(answers)
        ]
        + [ListOffsetsTopicResponse(topic.name, [_denied(asked) for asked in topic.partitions]) for topic in denied]
    )


def _denied(asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(asked.partition_index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _answer(
    ctx: RequestContext,
    request: ListOffsetsRequest,
    partition: Partition,
    asked: ListOffsetsPartition,
    timestamp: int,
    answer: ListOffsetsPartitionResponse,
    looks: Looks,
) -> None:
    log, high_watermark, end = _source(ctx, request, partition, asked)
    if not log.config.message_format and timestamp not in (LATEST, EARLIEST):
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    client = request.replica_id == CONSUMER
    committed = request.isolation_level == READ_COMMITTED and client
    last_fetchable = min(log.last_stable_offset, high_watermark) if committed else high_watermark
    if not client:
        last_fetchable = end
    behind = client and partition.replica_set is not None and log.leader_epochs.start_of_latest() > high_watermark
    if timestamp == LATEST:
        if behind:
            raise _not_available(ctx)
        answer.offset = last_fetchable
        answer.leader_epoch = partition.leader_epoch
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        tier = log.tier if timestamp == EARLIEST_LOCAL else None
        answer.offset = log.log_start_offset if tier is None else tier.local_start
        answer.leader_epoch = log.leader_epochs.epoch_for_offset(answer.offset)
    elif timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        if log.tier is not None:
            offset = _tiered(log, log.tier, timestamp)
            if 0 <= offset < last_fetchable:
                answer.offset, answer.leader_epoch = offset, log.leader_epochs.epoch_for_offset(offset)
    else:
        found = (
            log.max_timestamp_offset(looks)
            if timestamp == MAX_TIMESTAMP
            else log.offset_for_timestamp(timestamp, looks)
        )
        if found is not None and found.offset < last_fetchable:
            answer.timestamp, answer.offset, answer.leader_epoch = found
        elif behind:
            raise _not_available(ctx)
    if log.config.message_format < FORMAT_OF_BATCHES and timestamp != LATEST:
        answer.leader_epoch = -1  # older formats have no epochs


def _tiered(log: PartitionLog, tier: Tier, timestamp: int) -> int:
    """The last offset that is in the remote tier, or the first that is to be copied; -1 where there is none."""
    if timestamp == LATEST_TIERED:
        return tier.highest_offset
    if tier.highest_offset < 0:
        return log.log_start_offset if tier.local_start == log.log_start_offset else -1
    return max(tier.highest_offset + 1, log.log_start_offset)


def _special_or_time(ctx: RequestContext, timestamp: int) -> int:
    """A timestamp as it is asked for; UNSUPPORTED_VERSION for a special one that the version does not have."""
    if timestamp >= 0 or ctx.api_version >= _SPECIAL.get(timestamp, 1 << 15):
        return timestamp
    release = ctx.release
    if not release.reads_unknown_timestamps:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if (timestamp == MAX_TIMESTAMP and release.finds_max_timestamps) or (
        timestamp == EARLIEST_LOCAL and release.finds_local_starts
    ):
        return timestamp
    return 0  # a time before all others finds the first record


def _source(
    ctx: RequestContext, request: ListOffsetsRequest, partition: Partition, asked: ListOffsetsPartition
) -> tuple[PartitionLog, int, int]:
    """The log to look in, its high watermark and its end: the leader's, except for a client that debugs a replica."""
    node_id = ctx.node.id
    if request.replica_id != DEBUGGING or node_id not in partition.replicas:
        partition.check_leader(node_id, asked.current_leader_epoch)
    else:
        partition.check_epoch(asked.current_leader_epoch)
        copy = partition.copy_on(node_id)
        if copy is not None:
            return copy.log, copy.high_watermark, copy.end
    log = partition.log
    return log, log.high_watermark, log.log_end_offset


def _not_available(ctx: RequestContext) -> KafkaError:
    """Whether the high watermark is unknown: the leader is new, and its followers have not fetched from it yet."""
    if ctx.api_version < _NOT_AVAILABLE_FROM:
        return KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
    return KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)


@handles(
    OffsetForLeaderEpochRequest,
    access=ByItem((Operation.CLUSTER_ACTION, Resource.CLUSTER), (Operation.DESCRIBE, Resource.TOPIC)),
    in_parts=True,
)
def offset_for_leader_epoch(ctx: RequestContext, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    """The end offset of each leader epoch, for clients that check for a truncated log."""
    response = OffsetForLeaderEpochResponse()
    allowed = frozenset(topic.topic for topic in request.topics)
    if not ctx.allows(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME, tell=False):
        allowed = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, allowed)
    for topic in request.topics:
        if topic.topic not in allowed:
            continue
        answers = []
        for asked in topic.partitions:
            answer = EpochEndOffset(partition=asked.partition)
            try:
                partition = find_partition(ctx, topic.topic, asked.partition)
                partition.check_leader(ctx.node.id, asked.current_leader_epoch)
                if partition.log.config.message_format == FORMAT_OF_BATCHES:
                    answer.leader_epoch, answer.end_offset = partition.log.end_offset_for_epoch(asked.leader_epoch)
            except KafkaError as error:
                answer.error_code = error.code
            answers.append(answer)
        response.topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers))
    for topic in request.topics:
        if topic.topic not in allowed:
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            denied = [EpochEndOffset(code, asked.partition) for asked in topic.partitions]
            response.topics.append(OffsetForLeaderTopicResult(topic.topic, denied))
    return response
