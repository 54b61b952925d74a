"""What a broker checks before a client's batch becomes part of a log, and the rewriting that the checks imply.

The order of the checks and their codes are those of Kafka: first what a produce request may carry at all (one batch,
format v2), then base offset, size and checksum, then the batch and its records. Source: KIP-32 (timestamps), KIP-98,
KIP-467 (per-record errors), KIP-937 (timestamp bounds), observed behaviour of 4.3.1.

Cost: a large batch is checked by its header, its checksum and the chain of record lengths, not field by field; see
`_FULL_SCAN`.
"""

from __future__ import annotations

import struct

from odradek.protocol.checksum import crc32c
from odradek.protocol.compression import Codec, CompressionError, codec_of, compress, decompress
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import (
    CRC_FROM,
    HEADER,
    HEADER_SIZE,
    NO_TIMESTAMP,
    CorruptBatchError,
    RecordBatch,
    TimestampType,
    assemble,
    batch_size_at,
    build_batch,
    iter_batches,
)
from odradek.protocol.records import Buffer, Record, RecordScan, check_record_chain, iter_records, scan_records
from odradek.storage.log_config import MAX_LONG, LogConfig

_FULL_SCAN = 32
"""Batches of up to so many records are walked field by field. In larger ones only the lengths of the records are
followed (a few ns to 0.2 us a record instead of 1 us), unless the topic's rules need keys or smallest timestamps."""

_KNOWN_ATTRIBUTES = 0x77
"""What a rewritten header keeps of a producer's attributes; the timestamp type is set anew."""

_LENGTH = struct.Struct(">8xi")
_MAX_INT = 0x7FFFFFFF

Header = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int]


