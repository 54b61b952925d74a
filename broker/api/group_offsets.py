"""OffsetCommit (8), OffsetFetch (9), OffsetDelete (47): the committed offsets of groups.

Versions that only releases before 4.0 have are in `older/group_offsets.py`, but OffsetCommit 1, which is as 2.
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
from typing import Final

from odradek.broker.api.group_requests import merged, require_read
from odradek.broker.coordinator.group.groups import CommitOffsets, DeleteOffsets, OffsetToCommit
from odradek.broker.coordinator.group.offsets import FetchedOffset, OffsetBook
from odradek.broker.partitions.partition_registry import Topic
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from odradek.protocol.generated.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
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

_COMMIT_TOPIC_ID_FROM: Final = 10
_FETCH_GROUPS_FROM: Final = 8
_FETCH_TOPIC_ID_FROM: Final = 10

_READ: Final = Operation.READ  # see `group_requests`
_TOPIC: Final = Resource.TOPIC
_UNKNOWN_PARTITION: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_UNKNOWN_TOPIC_ID = FetchedOffset(-1, -1, "", ErrorCode.UNKNOWN_TOPIC_ID)
_HIDDEN_TOPIC = FetchedOffset(-1, -1, "", ErrorCode.TOPIC_AUTHORIZATION_FAILED)


# -- OffsetCommit


@handles(
    OffsetCommitRequest,
    access=ByItem((Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)),
    older="group_offsets.commit",
)
def offset_commit(ctx: RequestContext, request: OffsetCommitRequest) -> OffsetCommitResponse | Later:
    """Store offsets. An offset that cannot be stored gets an error; the others are stored."""
    require_read(ctx, request.group_id)
    by_id = ctx.api_version >= _COMMIT_TOPIC_ID_FROM
    found = [topic_of(ctx, asked.topic_id if by_id else asked.name) for asked in request.topics]
    readable = ctx.allowed(_READ, _TOPIC, [name for name, _ in found if name is not None])
    offsets: list[OffsetToCommit] = []
    slots: list[OffsetCommitResponsePartition] = []
    refused: list[tuple[Hashable, OffsetCommitResponseTopic]] = []
    accepted: list[tuple[Hashable, OffsetCommitResponseTopic]] = []

    def answer(
        to: list[tuple[Hashable, OffsetCommitResponseTopic]], answers: list[OffsetCommitResponsePartition]
    ) -> None:
        answered = OffsetCommitResponseTopic(name=asked.name, topic_id=asked.topic_id, partitions=answers)
        to.append(((asked.name, asked.topic_id), answered))

    for asked, (name, topic) in zip(request.topics, found, strict=True):
        if topic is None or name not in readable:
            error = ErrorCode.UNKNOWN_TOPIC_ID if name is None else _UNKNOWN_PARTITION
            if name is not None and name not in readable:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            answers = [
                OffsetCommitResponsePartition(partition_index=p.partition_index, error_code=error)
                for p in asked.partitions
            ]
            answer(refused, answers)
        else:
            known, unknown = _sort_partitions(topic, asked, offsets)
            slots += known
            if unknown:
                answer(refused, unknown)
            if known:
                answer(accepted, known)
    response = OffsetCommitResponse(topics=merged(refused, accepted))
    if not offsets:
        return response
    codes = _commit(ctx, request, offsets)
    if isinstance(codes, ReplySlot):
        return _stored_later(response, slots, codes)
    return _stored(response, slots, codes)


def _stored(
    response: OffsetCommitResponse, slots: list[OffsetCommitResponsePartition], codes: list[ErrorCode]
) -> OffsetCommitResponse:
    for slot, code in zip(slots, codes, strict=True):
        slot.error_code = code
    return response


async def _stored_later(
    response: OffsetCommitResponse, slots: list[OffsetCommitResponsePartition], codes: ReplySlot[list[ErrorCode]]
) -> OffsetCommitResponse:
    try:
        return _stored(response, slots, await codes.wait())
    except KafkaError as error:
        return _stored(response, slots, [error.code] * len(slots))


def topic_of(ctx: RequestContext, asked: str | bytes) -> tuple[str | None, Topic | None]:
    """The name of a topic if it is known, and the topic if it exists."""
    if isinstance(asked, str):
        return asked, ctx.services.topics.get(asked)
    topic = ctx.services.topics.by_id(asked)
    return (None if topic is None else topic.name), topic


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


def _commit(
    ctx: RequestContext, request: OffsetCommitRequest, offsets: list[OffsetToCommit]
) -> list[ErrorCode] | ReplySlot[list[ErrorCode]]:
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
        return ctx.services.groups().begin(request.group_id, command, ctx.node)
    except KafkaError as error:
        return [error.code] * len(offsets)


# -- OffsetFetch


@handles(
    OffsetFetchRequest,
    access=ByItem((Operation.DESCRIBE, Resource.GROUP), (Operation.DESCRIBE, Resource.TOPIC)),
    older="group_offsets.fetch",
    in_parts=True,
    large_answers_from=8,
)
def offset_fetch(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse | Later:
    """The committed offsets of groups. A client that asks for stable offsets waits for replication."""
    if request.require_stable:
        waiting = _being_replicated(ctx, request)
        if waiting:
            return _fetch_when_committed(ctx, request, waiting)
    return _fetch(ctx, request)


def _being_replicated(ctx: RequestContext, request: OffsetFetchRequest) -> list[ReplySlot[None]]:
    """The events to wait for until the coordinators' logs are committed."""
    waiting = []
    for group_id in [group.group_id for group in request.groups] or [request.group_id]:
        try:
            slot = ctx.services.groups().shard_for(group_id, ctx.node).settled()
        except KafkaError:
            continue  # and so says the answer
        if slot is not None:
            waiting.append(slot)
    return waiting


