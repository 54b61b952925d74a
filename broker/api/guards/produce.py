"""Rights of Produce: WRITE on each topic, and on the transactional id of transactional batches.

Batches for topics that the client may not write are refused, one by one; the handler sees the others.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from odradek.broker.api import produce as plain
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.error_answers import error_response
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.response import is_coroutine
from odradek.broker.security.acl import Operation, Resource
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.protocol.record_batch import is_transactional_batch

Served = plain.Answer | Coroutine[Any, Any, Any]
_WRITE, _TOPIC = Operation.WRITE, Resource.TOPIC


def produce(ctx: RequestContext, request: ProduceRequest) -> Served:
    """Append what the client may write."""
    asked = request.topic_data
    transactional = _is_transactional(request)
    if len(asked) == 1 and not transactional:
        name = _name(ctx, asked[0])
        if name is not None and ctx.allows(_WRITE, _TOPIC, name, tell=False):
            return plain.produce(ctx, request)
    if transactional and not (
        request.transactional_id is not None and ctx.allows(_WRITE, Resource.TRANSACTIONAL_ID, request.transactional_id)
    ):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return plain.finish(request, error_response(request, ctx.api_version, code))
    names = [_name(ctx, topic) for topic in asked]
    allowed = ctx.allowed(_WRITE, _TOPIC, (name for name in names if name is not None))
    denied = [topic for topic, name in zip(asked, names, strict=True) if name is not None and name not in allowed]
    if not denied:
        return plain.produce(ctx, request)
    request.topic_data = [topic for topic, name in zip(asked, names, strict=True) if name is None or name in allowed]
    order = {(topic.name, topic.topic_id): place for place, topic in reversed(list(enumerate(asked)))}
    served = plain.produce(ctx, request) if request.topic_data else None
    if isinstance(served, Parked) or is_coroutine(served):
        return _joined_later(ctx, request, served, denied, order)
    return _joined(request, served, denied, order)  # type: ignore[arg-type]


def _is_transactional(request: ProduceRequest) -> bool:
    for topic in request.topic_data:
        for data in topic.partition_data:
            records: Any = data.records
            if records is not None and is_transactional_batch(records):
                return True
    return False


def _name(ctx: RequestContext, topic: TopicProduceData) -> str | None:
    """The topic's name; None for an id that nobody knows, which needs no right to be unknown."""
    if ctx.api_version < plain.FIRST_VERSION_WITH_TOPIC_ID:
        return topic.name
    known = ctx.services.topics.by_id(topic.topic_id)
    return None if known is None else known.name


async def _joined_later(
    ctx: RequestContext,
    request: ProduceRequest,
    served: Coroutine[Any, Any, plain.Answer] | Parked,
    denied: list[TopicProduceData],
    order: dict[tuple[str, bytes], int],
) -> ProduceResponse:
    answer = served if isinstance(served, Parked) else await served
    if isinstance(answer, Parked):
        answer = await answer.response(ctx.services.clock)
    return _joined(request, answer, denied, order)


def _joined(
    request: ProduceRequest,
    served: ProduceResponse | None,
    denied: list[TopicProduceData],
    order: dict[tuple[str, bytes], int],
) -> ProduceResponse:
    """The served and the denied partitions, in the order of the request."""
    response = ProduceResponse() if served is None else served
    refused: dict[tuple[str, bytes], dict[int, None]] = {}
    for topic in denied:
        indexes = refused.setdefault((topic.name, topic.topic_id), {})
        indexes.update(dict.fromkeys(data.index for data in topic.partition_data))
    for (name, topic_id), indexes in refused.items():
        answers = [PartitionProduceResponse(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED, -1) for index in indexes]
        response.responses.append(TopicProduceResponse(name, topic_id, answers))
    response.responses.sort(key=lambda topic: order[topic.name, topic.topic_id])
    return plain.finish(request, response)
