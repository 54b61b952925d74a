"""InitializeShareGroupState (83), ReadShareGroupState (84), WriteShareGroupState (85), DeleteShareGroupState (86) and
ReadShareGroupStateSummary (87): version 0, WriteShareGroupState and ReadShareGroupStateSummary also 1 (KIP-932).

Requests to the share coordinator, from leaders of share partitions and from group coordinators. odradek's own do so
within the process; clients may ask as they may ask a Kafka that has no authorizer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from odradek.broker.api.share_groups import COORDINATOR_TEXTS
from odradek.broker.coordinator.share_state.commands import (
    DeleteState,
    InitializeState,
    ReadState,
    ReadSummary,
    WriteState,
)
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import CLUSTER_REFUSED, Whole, handles
from odradek.broker.requests.parked_request import Ask, later_all
from odradek.broker.runtime.machine import Command
from odradek.broker.security.acl import Operation
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages import delete_share_group_state as delete
from odradek.protocol.generated.messages import initialize_share_group_state as initialize
from odradek.protocol.generated.messages import read_share_group_state as read
from odradek.protocol.generated.messages import read_share_group_state_summary as summary
from odradek.protocol.generated.messages import write_share_group_state as write
from odradek.protocol.java_maps import hash_of_number, hash_of_uuid, java_order

_OF_BROKERS = Whole(Operation.CLUSTER_ACTION, message=CLUSTER_REFUSED)
Make = Callable[[ShareKey, Any], Command[Any]]
"""The command for a partition of a request."""
Fill = Callable[[Any, Any], None]
"""Put a reply into the result of a partition."""


@handles(initialize.InitializeShareGroupStateRequest, access=_OF_BROKERS, in_parts=True)
def initialize_state(ctx: RequestContext, request: initialize.InitializeShareGroupStateRequest) -> Any:
    """Begin to store share partitions."""
    return _ask_all(
        ctx,
        request,
        "initialize share group state",
        (initialize.InitializeShareGroupStateResponse, initialize.InitializeStateResult, initialize.PartitionResult),
        lambda key, asked: InitializeState(key, asked.state_epoch, asked.start_offset),
    )


@handles(read.ReadShareGroupStateRequest, access=_OF_BROKERS, in_parts=True)
def read_state(ctx: RequestContext, request: read.ReadShareGroupStateRequest) -> Any:
    """The stored states of share partitions, for their new leaders."""

    def fill(result: read.PartitionResult, reply: Any) -> None:
        result.state_epoch = reply.state_epoch
        result.start_offset = reply.start_offset
        result.state_batches = [read.StateBatch(*batch) for batch in reply.batches]

    return _ask_all(
        ctx,
        request,
        "read share group state",
        (read.ReadShareGroupStateResponse, read.ReadStateResult, read.PartitionResult),
        lambda key, asked: ReadState(key, asked.leader_epoch),
        fill,
    )


@handles(write.WriteShareGroupStateRequest, access=_OF_BROKERS, in_parts=True)
def write_state(ctx: RequestContext, request: write.WriteShareGroupStateRequest) -> Any:
    """Store what members have decided."""

    def command(key: ShareKey, asked: write.PartitionData) -> WriteState:
        batches = [
            StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in asked.state_batches
        ]
        return WriteState(
            key,
            state_epoch=asked.state_epoch,
            leader_epoch=asked.leader_epoch,
            start_offset=asked.start_offset,
            delivery_complete_count=asked.delivery_complete_count,
            batches=batches,
        )

    return _ask_all(
        ctx,
        request,
        "write share group state",
        (write.WriteShareGroupStateResponse, write.WriteStateResult, write.PartitionResult),
        command,
    )


@handles(delete.DeleteShareGroupStateRequest, access=_OF_BROKERS, in_parts=True)
def delete_state(ctx: RequestContext, request: delete.DeleteShareGroupStateRequest) -> Any:
    """Forget share partitions."""
    return _ask_all(
        ctx,
        request,
        "delete share group state",
        (delete.DeleteShareGroupStateResponse, delete.DeleteStateResult, delete.PartitionResult),
        lambda key, asked: DeleteState(key),
    )


@handles(summary.ReadShareGroupStateSummaryRequest, access=_OF_BROKERS, in_parts=True)
def read_summary(ctx: RequestContext, request: summary.ReadShareGroupStateSummaryRequest) -> Any:
    """The progress of share partitions."""

    def fill(result: summary.PartitionResult, reply: Any) -> None:
        result.state_epoch = reply.state_epoch
        result.leader_epoch = reply.leader_epoch
        result.start_offset = reply.start_offset
        result.delivery_complete_count = reply.delivery_complete_count

    return _ask_all(
        ctx,
        request,
        "read share group state summary",
        (summary.ReadShareGroupStateSummaryResponse, summary.ReadStateSummaryResult, summary.PartitionResult),
        lambda key, asked: ReadSummary(key),
        fill,
    )


def _ask_all(
    ctx: RequestContext,
    request: Any,
    what: str,
    answers: tuple[type[Any], type[Any], type[Any]],
    command: Make,
    fill: Fill | None = None,
) -> Any:
    """The response with its results by topics; none if the request names no group, or a topic without partitions.

    InitializeShareGroupState leaves out such a topic. `what`: what another coordinator says that it cannot do.
    Kafka keeps the results in hash maps: a topic or a partition that is named again has one, that of the last time.
    """
    response, topic_result, partition_result = answers
    begins = isinstance(request, initialize.InitializeShareGroupStateRequest)
    if not request.group_id or not (begins or all(topic.partitions for topic in request.topics)):
        return response(results=[])
    service = ctx.services.share_states()
    service.topic.ensure()
    rows: dict[bytes, dict[int, Any]] = {}
    asks: list[Ask] = []
    for topic in request.topics:
        for asked in topic.partitions:
            key = ShareKey(request.group_id, topic.topic_id, asked.partition)
            row = partition_result(partition=asked.partition)
            begin = partial(service.begin, key.text, command(key, asked), ctx.node)
            asks.append((begin, None if fill is None else partial(fill, row), partial(_refuse, what, row)))
            rows.setdefault(topic.topic_id, {})[asked.partition] = row
    results = [
        topic_result(
            topic_id=topic_id,
            partitions=[rows[topic_id][index] for index in java_order(rows[topic_id], hash_of_number)],
        )
        for topic_id in java_order(rows, hash_of_uuid)
    ]
    return later_all(asks, response(results=results))


def _refuse(what: str, row: Any, error: KafkaError) -> None:
    text = COORDINATOR_TEXTS.get(error.code)
    row.error_code, row.error_message = error.code, f"Unable to {what}: {text}" if text else error.message
