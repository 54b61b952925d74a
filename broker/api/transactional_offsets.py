"""TxnOffsetCommit (28): offsets that become visible when a transaction commits.

Versions 0-6: v3 checks the member (KIP-447), v4 may be answered TRANSACTION_ABORTABLE, v5 adds the group's partition by
itself (KIP-890), v6 names topics by id (KIP-1319).
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any

from odradek.broker.api.group_requests import PartitionAnswers, require_read
from odradek.broker.api.transactions import group_partition
from odradek.broker.coordinator.group.groups import TxnOffsetCommit
from odradek.broker.coordinator.transaction.verification import Claim, Errors, Support
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Later
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

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
    by_id = ctx.api_version >= _BY_ID_FROM
    answers = PartitionAnswers(
        ctx, request.topics, TxnOffsetCommitResponseTopic, TxnOffsetCommitResponsePartition, by_id=by_id
    )
    response = TxnOffsetCommitResponse(topics=answers.topics)
    if not answers.taken:
        return response
    command = TxnOffsetCommit(request, answers.offsets(), ctx.api_version)
    try:
        errors = _verified(ctx, request)
        if not isinstance(errors, dict):
            return _commit_when_verified(ctx, answers, command, response, errors)
        _check(errors)
    except KafkaError as error:
        return answers.refused(response, error)
    return answers.commit(ctx, command, response)


async def _commit_when_verified(
    ctx: RequestContext,
    answers: PartitionAnswers,
    command: TxnOffsetCommit,
    response: TxnOffsetCommitResponse,
    errors: Awaitable[Errors],
) -> TxnOffsetCommitResponse:
    """The same where the coordinator of the transaction has to be waited for."""
    try:
        _check(await errors)
        codes = ctx.services.groups().begin(command.group_id, command, ctx.node)
        return answers.decided(response, await codes.wait() if isinstance(codes, ReplySlot) else codes)
    except KafkaError as error:
        return answers.refused(response, error)


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
