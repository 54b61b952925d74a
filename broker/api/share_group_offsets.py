"""DescribeShareGroupOffsets (90), AlterShareGroupOffsets (91) and DeleteShareGroupOffsets (92): KIP-932.

Versions 0, and 1 of DescribeShareGroupOffsets, which tells the lag (KIP-1226). Where a share group stands is what the
share coordinator has stored, which is a little behind what members have acknowledged; the lag takes that into account.
Groups are altered and deleted while they have no members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from odradek.broker.api.share_groups import COORDINATOR_TEXTS, check_served
from odradek.broker.coordinator.group.share.group import (
    AlterShareOffsets,
    BeginDeleteOffsets,
    EndDeleteOffsets,
    ShareGroup,
    StatesInitialized,
)
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState, ReadSummary, StateSummary
from odradek.broker.coordinator.share_state.machine import UNINITIALIZED
from odradek.broker.partitions.share.states import ShareKey
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import GROUP_REFUSED, TOPIC_REFUSED, ByItem, handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.messages import alter_share_group_offsets as alter
from odradek.protocol.generated.messages import delete_share_group_offsets as delete
from odradek.protocol.generated.messages import describe_share_group_offsets as describe
from odradek.protocol.java_maps import hash_of_number, hash_of_uuid, java_order
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.uuids import uuid_to_text
from odradek.storage.validation import java_long

T = TypeVar("T")

_UNKNOWN_TEXT = "This server does not host this topic-partition."
_UNSUPPORTED_TEXT = "The version of API is not supported."
_INVALID_GROUP_TEXT = "The group id is invalid."
_UNEXPECTED = "The server experienced an unexpected error when processing the request."
_UNKNOWN_LAG = -1
TopicOffsets = tuple[bytes, dict[int, int]]
"""A topic id and the start offsets of its partitions."""


# -- describing


@handles(
    describe.DescribeShareGroupOffsetsRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
    large_answers_from=0,
)
def describe_offsets(
    ctx: RequestContext, request: describe.DescribeShareGroupOffsetsRequest
) -> describe.DescribeShareGroupOffsetsResponse:
    """The start offsets of share groups."""
    check_served(ctx)
    return describe.DescribeShareGroupOffsetsResponse(groups=[_describe_group(ctx, asked) for asked in request.groups])


def _describe_group(
    ctx: RequestContext, asked: describe.DescribeShareGroupOffsetsRequestGroup
) -> describe.DescribeShareGroupOffsetsResponseGroup:
    answer = describe.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id)
    try:
        ctx.require(Operation.DESCRIBE, Resource.GROUP, asked.group_id)
        if asked.topics is None:
            answer.topics = _all_topics(ctx, asked.group_id)
        else:
            shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [topic.topic_name for topic in asked.topics])
            answer.topics = _named_topics(ctx, asked.group_id, [t for t in asked.topics if t.topic_name in shown])
            answer.topics += [_hidden_topic(topic) for topic in asked.topics if topic.topic_name not in shown]
    except KafkaError as error:
        answer.error_code, answer.error_message = error.code, _told(error)
    return answer


def _named_topics(
    ctx: RequestContext, group_id: str, asked: Sequence[describe.DescribeShareGroupOffsetsRequestTopic]
) -> list[describe.DescribeShareGroupOffsetsResponseTopic]:
    """The topics that exist, each once, and the others as they are asked for."""
    known: dict[bytes, tuple[str, dict[int, None]]] = {}
    unknown = []
    for topic in asked:
        found = ctx.services.topics.get(topic.topic_name)
        if found is None:
            unknown.append(_described_topic(ctx, group_id, topic.topic_name, topic.partitions))
            continue
        if not group_id or not topic.partitions or min(topic.partitions) < 0:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, _UNEXPECTED)  # as Kafka
        known.setdefault(found.topic_id, (topic.topic_name, {}))[1].update(dict.fromkeys(topic.partitions))
    rows = [
        _described_topic(ctx, group_id, name, java_order(indexes, hash_of_number))
        for name, indexes in (known[topic_id] for topic_id in java_order(known, hash_of_uuid))
    ]
    return rows + unknown


def _hidden_topic(
    asked: describe.DescribeShareGroupOffsetsRequestTopic,
) -> describe.DescribeShareGroupOffsetsResponseTopic:
    partitions = [
        describe.DescribeShareGroupOffsetsResponsePartition(
            partition_index=index,
            start_offset=UNINITIALIZED,
            error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            error_message=TOPIC_REFUSED,
        )
        for index in asked.partitions
    ]
    return describe.DescribeShareGroupOffsetsResponseTopic(asked.topic_name, ZERO_UUID, partitions)


def _all_topics(ctx: RequestContext, group_id: str) -> list[describe.DescribeShareGroupOffsetsResponseTopic]:
    """Everything that is stored for the group, of topics that exist."""
    group = ctx.services.groups().machine_for(group_id, ctx.node).group(group_id)
    if not isinstance(group, ShareGroup):
        return []
    rows = []
    for topic_id, states in group.initialized.items():
        topic = ctx.services.topics.by_id(topic_id)
        if topic is not None:
            rows.append(_described_topic(ctx, group_id, topic.name, sorted(states.partitions)))
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [row.topic_name for row in rows])
    return [row for row in rows if row.topic_name in shown]


def _described_topic(
    ctx: RequestContext, group_id: str, name: str, indexes: Iterable[int]
) -> describe.DescribeShareGroupOffsetsResponseTopic:
    topic = ctx.services.topics.get(name)
    answer = describe.DescribeShareGroupOffsetsResponseTopic(topic_name=name, topic_id=ZERO_UUID)
    if topic is None:
        answer.partitions = [
            describe.DescribeShareGroupOffsetsResponsePartition(partition_index=index, start_offset=UNINITIALIZED)
            for index in indexes
        ]
        return answer
    answer.topic_id = topic.topic_id
    answer.partitions = [_described(ctx, ShareKey(group_id, topic.topic_id, index), topic) for index in indexes]
    return answer


def _described(ctx: RequestContext, key: ShareKey, topic: Any) -> describe.DescribeShareGroupOffsetsResponsePartition:
    row = describe.DescribeShareGroupOffsetsResponsePartition(
        partition_index=key.partition, start_offset=UNINITIALIZED, lag=_UNKNOWN_LAG
    )
    try:
        summary: StateSummary = ctx.services.share_persister().ask_about(ReadSummary(key))
    except KafkaError:
        return row
    row.start_offset, row.leader_epoch = summary.start_offset, summary.leader_epoch
    if UNINITIALIZED not in (summary.start_offset, summary.delivery_complete_count):
        end = topic.partitions[key.partition].log.high_watermark
        row.lag = java_long(end - summary.start_offset - summary.delivery_complete_count)
    return row


def _told(error: KafkaError) -> str | None:
    return error.message or COORDINATOR_TEXTS.get(error.code)


# -- altering


@handles(
    alter.AlterShareGroupOffsetsRequest,
    access=ByItem((Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)),
)
def alter_offsets(
    ctx: RequestContext, request: alter.AlterShareGroupOffsetsRequest
) -> alter.AlterShareGroupOffsetsResponse | Later:
    """Reset the start offsets of a share group."""
    check_served(ctx, _UNSUPPORTED_TEXT)
    ctx.require(Operation.READ, Resource.GROUP, request.group_id, GROUP_REFUSED)
    rows: dict[str, list[alter.AlterShareGroupOffsetsResponsePartition]] = {}
    offsets: list[TopicOffsets] = []
    for topic in request.topics:
        known = ctx.services.topics.get(topic.topic_name)
        allowed = ctx.allows(Operation.READ, Resource.TOPIC, topic.topic_name)
        if known is not None and allowed:
            offsets.append((known.topic_id, {}))
            rows.setdefault(topic.topic_name, [])
        for asked in topic.partitions:
            row = alter.AlterShareGroupOffsetsResponsePartition(asked.partition_index)
            rows.setdefault(topic.topic_name, []).append(row)
            if not allowed:
                row.error_code, row.error_message = ErrorCode.TOPIC_AUTHORIZATION_FAILED, TOPIC_REFUSED
            elif known is None or asked.partition_index >= len(known.partitions):
                row.error_code, row.error_message = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN_TEXT
            else:
                offsets[-1][1][asked.partition_index] = asked.start_offset
    try:
        _check_group_id(request.group_id)
        failed = _alter(ctx, request.group_id, offsets)
    except KafkaError as error:
        return alter.AlterShareGroupOffsetsResponse(error_code=error.code, error_message=_told(error))
    response = alter.AlterShareGroupOffsetsResponse(responses=_altered_topics(ctx, request, rows, failed))
    return _when_committed(
        ctx,
        request.group_id,
        response,
        lambda error: alter.AlterShareGroupOffsetsResponse(error_code=error.code, error_message=error.message),
    )


def _when_committed(ctx: RequestContext, group_id: str, response: T, refused: Callable[[KafkaError], T]) -> T | Later:
    """The response, once what the group's coordinator wrote is on its replicas."""
    slot = ctx.services.groups().shard_for(group_id, ctx.node).settled()

    def committed(_: None) -> T:
        return response

    return response if slot is None else later(slot, committed, refused)


