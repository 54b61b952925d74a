"""Logs on disk that share closed segments, by hard links, or by copies where a medium has no links.

A closed segment does not change, so two logs may have the same file. There is one exception: a log may be cut, or
continue, in a segment that was closed. `DiskBatchStore` then copies the file before it writes. The active segment is
never shared. Files that are always written as a whole (indexes, producers, epochs) are not shared either.
"""

from __future__ import annotations

from pathlib import Path

from odradek.storage.backend import LoadedLog, SegmentStores
from odradek.storage.broken_log import unbroken
from odradek.storage.checkpoint_files import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    format_leader_epochs,
    format_partition_metadata,
    format_snapshot,
)
from odradek.storage.disk_backend import DiskBackend, DiskLogStore
from odradek.storage.disk_segments import DiskSegmentStores
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import LOG, SNAPSHOT, file_name
from odradek.storage.partition_log import PartitionLog


def directory_of(log: PartitionLog) -> DiskBackend:
    """The log directory of a log on disk."""
    with unbroken(log):
        assert isinstance(log.store, DiskLogStore)
        return log.store.backend


def close_segments(log: PartitionLog, now_ms: int) -> None:
    """Close the segments of a log that hold data; StorageError if no new segment can be made."""
    with unbroken(log):
        if log.active.size:
            log.roll(now_ms)


def link_segments(log: PartitionLog, fs: FileSystem, folder: Path) -> None:
    """Make a folder with the closed segments of a log. The log may take appends or be deleted afterwards."""
    fs.make_directory(folder)
    with unbroken(log):
        for segment in log.segments[:-1]:
            stores = segment.stores
            assert isinstance(stores, DiskSegmentStores)
            fs.link(stores.batches.path, folder / file_name(segment.base_offset, LOG))


def lay_out(log: PartitionLog, backend: DiskBackend, folder: Path, topic_id: bytes) -> None:
    """Make a folder with the closed segments of a log, for a separate log.

    It looks like the folder of a partition whose process died: the indexes are missing, and opening the log builds
    them.
    """
    fs = backend.fs
    link_segments(log, fs, folder)
    fs.write_atomically(folder / PARTITION_METADATA, format_partition_metadata(topic_id), durable=False)
    DiskSegmentStores(fs, folder, log.active.base_offset, log.config.segment_index_bytes, size=None).release()
    fs.write_atomically(folder / LEADER_EPOCHS, format_leader_epochs(log.leader_epochs.entries()), durable=False)
    producers = folder / file_name(log.log_end_offset, SNAPSHOT)
    fs.write_atomically(producers, format_snapshot(log.producers), durable=False)


def opened(log: PartitionLog, backend: DiskBackend, folder: Path, topic_id: bytes) -> PartitionLog:
    """A log over a folder with the segments of another log. It takes over the other log's state and reads nothing."""
    config = log.config
    limit = config.segment_index_bytes
    active = DiskSegmentStores(backend.fs, folder, log.active.base_offset, limit, size=None)
    found = LoadedLog([active], log.log_start_offset, log.recovery_point)
    store = DiskLogStore(backend, log.topic, log.partition, topic_id, config, folder=folder, found=found)
    store.begin_with_producers(log.log_end_offset)

    def copied(stores: SegmentStores) -> SegmentStores:
        if stores.base_offset == active.base_offset:
            return active
        own = DiskSegmentStores(backend.fs, folder, stores.base_offset, limit, size=stores.batches.size)
        own.take_indexes(stores)
        return own

    with unbroken(log):
        return log.twin(backend, store, copied)
