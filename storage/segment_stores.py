"""The stores of a segment on disk."""

from __future__ import annotations

from pathlib import Path

from odradek.storage.backend import SegmentStores
from odradek.storage.disk_batches import DiskBatchStore
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import LOG, OFFSET_INDEX, SEGMENT_PARTS, TIME_INDEX, TXN_INDEX, file_name
from odradek.storage.index_files import DiskOffsetIndex, DiskTimeIndex, DiskTxnIndex


class DiskSegmentStores(SegmentStores):
    """The stores of one segment on disk. They can rename their files together."""

    __slots__ = ("directory", "fs", "suffix")

    batches: DiskBatchStore
    offset_index: DiskOffsetIndex
    time_index: DiskTimeIndex
    txn_index: DiskTxnIndex

    def __init__(
        self, fs: FileSystem, directory: Path, base_offset: int, index_bytes: int, *, size: int | None, suffix: str = ""
    ) -> None:
        """`size` of the existing `.log` in bytes; None makes an empty `.log` for a new segment."""
        new = size is None
        paths = {kind: directory / file_name(base_offset, kind, suffix) for kind in SEGMENT_PARTS}
        if new:
            fs.close(fs.create(paths[LOG]))
        super().__init__(
            base_offset,
            DiskBatchStore(fs, paths[LOG], size or 0),
            DiskOffsetIndex(fs, paths[OFFSET_INDEX], base_offset, index_bytes, new=new),
            DiskTimeIndex(fs, paths[TIME_INDEX], base_offset, index_bytes, new=new),
            DiskTxnIndex(fs, paths[TXN_INDEX], new=new),
        )
        self.fs = fs
        self.directory = directory
        self.suffix = suffix

    def rename(self, suffix: str) -> list[Path]:
        """Give all files of the segment another suffix; returns the new paths of those that exist."""
        renamed = []
        for part, kind in self._parts():
            target = self.directory / file_name(self.base_offset, kind, suffix)
            if self.fs.is_file(part.path):
                self.fs.rename(part.path, target)
                renamed.append(target)
            part.path = target
        self.suffix = suffix
        return renamed

    def remove(self) -> None:
        """Remove all files of the segment. They must be closed."""
        for part, _ in self._parts():
            self.fs.remove(part.path)

    def forget_indexes(self) -> None:
        """Empty the indexes, before the segment is scanned again."""
        self.offset_index.clear()
        self.time_index.clear()
        self.txn_index.clear()

    def take_indexes(self, other: SegmentStores) -> None:
        """Take over the index entries of another copy of the segment. The next flush writes them to the files."""
        assert isinstance(other, DiskSegmentStores)
        self.offset_index.take(other.offset_index)
        self.time_index.take(other.time_index)
        self.txn_index.take(other.txn_index)

    def release(self) -> None:
        """Close without writing indexes, because the segment is about to be removed."""
        self.batches.close()

    def _parts(self) -> list[tuple[DiskBatchStore | DiskOffsetIndex | DiskTimeIndex | DiskTxnIndex, str]]:
        return [
            (self.offset_index, OFFSET_INDEX),
            (self.time_index, TIME_INDEX),
            (self.txn_index, TXN_INDEX),
            (self.batches, LOG),
        ]
