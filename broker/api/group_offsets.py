"""OffsetCommit (8), OffsetFetch (9), OffsetDelete (47): the committed offsets of groups.

OffsetCommit 2 to 10: v2 to v4 may ask for a retention time; v6 has the leader epoch (KIP-320); v7 static members; from
v9 a missing group is GROUP_ID_NOT_FOUND; v10 names topics by id (KIP-848). An offset without a generation is taken from
anybody while the group has no members; even the empty group id will do.
OffsetFetch 1 to 10: v2 can ask for all topics and has a group error; v7 can ask for stable offsets only
(UNSTABLE_OFFSET_COMMIT while a transaction is open, KIP-447); v8 asks for several groups (KIP-709); v10 names topics by
id. A group or offset that is not there is offset -1.
OffsetDelete 0 (KIP-496).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from odradek.broker.api.merged_topics import merged
from odradek.broker.coordinator.group.commands import CommitOffsets, DeleteOffsets, OffsetToCommit
from odradek.broker.coordinator.group.offsets import FetchedOffset
from odradek.broker.partitions.topic import Topic
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from odradek.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from odradek.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from odradek.protocol.primitives import ZERO_UUID

_COMMIT_TOPIC_ID_FROM = 10
_FETCH_GROUPS_FROM = 8
_FETCH_TOPIC_ID_FROM = 10

_UNKNOWN_PARTITION = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_UNKNOWN_TOPIC_ID = FetchedOffset(-1, -1, "", ErrorCode.UNKNOWN_TOPIC_ID)


# -- OffsetCommit


@handles(OffsetCommitRequest)
def offset_commit(ctx: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Store offsets; what cannot be stored has its own error, the rest is stored."""
    topics = ctx.services.topics
    by_id = ctx.api_version >= _COMMIT_TOPIC_ID_FROM
    offsets: list[OffsetToCommit] = []
    slots: list[OffsetCommitResponsePartition] = []
    refused: list[tuple[Hashable, OffsetCommitResponseTopic]] = []
    accepted: list[tuple[Hashable, OffsetCommitResponseTopic]] = []

    def answer(
        to: list[tuple[Hashable, OffsetCommitResponseTopic]], answers: list[OffsetCommitResponsePartition]
    ) -> None:
        if answers:
            answered = OffsetCommitResponseTopic(name=asked.name, topic_id=asked.topic_id, partitions=answers)
            to.append(((asked.name, asked.topic_id), answered))

    for asked in request.topics:
        topic = topics.by_id(asked.topic_id) if by_id else topics.get(asked.name)
        if topic is None:
            error = ErrorCode.UNKNOWN_TOPIC_ID if by_id else _UNKNOWN_PARTITION
            answers = [
                OffsetCommitResponsePartition(partition_index=p.partition_index, error_code=error)
                for p in asked.partitions
            ]
            answer(refused, answers)
        else:
            known, unknown = _sort_partitions(topic, asked, offsets)
            slots += known
            answer(refused, unknown)
            answer(accepted, known)
    if offsets:
        for slot, code in zip(slots, _commit(ctx, request, offsets), strict=True):
            slot.error_code = code
    return OffsetCommitResponse(topics=merged(refused, accepted))


def _sort_partitions(
    topic: Topic, asked: OffsetCommitRequestTopic, offsets: list[OffsetToCommit]
) -> tuple[list[OffsetCommitResponsePartition], list[OffsetCommitResponsePartition]]:
    """Adds what can be committed to `offsets`; returns answers for these, and for partitions that do not exist."""
    known: list[OffsetCommitResponsePartition] = []
    unknown: list[OffsetCommitResponsePartition] = []
    name, topic_id, end = topic.name, topic.topic_id, len(topic.partitions)
    for p in asked.partitions:
        index = p.partition_index
        if 0 <= index < end:
            offsets.append(
                OffsetToCommit(
                    name, topic_id, index, p.committed_offset, p.committed_leader_epoch, p.committed_metadata
                )
            )
            known.append(OffsetCommitResponsePartition(partition_index=index))
        else:
            unknown.append(OffsetCommitResponsePartition(partition_index=index, error_code=_UNKNOWN_PARTITION))
    return known, unknown


def _commit(ctx: RequestContext, request: OffsetCommitRequest, offsets: list[OffsetToCommit]) -> list[ErrorCode]:
    command = CommitOffsets(
        request.group_id,
        offsets,
        member_id=request.member_id,
        generation_id=request.generation_id_or_member_epoch,
        instance_id=request.group_instance_id,
        retention_ms=request.retention_time_ms,
        api_version=ctx.api_version,
    )
    try:
        codes: list[ErrorCode] = ctx.services.groups().ask_now(request.group_id, command, ctx.node)
    except KafkaError as error:
        return [error.code] * len(offsets)
    return codes


