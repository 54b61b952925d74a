"""Transactions: AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26), TxnOffsetCommit (28).

Their other APIs: InitProducerId is in `producers`, WriteTxnMarkers in `transaction_admin`, with DescribeTransactions
and ListTransactions.

AddPartitionsToTxn 0-5: v2 tells PRODUCER_FENCED (INVALID_PRODUCER_EPOCH before), v4 takes many transactions and
verify-only ones, as brokers send them (KIP-890). AddOffsetsToTxn 0-4: v2 likewise. EndTxn 0-5: v2 likewise; v5 bumps
the epoch and answers the producer's next identity (KIP-890), whatever the cluster's transaction.version is.
TxnOffsetCommit 0-6: v3 checks the member (KIP-447), v4 may be answered TRANSACTION_ABORTABLE, v5 adds the group's
partition by itself (KIP-890), v6 names topics by id (KIP-1319).

Difference from Kafka: a coordinator writes the markers before EndTxn is answered, so the next transaction never meets
CONCURRENT_TRANSACTIONS unless a test holds the last one or a partition cannot be written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from odradek.broker.api.group_requests import PartitionAnswers, require_read, together
from odradek.broker.coordinator.group.groups import TxnOffsetCommit
from odradek.broker.coordinator.transaction.transaction import (
    AddPartitions,
    EndTransaction,
    ProducerIdentity,
    TopicPartition,
    VerifyPartitions,
)
from odradek.broker.coordinator.transaction.verification import Claim, Errors, Support
from odradek.broker.metadata.image import CONSUMER_OFFSETS, INTERNAL_TOPICS
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import answered_code
from odradek.broker.requests.handlers import ByItem, handles
from odradek.broker.requests.parked_request import Ask, Later, later, later_all
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.generated.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from odradek.protocol.java_maps import hash_of_partition, scala_order

_FIRST_WITH_MANY = 4
_FIRST_WITH_EPOCH_BUMP = 5

_NONE: Final = int(ErrorCode.NONE)
_WRITE: Final = Operation.WRITE  # see `group_requests`
_ID: Final = Resource.TRANSACTIONAL_ID
_TOPIC: Final = Resource.TOPIC

Codes = dict[TopicPartition, int]
_Topics = Sequence[AddPartitionsToTxnTopic]


# -- AddPartitionsToTxn


@handles(
    AddPartitionsToTxnRequest,
    access=ByItem(
        (Operation.WRITE, Resource.TRANSACTIONAL_ID),
        (Operation.WRITE, Resource.TOPIC),
        (Operation.CLUSTER_ACTION, Resource.CLUSTER),
    ),
)
def add_partitions_to_txn(
    ctx: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse | Later:
    """Make partitions part of transactions, or (verify only) ask whether they are."""
    if ctx.api_version < _FIRST_WITH_MANY:
        transaction = AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        ctx.require(_WRITE, _ID, transaction.transactional_id)
        results, asks = _add_partitions(ctx, transaction, transaction.topics, transaction.topics)
        return later_all(asks, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))
    ctx.require(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME)
    response = AddPartitionsToTxnResponse()
    return later_all(_added_transactions(ctx, request, response), response)


def _added_transactions(
    ctx: RequestContext, request: AddPartitionsToTxnRequest, response: AddPartitionsToTxnResponse
) -> Iterator[Ask]:
    """Put the results of each transaction into the response, and tell what the coordinator is asked for it."""
    # Of a transaction that is named twice Kafka takes the partitions that come last, and answers the first ones.
    last = {each.transactional_id: each.topics for each in request.transactions}
    first = {each.transactional_id: each.topics for each in reversed(request.transactions)}
    for transaction in request.transactions:
        named = transaction.transactional_id
        results, asks = _add_partitions(ctx, transaction, last[named], first[named])
        response.results_by_transaction.append(AddPartitionsToTxnResult(named, results))
        yield from asks


def _add_partitions(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, added: _Topics, answered: _Topics
) -> tuple[list[AddPartitionsToTxnTopicResult], list[Ask]]:
    """The results, and what the coordinator is asked, unless they are known."""
    partitions: dict[TopicPartition, None] = {}  # a set that keeps its order
    for topic in added:
        for index in topic.partitions:
            partitions[topic.name, index] = None
    refused = _refused_partitions(ctx, partitions)
    if refused:
        return _mapped_results(partitions, refused, int(ErrorCode.OPERATION_NOT_ATTEMPTED)), []
    if transaction.verify_only:
        try:
            return _mapped_results(partitions, _verify(ctx, transaction, list(partitions)), _NONE), []
        except KafkaError as error:
            return _mapped_results(partitions, {}, answered_code("AddPartitionsToTxn", ctx.api_version, error.code)), []
    results = [
        AddPartitionsToTxnTopicResult(
            topic.name, [AddPartitionsToTxnPartitionResult(index, _NONE) for index in topic.partitions]
        )
        for topic in answered
    ]
    return results, [(partial(_begin_to_add, ctx, transaction, partitions), None, partial(_not_added, ctx, results))]


def _begin_to_add(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, partitions: dict[TopicPartition, None]
) -> ReplySlot[None] | None:
    check_id(transaction.transactional_id)
    command = AddPartitions(
        transaction.transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        partitions,
        2 if ctx.api_version >= _FIRST_WITH_MANY else 0,
    )
    return ctx.services.transactions().begin(transaction.transactional_id, command, ctx.node)


def _not_added(ctx: RequestContext, results: list[AddPartitionsToTxnTopicResult], error: KafkaError) -> None:
    code = answered_code("AddPartitionsToTxn", ctx.api_version, error.code)
    for topic in results:
        for result in topic.results_by_partition:
            result.partition_error_code = code


def _verify(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, partitions: Sequence[TopicPartition]
) -> Codes:
    check_id(transaction.transactional_id)
    command = VerifyPartitions(
        transaction.transactional_id, transaction.producer_id, transaction.producer_epoch, partitions
    )
    verdicts = ctx.services.transactions().ask_now(transaction.transactional_id, command, ctx.node)
    return {partition: int(code) for partition, code in verdicts.items()}


def _refused_partitions(ctx: RequestContext, partitions: Iterable[TopicPartition]) -> Codes:
    """Partitions that do not exist, and those that the client may not write to: none of an internal topic."""
    refused: Codes = {}
    writable: frozenset[str] | None = None  # all of them
    if ctx.api_version < _FIRST_WITH_MANY:
        names = {name for name, _ in partitions}
        writable = ctx.allowed(_WRITE, _TOPIC, names - INTERNAL_TOPICS)
    topics = ctx.services.topics
    for name, index in partitions:
        topic = topics.get(name)
        if writable is not None and name not in writable:
            refused[name, index] = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        elif topic is None or not 0 <= index < len(topic.partitions):
            refused[name, index] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return refused


def _mapped_results(
    partitions: Iterable[TopicPartition], codes: Codes, others: int
) -> list[AddPartitionsToTxnTopicResult]:
    """Results by topic, in the order of Kafka's maps; `others` is the code of partitions that have none."""
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for name, index in together(scala_order(partitions, hash_of_partition)):
        topic = topics.setdefault(name, AddPartitionsToTxnTopicResult(name, []))
        code = codes.get((name, index), others)
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(index, code))
    return list(topics.values())