class RecordsRefused(KafkaError):
    """A client's batch that is not appended.

    `log_start_offset`, `client_message` and `record_errors` are what the produce response says beside the code (-1,
    None and empty where Kafka leaves them out); `message` is for the broker's own log.
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
    """Single records were refused: `record_errors` lists (index in the batch, message)."""

    def __init__(self, code: ErrorCode, message: str, record_errors: list[tuple[int, str | None]]) -> None:
        super().__init__(code, message, client_message=message, record_errors=record_errors, in_log=True)


def _invalid(message: str) -> RecordsRefused:
    return RecordsRefused(ErrorCode.INVALID_RECORD, message, in_log=True)


def validate_client_batch(buf: Buffer, config: LogConfig, now_ms: int, name: str) -> tuple[Header, Buffer]:
    """Check the records of one partition of a produce request; returns header and bytes as they are to be stored.

    `name` is the partition's (`topic-0`), for messages. Offsets and leader epoch are not assigned yet. Raises
    RecordsRefused or RecordValidationError, CompressionError, InvalidRecordError.
    """
    size = len(buf)
    if size < HEADER_SIZE:
        buf = single_batch(buf)
        size = len(buf)
    header: Header = HEADER.unpack_from(buf)
    if header[3] != 2 or header[1] + 12 != size:
        buf = single_batch(buf)
        size = len(buf)
    _, _, _, _, crc, attributes, last_delta, _, _, producer_id, _, sequence, count = header
    if header[0]:
        raise _invalid(f"The base offset of a record batch to append to {name} must be 0, it is {header[0]}")
    if size > config.max_message_bytes:
        raise too_large(size, config, name)
    if crc32c(buf[CRC_FROM:]) != crc:
        raise RecordsRefused(ErrorCode.CORRUPT_MESSAGE, f"The checksum of a record batch for {name} is wrong")
    if attributes & 7 > Codec.ZSTD:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"There is no compression codec {attributes & 7}")
    if count <= 0 or last_delta + 1 != count:
        raise _invalid(f"A batch for {name} declares {count} records over {last_delta + 1} offsets")
    if attributes & 0x20:
        raise _invalid("Clients are not allowed to write control records")
    if sequence < 0 <= producer_id:
        raise _invalid(f"Invalid sequence number {sequence} in a batch of producer {producer_id}")
    target = config.compression_type
    if attributes & 7 or (target is not None and target):
        return _validate_compressed(header, buf, config, now_ms, name)
    max_timestamp = _check_records(header, buf[HEADER_SIZE:], config, now_ms, name, offsets=False, partial=False)
    return _stamped(header, buf, config, now_ms, max_timestamp)


def too_large(size: int, config: LogConfig, name: str) -> RecordsRefused:
    return RecordsRefused(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"A record batch of {size} bytes for {name} exceeds max.message.bytes={config.max_message_bytes}",
    )


def single_batch(buf: Buffer) -> Buffer:
    """The one batch that a produce request may carry for a partition, without bytes that are no batch behind it."""
    if len(buf) >= _LENGTH.size and _LENGTH.unpack_from(buf)[0] > _MAX_INT - 12:
        raise RecordsRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "The length of a batch overflows")
    try:
        size = batch_size_at(buf)
    except CorruptBatchError as exc:
        raise RecordsRefused(exc.code, exc.message, client_message=exc.message) from None
    if size is None:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, "A produce request must carry a record batch per partition")
    if buf[16] != 2:
        raise RecordsRefused(ErrorCode.INVALID_RECORD, f"Records of message format {buf[16]} are not accepted")
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
    header: Header, body: Buffer, config: LogConfig, now_ms: int, name: str, *, offsets: bool, partial: bool
) -> int:
    """Check the records of a batch (inflated); returns their largest timestamp.

    `offsets` demands consecutive offsets; `partial` says how Kafka's messages name a record.
    """
    count = header[12]
    if count > _FULL_SCAN and not config.compact and config.message_timestamp_before_max_ms == MAX_LONG:
        check_record_chain(body, count)
        if header[8] - now_ms <= config.message_timestamp_after_max_ms and not header[5] & 8:
            return header[8]
    scan = scan_records(body, count)
    largest, smallest = header[7] + scan[0], header[7] + scan[1]
    if not (
        not header[5] & 8
        and largest - now_ms <= config.message_timestamp_after_max_ms
        and now_ms - smallest <= config.message_timestamp_before_max_ms
        and not (config.compact and scan.keyless)
    ) and _records_refused(header, scan, config, now_ms):
        _raise_record_errors(header, body, config, now_ms, name, partial=partial)
    if offsets and not scan.sequential_offsets:
        raise CompressionError(f"The records of a compressed batch for {name} do not have consecutive offsets")
    return max(NO_TIMESTAMP, header[8] if header[5] & 8 else largest)


def _validate_compressed(
    header: Header, buf: Buffer, config: LogConfig, now_ms: int, name: str
) -> tuple[Header, Buffer]:
    source = codec_of(header[5])
    target = source if config.compression_type is None else config.compression_type
    body = decompress(source, buf[HEADER_SIZE:])
    kept = target == source
    max_timestamp = _check_records(header, body, config, now_ms, name, offsets=kept, partial=kept)
    if kept:
        return _stamped(header, buf, config, now_ms, max_timestamp)
    stored = _recompressed(header, body, target, config, now_ms)
    if len(stored) > config.max_message_bytes:
        raise too_large(len(stored), config, name)
    return HEADER.unpack_from(stored), stored


def _recompressed(header: Header, body: Buffer, target: Codec, config: LogConfig, now_ms: int) -> bytes:
    """The batch built again in the topic's own codec; Kafka's builder is stricter than its checks elsewhere are."""
    appended = header[8] if header[5] & 8 else None
    records = list(iter_records(body, header[12], 0, header[7], appended))
    if header[9] != -1 and (header[10] == -1 or header[11] < 0):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"No batch can be of producer {header[9]}, epoch {header[10]}")
    if any(record.timestamp < NO_TIMESTAMP for record in records):
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "A record's timestamp is negative")
    return build_batch(
        records,
        codec=target,
        compression_level=config.compression_level(target),
        producer_id=header[9],
        producer_epoch=header[10],
        base_sequence=header[11],
        transactional=bool(header[5] & 0x10),
        timestamp_type=config.message_timestamp_type,
        log_append_time_ms=now_ms,
    )


def _stamped(header: Header, buf: Buffer, config: LogConfig, now_ms: int, max_timestamp: int) -> tuple[Header, Buffer]:
    """The batch with the timestamp type and largest timestamp that the log stores; most come with them already."""
    if not config.message_timestamp_type and not header[5] & 8 and header[8] == max_timestamp:
        return header, buf
    return _restamp(header, buf[HEADER_SIZE:], header[5], config, now_ms, max_timestamp)


def _restamp(
    header: Header, body: Buffer, attributes: int, config: LogConfig, now_ms: int, max_timestamp: int
) -> tuple[Header, Buffer]:
    attributes &= _KNOWN_ATTRIBUTES
    if config.message_timestamp_type == TimestampType.LOG_APPEND_TIME:
        attributes, max_timestamp = attributes | 8, now_ms
    tail = (attributes, header[6], header[7], max_timestamp, *header[9:])
    stored = assemble(header[0], header[2], tail, body)
    return HEADER.unpack_from(stored), stored


def _records_refused(header: Header, scan: RecordScan, config: LogConfig, now_ms: int) -> bool:
    """Whether any record breaks a rule of the topic (which ones is worked out only then)."""
    if scan.keyless and config.compact:
        return True
    if config.message_timestamp_type == TimestampType.LOG_APPEND_TIME:
        return bool(header[5] & 8)
    if header[5] & 8:
        return now_ms - header[8] > config.message_timestamp_before_max_ms or (
            header[8] - now_ms > config.message_timestamp_after_max_ms
        )
    base = header[7]
    if base + scan.max_timestamp_delta - now_ms > config.message_timestamp_after_max_ms:
        return True
    return now_ms - (base + scan.min_timestamp_delta) > config.message_timestamp_before_max_ms


def _raise_record_errors(
    header: Header, body: Buffer, config: LogConfig, now_ms: int, name: str, *, partial: bool = False
) -> None:
    """Decode the records and say of each refused one why, in Kafka's words."""
    appended = header[8] if header[5] & 8 else None
    errors: list[tuple[int, str | None]] = []
    bad_time = False
    for index, record in enumerate(iter_records(body, header[12], 0, header[7], appended)):
        if config.compact and record.key is None:
            errors.append((index, f"Compacted topic cannot accept message without key in topic partition {name}"))
        elif message := _timestamp_error(header, record, config, now_ms, partial):
            errors.append((index, message))
            bad_time = True
    if bad_time:
        text = "One or more records have been rejected due to invalid timestamp"
        raise RecordValidationError(ErrorCode.INVALID_TIMESTAMP, text, errors)
    if errors:
        first = ", ".join(f"RecordError(batchIndex={i}, message='{m}')" for i, m in errors[:3])
        text = (
            f"One or more records have been rejected due to {len(errors)} record errors in total, "
            f"and only showing the first three errors at most: [{first}]"
        )
        raise RecordValidationError(ErrorCode.INVALID_RECORD, text, errors)


