"""Produce versions 0 to 2: message sets of formats 0 and 1, which are stored as batches of format 2 (KIP-98).

The offsets and the timestamp types of the messages say nothing; the codec stays. A set without a whole message is
accepted, and nothing is appended. Large sets are converted in a thread before the request is served.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from odradek.broker.api.produce import finish
from odradek.broker.releases.release import Release
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Serve
from odradek.broker.requests.parked_request import response_of, then
from odradek.broker.worker import ThreadWork
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse
from odradek.protocol.long_work import BriefConversion, LargeBatch
from odradek.protocol.message_sets import is_message_set, to_batch

_LAST_VERSION_WITH_SETS: Final = 2
_OF_THE_LOG: Final = frozenset(
    {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR}
)
"""What the log says of a set that was not converted."""

Told = dict[tuple[str, int], ErrorCode]
Large = list[tuple[str, PartitionProduceData, int]]
"""The sets that take long to be converted: their topics, and how large a message may be."""


def older(serve: Serve, version: int, release: Release) -> Serve:
    if version > _LAST_VERSION_WITH_SETS:
        return serve

    def produce(ctx: RequestContext, request: ProduceRequest) -> Any:
        told: Told = {}
        large = _convert(ctx, request, told)
        if large:
            return _served_later(ctx, request, serve, told, large)
        return _served(ctx, request, serve, told)

    return produce


def _served(ctx: RequestContext, request: ProduceRequest, serve: Serve, told: Told) -> Any:
    if not told:
        return serve(ctx, request)
    acks, request.acks = request.acks, request.acks or 1  # an answer shows whether anything went wrong
    served = serve(ctx, request)
    return then(served, ctx.services.clock, lambda response: _answered(request, response, told, acks))


async def _served_later(ctx: RequestContext, request: ProduceRequest, serve: Serve, told: Told, large: Large) -> Any:
    """Convert the large sets in a thread, and then serve the request."""
    work = ThreadWork()
    for name, data, limit in large:
        # The thread has a copy: it may still run when the connection, which has the bytes, is gone.
        sent = bytes(data.records)  # type: ignore[arg-type]
        try:
            converted = await ctx.services.worker.do(partial(to_batch, sent, max_size=limit), work)
        except CorruptDataError as error:
            told[name, data.index] = error.code
        else:
            _take(name, data, converted, told)
    return await response_of(_served(ctx, request, serve, told), ctx.services.clock)


def _convert(ctx: RequestContext, request: ProduceRequest, told: Told) -> Large:
    """Convert the message sets of a request, but for large ones, which are returned.

    `told` gets what is to be said of those that are left as they are. Kafka limits what is sent, and what is stored as
    well.
    """
    large: Large = []
    brief = BriefConversion()
    for topic in request.topic_data:
        known = ctx.services.topics.get(topic.name)
        for data in topic.partition_data:
            records: Any = data.records
            if known is None or records is None or not is_message_set(records):
                continue
            limit = known.config.log_config().max_message_bytes
            try:
                brief.spend(len(records))
                converted = to_batch(records, brief, limit)
            except LargeBatch:
                large.append((topic.name, data, limit))
            except CorruptDataError as error:
                told[topic.name, data.index] = error.code
            else:
                _take(topic.name, data, converted, told)
    return large


def _take(name: str, data: PartitionProduceData, converted: bytes, told: Told) -> None:
    if converted:
        data.records = converted
    else:
        told[name, data.index] = ErrorCode.NONE  # a set without a message


def _answered(request: ProduceRequest, response: ProduceResponse, told: Told, acks: int) -> ProduceResponse | None:
    """The answer, with what is to be said of sets that were left as they are."""
    failed = False
    for topic in response.responses:
        for partition in topic.partition_responses:
            code = told.get((topic.name, partition.index))
            if code is not None and partition.error_code in _OF_THE_LOG:
                partition.error_code = code
            failed = failed or partition.error_code != ErrorCode.NONE
    request.acks = acks
    if failed:
        return finish(request, response)
    return response if acks else None
