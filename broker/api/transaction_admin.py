"""DescribeTransactions (65), ListTransactions (66): what a node's transaction coordinators know.

DescribeTransactions 0. ListTransactions 0-2: v1 filters by duration (KIP-994), v2 by id pattern (KIP-1152).

WriteTxnMarkers (27) versions 1 and 2: markers of transactions, as an administrator writes them to end a hanging one
(KIP-664). v2 carries the transaction version, with which markers need a new epoch (KIP-1228).
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.api.group_requests import together
from odradek.broker.api.lookups import repeated
from odradek.broker.api.transactions import check_id
from odradek.broker.coordinator.transaction.service import UncommittedMarker, select_transactions
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import ByItem, Whole, handles
from odradek.broker.requests.parked_request import Later
from odradek.broker.runtime.machine import Producer
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from odradek.protocol.generated.messages.list_transactions import TransactionState as ListedTransaction
from odradek.protocol.generated.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from odradek.protocol.java_maps import concurrent_order, hash_of_long, hash_of_partition, java_order


@handles(
    DescribeTransactionsRequest,
    access=ByItem((Operation.DESCRIBE, Resource.TRANSACTIONAL_ID), (Operation.DESCRIBE, Resource.TOPIC)),
    large_answers_from=0,
)
def describe_transactions(ctx: RequestContext, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    """The state of transactional ids that this node coordinates."""
    ids = request.transactional_ids
    described = [_describe(ctx, transactional_id) for transactional_id in dict.fromkeys(ids)]
    return DescribeTransactionsResponse(transaction_states=repeated(described, ids))


def _describe(ctx: RequestContext, transactional_id: str) -> TransactionState:
    try:
        ctx.require(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, transactional_id)
        check_id(transactional_id)
        found = ctx.services.transactions().machine_for(transactional_id, ctx.node).described(transactional_id)
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


# -- markers


_NONE = int(ErrorCode.NONE)


@handles(WriteTxnMarkersRequest, access=Whole(Operation.ALTER, Operation.CLUSTER_ACTION))
def write_txn_markers(ctx: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse | Later:
    """Write markers into partitions that this node leads; how an administrator ends a hanging transaction (KIP-664)."""
    results: dict[int, dict[TopicPartition, int]] = {}
    waiting: list[tuple[UncommittedMarker, dict[TopicPartition, int], TopicPartition]] = []
    for marker in request.markers:
        named = dict.fromkeys((topic.name, index) for topic in marker.topics for index in topic.partition_indexes)
        codes = results.setdefault(marker.producer_id, {}) if named else {}
        written: dict[TopicPartition, int] = {}
        for place in named:
            try:
                uncommitted = _write_marker(ctx, marker, *place)
            except KafkaError as error:
                # Kafka answers before it writes that it has no such partition.
                answers = codes if error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else written
                answers[place] = int(error.code)
            else:
                written[place] = _NONE
                if uncommitted is not None:
                    waiting.append((uncommitted, codes, place))
        codes.update(written)
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
    for producer_id in concurrent_order(results, hash_of_long):
        codes = results[producer_id]
        topics: dict[str, WritableTxnMarkerTopicResult] = {}
        for name, index in together(java_order(codes, hash_of_partition)):
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
