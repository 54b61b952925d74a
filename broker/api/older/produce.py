"""Produce versions 0 to 2: message sets of formats 0 and 1, which are stored as batches of format 2 (KIP-98).

The offsets and the timestamp types of the messages say nothing; the codec stays. A set without a whole message is
accepted, and nothing is appended.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Final

from odradek.broker.api.produce import finish
from odradek.broker.releases.release import Release
from odradek.broker.requests.access import Serve
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.response import is_coroutine
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.generated.messages.produce import ProduceRequest, ProduceResponse
from odradek.protocol.message_sets import is_message_set, read_messages, to_batch
from odradek.protocol.records import Buffer

_LAST_VERSION_WITH_SETS: Final = 2
_OF_THE_LOG: Final = frozenset(
    {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD, ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR}
)
"""What the log says of a set that was not converted."""

Told = dict[tuple[str, int], ErrorCode]


def older(serve: Serve, version: int, release: Release) -> Serve:
    """See `odradek.broker.api.older`."""
    if version > _LAST_VERSION_WITH_SETS:
        return serve

    def produce(ctx: RequestContext, request: ProduceRequest) -> Any:
        told = _convert(ctx, request)
        if not told:
            return serve(ctx, request)
        acks, request.acks = request.acks, request.acks or 1  # an answer shows whether anything went wrong
        served = serve(ctx, request)
        if isinstance(served, Parked) or is_coroutine(served):
            return _answered_later(ctx, request, served, told, acks)
        return _answered(request, served, told, acks)

    return produce


def _convert(ctx: RequestContext, request: ProduceRequest) -> Told:
    """Convert the message sets of a request; returns what is to be said of those that are left as they are."""
    told: Told = {}
    for topic in request.topic_data:
        for data in topic.partition_data:
            records: Any = data.records
            if records is None or not is_message_set(records):
                continue
            try:
                converted = _checked(ctx, topic.name, records)
            except CorruptDataError as error:
                told[topic.name, data.index] = error.code
            else:
                if converted:
                    data.records = converted
                else:
                    told[topic.name, data.index] = ErrorCode.NONE
    return told


class _TooLargeError(CorruptDataError):
    """A message that is larger than its topic takes."""

    code = ErrorCode.MESSAGE_TOO_LARGE


def _checked(ctx: RequestContext, name: str, records: Buffer) -> bytes:
    """The batch of a set; b"" for a set without a message. Kafka limits what is sent, and what is stored as well."""
    topic = ctx.services.topics.get(name)
    messages = list(read_messages(records))
    if topic is not None and messages:
        limit = topic.config.log_config().max_message_bytes
        if any(message.size > limit for message in messages):
            raise _TooLargeError(f"a message of {max(message.size for message in messages)} bytes")
    return to_batch(messages)


async def _answered_later(
    ctx: RequestContext, request: ProduceRequest, served: Parked | Coroutine[Any, Any, Any], told: Told, acks: int
) -> ProduceResponse | None:
    answer = served if isinstance(served, Parked) else await served
    if isinstance(answer, Parked):
        answer = await answer.response(ctx.services.clock)
    return _answered(request, answer, told, acks)


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