async def _fetch_when_committed(
    ctx: RequestContext, request: OffsetFetchRequest, waiting: list[ReplySlot[None]]
) -> OffsetFetchResponse:
    try:
        for slot in waiting:
            await slot.wait()
    except KafkaError:
        # Kafka's choice: older consumers do not expect that a fetch of offsets takes too long.
        code = ErrorCode.NOT_COORDINATOR
        if ctx.api_version < _FETCH_GROUPS_FROM:
            raise KafkaError(code) from None
        groups = [OffsetFetchResponseGroup(group_id=group.group_id, error_code=code) for group in request.groups]
        return OffsetFetchResponse(groups=groups)
    return _fetch(ctx, request)


def _fetch(ctx: RequestContext, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if ctx.api_version >= _FETCH_GROUPS_FROM:
        groups = [_fetch_group(ctx, group, request.require_stable) for group in request.groups]
        return OffsetFetchResponse(groups=groups)
    group_id, stable = request.group_id, request.require_stable
    ctx.require(Operation.DESCRIBE, Resource.GROUP, group_id)
    book = ctx.services.groups().machine_for(group_id, ctx.node).offsets
    answered: list[OffsetFetchResponseTopic] = []
    if request.topics is None:
        everything = book.fetch_all(group_id, stable)
        shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, everything)
        for name, partitions in everything.items():
            if name in shown:
                answered.append(OffsetFetchResponseTopic(name=name, partitions=_single(partitions.items())))
    else:
        hidden: list[OffsetFetchResponseTopic] = []
        shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [topic.name for topic in request.topics])
        for topic in request.topics:
            if topic.name not in shown:
                rows = _single((index, _HIDDEN_TOPIC) for index in topic.partition_indexes)
                hidden.append(OffsetFetchResponseTopic(name=topic.name, partitions=rows))
                continue
            found = book.fetch(group_id, topic.name, ZERO_UUID, topic.partition_indexes, stable)
            rows = _single(zip(topic.partition_indexes, found, strict=True))
            answered.append(OffsetFetchResponseTopic(name=topic.name, partitions=rows))
        answered += hidden
    return OffsetFetchResponse(topics=answered)


