"""Batches of `__cluster_metadata`: what a leader appends for one decision, and what a snapshot consists of.

A data batch has no producer and no sequence; its records have no key and share one timestamp (create time).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.protocol.kraft_control import KRaftControl, parse_kraft_control_record
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records import (
    DIRECTORIES_SINCE,
    METADATA_VERSION,
    MetadataRecordError,
    decode_metadata_record,
    encode_metadata_record,
    record_version,
    without_directories,
)
from odradek.protocol.record_batch import RecordBatch, build_batch
from odradek.protocol.records import Record

MAX_BATCH_BYTES = 8 * 1024 * 1024
"""The largest batch that KRaft writes, and the largest that its reader of snapshots takes."""


def build_metadata_batch(
    records: Iterable[MetadataRecord],
    *,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = 0,
    metadata_version: int = METADATA_VERSION,
) -> bytes:
    """The batch of these records, in the versions that belong to `metadata_version`."""
    if metadata_version < DIRECTORIES_SINCE:
        records = map(without_directories, records)
    values = (encode_metadata_record(record, record_version(record, metadata_version)) for record in records)
    return build_value_batch(values, timestamp=timestamp, base_offset=base_offset, leader_epoch=leader_epoch)


def build_value_batch(values: Iterable[bytes], *, timestamp: int, base_offset: int = 0, leader_epoch: int = 0) -> bytes:
    """The batch of records that are encoded already (`encode_metadata_record`)."""
    rows = [Record(base_offset + index, timestamp, None, value) for index, value in enumerate(values)]
    return build_batch(rows, base_offset=base_offset, leader_epoch=leader_epoch)


def metadata_records(batch: RecordBatch) -> Iterator[MetadataRecord]:
    """The records of a data batch, in order. Raises MetadataRecordError or InvalidRecordError for damaged data."""
    for record in batch.records():
        try:
            yield decode_metadata_record(record.value)[0]
        except MetadataRecordError as error:
            raise MetadataRecordError(f"offset {record.offset}: {error}") from error


def control_messages(batch: RecordBatch) -> Iterator[KRaftControl]:
    """The messages of a control batch, in order; records of types that KRaft does not write are left out."""
    for record in batch.records():
        message = parse_kraft_control_record(record)
        if message is not None:
            yield message