def _alter(ctx: RequestContext, group_id: str, offsets: Sequence[TopicOffsets]) -> dict[ShareKey, KafkaError]:
    """Reset the offsets; returns the errors of the share coordinator.

    As in Kafka, the group's record knows the last entry of a topic that is named twice, the share coordinator the last
    of each partition.
    """
    groups, states = ctx.services.groups(), ctx.services.share_persister()
    recorded = dict(offsets)
    state_epoch = groups.ask_now(group_id, AlterShareOffsets(group_id, recorded), ctx.node)
    for topic_id, by_partition in offsets:
        if by_partition and min(by_partition) < 0:  # as in Kafka, after the coordinator's checks
            place = f"{group_id} {uuid_to_text(topic_id)} {min(by_partition)}"
            text = f"Initialize share group parameters has invalid partitionId - {place}"
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    starts = {ShareKey(group_id, topic_id, index): at for topic_id, each in offsets for index, at in each.items()}
    failed: dict[ShareKey, KafkaError] = {}
    for key, offset in starts.items():
        try:
            states.ask_about(InitializeState(key, state_epoch, offset))
        except KafkaError as error:
            failed[key] = as_value(error)
    if not failed:
        places: dict[bytes, list[int]] = {}
        for key in starts:
            places.setdefault(key.topic_id, []).append(key.partition)
        groups.ask_now(group_id, StatesInitialized(group_id, places), ctx.node)
    return failed


