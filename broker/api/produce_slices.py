"""The rest of a Produce request that takes longer than a slice: other requests are served between its slices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import trio

from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked, is_coroutine
from odradek.broker.worker import ThreadWork
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.protocol.record_batch import effort
from odradek.storage.validation import check_large

Rest: TypeAlias = tuple[TopicProduceData, PartitionProduceData, list[PartitionProduceResponse], int, bool]
"""A partition that waits for its slice: what was asked, the list and the place of its answer, and whether its batch is
a large one."""

SLICE: Final = 32_000
"""The effort (`odradek.protocol.record_batch.effort`) after which a request goes on in another slice: about 20 ms."""

_FIRST_VERSION_WITH_TOPIC_ID: Final = 13
_MOST_RECORD_ERRORS: Final = 10_000
"""So many refused records are named in an answer."""


async def append_rest(
    ctx: RequestContext,
    request: ProduceRequest,
    response: ProduceResponse,
    begun: Parked | None,
    rest: list[Rest],
    serve: Callable[[RequestContext, ProduceRequest], Any],
    failed: Callable[[RequestContext, ProduceRequest, ProduceResponse], Any],
) -> Any:
    """Append the rest in slices, and a large batch as soon as its records are checked.

    Each slice is served as a request of its own, so everything that may have changed is looked at again. `response` has
    the answers to what was appended already; `begun` waits for their replicas. `failed` makes the answer to a
    request with errors.
    """
    waits: list[tuple[Parked, list[Rest]]] = [] if begun is None else [(begun, [])]
    try:
        chosen: list[Rest] = []
        spent = 0
        for number, each in enumerate(rest):
            data, is_large = each[1], each[4]
            if is_large:
                await _look_at(ctx, each[0], data)
            chosen.append(each)
            spent += effort(data.records)  # type: ignore[arg-type]
            if spent > SLICE or is_large or number == len(rest) - 1:
                await trio.lowlevel.checkpoint()
                served = serve(ctx, _request_of(request, chosen))
                answer: Any = await served if is_coroutine(served) else served
                if isinstance(answer, Parked):
                    waits.append((answer, chosen))
                else:
                    _take(answer, chosen)
                chosen, spent = [], 0
        while waits:
            parked, chosen = waits[0]
            answer = await parked.response(ctx.services.clock)
            del waits[0]
            _take(answer, chosen)
    finally:
        for parked, _ in waits:
            parked.abandon()
    if _has_failed(response):
        return failed(ctx, request, response)
    return response if request.acks else None


async def _look_at(ctx: RequestContext, asked: TopicProduceData, data: PartitionProduceData) -> None:
    """Let the worker check a large batch. The log is given the result in place of the batch."""
    topics = ctx.services.topics
    by_id = ctx.api_version >= _FIRST_VERSION_WITH_TOPIC_ID
    topic = topics.by_id(asked.topic_id) if by_id else topics.get(asked.name)
    if topic is None or data.index >= len(topic.partitions):
        return  # it was deleted meanwhile
    log = topic.partitions[data.index].log
    work = ctx.long_work
    if not isinstance(work, ThreadWork):
        work = ctx.long_work = ThreadWork()
    sent: Any = data.records
    now_ms = ctx.services.face.now_ms()
    # The thread has a copy: it may still run when the connection, which has the bytes, is gone.
    check = partial(check_large, bytes(sent), log.config, now_ms, log.name)
    data.records = await ctx.services.worker.do(check, work)


def _request_of(request: ProduceRequest, chosen: list[Rest]) -> ProduceRequest:
    """The part of a request for some partitions. It is answered: an answer shows whether anything went wrong."""
    asked = [TopicProduceData(topic.name, topic.topic_id, [data]) for topic, data, _, _, _ in chosen]
    return ProduceRequest(request.transactional_id, request.acks or 1, request.timeout_ms, asked)


def _take(answer: ProduceResponse, chosen: list[Rest]) -> None:
    found = [partition for topic in answer.responses for partition in topic.partition_responses]
    for (_, _, answers, place, _), partition in zip(chosen, found, strict=True):
        answers[place] = partition


def _has_failed(response: ProduceResponse) -> bool:
    """Whether any partition failed. More than so many refused records are not named."""
    failed = False
    named = 0
    for topic in response.responses:
        for answer in topic.partition_responses:
            failed = failed or answer.error_code != 0
            named += len(answer.record_errors)
            if named > _MOST_RECORD_ERRORS:
                answer.record_errors = []
    return failed
