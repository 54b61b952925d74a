"""TxnOffsetCommit (28): offsets that become visible when a transaction commits.

Versions 0-6: v3 checks the member (KIP-447), v4 may be answered TRANSACTION_ABORTABLE, v5 adds the group's partition by
itself (KIP-890), v6 names topics by id (KIP-1319).
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Hashable
from functools import partial
from typing import Any

from odradek.broker.api.group_offsets import topic_of
from odradek.broker.api.group_requests import merged, require_read
from odradek.broker.api.transactions import group_partition
from odradek.broker.coordinator.group.groups import OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.transaction.verification import Claim, Errors, Support
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later, later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

Place = tuple[str, bytes]
Offsets = list[tuple[Place, OffsetToCommit]]
Codes = dict[tuple[Place, int], int]
"""Place of a topic in the request and partition, to the answer. A topic that is refused as a whole has `_ALL`, too."""
_ALL = -1 << 31
_BY_ID_FROM = 6


@handles(
    TxnOffsetCommitRequest,
    access=ByItem(
        (Operation.WRITE, Resource.TRANSACTIONAL_ID), (Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)
    ),
)
def txn_offset_commit(ctx: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse | Later:
    """Store offsets in a group, to become visible when the transaction commits."""
    ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    require_read(ctx, request.group_id)
    offsets, codes = _offsets(ctx, request)
    if not offsets:
        return _response(request, offsets, codes)
    try:
        errors = _verified(ctx, request)
        if not isinstance(errors, dict):
            return _commit_when_verified(ctx, request, offsets, codes, errors)
        _check(errors)
        reply = _begin_commit(ctx, request, offsets)
    except KafkaError as error:
        return _refused(request, offsets, codes, error)
    return later(reply, partial(_stored, request, offsets, codes), partial(_refused, request, offsets, codes))


async def _commit_when_verified(
    ctx: RequestContext,
    request: TxnOffsetCommitRequest,
    offsets: Offsets,
    codes: Codes,
    errors: Awaitable[Errors],
) -> TxnOffsetCommitResponse:
    """The same where the coordinator of the transaction has to be waited for."""
    try:
        _check(await errors)
        reply = _begin_commit(ctx, request, offsets)
        stored = await reply.wait() if isinstance(reply, ReplySlot) else reply
    except KafkaError as error:
        return _refused(request, offsets, codes, error)
    return _stored(request, offsets, codes, stored)


def _refused(
    request: TxnOffsetCommitRequest, offsets: Offsets, codes: Codes, error: KafkaError
) -> TxnOffsetCommitResponse:
    return _stored(request, offsets, codes, [error.code] * len(offsets))


def _stored(
    request: TxnOffsetCommitRequest, offsets: Offsets, codes: Codes, stored: list[ErrorCode]
) -> TxnOffsetCommitResponse:
    for (place, offset), code in zip(offsets, stored, strict=True):
        codes[place, offset.partition] = int(code)
    return _response(request, offsets, codes)


def _response(request: TxnOffsetCommitRequest, offsets: Offsets, codes: Codes) -> TxnOffsetCommitResponse:
    """The codes by topic: first what was refused without asking the coordinator."""
    refused: list[tuple[Hashable, TxnOffsetCommitResponseTopic]] = []
    accepted: list[tuple[Hashable, TxnOffsetCommitResponseTopic]] = []
    attempted = {(place, offset.partition) for place, offset in offsets}
    for topic in request.topics:
        place = _place(topic)
        for part, taken in ((refused, False), (accepted, True)):
            answers = [
                TxnOffsetCommitResponsePartition(partition.partition_index, codes[place, partition.partition_index])
                for partition in topic.partitions
                if ((place, partition.partition_index) in attempted) is taken
            ]
            if answers or (part is refused and (place, _ALL) in codes):
                part.append((place, TxnOffsetCommitResponseTopic(topic.name, topic.topic_id, answers)))
    return TxnOffsetCommitResponse(topics=merged(refused, accepted))


def _offsets(ctx: RequestContext, request: TxnOffsetCommitRequest) -> tuple[Offsets, Codes]:
    """The offsets to store, and the error codes of partitions that do not exist or that the client may not read."""
    offsets: Offsets = []
    codes: Codes = {}
    by_id = ctx.api_version >= _BY_ID_FROM
    found = [topic_of(ctx, topic.topic_id if by_id else topic.name) for topic in request.topics]
    readable = ctx.allowed(Operation.READ, Resource.TOPIC, [name for name, _ in found if name is not None])
    for topic, (name, known) in zip(request.topics, found, strict=True):
        place = _place(topic)
        if known is None or name not in readable:
            codes[place, _ALL] = int(ErrorCode.NONE)  # Kafka names it, also without partitions
        for partition in topic.partitions:
            index = partition.partition_index
            if name is None:
                codes[place, index] = int(ErrorCode.UNKNOWN_TOPIC_ID)
            elif name not in readable:
                codes[place, index] = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            elif known is None or not 0 <= index < len(known.partitions):
                codes[place, index] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                offset = OffsetToCommit(
                    name,
                    known.topic_id,
                    index,
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.committed_metadata,
                )
                offsets.append((place, offset))
    return offsets, codes


def _place(topic: TxnOffsetCommitRequestTopic) -> Place:
    """The key of a topic in a request: the name, or from version 6 on the id."""
    return topic.name, topic.topic_id


# How a commit answers when the coordinator of the transaction, or its partition, has trouble of its own.
_COMMIT_ERRORS = {
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}


def _verified(ctx: RequestContext, request: TxnOffsetCommitRequest) -> Errors | Coroutine[Any, Any, Errors]:
    """Whether the group's partition is part of the transaction, or (v5) becomes part of it."""
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    groups = ctx.services.groups()
    groups.shard_for(request.group_id, ctx.node)
    index = group_partition(ctx, request.group_id)
    log = groups.topic.ensure()[index].log
    if log.has_ongoing_transaction(request.producer_id, request.producer_epoch):
        return {}
    transactions = ctx.services.transactions()
    if not transactions.reached_from(ctx.node.id, request.transactional_id):
        raise KafkaError(_COMMIT_ERRORS[ErrorCode.NETWORK_EXCEPTION])
    support = Support.of_txn_offset_commit(ctx.api_version)
    claim = Claim(
        request.transactional_id, request.producer_id, request.producer_epoch, [(CONSUMER_OFFSETS, index)], support
    )
    return transactions.verifier.begin(claim)


def _check(errors: Errors) -> None:
    for code in errors.values():
        raise KafkaError(_COMMIT_ERRORS.get(code, code))


def _begin_commit(
    ctx: RequestContext, request: TxnOffsetCommitRequest, offsets: Offsets
) -> list[ErrorCode] | ReplySlot[list[ErrorCode]]:
    command = TxnOffsetCommit(
        request.group_id,
        [offset for _, offset in offsets],
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        member_id=request.member_id,
        generation_id=request.generation_id_or_member_epoch,
        instance_id=request.group_instance_id,
        api_version=ctx.api_version,
    )
    return ctx.services.groups().begin(request.group_id, command, ctx.node)
