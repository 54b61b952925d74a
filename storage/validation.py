"""What a broker checks before a client's batch becomes part of a log, and the rewriting that the checks imply.

The order of the checks and their codes are those of Kafka: first what a produce request may carry at all (one batch,
format v2), then base offset, size and checksum, then the batch and its records. Source: KIP-32 (timestamps), KIP-98,
KIP-467 (per-record errors), KIP-937 (timestamp bounds), observed behaviour of 4.4.0.

Cost: a large batch is checked by its header, its checksum and the chain of record lengths, not field by field; see
`_FULL_SCAN`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from odradek.protocol.checksum import crc32c
from odradek.protocol.compression import (
    DEFAULT_MAX_INFLATED,
    Codec,
    CompressionError,
    InflatesTooFarError,
    compress,
)
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError, as_value
from odradek.protocol.long_work import LargeBatch, LongWork, OverBudgetError
from odradek.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    CRC_FROM,
    DELETE_HORIZON_FLAG,
    FORMAT_OF_BATCHES,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC_AT,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    CorruptBatchError,
    Header,
    RecordBatch,
    TimestampType,
    assemble,
    batch_size_at,
    build_batch,
    iter_batches,
    read_batch,
)
from odradek.protocol.records import (
    Buffer,
    Record,
    check_record_chain,
    iter_records,
    record_pieces,
    scan_in_pieces,
    scan_records,
)
from odradek.storage.checked_records import CheckedRecords
from odradek.storage.log_config import LogConfig

_FULL_SCAN: Final = 32
"""Batches of up to so many records are read field by field. Larger ones are read by the lengths of their records only
(a few ns to 0.2 us a record instead of 1 us), unless the topic's rules need keys or smallest timestamps.
"""

_MOST_RECORDS: Final = 20_000
"""A batch of more records that have to be read field by field is a large one."""
_MOST_INFLATED: Final = 4 * 1024 * 1024
_LEAST_INFLATED: Final = 256 * 1024
"""A compressed batch is a large one if it inflates to more than this and 32 times its size, or to the number above."""
_MOST_RECOMPRESSED: Final = 256 * 1024
"""A batch with a body of more bytes that is to be compressed anew is a large one."""
_MOST_ERRORS: Final = 1000
"""So many records of a batch are named with what is wrong with them."""

_KEPT_ATTRIBUTES: Final = CODEC_MASK | TRANSACTIONAL_FLAG | CONTROL_FLAG | DELETE_HORIZON_FLAG
"""The producer's attributes that a rewritten header keeps; the timestamp type is set anew."""

_LAST_CODEC: Final = int(Codec.ZSTD)
_LENGTH: Final = struct.Struct(">8xi")
_fields_of_own: Final = struct.Struct(">21xhi8xqqhii").unpack_from
"""Fields of the header: attributes, last offset delta, newest timestamp, producer id, epoch, sequence, records."""
_MAX_INT: Final = 0x7FFFFFFF

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


