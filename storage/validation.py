"""What a broker checks before a client's batch becomes part of a log, and the rewriting that the checks imply.

The order of the checks and their codes are those of Kafka: first what a produce request may carry at all (one batch,
format v2), then base offset, size and checksum, then the batch and its records. Source: KIP-32 (timestamps), KIP-98,
KIP-467 (per-record errors), KIP-937 (timestamp bounds), observed behaviour of 4.3.1.

Cost: a large uncompressed batch is checked by its header, its checksum and the chain of record lengths, not record by
record; see `_FULL_SCAN`.
"""

from __future__ import annotations

import struct

from crc32c import crc32c

from odradek.protocol.compression import Codec, codec_of, compress, decompress
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import (
    CRC_FROM,
    HEADER,
    HEADER_SIZE,
    NO_TIMESTAMP,
    RecordBatch,
    TimestampType,
    assemble,
    batch_size_at,
)
from odradek.protocol.records import Buffer, RecordScan, check_record_chain, iter_records, scan_records
from odradek.storage.log_config import MAX_LONG, LogConfig

_FULL_SCAN = 32
"""Uncompressed batches of up to so many records are walked field by field like compressed ones. In larger ones only
the lengths of the records are followed (a few ns to 0.3 us a record instead of 1.3 us), unless the topic's rules need
keys or the smallest timestamp."""

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
    if count <= 0 or last_delta + 1 != count:
        raise _invalid(f"A batch for {name} declares {count} records over {last_delta + 1} offsets")
    if attributes & 0x20:
        raise _invalid("Clients are not allowed to write control records")
    if sequence < 0 <= producer_id:
        raise _invalid(f"Invalid sequence number {sequence} in a batch of producer {producer_id}")
    target = config.compression_type
    if attributes & 7 or (target is not None and target):
        return _validate_compressed(header, buf, config, now_ms, name)
    _check_plain_records(header, buf, config, now_ms, name)
    if config.message_timestamp_type or attributes & 8:
        return restamp(header, buf, config, now_ms)
    return header, buf


def too_large(size: int, config: LogConfig, name: str) -> RecordsRefused:
    return RecordsRefused(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"A record batch of {size} bytes for {name} exceeds max.message.bytes={config.max_message_bytes}",
    )


def single_batch(buf: Buffer) -> Buffer:
    """The one batch that a produce request may carry for a partition, without bytes that are no batch behind it."""
    try:
        size = batch_size_at(buf)
        if size is None:
            raise RecordsRefused(ErrorCode.INVALID_RECORD, "A produce request must carry a record batch per partition")
        magic = buf[16]
        if magic != 2:
            raise RecordsRefused(ErrorCode.INVALID_RECORD, f"Records of message format {magic} are not accepted")
        if batch_size_at(buf, size) is not None:
            raise RecordsRefused(ErrorCode.INVALID_RECORD, "A partition of a produce request has more than one batch")
    except KafkaError as exc:
        if isinstance(exc, RecordsRefused):
            raise
        raise RecordsRefused(exc.code, exc.message, client_message=exc.message) from None
    if size < HEADER_SIZE:
        raise RecordsRefused(ErrorCode.CORRUPT_MESSAGE, f"A batch of {size} bytes is smaller than its header")
    return buf[:size]


# --- records ---------------------------------------------------------------------------------------------------------


def _check_plain_records(header: Header, buf: Buffer, config: LogConfig, now_ms: int, name: str) -> None:
    count = header[12]
    body = buf[HEADER_SIZE:]
    if count > _FULL_SCAN and not config.compact and config.message_timestamp_before_max_ms == MAX_LONG:
        check_record_chain(body, count)
        if header[8] - now_ms <= config.message_timestamp_after_max_ms and not _append_time_claimed(header, config):
            return
    scan = scan_records(body, count)
    if _records_refused(header, scan, config, now_ms):
        raise _record_errors(header, body, config, now_ms, name)


def _append_time_claimed(header: Header, config: LogConfig) -> bool:
    return bool(header[5] & 8) and config.message_timestamp_type == TimestampType.LOG_APPEND_TIME