# -- AddOffsetsToTxn, EndTxn


@handles(
    AddOffsetsToTxnRequest,
    access=ByItem((Operation.WRITE, Resource.TRANSACTIONAL_ID), (Operation.READ, Resource.GROUP)),
)
def add_offsets_to_txn(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse | Later:
    """Make the partition that keeps a group's offsets part of the transaction."""
    ctx.require(_WRITE, _ID, request.transactional_id)
    require_read(ctx, request.group_id)
    check_id(request.transactional_id)
    partition = CONSUMER_OFFSETS, group_partition(ctx, request.group_id)
    command = AddPartitions(request.transactional_id, request.producer_id, request.producer_epoch, [partition])
    reply = ctx.services.transactions().begin(request.transactional_id, command, ctx.node)
    return later(reply, lambda _: AddOffsetsToTxnResponse())


@handles(EndTxnRequest, access=ByItem((Operation.WRITE, Resource.TRANSACTIONAL_ID)))
def end_txn(ctx: RequestContext, request: EndTxnRequest) -> EndTxnResponse | Later:
    """Commit or abort the transaction."""
    ctx.require(_WRITE, _ID, request.transactional_id)
    check_id(request.transactional_id)
    command = EndTransaction(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.committed,
        2 if ctx.api_version >= _FIRST_WITH_EPOCH_BUMP else 0,
    )
    identity = ctx.services.transactions().begin(request.transactional_id, command, ctx.node)
    return later(identity, _ended)


def _ended(identity: ProducerIdentity) -> EndTxnResponse:
    return EndTxnResponse(producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)


# -- what they share


def check_id(transactional_id: str) -> None:
    """INVALID_REQUEST for an empty id."""
    if not transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)


def group_partition(ctx: RequestContext, group_id: str) -> int:
    """The partition of `__consumer_offsets` that keeps the group, which is created if it is missing."""
    groups = ctx.services.groups()
    groups.topic.ensure()
    return groups.partition_for(group_id)


# -- TxnOffsetCommit: offsets that become visible when a transaction commits.


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
    if log.producers.has_ongoing_transaction(request.producer_id, request.producer_epoch):
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