class RecordsRefused(KafkaError):
    """A client's batch was refused.

    The Produce response has `log_start_offset`, `client_message` and `record_errors` beside the code (-1, None and
    empty where Kafka omits them); `message` is for the broker's own log.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        log_start_offset: int = -1,
        client_message: str | None = None,
        record_errors: list[tuple[int, str | None]] | None = None,
        in_log: bool = False,
    ) -> None:
        super().__init__(code, message)
        self.log_start_offset = log_start_offset
        self.client_message = client_message
        self.record_errors: list[tuple[int, str | None]] = record_errors or []
        self.in_log = in_log


class RecordValidationError(RecordsRefused):
    """Single records were refused. `record_errors` lists (index in the batch, message)."""

    def __init__(self, code: ErrorCode, message: str, record_errors: list[tuple[int, str | None]]) -> None:
        super().__init__(code, message, client_message=message, record_errors=record_errors, in_log=True)


def _invalid(message: str) -> RecordsRefused:
    return RecordsRefused(ErrorCode.INVALID_RECORD, message, in_log=True)


CheckedBatch: TypeAlias = tuple[Buffer, int, int, int, int, int, int, int]
"""The batch to store, and fields of its header: attributes, last offset delta, largest timestamp, producer id, producer
epoch, base sequence, record count. A plain tuple, because each append makes one.
"""


def check_large(buf: Buffer, config: LogConfig, now_ms: int, name: str, work: LongWork) -> CheckedRecords:
    """Check a batch for which `validate_client_batch` raises `LargeBatch`; uses no state, so that a thread may do it.

    The log takes the result in place of the client's batch.
    """
    try:
        return CheckedRecords(buf, validate_client_batch(buf, config, now_ms, name, work)[0])
    except (KafkaError, CorruptDataError) as error:
        return CheckedRecords(buf, b"", as_value(error))  # its frames have what was inflated


def checked_before(records: CheckedRecords, config: LogConfig, now_ms: int) -> CheckedBatch:
    """The batch to store of one that was checked before. Raises what was found then."""
    if records.error is not None:
        raise records.error
    batch = read_batch(records.stored)
    if config.message_timestamp_type and config.message_format == FORMAT_OF_BATCHES:
        # It is appended now, and not when it was checked.
        batch = _restamp(batch, batch.data[HEADER_SIZE:], batch.attributes, config, now_ms, batch.max_timestamp)
    return _checked(batch)


def validate_client_batch(
    buf: Buffer, config: LogConfig, now_ms: int, name: str, work: LongWork | None = None
) -> CheckedBatch:
    """Check the records of one partition of a Produce request.

    Returns the batch to store. `name` is the partition's (`topic-0`), for messages. Offsets and leader epoch are not
    assigned yet. Raises RecordsRefused or RecordValidationError, CompressionError, InvalidRecordError. Without `work`
    it takes some milliseconds at most, and raises LargeBatch for a batch that would take longer.
    """
    if len(buf) < HEADER_SIZE:
        buf = single_batch(buf)
    header: Header = HEADER.unpack_from(buf)
    # Unpacking thirteen fields at once costs less than reading four attributes of a batch.
    base_offset, length, _, magic, crc, attributes, last_delta, _, newest, producer_id, epoch, sequence, count = header
    if magic != 2 or length + LOG_OVERHEAD != len(buf):
        buf = single_batch(buf)
    if base_offset:
        raise _invalid(f"The base offset of a record batch to append to {name} must be 0, it is {base_offset}")
    if len(buf) > config.max_message_bytes:
        raise too_large(len(buf), config, name)
    if crc32c(buf[CRC_FROM:]) != crc:
        raise RecordsRefused(ErrorCode.CORRUPT_MESSAGE, f"The checksum of a record batch for {name} is wrong")
    codec = attributes & CODEC_MASK
    if codec > _LAST_CODEC:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"There is no compression codec {codec}")
    if count <= 0 or last_delta + 1 != count:
        raise _invalid(f"A batch for {name} declares {count} records over {last_delta + 1} offsets")
    if attributes & CONTROL_FLAG:
        raise _invalid("Clients are not allowed to write control records")
    if sequence < 0 <= producer_id:
        raise _invalid(f"Invalid sequence number {sequence} in a batch of producer {producer_id}")
    if codec or config.rewrites:
        batch = _new(RecordBatch, (*header, buf))
        if config.message_format < FORMAT_OF_BATCHES:
            return _checked(_in_older_format(batch, config, now_ms, name, work))
        return _checked(_validate_compressed(batch, config, now_ms, name, work))
    max_timestamp = _check_records(header, buf, buf, HEADER_SIZE, config, now_ms, name, False, work)
    if max_timestamp == newest and not config.message_timestamp_type and not attributes & TIMESTAMP_TYPE_FLAG:
        return buf, attributes, last_delta, newest, producer_id, epoch, sequence, count
    batch = _new(RecordBatch, (*header, buf))
    return _checked(_restamp(batch, buf[HEADER_SIZE:], attributes, config, now_ms, max_timestamp))


def _checked(batch: RecordBatch) -> CheckedBatch:
    return (
        batch.data,
        batch.attributes,
        batch.last_offset_delta,
        batch.max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.record_count,
    )


def too_large(size: int, config: LogConfig, name: str) -> RecordsRefused:
    return RecordsRefused(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"A record batch of {size} bytes for {name} exceeds max.message.bytes={config.max_message_bytes}",
    )


def single_batch(buf: Buffer) -> Buffer:
    """The one batch that a Produce request may have for a partition, without bytes behind it that are no batch."""
    if len(buf) >= _LENGTH.size and _LENGTH.unpack_from(buf)[0] > _MAX_INT - LOG_OVERHEAD:
        raise RecordsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "The length of a batch overflows")
    try:
        size = batch_size_at(buf)
    except CorruptBatchError as exc:
        raise RecordsRefused(exc.code, exc.message, client_message=exc.message) from None
    if size is None:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, "A produce request must carry a record batch per partition")
    if buf[MAGIC_AT] != 2:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, f"Records of message format {buf[MAGIC_AT]} are not accepted")
    try:
        second = batch_size_at(buf, size)
    except CorruptBatchError as exc:
        raise RecordsRefused(exc.code, exc.message) from None
    if second is not None:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, "A partition of a produce request has more than one batch")
    if size < HEADER_SIZE:
        raise RecordsRefused(ErrorCode.CORRUPT_MESSAGE, f"A batch of {size} bytes is smaller than its header")
    return buf[:size]


# --- records ---------------------------------------------------------------------------------------------------------


def _check_records(
    header: Header,
    data: Buffer,
    body: Buffer,
    start: int,
    config: LogConfig,
    now_ms: int,
    name: str,
    kept_compressed: bool,
    work: LongWork | None,
) -> int:
    """Check the records of the batch `data`, which begin at byte `start` of `body`; returns their largest timestamp.

    A compressed batch that is stored unchanged must have consecutive offsets, and Kafka's messages name its records
    differently.
    """
    attributes, base_timestamp, max_timestamp, count = header[5], header[7], header[8], header[12]
    if count > _FULL_SCAN and not config.compact and config.any_age:
        if work is None:
            check_record_chain(body[start:], count)
        else:
            for _ in record_pieces(body[start:], count):
                work.give_way()
        if max_timestamp - now_ms <= config.message_timestamp_after_max_ms and not attributes & TIMESTAMP_TYPE_FLAG:
            return max_timestamp
    if work is not None:
        newest, oldest, sequential, keyless = scan_in_pieces(body[start:], count, work.give_way)
    elif count > _MOST_RECORDS:
        raise LargeBatch
    else:
        newest, oldest, sequential, keyless = scan_records(body, count, start)
    has_append_time = attributes & TIMESTAMP_TYPE_FLAG
    largest, smallest = base_timestamp + newest, base_timestamp + oldest
    if not (
        not has_append_time
        and largest - now_ms <= config.message_timestamp_after_max_ms
        and (
            (config.any_age and smallest >= NO_TIMESTAMP) or now_ms - smallest <= config.message_timestamp_before_max_ms
        )
        and not (keyless and config.compact)
    ):
        batch = _new(RecordBatch, (*header, data))
        if _records_refused(batch, largest, smallest, keyless, config, now_ms):
            _raise_record_errors(batch, body[start:], config, now_ms, name, work, partial=kept_compressed)
    if kept_compressed and not sequential:
        raise CompressionError(f"The records of a compressed batch for {name} do not have consecutive offsets")
    if has_append_time:
        largest = max_timestamp
    return largest if largest > NO_TIMESTAMP else NO_TIMESTAMP


def _in_older_format(
    batch: RecordBatch, config: LogConfig, now_ms: int, name: str, work: LongWork | None
) -> RecordBatch:
    """The batch as a log of message format 0 or 1 has it, see `odradek.protocol.message_sets`."""
    from odradek.protocol.message_sets import in_format

    if batch.is_transactional:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Older message formats have no transactions")
    if batch.has_producer_id:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "Older message formats have no producer ids")
    if work is None and batch.record_count > _MOST_RECORDS:
        raise LargeBatch
    if batch.codec or config.compression_type:
        stored = _validate_compressed(batch, config, now_ms, name, work)
    else:
        header: Any = batch[:13]
        largest = _check_records(header, batch.data, batch.data, HEADER_SIZE, config, now_ms, name, False, work)
        stored = _stamped(batch, config, now_ms, largest)
    if stored.codec is Codec.ZSTD:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Older message formats do not have zstd")
    work = work or LongWork()
    if any(record.headers for record in work.records(stored)):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "Older message formats have no headers")
    return in_format(stored, config.message_format, work)


def _validate_compressed(
    batch: RecordBatch, config: LogConfig, now_ms: int, name: str, work: LongWork | None
) -> RecordBatch:
    source = batch.codec
    target = source if config.compression_type is None else config.compression_type
    body = _inflated(batch, config, name, work)
    kept = target == source
    header: Any = batch[:13]
    max_timestamp = _check_records(header, batch.data, body, 0, config, now_ms, name, kept, work)
    if kept:
        return _stamped(batch, config, now_ms, max_timestamp)
    if work is None and (len(body) > _MOST_RECOMPRESSED or batch.record_count > _MOST_RECORDS):
        raise LargeBatch
    if target is Codec.NONE and len(body) > config.max_message_bytes:
        raise too_large(HEADER_SIZE + len(body), config, name)
    stored = _recompressed(batch, body, target, config, now_ms, work or LongWork())
    if len(stored) > config.max_message_bytes:
        raise too_large(len(stored), config, name)
    return read_batch(stored)


def _inflated(batch: RecordBatch, config: LogConfig, name: str, work: LongWork | None) -> Buffer:
    limit = min(config.max_decompressed_message_bytes, DEFAULT_MAX_INFLATED)
    at_once = min(_LEAST_INFLATED + 32 * len(batch.data), _MOST_INFLATED)
    try:
        body = batch.body(min(limit, at_once)) if work is None else work.inflated(batch.body, limit)
    except InflatesTooFarError:
        if work is None and at_once < limit:
            raise LargeBatch from None
        raise _inflates_too_far(name, limit, config) from None
    except OverBudgetError as error:
        raise RecordsRefused(error.code, error.message, client_message=error.message) from None
    if len(body) > config.max_decompressed_message_bytes:  # also without a codec, where nothing is inflated
        raise _inflates_too_far(name, config.max_decompressed_message_bytes, config)
    return body


def _inflates_too_far(name: str, limit: int, config: LogConfig) -> RecordsRefused:
    if limit == config.max_decompressed_message_bytes:
        return _invalid(f"The batch for {name} has more than {limit} bytes decompressed, which the topic does not take")
    text = f"The batch for {name} has more than {limit} bytes decompressed"
    return RecordsRefused(ErrorCode.INVALID_RECORD, text, client_message=text, in_log=True)


def _recompressed(
    batch: RecordBatch, body: Buffer, target: Codec, config: LogConfig, now_ms: int, work: LongWork
) -> bytes:
    """Rebuild the batch with the topic's codec. Kafka's builder is stricter than its other checks."""
    producer_id, epoch = batch.producer_id, batch.producer_epoch
    if producer_id != -1 and (epoch == -1 or batch.base_sequence < 0):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"No batch can be of producer {producer_id}, epoch {epoch}")
    appended = batch.max_timestamp if batch.has_append_time else None
    records = iter_records(body, batch.record_count, 0, batch.base_timestamp, appended)
    return build_batch(
        _not_before_the_epoch(work.slowly(records)),
        codec=target,
        compression_level=config.compression_level(target),
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=batch.base_sequence,
        transactional=batch.is_transactional,
        timestamp_type=config.message_timestamp_type,
        log_append_time_ms=now_ms,
    )


def _not_before_the_epoch(records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        if record.timestamp < NO_TIMESTAMP:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "A record's timestamp is negative")
        yield record


def _stamped(batch: RecordBatch, config: LogConfig, now_ms: int, max_timestamp: int) -> RecordBatch:
    """The batch with the timestamp type and largest timestamp that the log stores. Most batches have them already."""
    if (
        batch.max_timestamp == max_timestamp
        and not config.message_timestamp_type
        and not batch.attributes & TIMESTAMP_TYPE_FLAG
    ):
        return batch
    return _restamp(batch, batch.data[HEADER_SIZE:], batch.attributes, config, now_ms, max_timestamp)


def _restamp(
    batch: RecordBatch, body: Buffer, attributes: int, config: LogConfig, now_ms: int, max_timestamp: int
) -> RecordBatch:
    attributes &= _KEPT_ATTRIBUTES
    if config.message_timestamp_type == TimestampType.LOG_APPEND_TIME:
        attributes, max_timestamp = attributes | TIMESTAMP_TYPE_FLAG, now_ms
    tail = (
        attributes,
        batch.last_offset_delta,
        batch.base_timestamp,
        max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.record_count,
    )
    return read_batch(assemble(batch.base_offset, batch.partition_leader_epoch, tail, body))


def _records_refused(
    batch: RecordBatch, largest: int, smallest: int, keyless: bool, config: LogConfig, now_ms: int
) -> bool:
    """Whether any record breaks a rule of the topic.

    `_raise_record_errors` finds which. `largest`, `smallest`: timestamps of the records.
    """
    if keyless and config.compact:
        return True
    if config.message_timestamp_type == TimestampType.LOG_APPEND_TIME:
        return batch.has_append_time
    if batch.has_append_time:
        return (
            config.refuses_append_time
            or now_ms - batch.max_timestamp > config.message_timestamp_before_max_ms
            or (batch.max_timestamp - now_ms > config.message_timestamp_after_max_ms)
        )
    if largest - now_ms > config.message_timestamp_after_max_ms:
        return True
    return now_ms - smallest > config.message_timestamp_before_max_ms


def _raise_record_errors(
    batch: RecordBatch,
    body: Buffer,
    config: LogConfig,
    now_ms: int,
    name: str,
    work: LongWork | None,
    *,
    partial: bool = False,
) -> None:
    """Decode the records and raise the reason for each refused one, in Kafka's words."""
    appended = batch.max_timestamp if batch.has_append_time else None
    errors: list[tuple[int, str | None]] = []
    refused = 0
    bad_time = False
    records = iter_records(body, batch.record_count, 0, batch.base_timestamp, appended)
    for index, record in enumerate(records if work is None else work.slowly(records)):
        if config.compact and record.key is None:
            message = f"Compacted topic cannot accept message without key in topic partition {name}"
        else:
            message = _timestamp_error(batch, record, config, now_ms, partial) or ""
            if not message:
                continue
            bad_time = True
        refused += 1
        if refused <= _MOST_ERRORS:
            errors.append((index, message))
        elif bad_time:
            break
    if bad_time:
        text = "One or more records have been rejected due to invalid timestamp"
        raise RecordValidationError(ErrorCode.INVALID_TIMESTAMP, text, errors)
    if errors:
        first = ", ".join(f"RecordError(batchIndex={i}, message='{m}')" for i, m in errors[:3])
        text = (
            f"One or more records have been rejected due to {refused} record errors in total, "
            f"and only showing the first three errors at most: [{first}]"
        )
        raise RecordValidationError(ErrorCode.INVALID_RECORD, text, errors)


