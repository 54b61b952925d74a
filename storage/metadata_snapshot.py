"""Snapshots of the cluster's metadata: the `.checkpoint` files of `__cluster_metadata-0`, and `bootstrap.checkpoint`.

A snapshot holds every record that rebuilds the state before its end offset (KIP-630). It is a run of batches with
offsets of their own, from 0: a control batch with a SnapshotHeaderRecord (and at kraft.version 1 the version and the
voters), data batches, a control batch with a SnapshotFooterRecord. All carry the epoch in the file's name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from odradek.protocol.errors import CorruptDataError
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.snapshot_footer_record import SnapshotFooterRecord
from odradek.protocol.generated.stored.snapshot_header_record import SnapshotHeaderRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.message import Buffer, MetadataRecord
from odradek.protocol.metadata_batch import (
    KRaftControl,
    build_kraft_control_batch,
    build_value_batch,
    control_messages,
    metadata_records,
)
from odradek.protocol.metadata_records import METADATA_VERSION, encode_metadata_record, record_version
from odradek.protocol.record_batch import RecordBatch
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import stored_batch_at

CHECKPOINT = ".checkpoint"
_NAME = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_SOFT_LIMIT = 1 << 15
"""The size of values after which a new batch begins: some hundred records, which take a few milliseconds. KRaft's
readers accept batches of 8 MiB."""


class SnapshotId(NamedTuple):
    """The end offset (first offset that is not in the snapshot) and the epoch of the last record in it."""

    end_offset: int
    epoch: int

    @property
    def file_name(self) -> str:
        return f"{self.end_offset:020d}-{self.epoch:010d}{CHECKPOINT}"


NO_SNAPSHOT = SnapshotId(0, 0)
"""The id of `bootstrap.checkpoint`, and of the snapshot that formatting writes for a dynamic quorum."""


def parse_snapshot_name(name: str) -> SnapshotId | None:
    """The id in the name of a snapshot; None for any other name."""
    found = _NAME.fullmatch(name)
    return SnapshotId(int(found[1]), int(found[2])) if found else None


def newest_snapshot(folder: Path) -> SnapshotId | None:
    """The snapshot with the highest end offset among the files of `__cluster_metadata-0`."""
    return max(filter(None, map(parse_snapshot_name, os.listdir(folder))), default=None)


@dataclass(slots=True)
class MetadataSnapshot:
    """The content of a snapshot."""

    records: Iterable[MetadataRecord] = field(default_factory=list)
    last_contained_log_timestamp: int = 0
    """Append time (ms) of the last record that the snapshot covers."""
    kraft_version: int = 0
    voters: VotersRecord | None = None
    """The voters, with kraft.version 1 only."""


def format_metadata_snapshot(
    snapshot: MetadataSnapshot, *, epoch: int, now_ms: int, metadata_version: int = METADATA_VERSION
) -> bytes:
    """The bytes of a snapshot file."""
    return b"".join(snapshot_batches(snapshot, epoch=epoch, now_ms=now_ms, metadata_version=metadata_version))


def snapshot_batches(
    snapshot: MetadataSnapshot, *, epoch: int, now_ms: int, metadata_version: int = METADATA_VERSION
) -> Iterator[bytes]:
    """The bytes of a snapshot file, batch by batch; each takes as many of the records as it needs."""
    header = _header(snapshot)
    yield build_kraft_control_batch(header, timestamp=now_ms, leader_epoch=epoch)
    offset = len(header)
    for values in _runs(
        encode_metadata_record(record, record_version(record, metadata_version)) for record in snapshot.records
    ):
        yield build_value_batch(values, timestamp=now_ms, base_offset=offset, leader_epoch=epoch)
        offset += len(values)
    yield build_kraft_control_batch([SnapshotFooterRecord()], timestamp=now_ms, base_offset=offset, leader_epoch=epoch)


def _header(snapshot: MetadataSnapshot) -> list[KRaftControl]:
    messages: list[KRaftControl] = [
        SnapshotHeaderRecord(last_contained_log_timestamp=snapshot.last_contained_log_timestamp)
    ]
    if snapshot.kraft_version:
        messages.append(KRaftVersionRecord(k_raft_version=snapshot.kraft_version))
        if snapshot.voters is not None:
            messages.append(snapshot.voters)
    return messages


def _runs(values: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
    """The values of each batch."""
    run: list[bytes] = []
    size = 0
    for value in values:
        if run and size + len(value) > _SOFT_LIMIT:
            yield run
            run, size = [], 0
        run.append(value)
        size += len(value)
    if run:
        yield run


class SnapshotContentError(CorruptDataError):
    """The bytes are no whole snapshot of the cluster metadata; the text says why."""


def parse_metadata_snapshot(data: Buffer) -> MetadataSnapshot:
    """The content of a snapshot file.

    Raises CorruptDataError for bytes that are no whole snapshot: header, data batches and footer with right checksums.
    """
    records: list[MetadataRecord] = []
    snapshot = MetadataSnapshot(records)
    begun = ended = False
    for batch in _batches(data):
        if ended:
            raise SnapshotContentError(f"a batch at offset {batch.base_offset} follows the footer of the snapshot")
        messages = list(control_messages(batch)) if batch.is_control else []
        begun = begun or any(isinstance(message, SnapshotHeaderRecord) for message in messages)
        if not begun:
            raise SnapshotContentError("the snapshot does not begin with its header")
        if not batch.is_control:
            records.extend(metadata_records(batch))
        for message in messages:
            _take_control(snapshot, message)
        ended = any(isinstance(message, SnapshotFooterRecord) for message in messages)
    if not ended:
        raise SnapshotContentError("the snapshot ends without its footer")
    return snapshot


def _take_control(snapshot: MetadataSnapshot, message: KRaftControl) -> None:
    if isinstance(message, SnapshotHeaderRecord):
        snapshot.last_contained_log_timestamp = message.last_contained_log_timestamp
    elif isinstance(message, KRaftVersionRecord):
        snapshot.kraft_version = message.k_raft_version
    elif isinstance(message, VotersRecord):
        snapshot.voters = message


def _batches(data: Buffer) -> Iterator[RecordBatch]:
    position = 0
    while position < len(data):
        batch = stored_batch_at(data, position)
        if batch is None:
            raise SnapshotContentError(f"a batch at byte {position} of {len(data)} is cut off")
        if not batch.is_crc_valid:
            raise SnapshotContentError(f"the checksum of the batch at byte {position} does not match")
        yield batch
        position += batch.size_bytes


def write_metadata_snapshot(
    fs: FileSystem,
    folder: Path,
    snapshot_id: SnapshotId,
    snapshot: MetadataSnapshot,
    *,
    now_ms: int,
    metadata_version: int = METADATA_VERSION,
) -> Path:
    """Write a snapshot into the folder of `__cluster_metadata-0`, whole and durable or not at all."""
    path = folder / snapshot_id.file_name
    data = format_metadata_snapshot(snapshot, epoch=snapshot_id.epoch, now_ms=now_ms, metadata_version=metadata_version)
    fs.write_atomically(path, data)
    return path


def read_metadata_snapshot(fs: FileSystem, path: Path) -> MetadataSnapshot:
    """A snapshot or a `bootstrap.checkpoint`. Raises StorageError with the path if the file is no whole snapshot."""
    try:
        return parse_metadata_snapshot(fs.view(path))
    except CorruptDataError as error:
        raise StorageError(f"{path}: {error}", str(path)) from error