def _fetch_group(ctx: RequestContext, group: OffsetFetchRequestGroup, stable: bool) -> OffsetFetchResponseGroup:
    try:
        ctx.require(Operation.DESCRIBE, Resource.GROUP, group.group_id)
        book = ctx.services.groups().machine_for(group.group_id, ctx.node).offsets
        book.check_fetch(group.group_id, group.member_id, group.member_epoch)
    except KafkaError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error.code)
    if group.topics is None:
        return _fetch_all_of_group(ctx, book, group.group_id, stable)
    by_id = ctx.api_version >= _FETCH_TOPIC_ID_FROM
    answered: list[OffsetFetchResponseTopics] = []
    refused: list[OffsetFetchResponseTopics] = []
    named = [topic_of(ctx, topic.topic_id if by_id else topic.name)[0] for topic in group.topics]
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, [name for name in named if name is not None])
    for topic, name in zip(group.topics, named, strict=True):
        topic_id = topic.topic_id if by_id else ZERO_UUID
        if name is None or name not in shown:
            row = _UNKNOWN_TOPIC_ID if name is None else _HIDDEN_TOPIC
            rows = _batched((index, row) for index in topic.partition_indexes)
            refused.append(OffsetFetchResponseTopics(name=topic.name, topic_id=topic_id, partitions=rows))
            continue
        offsets = book.fetch(group.group_id, name, topic_id, topic.partition_indexes, stable)
        rows = _batched(zip(topic.partition_indexes, offsets, strict=True))
        answered.append(OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=rows))
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=answered + refused)


def _fetch_all_of_group(ctx: RequestContext, book: OffsetBook, group_id: str, stable: bool) -> OffsetFetchResponseGroup:
    answered: list[OffsetFetchResponseTopics] = []
    everything = book.fetch_all(group_id, stable)
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, everything)
    for name, partitions in everything.items():
        known = ctx.services.topics.get(name)
        if name in shown and (known is not None or ctx.api_version < _FETCH_TOPIC_ID_FROM):
            topic_id = ZERO_UUID if known is None else known.topic_id
            rows = _batched(partitions.items())
            answered.append(OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=rows))
    return OffsetFetchResponseGroup(group_id=group_id, topics=answered)


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


@handles(OffsetDeleteRequest, access=ByItem((Operation.DELETE, Resource.GROUP), (Operation.READ, Resource.TOPIC)))
def offset_delete(ctx: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse | Later:
    """Delete committed offsets of topics that the group does not subscribe to."""
    ctx.require(Operation.DELETE, Resource.GROUP, request.group_id)
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    places: list[tuple[str, int]] = []
    refused: list[tuple[Hashable, OffsetDeleteResponseTopic]] = []
    accepted: list[tuple[Hashable, OffsetDeleteResponseTopic]] = []
    slots: list[OffsetDeleteResponsePartition] = []
    readable = ctx.allowed(Operation.READ, Resource.TOPIC, [asked.name for asked in request.topics])
    for asked in request.topics:
        topic = ctx.services.topics.get(asked.name)
        end = 0 if topic is None or asked.name not in readable else len(topic.partitions)
        refusal = _UNKNOWN_PARTITION if asked.name in readable else ErrorCode.TOPIC_AUTHORIZATION_FAILED
        known: list[OffsetDeleteResponsePartition] = []
        unknown: list[OffsetDeleteResponsePartition] = []
        for p in asked.partitions:
            answer = OffsetDeleteResponsePartition(partition_index=p.partition_index)
            if 0 <= p.partition_index < end:
                places.append((asked.name, p.partition_index))
                known.append(answer)
            else:
                answer.error_code = refusal
                unknown.append(answer)
        slots += known
        for part, answers in ((refused, unknown), (accepted, known)):
            if answers or (part is refused and not end):
                part.append((asked.name, OffsetDeleteResponseTopic(name=asked.name, partitions=answers)))
    response = OffsetDeleteResponse(topics=merged(refused, accepted))

    def deleted(codes: list[ErrorCode]) -> OffsetDeleteResponse:
        for slot, code in zip(slots, codes, strict=True):
            slot.error_code = code
        return response

    return later(
        ctx.services.groups().begin(request.group_id, DeleteOffsets(request.group_id, places), ctx.node), deleted
    )
