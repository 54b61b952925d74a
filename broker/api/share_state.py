"""InitializeShareGroupState (83), ReadShareGroupState (84), WriteShareGroupState (85), DeleteShareGroupState (86) and
ReadShareGroupStateSummary (87): version 0, WriteShareGroupState and ReadShareGroupStateSummary also 1 (KIP-932).

What leaders of share partitions and group coordinators ask of the share coordinator. odradek's own do so within the
process; clients may ask as they may ask a Kafka that has no authorizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.broker.coordinator.share_state.commands import (
    DeleteState,
    InitializeState,
    ReadState,
    ReadSummary,
    ShareCommand,
    WriteState,
)
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.protocol.errors import KafkaError
from odradek.protocol.messages import delete_share_group_state as delete
from odradek.protocol.messages import initialize_share_group_state as initialize
from odradek.protocol.messages import read_share_group_state as read
from odradek.protocol.messages import read_share_group_state_summary as summary
from odradek.protocol.messages import write_share_group_state as write

Make = Callable[[ShareKey, Any], ShareCommand[Any]]
"""The command for a partition of a request."""
Fill = Callable[[Any, Any], None]
"""Put a reply into the result of a partition."""


@handles(initialize.InitializeShareGroupStateRequest)
def initialize_state(
    ctx: RequestContext, request: initialize.InitializeShareGroupStateRequest
) -> initialize.InitializeShareGroupStateResponse:
    """Begin to store share partitions."""
    results = _ask_all(
        ctx,
        request,
        (initialize.InitializeStateResult, initialize.PartitionResult),
        lambda key, asked: InitializeState(key, asked.state_epoch, asked.start_offset),
    )
    return initialize.InitializeShareGroupStateResponse(results=results)


@handles(read.ReadShareGroupStateRequest)
def read_state(ctx: RequestContext, request: read.ReadShareGroupStateRequest) -> read.ReadShareGroupStateResponse:
    """What is stored of share partitions, for their new leaders."""

    def fill(result: read.PartitionResult, reply: Any) -> None:
        result.state_epoch = reply.state_epoch
        result.start_offset = reply.start_offset
        result.state_batches = [read.StateBatch(*batch) for batch in reply.batches]

    results = _ask_all(
        ctx,
        request,
        (read.ReadStateResult, read.PartitionResult),
        lambda key, asked: ReadState(key, asked.leader_epoch),
        fill,
    )
    return read.ReadShareGroupStateResponse(results=results)


@handles(write.WriteShareGroupStateRequest)
def write_state(ctx: RequestContext, request: write.WriteShareGroupStateRequest) -> write.WriteShareGroupStateResponse:
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

    results = _ask_all(ctx, request, (write.WriteStateResult, write.PartitionResult), command)
    return write.WriteShareGroupStateResponse(results=results)


@handles(delete.DeleteShareGroupStateRequest)
def delete_state(
    ctx: RequestContext, request: delete.DeleteShareGroupStateRequest
) -> delete.DeleteShareGroupStateResponse:
    """Forget share partitions."""
    results = _ask_all(
        ctx, request, (delete.DeleteStateResult, delete.PartitionResult), lambda key, asked: DeleteState(key)
    )
    return delete.DeleteShareGroupStateResponse(results=results)


@handles(summary.ReadShareGroupStateSummaryRequest)
def read_summary(
    ctx: RequestContext, request: summary.ReadShareGroupStateSummaryRequest
) -> summary.ReadShareGroupStateSummaryResponse:
    """Where share partitions stand."""

    def fill(result: summary.PartitionResult, reply: Any) -> None:
        result.state_epoch = reply.state_epoch
        result.leader_epoch = reply.leader_epoch
        result.start_offset = reply.start_offset
        result.delivery_complete_count = reply.delivery_complete_count

    results = _ask_all(
        ctx,
        request,
        (summary.ReadStateSummaryResult, summary.PartitionResult),
        lambda key, asked: ReadSummary(key),
        fill,
    )
    return summary.ReadShareGroupStateSummaryResponse(results=results)


def _ask_all(
    ctx: RequestContext, request: Any, answers: tuple[type[Any], type[Any]], command: Make, fill: Fill | None = None
) -> list[Any]:
    """The results of a request by topics; none if the request names no group, or a topic without partitions."""
    topic_result, partition_result = answers
    if not request.group_id or not all(topic.partitions for topic in request.topics):
        return []
    service = ctx.services.share_states()
    service.topic.ensure()
    results = []
    for topic in request.topics:
        rows = []
        for asked in topic.partitions:
            key = ShareKey(request.group_id, topic.topic_id, asked.partition)
            row = partition_result(partition=asked.partition)
            try:
                reply = service.ask_now(key.text, command(key, asked), ctx.node)
            except KafkaError as error:
                row.error_code, row.error_message = error.code, error.message
            else:
                if fill is not None:
                    fill(row, reply)
            rows.append(row)
        results.append(topic_result(topic_id=topic.topic_id, partitions=rows))
    return results
