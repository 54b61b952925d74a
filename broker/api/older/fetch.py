"""Fetch versions 0 to 3: batches come as messages, in format 0 up to version 1, then in format 1.

As in Kafka an answer is as long as what it was made from: converted messages are cut there, or filled up with what
clients take for a message that was cut off. Headers are lost, control records left out, aborted records are not.
Up to version 2 a limit counts for the first batch, too. Up to version 9 nothing is sent from a topic of zstd.

Where that takes more than some milliseconds it is done in a thread, and a partition gets nothing once the batches of
the answer have inflated too far together.

Every version gets what a log of format 0 or 1 has in that format (`message.format.version`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from odradek.broker.api.fetch import FIRST_VERSION_WITH_TOPIC_ID, sessions_of
from odradek.broker.partitions.fetch_sessions import FetchItem, asked_items
from odradek.broker.partitions.partition import Topic
from odradek.broker.releases.release import Release
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import Serve
from odradek.broker.requests.parked_request import then
from odradek.broker.worker import ThreadWork
from odradek.protocol.compression import Codec, CompressionError
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from odradek.protocol.long_work import BriefConversion, LargeBatch, LongWork, OverBudgetError
from odradek.protocol.message_sets import as_kept, filling, format_of, to_message_set
from odradek.protocol.record_batch import FORMAT_OF_BATCHES, LOG_OVERHEAD, RecordBatch, batch_size_at, iter_batches

_LAST_VERSION_OF_FORMAT_0: Final = 1
_LAST_VERSION_WITH_HARD_LIMIT: Final = 2
_LAST_VERSION_WITH_MESSAGES: Final = 3
_LAST_VERSION_WITHOUT_ZSTD: Final = 9
_CHUNK: Final = 128 * 1024
"""How much Kafka converts at a time."""

_Conversion = Callable[[LongWork], Any]
_Later = tuple[FetchableTopicResponse, int, _Conversion]
"""A partition whose conversion takes long: its topic's answer, its place there, and what to do."""


def older(serve: Serve, version: int, release: Release) -> Serve:
    if version > _LAST_VERSION_WITHOUT_ZSTD and not release.keeps_message_formats:
        return serve

    def fetch(ctx: RequestContext, request: FetchRequest) -> Any:
        served = serve(ctx, request)
        return then(served, ctx.services.clock, lambda response: _converted(ctx, request, response))

    return fetch


def _converted(ctx: RequestContext, request: FetchRequest, response: FetchResponse) -> Any:
    by_id = ctx.api_version >= FIRST_VERSION_WITH_TOPIC_ID
    session = sessions_of(ctx).find(response.session_id) if response.session_id else None
    items = {(item.topic, item.index): item for item in (session.items.values() if session is not None else ())}
    items |= {(item.topic, item.index): item for item in asked_items(request.topics, by_id)}
    brief = BriefConversion()
    large: list[_Later] = []
    for topic in response.responses:
        for number, data in enumerate(topic.partitions):
            item = items[topic.topic_id if by_id else topic.topic, data.partition_index]
            code = _refusal(ctx, topic.topic, data) if ctx.api_version <= _LAST_VERSION_WITHOUT_ZSTD else None
            if code is None and data.records:
                known = ctx.services.topics.by_id(topic.topic_id) if by_id else ctx.services.topics.get(topic.topic)
                conversion = _conversion(ctx, item, known, data.records)
                try:
                    if conversion is not None:
                        data.records = conversion(brief)
                except LargeBatch:
                    assert conversion is not None
                    large.append((topic, number, conversion))
                except CorruptDataError as error:
                    code = error.code
            if code is not None:
                topic.partitions[number] = _refused(data, code)
    return _after_converting(ctx, response, large) if large else response


async def _after_converting(ctx: RequestContext, response: FetchResponse, large: list[_Later]) -> FetchResponse:
    work = ThreadWork()
    for topic, number, conversion in large:
        data = topic.partitions[number]
        try:
            data.records = await ctx.services.worker.do(conversion, work)
        except OverBudgetError:
            data.records = b""  # as if the limit of the answer were reached
        except CorruptDataError as error:
            topic.partitions[number] = _refused(data, error.code)
    return response


def _refused(data: PartitionData, code: ErrorCode) -> PartitionData:
    return PartitionData(data.partition_index, code, -1, -1, -1)


