"""Reads the log of a topic, decodes its records, and shows them by the schemas that were set for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.facade.records.record import DecodedRecord, Isolation, StoredRecord
from odradek.broker.partitions.lookups import find_partitions
from odradek.broker.schemas.record_schemas import RecordSchemas, schema_of
from odradek.protocol.control import committed_batches, parse_control_record
from odradek.protocol.record_batch import RecordBatch, TimestampType, iter_batches, next_sequence

if TYPE_CHECKING:
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.nodes.node_life import Undoing
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.schemas.record_schemas import Kind, Part


_CHUNK_BYTES = 1024 * 1024
_NO_END = 2**63


class Bounds(NamedTuple):
    """The part of a partition's log that is visible to a reader, and the aborted transactions in it."""

    partition: int
    first: int
    end: int
    aborted: tuple[tuple[int, int], ...]


Start = Callable[[int, int, int], int]
"""(index of a partition, first visible offset, end) -> the offset to begin at."""


def bounds_of(
    topics: PartitionRegistry, topic: str, partition: int | None, isolation: Isolation, start: Start
) -> list[Bounds]:
    """The visible parts of the log from ``start`` on, in the broker's thread. Raises as `find_partitions`."""
    if isolation not in ("read_uncommitted", "read_committed"):
        raise ValueError(f"isolation={isolation!r}: expected read_uncommitted or read_committed")
    return [_bounds(each, isolation, start) for each in find_partitions(topics, topic, partition)]


def _bounds(partition: Partition, isolation: Isolation, start: Start) -> Bounds:
    log = partition.log
    committed = isolation == "read_committed"
    end = log.last_stable_offset if committed else log.high_watermark
    first = max(log.log_start_offset, start(partition.index, log.log_start_offset, end))
    aborted = log.aborted_transactions(first, end) if committed and first < end else ()
    return Bounds(partition.index, first, end, tuple((producer_id, offset) for producer_id, offset in aborted))


def read_records(
    call: Call,
    topics: PartitionRegistry,
    topic: str,
    bounds: list[Bounds],
    isolation: Isolation,
    control: bool,
) -> Iterator[StoredRecord]:
    """Yield the records in ``bounds``. Bytes are read through ``call``; they are decoded in the caller's thread."""
    for each in bounds:
        batches = _batches(call, topics, topic, each)
        for batch in committed_batches(batches, each.aborted) if isolation == "read_committed" else batches:
            if batch.is_control and not control:
                continue
            yield from decode_batch(topic, each.partition, batch, each.first, each.end)


def _batches(call: Call, topics: PartitionRegistry, topic: str, bounds: Bounds) -> Iterator[RecordBatch]:
    position = bounds.first
    while position < bounds.end:
        data = call(partial(_read, topics, topic, bounds, position))
        if not data:
            return
        for batch in iter_batches(data):
            position = batch.next_offset
            yield batch


def _read(topics: PartitionRegistry, topic: str, bounds: Bounds, offset: int) -> bytes:
    found = topics.get(topic)
    if found is None or bounds.partition >= len(found.partitions):
        return b""
    log = found.partitions[bounds.partition].log
    offset = max(offset, log.log_start_offset)
    if offset >= bounds.end:
        return b""
    return b"".join(log.read(offset, max_bytes=_CHUNK_BYTES, up_to_offset=bounds.end).parts)


def batch_at(topics: PartitionRegistry, topic: str, partition: int, offset: int) -> bytes:
    """The batch that contains an offset, in the broker's thread; empty if there is none."""
    found = topics.get(topic)
    if found is None or partition >= len(found.partitions):
        return b""
    log = found.partitions[partition].log
    if not log.log_start_offset <= offset < log.high_watermark:
        return b""
    return b"".join(log.read(offset, max_bytes=1, up_to_offset=log.high_watermark).parts)


def decode_batch(
    topic: str, partition: int, batch: RecordBatch, first: int = 0, end: int = _NO_END
) -> Iterator[StoredRecord]:
    """The records of one batch from ``first`` to before ``end``, with the fields of the batch."""
    first_sequence = batch.base_sequence
    for record in batch.records():
        if record.offset < first:
            continue
        if record.offset >= end:
            return
        marker = parse_control_record(record) if batch.is_control else None
        sequence = -1 if first_sequence < 0 else next_sequence(first_sequence, record.offset - batch.base_offset)
        yield StoredRecord(
            topic=topic,
            partition=partition,
            offset=record.offset,
            timestamp=record.timestamp,
            key=record.key,
            value=record.value,
            headers=record.headers,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            sequence=sequence,
            transactional=batch.is_transactional,
            control=None if marker is None else "commit" if marker.commit else "abort",
            leader_epoch=batch.partition_leader_epoch,
            codec=batch.codec.name.lower(),
            log_append_time=batch.timestamp_type is TimestampType.LOG_APPEND_TIME,
        )


_PARTS = ("key", "value")
_LARGEST_ID = 2**32 - 1


def schema_change(
    schemas: RecordSchemas,
    topic: str,
    part: Part,
    schema_id: int | None,
    source: str | bytes | None,
    kind: Kind | None = None,
    message: str | None = None,
) -> Callable[[], Undoing]:
    """Sets the schema of a topic's keys or values. ``source`` is parsed by this call; None removes the schema.

    ValueError for bad arguments.
    """
    if not topic:
        raise ValueError("a schema needs the name of a topic")
    if part not in _PARTS:
        raise ValueError(f"part={part!r}: expected 'key' or 'value'")
    if schema_id is not None and not 0 <= schema_id <= _LARGEST_ID:
        raise ValueError(f"schema_id={schema_id}: expected 0 to {_LARGEST_ID}")
    schema = None if source is None else schema_of(source, kind, message)

    def change() -> Undoing:
        before = schemas.set(topic, part, schema_id, schema)

        def undo() -> None:
            schemas.set(topic, part, schema_id, before)

        return undo

    return change


def decoded_records(schemas: RecordSchemas, records: Iterable[StoredRecord]) -> Iterator[DecodedRecord]:
    """Decode each record in the caller's thread. Transaction markers have no schema."""
    for each in records:
        if each.control is not None:
            yield DecodedRecord(each, None, None)
            continue
        key, value = (schemas.decoded(each.topic, "key", each.key), schemas.decoded(each.topic, "value", each.value))
        yield DecodedRecord(each, key, value)


def has_text(found: DecodedRecord, text: str) -> bool:
    """Whether a record has a text, in small letters, in its key, value or headers, as bytes or decoded."""
    record, wanted = found.record, text.encode()
    parts = (record.key, record.value, *(part for name, value in record.headers for part in (name.encode(), value)))
    return any(part is not None and wanted in part.lower() for part in parts) or any(
        each is not None and text in json.dumps(each.data, ensure_ascii=False).lower()
        for each in (found.key, found.value)
    )
