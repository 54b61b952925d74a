"""WriteTxnMarkers (27): markers of transactions, as an administrator writes them to end a hanging one (KIP-664).

Versions 1-2: v2 carries the transaction version, with which markers need a new epoch (KIP-1228).
"""

from __future__ import annotations

from odradek.broker.api.deferred_answer import Later
from odradek.broker.api.merged_topics import together
from odradek.broker.coordinator.transaction.service import UncommittedMarker
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.requests.access import Whole
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import handles
from odradek.broker.runtime.machine import Producer
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from odradek.protocol.java_maps import hash_of_partition, java_order

_NONE = int(ErrorCode.NONE)


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