def _timestamp_error(batch: RecordBatch, record: Record, config: LogConfig, now_ms: int, partial: bool) -> str | None:
    offset, timestamp, key, value, _ = record
    if config.message_timestamp_type == TimestampType.CREATE_TIME and timestamp != NO_TIMESTAMP:
        before, after = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
        if now_ms - timestamp > before or timestamp - now_ms > after:
            return (
                f"Timestamp {java_long(timestamp)} of message with offset {offset} is out of range. "
                f"The timestamp should be within [{java_long(now_ms - before)}, {java_long(now_ms + after)}]"
            )
        if not config.refuses_append_time:
            return None
    if batch.has_append_time:
        shown = (
            f"{'Partial' if partial else ''}DefaultRecord(offset={offset}, timestamp={timestamp}, "
            f"key={len(key or b'')} bytes, value={len(value or b'')} bytes)"
        )
        return f"Invalid timestamp type in message {shown}. Producer should not set timestamp type to LogAppendTime."
    return None


def java_long(value: int) -> int:
    """A 64-bit sum that wraps as in Java, as clients are told of it."""
    return int(struct.unpack(">q", (value & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big"))[0])


def validate_coordinator_batch(buf: Buffer, config: LogConfig, now_ms: int, name: str) -> CheckedBatch:
    """Accept a batch that the broker has built: check only its size, and stamp it as the topic's config says."""
    if len(buf) > config.max_message_bytes:
        raise too_large(len(buf), config, name)
    fields: tuple[int, int, int, int, int, int, int] = _fields_of_own(buf)
    attributes, last_delta, newest, producer_id, epoch, sequence, count = fields
    target = config.compression_type
    recompressed = target is not None and attributes & CODEC_MASK != target
    if (recompressed or config.message_format < FORMAT_OF_BATCHES) and not attributes & CONTROL_FLAG:
        return _checked(_rewritten(read_batch(buf), config, now_ms))
    if config.message_timestamp_type or attributes & TIMESTAMP_TYPE_FLAG:
        return _checked(_stamped(read_batch(buf), config, now_ms, newest))
    return buf, attributes, last_delta, newest, producer_id, epoch, sequence, count


def _rewritten(batch: RecordBatch, config: LogConfig, now_ms: int) -> RecordBatch:
    """A batch of the broker's own with the codec and the message format of its log."""
    target = config.compression_type
    if target is not None and target != batch.codec:
        packed = compress(target, batch.body(), config.compression_level(target))
        attributes = batch.attributes & ~CODEC_MASK | target
        batch = _restamp(batch, packed, attributes, config, now_ms, batch.max_timestamp)
    else:
        batch = _stamped(batch, config, now_ms, batch.max_timestamp)
    if config.message_format == FORMAT_OF_BATCHES:
        return batch
    from odradek.protocol.message_sets import in_format

    if batch.has_producer_id:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, "Older message formats have no producer ids")
    return in_format(batch, config.message_format)


def validate_copied_batches(buf: Buffer, log_end_offset: int, name: str) -> list[RecordBatch]:
    """The batches of another log, to store unchanged: whole, undamaged and in order from `log_end_offset` on."""
    batches = list(iter_batches(buf))
    if not batches:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"no whole batch to copy into {name}")
    expected = log_end_offset
    for batch in batches:
        if batch.base_offset < expected:
            raise KafkaError(
                ErrorCode.INVALID_RECORD, f"{name} ends at {expected}, a copied batch begins at {batch.base_offset}"
            )
        if not batch.is_crc_valid:
            raise CorruptBatchError(f"a batch copied into {name} has a wrong checksum")
        expected = batch.next_offset
    return batches


__all__ = [
    "Codec",
    "RecordValidationError",
    "RecordsRefused",
    "check_large",
    "checked_before",
    "single_batch",
    "validate_client_batch",
    "validate_coordinator_batch",
    "validate_copied_batches",
]