def _refusal(ctx: RequestContext, name: str, data: PartitionData) -> ErrorCode | None:
    """Why a partition that exists is not read for a client of this version."""
    topic = ctx.services.topics.get(name)
    if topic is None:
        return None
    release = ctx.release
    if topic.config.get("compression.type") == Codec.ZSTD.name.lower():
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    reads = data.error_code == ErrorCode.NONE and bool(data.records)
    if not reads and not release.refuses_conversion_early:
        return None
    converts = _wanted_format(ctx.api_version) < topic.config.log_config().message_format
    if converts and not topic.config.get("message.downconversion.enable"):
        return ErrorCode.UNSUPPORTED_VERSION
    return None


def _conversion(ctx: RequestContext, item: FetchItem, topic: Topic | None, records: Any) -> _Conversion | None:
    """How to make what a client of this version gets of the records that were read; None: they are sent as they are."""
    wanted = _wanted_format(ctx.api_version)
    if wanted == FORMAT_OF_BATCHES and not ctx.release.keeps_message_formats:
        return None
    # Only a log whose config asks for a newer format than the client's is converted.
    of_log = FORMAT_OF_BATCHES if topic is None else topic.config.log_config().message_format
    hard_limit = ctx.api_version <= _LAST_VERSION_WITH_HARD_LIMIT
    part_of_first = ctx.release.sends_part_of_first_batch
    return partial(_in_formats, records, item.fetch_offset, item.max_bytes, wanted, of_log, hard_limit, part_of_first)


def _in_formats(
    records: Any,
    from_offset: int,
    max_bytes: int,
    wanted: int,
    of_log: int,
    hard_limit: bool,
    part_of_first: bool,
    work: LongWork,
) -> Any:
    """What a client gets of the batches that were read, the last of which may be cut off."""
    data = records if isinstance(records, bytes) else joined(records)  # here: many requests may wait for the thread
    batches = list(iter_batches(data))
    formats = {format_of(batch) for batch in batches}
    first_size = batch_size_at(data) or 0
    if formats - {FORMAT_OF_BATCHES}:
        data, first_size = _as_kept(batches, from_offset, max_bytes, hard_limit, work)
    if min(of_log, max(formats, default=FORMAT_OF_BATCHES)) <= wanted:
        return data
    if not batches or (hard_limit and first_size > max_bytes):
        return data[: max(0, max_bytes)] if part_of_first else b""
    return _messages(batches, wanted, from_offset, len(data), work)


def _as_kept(
    batches: list[RecordBatch], from_offset: int, max_bytes: int, hard_limit: bool, work: LongWork
) -> tuple[bytes, int]:
    """The batches in the formats of their log, up to the limit, but the first one whole unless that is hard.

    Returns the size of the first one, too.
    """
    parts: list[bytes] = []
    length = first_size = 0
    limit = max(0, max_bytes)
    for batch in batches:
        if length and length >= limit:
            break
        part = as_kept(batch, from_offset, work)
        if part and not length:
            first_size = batch_size_at(part) or 0
            limit = limit if hard_limit else max(limit, first_size)
        parts.append(part)
        length += len(part)
    return b"".join(parts)[:limit], first_size


def _wanted_format(version: int) -> int:
    if version <= _LAST_VERSION_OF_FORMAT_0:
        return 0
    return 1 if version <= _LAST_VERSION_WITH_MESSAGES else FORMAT_OF_BATCHES


def _messages(batches: Sequence[RecordBatch], magic: int, from_offset: int, length: int, work: LongWork) -> bytes:
    """Messages of these batches, of which a client would get `length` bytes."""
    first = next(filter(None, (_as_messages(batch, magic, from_offset, work) for batch in batches)), b"")
    size = max(length, len(first)) if first else LOG_OVERHEAD
    parts, length = [first], len(first)
    # Kafka goes on behind the first batch, also where that was a marker and a later one was the first with messages.
    for chunk in _chunks(batches[1:]):
        if length >= size:
            break
        try:
            converted = b"".join(_as_messages(batch, magic, from_offset, work) for batch in chunk)
        except (CompressionError, OverBudgetError):
            break
        parts.append(converted)
        length += len(converted)
    return b"".join([*parts, filling(size - length)])[:size]


def _as_messages(batch: RecordBatch, magic: int, from_offset: int, work: LongWork) -> bytes:
    return to_message_set(batch, min(magic, format_of(batch)), from_offset, work)


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
