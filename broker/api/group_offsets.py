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

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, TypeVar

from odradek.broker.api.group_requests import PartitionAnswers, require_read, topic_of
from odradek.broker.coordinator.group.groups import CommitOffsets, DeleteOffsets
from odradek.broker.coordinator.group.offsets import FetchedOffset, OffsetBook
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
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

T = TypeVar("T")

_COMMIT_TOPIC_ID_FROM: Final = 10
_FETCH_GROUPS_FROM: Final = 8
_FETCH_TOPIC_ID_FROM: Final = 10

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
    answers = PartitionAnswers(
        ctx, request.topics, OffsetCommitResponseTopic, OffsetCommitResponsePartition, by_id=by_id
    )
    response = OffsetCommitResponse(topics=answers.topics)
    if not answers.taken:
        return response
    return answers.commit(ctx, CommitOffsets(request, answers.offsets(), ctx.api_version), response)


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


def _rows(row: Callable[..., T], offsets: Iterable[tuple[int, FetchedOffset]]) -> list[T]:
    return [
        row(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            metadata=metadata,
            error_code=error,
        )
        for index, (offset, leader_epoch, metadata, error) in offsets
    ]


_single: Final = partial(_rows, OffsetFetchResponsePartition)
_batched: Final = partial(_rows, OffsetFetchResponsePartitions)


# -- OffsetDelete


@handles(OffsetDeleteRequest, access=ByItem((Operation.DELETE, Resource.GROUP), (Operation.READ, Resource.TOPIC)))
def offset_delete(ctx: RequestContext, request: OffsetDeleteRequest) -> OffsetDeleteResponse | Later:
    """Delete committed offsets of topics that the group does not subscribe to."""
    ctx.require(Operation.DELETE, Resource.GROUP, request.group_id)
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    answers = PartitionAnswers(ctx, request.topics, OffsetDeleteResponseTopic, OffsetDeleteResponsePartition)
    command = DeleteOffsets(request.group_id, [(topic.name, each.partition_index) for topic, each in answers.taken])
    codes = ctx.services.groups().begin(request.group_id, command, ctx.node)
    return later(codes, partial(answers.decided, OffsetDeleteResponse(topics=answers.topics)))