def _validate_compressed(
    header: Header, buf: Buffer, config: LogConfig, now_ms: int, name: str
) -> tuple[Header, Buffer]:
    source = codec_of(header[5])
    target = source if config.compression_type is None else config.compression_type
    body = decompress(source, buf[HEADER_SIZE:])
    scan = scan_records(body, header[12])
    if not scan.sequential_offsets or _records_refused(header, scan, config, now_ms):
        raise _record_errors(header, body, config, now_ms, name, offsets=True)
    if target == source:
        if config.message_timestamp_type or header[5] & 8:
            return restamp(header, buf, config, now_ms)
        return header, buf
    packed = compress(target, body, config.compression_level(target))
    header, stored = restamp(_with_attributes(header, header[5] & ~7 | target), packed, config, now_ms, body_only=True)
    if len(stored) > config.max_message_bytes:
        raise too_large(len(stored), config, name)
    return header, stored


def _with_attributes(header: Header, attributes: int) -> Header:
    return (*header[:5], attributes, *header[6:])


def restamp(
    header: Header, buf: Buffer, config: LogConfig, now_ms: int, *, body_only: bool = False
) -> tuple[Header, Buffer]:
    """The batch with the topic's timestamp type (and time, if the broker sets it) and a new checksum."""
    attributes, max_timestamp = header[5] & ~8, header[8]
    if config.message_timestamp_type == TimestampType.LOG_APPEND_TIME:
        attributes, max_timestamp = attributes | 8, now_ms
    body = buf if body_only else buf[HEADER_SIZE:]
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


def _record_errors(
    header: Header, body: Buffer, config: LogConfig, now_ms: int, name: str, *, offsets: bool = False
) -> RecordValidationError:
    """Decode the records and say of each refused one why, in Kafka's words."""
    appended = header[8] if header[5] & 8 else None
    errors: list[tuple[int, str | None]] = []
    bad_time = False
    for index, record in enumerate(iter_records(body, header[12], 0, header[7], appended)):
        shown = (
            f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, "
            f"key={len(record.key or b'')} bytes, value={len(record.value or b'')} bytes)"
        )
        if offsets and record.offset != index:
            errors.append(
                (
                    index,
                    f"Inner record {shown} inside the compressed record batch does not have incremental offsets, "
                    f"expected offset is {index} in topic partition {name}",
                )
            )
        elif config.compact and record.key is None:
            errors.append((index, f"Compacted topic cannot accept message without key in topic partition {name}"))
        elif message := _timestamp_error(header, record.timestamp, record.offset, shown, config, now_ms):
            errors.append((index, message))
            bad_time = True
    if bad_time:
        text = "One or more records have been rejected due to invalid timestamp"
        return RecordValidationError(ErrorCode.INVALID_TIMESTAMP, text, errors)
    first = ", ".join(f"RecordError(batchIndex={i}, message='{m}')" for i, m in errors[:3])
    text = (
        f"One or more records have been rejected due to {len(errors)} record errors in total, "
        f"and only showing the first three errors at most: [{first}]"
    )
    return RecordValidationError(ErrorCode.INVALID_RECORD, text, errors)


def _timestamp_error(
    header: Header, timestamp: int, offset: int, shown: str, config: LogConfig, now_ms: int
) -> str | None:
    if config.message_timestamp_type == TimestampType.CREATE_TIME and timestamp != NO_TIMESTAMP:
        before, after = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
        if now_ms - timestamp > before or timestamp - now_ms > after:
            return (
                f"Timestamp {timestamp} of message with offset {offset} is out of range. The timestamp should be "
                f"within [{_java_long(now_ms - before)}, {_java_long(now_ms + after)}]"
            )
    elif header[5] & 8:
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
        return restamp(_with_attributes(header, header[5] & ~7 | target), packed, config, now_ms, body_only=True)
    if config.message_timestamp_type or batch.attributes & 8:
        return restamp(header, buf, config, now_ms)
    return header, buf


__all__ = [
    "Codec",
    "RecordValidationError",
    "RecordsRefused",
    "restamp",
    "single_batch",
    "validate_client_batch",
    "validate_coordinator_batch",
]
