"""Transactions: AddPartitionsToTxn (24), AddOffsetsToTxn (25), EndTxn (26), WriteTxnMarkers (27), TxnOffsetCommit (28),
DescribeTransactions (65), ListTransactions (66). InitProducerId (22) is in `producers`.

AddPartitionsToTxn 0-5: v2 tells PRODUCER_FENCED (INVALID_PRODUCER_EPOCH before), v4 takes many transactions and
verify-only ones, as brokers send them (KIP-890). AddOffsetsToTxn 0-4: v2 likewise. EndTxn 0-5: v2 likewise; v5 bumps
the epoch and answers the producer's next identity (KIP-890), whatever the cluster's transaction.version is.
WriteTxnMarkers 1-2: v2 carries the transaction version, with which markers need a new epoch (KIP-1228).
TxnOffsetCommit 0-5: v3 checks the member (KIP-447), v4 may be answered TRANSACTION_ABORTABLE, v5 adds the group's
partition by itself. ListTransactions 0-2: v1 filters by duration (KIP-994), v2 by id pattern (KIP-1152).

Difference from Kafka: a coordinator writes the markers before EndTxn is answered, so the next transaction never meets
CONCURRENT_TRANSACTIONS unless a test holds the last one or a partition cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from odradek.broker.api.later import Later, later, later_all
from odradek.broker.api.merged_topics import merged
from odradek.broker.coordinator.group.commands import OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.transaction.commands import (
    AddPartitions,
    DescribeTransaction,
    EndTransaction,
    ProducerIdentity,
    VerifyPartitions,
)
from odradek.broker.coordinator.transaction.listing import select_transactions
from odradek.broker.coordinator.transaction.markers import GROUP_TOPIC, UncommittedMarker
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.coordinator.transaction.verification import Support
from odradek.broker.metadata.topic_names import INTERNAL_TOPICS
from odradek.broker.requests.access import ByItem, Whole
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.broker.runtime.inbox import ReplySlot
from odradek.broker.runtime.machine import Producer
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_partition, hash_of_text, java_order, scala_order
from odradek.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from odradek.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from odradek.protocol.messages.list_transactions import TransactionState as ListedTransaction
from odradek.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from odradek.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_FIRST_WITH_FENCED = 2
_FIRST_WITH_MANY = 4
_FIRST_WITH_EPOCH_BUMP = 5

_NONE = int(ErrorCode.NONE)

Codes = dict[TopicPartition, int]


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
        ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, transaction.transactional_id)
        results, asked = _add_partitions(ctx, transaction)
        return later_all(asked, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results))
    ctx.require(Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME)
    response = AddPartitionsToTxnResponse()
    waiting: list[_AskedToAdd] = []
    for transaction in request.transactions:
        results, asked = _add_partitions(ctx, transaction)
        waiting += asked
        response.results_by_transaction.append(AddPartitionsToTxnResult(transaction.transactional_id, results))
    return later_all(waiting, response)


_AskedToAdd = tuple["ReplySlot[None]", Callable[[None], None], Callable[[KafkaError], None]]
"""Where the coordinator's reply comes, and what it and an error do to the results."""


def _add_partitions(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction
) -> tuple[list[AddPartitionsToTxnTopicResult], list[_AskedToAdd]]:
    partitions = list(dict.fromkeys((topic.name, index) for topic in transaction.topics for index in topic.partitions))
    refused = _refused_partitions(ctx, partitions)
    if refused:
        return _mapped_results(partitions, refused, int(ErrorCode.OPERATION_NOT_ATTEMPTED)), []
    if transaction.verify_only:
        try:
            return _mapped_results(partitions, _verify(ctx, transaction, partitions), _NONE), []
        except KafkaError as error:
            return _mapped_results(partitions, {}, _code_for(ctx, error)), []
    code = _NONE
    reply = None
    try:
        _check_id(transaction.transactional_id)
        command = AddPartitions(
            transaction.transactional_id,
            transaction.producer_id,
            transaction.producer_epoch,
            partitions,
            2 if ctx.api_version >= _FIRST_WITH_MANY else 0,
        )
        reply = ctx.services.transactions().begin(transaction.transactional_id, command, ctx.node)
    except KafkaError as error:
        code = _code_for(ctx, error)
    results = [
        AddPartitionsToTxnTopicResult(
            topic.name, [AddPartitionsToTxnPartitionResult(index, code) for index in topic.partitions]
        )
        for topic in transaction.topics
    ]
    if reply is None:
        return results, []

    def added(_: None) -> None:
        """The results say so already."""

    def failed(error: KafkaError) -> None:
        for topic in results:
            for result in topic.results_by_partition:
                result.partition_error_code = _code_for(ctx, error)

    return results, [(reply, added, failed)]