def _timestamp_error(header: Header, record: Record, config: LogConfig, now_ms: int, partial: bool) -> str | None:
    offset, timestamp, key, value, _ = record
    if config.message_timestamp_type == TimestampType.CREATE_TIME and timestamp != NO_TIMESTAMP:
        before, after = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
        if now_ms - timestamp > before or timestamp - now_ms > after:
            return (
                f"Timestamp {_java_long(timestamp)} of message with offset {offset} is out of range. "
                f"The timestamp should be within [{_java_long(now_ms - before)}, {_java_long(now_ms + after)}]"
            )
    elif header[5] & 8:
        shown = (
            f"{'Partial' if partial else ''}DefaultRecord(offset={offset}, timestamp={timestamp}, "
            f"key={len(key or b'')} bytes, value={len(value or b'')} bytes)"
        )
        return f"Invalid timestamp type in message {shown}. Producer should not set timestamp type to LogAppendTime."
    return None


def _java_long(value: int) -> int:
    """A 64-bit sum as Java gives it (it wraps), since the bounds appear in messages to clients."""
    return int(struct.unpack(">q", (value & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big"))[0])


def validate_coordinator_batch(buf: Buffer, config: LogConfig, now_ms: int, name: str) -> tuple[Header, Buffer]:
    """A batch that the broker itself built: trusted, but sized and stamped as the topic's config says."""
    batch = RecordBatch(buf)
    if batch.size_bytes > config.max_message_bytes:
        raise too_large(batch.size_bytes, config, name)
    header: Header = HEADER.unpack_from(buf)
    target = config.compression_type
    if target is not None and not batch.is_control and batch.codec is not target:
        packed = compress(target, batch.body(), config.compression_level(target))
        return _restamp(header, packed, header[5] & ~7 | target, config, now_ms, header[8])
    return _stamped(header, buf, config, now_ms, header[8])


def validate_copied_batches(buf: Buffer, log_end_offset: int, name: str) -> list[RecordBatch]:
    """Batches of another log, to be stored as they are: whole, undamaged and in order from `log_end_offset` on."""
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
    "single_batch",
    "validate_client_batch",
    "validate_coordinator_batch",
    "validate_copied_batches",
]