def _altered_topics(
    ctx: RequestContext,
    request: alter.AlterShareGroupOffsetsRequest,
    rows: Mapping[str, list[alter.AlterShareGroupOffsetsResponsePartition]],
    failed: Mapping[ShareKey, KafkaError],
) -> list[alter.AlterShareGroupOffsetsResponseTopic]:
    topics = []
    for name, partitions in rows.items():
        known = ctx.services.topics.get(name)
        topic_id = ZERO_UUID if known is None else known.topic_id
        for row in partitions:
            error = failed.get(ShareKey(request.group_id, topic_id, row.partition_index))
            if error is not None:
                row.error_code, row.error_message = error.code, error.message
        topics.append(alter.AlterShareGroupOffsetsResponseTopic(name, topic_id, partitions))
    return sorted(topics, key=lambda topic: topic.topic_id != ZERO_UUID)


# -- deleting


@handles(
    delete.DeleteShareGroupOffsetsRequest,
    access=ByItem((Operation.DELETE, Resource.GROUP), (Operation.READ, Resource.TOPIC)),
)
def delete_offsets(
    ctx: RequestContext, request: delete.DeleteShareGroupOffsetsRequest
) -> delete.DeleteShareGroupOffsetsResponse | Later:
    """Delete the start offsets of a share group in topics."""
    check_served(ctx, _UNSUPPORTED_TEXT)
    ctx.require(Operation.DELETE, Resource.GROUP, request.group_id, GROUP_REFUSED)
    asked = [topic.topic_name for topic in request.topics]
    readable = ctx.allowed(Operation.READ, Resource.TOPIC, asked)
    names = [name for name in asked if name in readable]
    try:
        _check_group_id(request.group_id)
        places, unknown = ctx.services.groups().ask_now(
            request.group_id, BeginDeleteOffsets(request.group_id, names), ctx.node
        )
        rows = [
            delete.DeleteShareGroupOffsetsResponseTopic(
                name, ZERO_UUID, ErrorCode.TOPIC_AUTHORIZATION_FAILED, TOPIC_REFUSED
            )
            for name in asked
            if name not in readable
        ]
        rows += _delete(ctx, request.group_id, places)
    except KafkaError as error:
        return delete.DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=_told(error))
    for name in unknown:
        exists = ctx.services.topics.get(name) is not None
        text = "There is no offset information to delete." if exists else _UNKNOWN_TEXT
        rows.append(
            delete.DeleteShareGroupOffsetsResponseTopic(
                topic_name=name, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, error_message=text
            )
        )
    return _when_committed(
        ctx,
        request.group_id,
        delete.DeleteShareGroupOffsetsResponse(responses=rows),
        lambda error: delete.DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=error.message),
    )


def _delete(
    ctx: RequestContext, group_id: str, places: Mapping[bytes, Iterable[int]]
) -> list[delete.DeleteShareGroupOffsetsResponseTopic]:
    done: list[delete.DeleteShareGroupOffsetsResponseTopic] = []
    failed: list[delete.DeleteShareGroupOffsetsResponseTopic] = []
    for topic_id, indexes in places.items():
        topic = ctx.services.topics.by_id(topic_id)
        row = delete.DeleteShareGroupOffsetsResponseTopic("" if topic is None else topic.name, topic_id)
        try:
            for index in indexes:
                ctx.services.share_persister().ask_about(DeleteState(ShareKey(group_id, topic_id, index)))
            done.append(row)
        except KafkaError as error:
            row.error_code, row.error_message = error.code, error.message
            failed.append(row)
    if done:
        gone = [row.topic_id for row in done]
        ctx.services.groups().ask_now(group_id, EndDeleteOffsets(group_id, gone), ctx.node)
    return done + failed


def _check_group_id(group_id: str) -> None:
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, _INVALID_GROUP_TEXT)