def _verify(
    ctx: RequestContext, transaction: AddPartitionsToTxnTransaction, partitions: Sequence[TopicPartition]
) -> Codes:
    _check_id(transaction.transactional_id)
    command = VerifyPartitions(
        transaction.transactional_id, transaction.producer_id, transaction.producer_epoch, partitions
    )
    verdicts = ctx.services.transactions().ask_now(transaction.transactional_id, command, ctx.node)
    return {partition: int(code) for partition, code in verdicts.items()}


def _refused_partitions(ctx: RequestContext, partitions: Iterable[TopicPartition]) -> Codes:
    """Partitions that do not exist, and those that the client may not write to: none of an internal topic."""
    refused: Codes = {}
    partitions = list(partitions)
    names = [name for name, _ in partitions]
    if ctx.api_version < _FIRST_WITH_MANY:
        own = [name for name in names if name not in INTERNAL_TOPICS]
        writable = ctx.allowed(Operation.WRITE, Resource.TOPIC, own)
    else:
        writable = frozenset(names)
    for name, index in partitions:
        topic = ctx.services.topics.get(name)
        if name not in writable:
            refused[name, index] = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        elif topic is None or not 0 <= index < len(topic.partitions):
            refused[name, index] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return refused


def _mapped_results(
    partitions: Iterable[TopicPartition], codes: Codes, others: int
) -> list[AddPartitionsToTxnTopicResult]:
    """Results by topic, in the order of Kafka's maps; `others` is the code of partitions that have none."""
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for name, index in _by_topic(scala_order(partitions, hash_of_partition)):
        topic = topics.setdefault(name, AddPartitionsToTxnTopicResult(name, []))
        code = codes.get((name, index), others)
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(index, code))
    return list(topics.values())


