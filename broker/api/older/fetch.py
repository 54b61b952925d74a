"""Fetch versions 0 to 3: batches come as messages, in format 0 up to version 1, then in format 1.

As in Kafka an answer is as long as what it was made from: converted messages are cut there, or filled up with what
clients take for a message that was cut off. Headers are lost, control records left out, aborted records are not.
Up to version 2 a limit counts for the first batch, too. Up to version 9 nothing is sent from a topic of zstd.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Final

from odradek.broker.releases.release import Release
from odradek.broker.requests.access import Serve
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.response import is_coroutine
from odradek.protocol.compression import Codec, CompressionError
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse, PartitionData
from odradek.protocol.message_sets import filling, to_message_set
from odradek.protocol.record_batch import LOG_OVERHEAD, RecordBatch, iter_batches

_LAST_VERSION_OF_FORMAT_0: Final = 1
_LAST_VERSION_WITH_HARD_LIMIT: Final = 2
_LAST_VERSION_WITH_MESSAGES: Final = 3
_LAST_VERSION_WITHOUT_ZSTD: Final = 9
_CHUNK: Final = 128 * 1024
"""How much Kafka converts at a time."""


def older(serve: Serve, version: int, release: Release) -> Serve:
    """See `odradek.broker.api.older`."""
    if version > _LAST_VERSION_WITHOUT_ZSTD:
        return serve

    def fetch(ctx: RequestContext, request: FetchRequest) -> Any:
        served = serve(ctx, request)
        if isinstance(served, Parked) or is_coroutine(served):
            return _converted_later(ctx, request, served)
        return _converted(ctx, request, served)

    return fetch


async def _converted_later(
    ctx: RequestContext, request: FetchRequest, served: Parked | Coroutine[Any, Any, Any]
) -> FetchResponse:
    answer = served if isinstance(served, Parked) else await served
    if isinstance(answer, Parked):
        answer = await answer.response(ctx.services.clock)
    return _converted(ctx, request, answer)


def _converted(ctx: RequestContext, request: FetchRequest, response: FetchResponse) -> FetchResponse:
    asked = {(topic.topic, each.partition): each for topic in request.topics for each in topic.partitions}
    for topic in response.responses:
        for number, data in enumerate(topic.partitions):
            code = _refusal(ctx, topic.topic, data)
            if code is None and ctx.api_version <= _LAST_VERSION_WITH_MESSAGES and data.records:
                part = asked[topic.topic, data.partition_index]
                try:
                    data.records = _messages(ctx, _joined(data.records), part.fetch_offset, part.partition_max_bytes)
                except CorruptDataError as error:
                    code = error.code
            if code is not None:
                refused = PartitionData(data.partition_index, code, -1, -1, -1)
                refused.aborted_transactions, refused.records = None, b""
                topic.partitions[number] = refused
    return response


def _refusal(ctx: RequestContext, name: str, data: PartitionData) -> ErrorCode | None:
    """Why a partition that exists is not read for a client of this version."""
    topic = ctx.services.topics.get(name)
    if topic is None:
        return None
    release = ctx.release
    reads = data.error_code == ErrorCode.NONE and bool(data.records)
    if not reads and not release.refuses_conversion_early:
        return None
    if topic.config.get("compression.type") == Codec.ZSTD.name.lower():
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    if ctx.api_version <= _LAST_VERSION_WITH_MESSAGES and not topic.config.get("message.downconversion.enable"):
        return ErrorCode.UNSUPPORTED_VERSION
    return None


def _joined(records: Any) -> bytes:
    return records if isinstance(records, bytes) else joined(records)


def _messages(ctx: RequestContext, data: bytes, from_offset: int, max_bytes: int) -> bytes:
    """What a client gets for these batches, the last of which may be cut off."""
    batches = list(iter_batches(data))
    hard_limit = ctx.api_version <= _LAST_VERSION_WITH_HARD_LIMIT
    if not batches or (hard_limit and batches[0].size_bytes > max_bytes):
        return data[: max(0, max_bytes)] if ctx.release.sends_part_of_first_batch else b""
    magic = 0 if ctx.api_version <= _LAST_VERSION_OF_FORMAT_0 else 1
    first = next(filter(None, (to_message_set(batch, magic, from_offset) for batch in batches)), b"")
    size = max(len(data), len(first)) if first else LOG_OVERHEAD
    parts, length = [first], len(first)
    # Kafka goes on behind the first batch, also where that was a marker and a later one was the first with messages.
    for chunk in _chunks(batches[1:]):
        if length >= size:
            break
        try:
            converted = b"".join(to_message_set(batch, magic, from_offset) for batch in chunk)
        except CompressionError:
            break
        parts.append(converted)
        length += len(converted)
    return b"".join([*parts, filling(size - length)])[:size]


def _chunks(batches: Sequence[RecordBatch]) -> list[list[RecordBatch]]:
    """The batches as Kafka converts them, so many bytes at a time."""
    chunks: list[list[RecordBatch]] = []
    size = _CHUNK
    for batch in batches:
        if size + batch.size_bytes > _CHUNK:
            chunks.append([])
            size = 0
        chunks[-1].append(batch)
        size += batch.size_bytes
    return chunks