# -- OffsetFetch


@handles(OffsetFetchRequest)
def offset_fetch(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """What groups have committed."""
    if ctx.api_version >= _FETCH_GROUPS_FROM:
        groups = [_fetch_group(ctx, group, request.require_stable) for group in request.groups]
        return OffsetFetchResponse(groups=groups)
    group_id, stable = request.group_id, request.require_stable
    book = ctx.services.groups().machine_for(group_id, ctx.node).offsets
    answered: list[OffsetFetchResponseTopic] = []
    if request.topics is None:
        for name, partitions in book.fetch_all(group_id, stable).items():
            answered.append(OffsetFetchResponseTopic(name=name, partitions=_single(partitions.items())))
    else:
        for topic in request.topics:
            found = book.fetch(group_id, topic.name, ZERO_UUID, topic.partition_indexes, stable)
            rows = zip(topic.partition_indexes, found, strict=True)
            answered.append(OffsetFetchResponseTopic(name=topic.name, partitions=_single(rows)))
    return OffsetFetchResponse(topics=answered)


def _fetch_group(ctx: RequestContext, group: OffsetFetchRequestGroup, stable: bool) -> OffsetFetchResponseGroup:
    try:
        book = ctx.services.groups().machine_for(group.group_id, ctx.node).offsets
        book.check_fetch(group.group_id, group.member_id, group.member_epoch)
    except KafkaError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
    topics = ctx.services.topics
    by_id = ctx.api_version >= _FETCH_TOPIC_ID_FROM
    answered: list[OffsetFetchResponseTopics] = []
    if group.topics is None:
        for name, partitions in book.fetch_all(group.group_id, stable).items():
            known = topics.get(name)
            if known is None and by_id:
                continue
            topic_id = ZERO_UUID if known is None else known.topic_id
            rows = _batched(partitions.items())
            answered.append(OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=rows))
        return OffsetFetchResponseGroup(group_id=group.group_id, topics=answered)
    for topic in group.topics:
        name, topic_id = topic.name, ZERO_UUID
        if by_id:
            found = topics.by_id(topic.topic_id)
            topic_id = topic.topic_id
            if found is None:
                rows = _batched((index, _UNKNOWN_TOPIC_ID) for index in topic.partition_indexes)
                answered.append(OffsetFetchResponseTopics(topic_id=topic_id, partitions=rows))
                continue
            name = found.name
        offsets = book.fetch(group.group_id, name, topic_id, topic.partition_indexes, stable)
        rows = _batched(zip(topic.partition_indexes, offsets, strict=True))
        answered.append(OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=rows))
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=answered)


def _single(rows: Iterable[tuple[int, FetchedOffset]]) -> list[OffsetFetchResponsePartition]:
    return [
        OffsetFetchResponsePartition(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            metadata=metadata,
            error_code=error,
        )
        for index, (offset, leader_epoch, metadata, error) in rows
    ]


def _batched(rows: Iterable[tuple[int, FetchedOffset]]) -> list[OffsetFetchResponsePartitions]:
    return [
        OffsetFetchResponsePartitions(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            metadata=metadata,
            error_code=error,
        )
        for index, (offset, leader_epoch, metadata, error) in rows
    ]


# -- OffsetDelete


@handles(OffsetDeleteRequest)
def offset_delete(ctx: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Delete committed offsets of topics that the group does not subscribe to."""
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    places: list[tuple[str, int]] = []
    refused: list[tuple[Hashable, OffsetDeleteResponseTopic]] = []
    accepted: list[tuple[Hashable, OffsetDeleteResponseTopic]] = []
    slots: list[OffsetDeleteResponsePartition] = []
    for asked in request.topics:
        topic = ctx.services.topics.get(asked.name)
        end = 0 if topic is None else len(topic.partitions)
        known: list[OffsetDeleteResponsePartition] = []
        unknown: list[OffsetDeleteResponsePartition] = []
        for p in asked.partitions:
            answer = OffsetDeleteResponsePartition(partition_index=p.partition_index)
            if 0 <= p.partition_index < end:
                places.append((asked.name, p.partition_index))
                known.append(answer)
            else:
                answer.error_code = _UNKNOWN_PARTITION
                unknown.append(answer)
        slots += known
        for part, answers in ((refused, unknown), (accepted, known)):
            if answers:
                part.append((asked.name, OffsetDeleteResponseTopic(name=asked.name, partitions=answers)))
    codes = ctx.services.groups().ask_now(request.group_id, DeleteOffsets(request.group_id, places), ctx.node)
    for slot, code in zip(slots, codes, strict=True):
        slot.error_code = code
    return OffsetDeleteResponse(topics=merged(refused, accepted))