def _by_topic(partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    """Partitions in their order, those of a topic together; the topics as in a Java map."""
    topics = java_order((topic for topic, _ in partitions), hash_of_text)
    return [partition for topic in topics for partition in partitions if partition[0] == topic]


# -- AddOffsetsToTxn, EndTxn


@handles(
    AddOffsetsToTxnRequest,
    access=ByItem((Operation.WRITE, Resource.TRANSACTIONAL_ID), (Operation.READ, Resource.GROUP)),
)
def add_offsets_to_txn(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse | Later:
    """Make the partition that keeps a group's offsets part of the transaction."""
    ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    ctx.require(Operation.READ, Resource.GROUP, request.group_id)

    def refused(error: KafkaError) -> AddOffsetsToTxnResponse:
        return AddOffsetsToTxnResponse(error_code=_code_for(ctx, error))

    try:
        _check_id(request.transactional_id)
        partition = GROUP_TOPIC, _group_partition(ctx, request.group_id)
        command = AddPartitions(request.transactional_id, request.producer_id, request.producer_epoch, [partition])
        reply = ctx.services.transactions().begin(request.transactional_id, command, ctx.node)
    except KafkaError as error:
        return refused(error)
    return later(reply, lambda _: AddOffsetsToTxnResponse(), refused)


@handles(EndTxnRequest, access=ByItem((Operation.WRITE, Resource.TRANSACTIONAL_ID)))
def end_txn(ctx: RequestContext, request: EndTxnRequest) -> EndTxnResponse | Later:
    """Commit or abort the transaction."""
    ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    bumps = ctx.api_version >= _FIRST_WITH_EPOCH_BUMP

    def refused(error: KafkaError) -> EndTxnResponse:
        return EndTxnResponse(error_code=_code_for(ctx, error))

    try:
        _check_id(request.transactional_id)
        command = EndTransaction(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            request.committed,
            2 if bumps else 0,
        )
        identity = ctx.services.transactions().begin(request.transactional_id, command, ctx.node)
    except KafkaError as error:
        return refused(error)
    return later(identity, _ended, refused)


def _ended(identity: ProducerIdentity) -> EndTxnResponse:
    return EndTxnResponse(producer_id=identity.producer_id, producer_epoch=identity.producer_epoch)


# -- WriteTxnMarkers


@handles(WriteTxnMarkersRequest, access=Whole(Operation.ALTER, Operation.CLUSTER_ACTION))
def write_txn_markers(ctx: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse | Later:
    """Write markers into partitions that this node leads; how an administrator ends a hanging transaction (KIP-664)."""
    results: dict[int, dict[TopicPartition, int]] = {}
    waiting: list[tuple[UncommittedMarker, dict[TopicPartition, int], TopicPartition]] = []
    for marker in request.markers:
        for topic in marker.topics:
            for index in topic.partition_indexes:
                codes = results.setdefault(marker.producer_id, {})
                place = topic.name, index
                codes[place] = _NONE
                try:
                    uncommitted = _write_marker(ctx, marker, topic.name, index)
                except KafkaError as error:
                    codes[place] = int(error.code)
                else:
                    if uncommitted is not None:
                        waiting.append((uncommitted, codes, place))
    return _when_committed(ctx, results, waiting) if waiting else _markers_response(results)


async def _when_committed(
    ctx: RequestContext,
    results: dict[int, dict[TopicPartition, int]],
    waiting: list[tuple[UncommittedMarker, dict[TopicPartition, int], TopicPartition]],
) -> WriteTxnMarkersResponse:
    clock = ctx.services.clock
    until_ms = clock.now_ms() + ctx.services.config.get_int("request.timeout.ms")
    for uncommitted, codes, place in waiting:
        try:
            await uncommitted.committed(clock, until_ms - clock.now_ms())
        except KafkaError as error:
            codes[place] = int(error.code)
    return _markers_response(results)


def _markers_response(results: dict[int, dict[TopicPartition, int]]) -> WriteTxnMarkersResponse:
    response = WriteTxnMarkersResponse()
    for producer_id, codes in results.items():
        topics: dict[str, WritableTxnMarkerTopicResult] = {}
        for name, index in _by_topic(java_order(codes, hash_of_partition)):
            answered = topics.setdefault(name, WritableTxnMarkerTopicResult(name, []))
            answered.partitions.append(WritableTxnMarkerPartitionResult(index, codes[name, index]))
        response.markers.append(WritableTxnMarkerResult(producer_id, list(topics.values())))
    return response


def _write_marker(ctx: RequestContext, marker: WritableTxnMarker, topic: str, index: int) -> UncommittedMarker | None:
    return ctx.services.transactions().markers.write(
        topic,
        index,
        Producer(marker.producer_id, marker.producer_epoch),
        commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=marker.transaction_version,
        node=ctx.node,
    )


# -- TxnOffsetCommit


@handles(
    TxnOffsetCommitRequest,
    access=ByItem(
        (Operation.WRITE, Resource.TRANSACTIONAL_ID), (Operation.READ, Resource.GROUP), (Operation.READ, Resource.TOPIC)
    ),
)
async def txn_offset_commit(ctx: RequestContext, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """Store offsets in a group, to become visible when the transaction commits."""
    ctx.require(Operation.WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    ctx.require(Operation.READ, Resource.GROUP, request.group_id)
    offsets, codes = _offsets(ctx, request)
    if offsets:
        try:
            stored = await _commit_offsets(ctx, request, offsets)
        except KafkaError as error:
            stored = [error.code] * len(offsets)
        for offset, code in zip(offsets, stored, strict=True):
            codes[offset.topic, offset.partition] = int(code)
    refused: list[tuple[Hashable, TxnOffsetCommitResponseTopic]] = []
    accepted: list[tuple[Hashable, TxnOffsetCommitResponseTopic]] = []
    attempted = {(offset.topic, offset.partition) for offset in offsets}
    for topic in request.topics:
        for part, taken in ((refused, False), (accepted, True)):
            answers = [
                TxnOffsetCommitResponsePartition(
                    partition.partition_index, codes[topic.name, partition.partition_index]
                )
                for partition in topic.partitions
                if ((topic.name, partition.partition_index) in attempted) is taken
            ]
            if answers:
                part.append((topic.name, TxnOffsetCommitResponseTopic(topic.name, answers)))
    return TxnOffsetCommitResponse(topics=merged(refused, accepted))


def _offsets(ctx: RequestContext, request: TxnOffsetCommitRequest) -> tuple[list[OffsetToCommit], Codes]:
    """What is to be stored, and the codes of partitions that do not exist or that the client may not read."""
    offsets: list[OffsetToCommit] = []
    codes: Codes = {}
    readable = ctx.allowed(Operation.READ, Resource.TOPIC, [topic.name for topic in request.topics])
    for topic in request.topics:
        known = ctx.services.topics.get(topic.name)
        for partition in topic.partitions:
            index = partition.partition_index
            if topic.name not in readable:
                codes[topic.name, index] = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                continue
            if known is None or not 0 <= index < len(known.partitions):
                codes[topic.name, index] = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                continue
            offsets.append(
                OffsetToCommit(
                    topic.name,
                    known.topic_id,
                    index,
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    partition.committed_metadata,
                )
            )
    return offsets, codes


async def _commit_offsets(
    ctx: RequestContext, request: TxnOffsetCommitRequest, offsets: list[OffsetToCommit]
) -> list[ErrorCode]:
    if not request.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    groups = ctx.services.groups()
    groups.shard_for(request.group_id, ctx.node)
    await _check_transaction(ctx, request)
    stored: list[ErrorCode] = await groups.shard_for(request.group_id, ctx.node).ask(
        TxnOffsetCommit(
            request.group_id,
            offsets,
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
            member_id=request.member_id,
            generation_id=request.generation_id,
            instance_id=request.group_instance_id,
        )
    )
    return stored


# How a commit answers when the coordinator of the transaction, or its partition, has trouble of its own.
_COMMIT_ERRORS = {
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
}


async def _check_transaction(ctx: RequestContext, request: TxnOffsetCommitRequest) -> None:
    """Raise unless the group's partition is part of the transaction, or (v5) make it part of it."""
    index = _group_partition(ctx, request.group_id)
    log = ctx.services.groups().topic.ensure()[index].log
    if log.has_ongoing_transaction(request.producer_id, request.producer_epoch):
        return
    transactions = ctx.services.transactions()
    if not transactions.reached_from(ctx.node.id, request.transactional_id):
        raise KafkaError(_COMMIT_ERRORS[ErrorCode.NETWORK_EXCEPTION])
    errors = await transactions.verifier.verify(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        [(GROUP_TOPIC, index)],
        Support.of_txn_offset_commit(ctx.api_version),
    )
    for code in errors.values():
        raise KafkaError(_COMMIT_ERRORS.get(code, code))


# -- DescribeTransactions, ListTransactions


@handles(
    DescribeTransactionsRequest,
    access=ByItem((Operation.DESCRIBE, Resource.TRANSACTIONAL_ID), (Operation.DESCRIBE, Resource.TOPIC)),
)
def describe_transactions(ctx: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    """The state of transactional ids that this node coordinates."""
    states = [_describe(ctx, transactional_id) for transactional_id in request.transactional_ids]
    return DescribeTransactionsResponse(transaction_states=states)


def _describe(ctx: RequestContext, transactional_id: str) -> TransactionState:
    try:
        ctx.require(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, transactional_id)
        _check_id(transactional_id)
        found = ctx.services.transactions().ask_now(transactional_id, DescribeTransaction(transactional_id), ctx.node)
    except KafkaError as error:
        return TransactionState(error_code=int(error.code), transactional_id=transactional_id)
    if found is None:
        code = int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
        return TransactionState(error_code=code, transactional_id=transactional_id)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=found.state.label,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.start_ms,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        topics=_described_topics(ctx, found.partitions),
    )


def _described_topics(ctx: RequestContext, partitions: Iterable[TopicPartition]) -> list[TopicData]:
    """The partitions of a transaction that the client may see, as Kafka's set of them would list them."""
    topics: dict[str, TopicData] = {}
    for topic, index in java_order(sorted(partitions), hash_of_partition):
        topics.setdefault(topic, TopicData(topic, [])).partitions.append(index)
    shown = ctx.allowed(Operation.DESCRIBE, Resource.TOPIC, topics)
    return [described for name, described in topics.items() if name in shown]


@handles(ListTransactionsRequest, access=ByItem((Operation.DESCRIBE, Resource.TRANSACTIONAL_ID)))
def list_transactions(ctx: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """The transactional ids that this node coordinates, filtered."""
    try:
        found, unknown_states = select_transactions(
            ctx.services.transactions(),
            ctx.node,
            now_ms=ctx.services.clock.now_ms(),
            states=request.state_filters,
            producer_ids=request.producer_id_filters,
            longer_than_ms=request.duration_filter,
            id_pattern=request.transactional_id_pattern,
        )
    except KafkaError as error:
        return ListTransactionsResponse(error_code=int(error.code))
    return ListTransactionsResponse(
        unknown_state_filters=unknown_states,
        transaction_states=[
            ListedTransaction(listed.transactional_id, listed.producer_id, listed.state.label)
            for listed in found
            if ctx.allows(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, listed.transactional_id, tell=False)
        ],
    )


# -- what they share


def _check_id(transactional_id: str) -> None:
    if not transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST)


def _group_partition(ctx: RequestContext, group_id: str) -> int:
    """The partition of `__consumer_offsets` that keeps the group, which is created if it is missing."""
    groups = ctx.services.groups()
    groups.topic.ensure()
    return groups.partition_for(group_id)


def _code_for(ctx: RequestContext, error: KafkaError) -> int:
    """Clients that do not know PRODUCER_FENCED are told INVALID_PRODUCER_EPOCH."""
    if error.code is ErrorCode.PRODUCER_FENCED and ctx.api_version < _FIRST_WITH_FENCED:
        return int(ErrorCode.INVALID_PRODUCER_EPOCH)
    return int(error.code)
