"""The strictness rules that a test has to ask for by name: `partitioner-order` and `unregistered-schema`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from odradek.broker.schemas.framing import readings
from odradek.broker.transcript.recorded_request import is_trimmed
from odradek.broker.transcript.request_text import client_of, count_records
from odradek.broker.transcript.topic_positions import name_of
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.file_slice import joined
from odradek.protocol.record_batch import HEADER, HEADER_SIZE, RecordBatch, iter_batches
from odradek.protocol.records import Record

if TYPE_CHECKING:
    from odradek.broker.facade.report.situation import Situation
    from odradek.broker.schemas.record_schemas import Part, RegisteredSchemas
    from odradek.broker.transcript.recorded_request import RecordedRequest
    from odradek.protocol.message import Buffer


_READ_COMMITTED = 1
_BASE_OFFSET, _MAGIC = 0, 3
_SAME_IN_LOG = (6, 7, 9, 10, 11, 12)  # last offset delta, first timestamp, producer id and epoch, sequence, count
_SEVERAL = 2

_Client = tuple[str, str, int | str]
_Ranges = dict[int, list[tuple[int, int]]]


def partitioner_order(situation: Situation) -> Iterator[str]:
    """A topic whose records one producer spread, and whose reader got records of several partitions."""
    written = _batches_written(situation)
    if not written:
        return
    for (topic, reader, _), read in _read(situation).items():
        for (other, writer, _), spread in written.items():
            if other == topic and sum(_meet(spread.get(index, ()), read[index]) for index in read) >= _SEVERAL:
                yield (
                    f"{writer} wrote records without keys to several partitions of '{topic}', and {reader} read more "
                    "than one of them: there is no order between partitions, and a default partitioner spreads such "
                    "records otherwise each time. Give records that belong together the same key, the topic one "
                    "partition, or compare without order"
                )


def _meet(written: Iterable[tuple[int, int]], read: list[tuple[int, int]]) -> bool:
    return any(first < end and start <= last for first, last in written for start, end in read)


def _batches_written(situation: Situation) -> dict[_Client, _Ranges]:
    """Where a producer's records without keys are: (first, last) offsets of their batches, by partition."""
    found: dict[_Client, _Ranges] = defaultdict(dict)
    for each, request, answer in situation.answered("Produce"):
        for topic, index, offset, sent in _appended(situation, each, request, answer):
            trimmed = is_trimmed(each.exchange.frame)
            batch = _batch(situation.stored(topic, index, offset) if trimmed else sent)
            if batch is not None and _is_same(sent, batch) and _has_record_without_key(batch):
                producer = batch.producer_id if batch.has_producer_id else each.connection
                ranges = found[topic, client_of(each), producer].setdefault(index, [])
                ranges.append((offset, offset + batch.last_offset_delta))
    return {client: ranges for client, ranges in found.items() if len(ranges) >= _SEVERAL}


def _appended(
    situation: Situation, produced: RecordedRequest, request: Any, answer: Any
) -> Iterator[tuple[str, int, int, Buffer]]:
    """Topic of several partitions, partition, first offset and what was sent; zeros behind a large batch's header."""
    offsets = {
        (name_of(produced.topics_by_id, topic), each.index): each.base_offset
        for topic in answer.responses
        for each in topic.partition_responses
        if not each.error_code
    }
    for topic in request.topic_data:
        name = name_of(produced.topics_by_id, topic)
        info = situation.topics.get(name)
        for each in topic.partition_data if info is not None and len(info.partitions) >= _SEVERAL else ():
            offset = offsets.get((name, each.index))
            if offset is not None and each.records:
                yield name, each.index, offset, _in_one(each.records)


def _in_one(records: Any) -> Buffer:
    return records if isinstance(records, bytes | bytearray | memoryview) else joined(records)


def _batch(data: Buffer) -> RecordBatch | None:
    """A producer sends one batch for each partition."""
    try:
        return next(iter_batches(data), None)
    except CorruptDataError:
        return None


def _is_same(sent: Buffer, batch: RecordBatch) -> bool:
    """Whether the log still has what was sent: a topic may have been deleted and created again since."""
    if len(sent) < HEADER_SIZE:
        return False
    one, other = HEADER.unpack_from(sent), HEADER.unpack_from(batch.data)
    return all(one[field] == other[field] for field in _SAME_IN_LOG)


def _has_record_without_key(batch: RecordBatch) -> bool:
    try:
        return not batch.is_control and any(key is None for _, key, _ in batch.iter_keys())
    except CorruptDataError:
        return False


def _read(situation: Situation) -> dict[_Client, dict[int, list[tuple[int, int]]]]:
    """The fetched range of a client, by partition: from the first returned offset to the last readable one."""
    found: dict[_Client, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for fetched, request, answer in situation.answered("Fetch"):
        committed = request.isolation_level == _READ_COMMITTED
        for topic in answer.responses:
            name = name_of(fetched.topics_by_id, topic)
            for each in topic.partitions:
                start = _first_offset(each.records)
                if start is not None:
                    end = each.last_stable_offset if committed else each.high_watermark
                    found[name, client_of(fetched), fetched.connection][each.partition_index].append((start, end))
    return found


def _first_offset(records: Any) -> int | None:
    """The offset of the first fetched record; None if there is none."""
    data = _in_one(records or b"")
    if len(data) < HEADER_SIZE or count_records(data) == 0:
        return None
    fields = HEADER.unpack_from(data)
    return int(fields[_BASE_OFFSET]) if fields[_MAGIC] == 2 else None


_PARTS: tuple[Part, ...] = ("key", "value")


def unregistered_schema(situation: Situation) -> Iterator[str]:
    """Keys or values that a client wrote as the log has them now, though their subject has a schema."""
    registered = situation.registered
    if registered is None:
        return
    found: Counter[tuple[str, str, Part]] = Counter()
    for client, topic, record in _records_written(situation):
        for part in _PARTS:
            data = record.key if part == "key" else record.value
            if (
                data is not None
                and registered.expects(topic, part)
                and not _is_registered(registered, topic, part, data)
            ):
                found[client, topic, part] += 1
    for (client, topic, part), count in found.items():
        yield (
            f"{client} wrote {count} {part}{'s' if count > 1 else ''} to '{topic}' without the id of a schema of the "
            f"registry, which has the subject '{topic}-{part}': who reads with its deserializer fails. Write with the "
            "serializer of the registry"
        )


def _is_registered(registered: RegisteredSchemas, topic: str, part: Part, data: bytes) -> bool:
    number = next(readings(data)).schema_id
    return number is not None and registered.schema(topic, part, number) is not None


def _records_written(situation: Situation) -> Iterator[tuple[str, str, Record]]:
    """Client, topic and record of what was appended."""
    for each, _, answer in situation.answered("Produce"):
        for topic in answer.responses:
            name = name_of(each.topics_by_id, topic)
            for partition in topic.partition_responses:
                if not partition.error_code and partition.base_offset >= 0:
                    data = situation.stored(name, partition.index, partition.base_offset)
                    for record in _records(data, partition.base_offset):
                        yield client_of(each), name, record


def _records(data: bytes, base_offset: int) -> Iterator[Record]:
    """The records of the batch that begins there; none if the log has another batch now."""
    try:
        batch = next(iter_batches(data), None)
        if batch is not None and batch.base_offset == base_offset and not batch.is_control:
            yield from batch.records()
    except CorruptDataError:
        return
