"""The pieces that logs in memory consist of, and the limit that they have together.

A `Chunk` is filled once and never changed. It begins as a bytearray. Beyond the limit chunks move to a temporary file,
so that the page cache holds them and not the process. Logs that have bytes in common share a chunk, and all see it
move. Views stay valid wherever it goes.
"""

from __future__ import annotations

import logging
import struct
from collections import OrderedDict, deque
from itertools import count
from threading import Lock
from weakref import ref

from odradek.protocol.record_batch import LEADER_EPOCH_AT
from odradek.protocol.records import Buffer
from odradek.storage.backing_file import BackingFile, Extent, temporary_file

DEFAULT_LIMIT = 160 * 1024 * 1024
WORTH_A_FILE = 256 * 1024
"""A full bytearray of this size moves to the file when there is no room in memory."""
DIRECT = 64 * 1024
"""A batch from this size on is written to the file at once when there is no room in memory."""
_EXTENT = 4 * 1024 * 1024
_MOST_MAPPED = 64 * 1024 * 1024
_MOST_MAPS = 64
_WORTH_TRIMMING = 16 * 1024
_NOTHING = memoryview(b"")
_HEAD = LEADER_EPOCH_AT + 4
_put_offset = struct.Struct(">q").pack_into
_put_epoch = struct.Struct(">i").pack_into
_log = logging.getLogger("odradek.storage")


class Chunk:
    """A run of whole batches. Owner: the batch store that appends to it; `pool` may move it at any time.

    `view`: its bytes, None while they are in a file and not mapped. `writer` and `capacity`: of the bytearray, none
    behind its end or in a file. `held`: the bytes that count against the pool's limit.
    """

    __slots__ = ("__weakref__", "_open", "capacity", "extent", "fill", "held", "number", "pool", "view", "writer")

    def __init__(self, buffer: bytearray, pool: ChunkPool | None) -> None:
        self.writer = memoryview(buffer)
        self.view: memoryview | None = self.writer.toreadonly()
        self.capacity = len(buffer)
        self.fill = 0
        self.extent: Extent | None = None
        self._open = False
        self.pool = pool
        self.number = -1
        self.held = 0

    @classmethod
    def in_file(cls, extent: Extent, pool: ChunkPool) -> Chunk:
        """An empty chunk in a file."""
        chunk = cls(bytearray(), pool)
        chunk.view = None
        chunk.extent = extent
        chunk._open = True
        return chunk

    def bytes(self) -> memoryview:
        """A view of everything, from the first byte on."""
        view = self.view
        if view is None:
            assert self.pool is not None, "only a pool moves chunks to files"
            view = self.pool.mapped(self)
        return view

    def takes(self, length: int) -> bool:
        """Whether `write` takes a batch of so many bytes."""
        extent = self.extent
        return self._open and extent is not None and self.fill + length <= extent.size

    def write(self, batch: Buffer, base_offset: int, leader_epoch: int) -> None:
        """Append a batch to the file, with these fields in its header; OSError ends the chunk."""
        assert self.extent is not None
        head = bytearray(batch[:_HEAD])
        _put_offset(head, 0, base_offset)
        _put_epoch(head, LEADER_EPOCH_AT, leader_epoch)
        try:
            self.extent.write([head, memoryview(batch)[_HEAD:]], self.fill)
        except OSError:
            self._open = False
            raise
        self.fill += len(batch)

    def end(self) -> None:
        """Nothing more is appended."""
        if self.pool is not None and self.extent is None and self.fill >= WORTH_A_FILE:
            self.pool.store(self)
        if self.extent is None and self.capacity - self.fill >= _WORTH_TRIMMING and self.view is not None:
            kept = bytes(self.view[: self.fill])
            if self.pool is not None:
                self.pool.grown(self, len(kept) - self.capacity)
            self.view = memoryview(kept)
        self.writer, self.capacity, self._open = _NOTHING, 0, False

    def moved(self, extent: Extent) -> None:
        """The bytes are there now."""
        self.extent = extent  # first: another thread may ask for the bytes of a log that shares them
        self.view = None
        self.writer, self.capacity, self._open = _NOTHING, 0, False

    def __del__(self) -> None:
        if self.number >= 0 and self.pool is not None:
            self.pool.gone.append((self.number, self.held))


class ChunkPool:
    """The chunks of all logs of a cluster, oldest first, and the file behind them.

    `limit`: so many bytes may be in memory; negative for no limit. `held`: the bytes that are. What is full, or large,
    while there is no room goes to the temporary file; where a bytearray is needed the oldest chunks make room. Owner:
    the backend, one thread; only `mapped` may be called from others, by logs that share chunks.
    """

    __slots__ = (
        *("_disk", "_give_up_at", "_live", "_lock", "_mapped", "_mapped_bytes", "_numbers"),
        *("__weakref__", "gone", "held", "limit"),
    )

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit if limit >= 0 else 1 << 62
        self.held = 0
        self.gone: deque[tuple[int, int]] = deque()
        self._live: OrderedDict[int, ref[Chunk]] = OrderedDict()
        self._numbers = count()
        self._disk: BackingFile | None = None
        self._give_up_at = 0
        self._mapped: deque[tuple[ref[Chunk], int]] = deque()
        self._mapped_bytes = 0
        self._lock = Lock()

    # -- new chunks

    def bytearray_chunk(self, buffer: bytearray) -> Chunk:
        """A chunk that begins as this bytearray."""
        self.make_room(len(buffer))
        chunk = Chunk(buffer, self)
        self._count(chunk, len(buffer))
        return chunk

    def file_chunk(self, length: int) -> Chunk | None:
        """An empty chunk in a file with room for `length` bytes and more; None where a bytearray does as well."""
        self._forget_gone()
        try:
            file = self._file(length)
            chunk = None if file is None else Chunk.in_file(file.extent(max(length, _EXTENT)), self)
        except OSError as error:
            self._failed(error)
            return None
        return chunk

    def store(self, chunk: Chunk) -> None:
        """Bring a full chunk to the file if there is no room for more."""
        try:
            file = self._file(chunk.fill)
            if file is not None:
                self._move(chunk, file)
        except OSError as error:
            self._failed(error)

    def _file(self, length: int) -> BackingFile | None:
        """Where so many bytes belong; None for a bytearray."""
        if self.held + length <= self.limit or self.held < self._give_up_at:
            return None
        return self._disk_file()

    def _disk_file(self) -> BackingFile:
        if self._disk is None:
            self._disk = temporary_file()
        return self._disk

    # -- the limit

    def grown(self, chunk: Chunk, count: int) -> None:
        """A chunk in memory has so many bytes more, or fewer."""
        chunk.held += count
        self.held += count

    def make_room(self, size: int) -> None:
        """Move the oldest chunks to the temporary file until so many bytes fit."""
        self._forget_gone()
        while self.held + size > self.limit and self._live and self.held >= self._give_up_at:
            number, oldest = next(iter(self._live.items()))
            chunk = oldest()
            if chunk is not None:
                try:
                    self._move(chunk, self._disk_file())
                except OSError as error:
                    self._failed(error)
                    return
            self._live.pop(number, None)

    def _count(self, chunk: Chunk, size: int) -> None:
        chunk.number = next(self._numbers)
        chunk.held = size
        self.held += size
        self._live[chunk.number] = ref(chunk)

    def _forget_gone(self) -> None:
        """Chunks may end in any thread: they only leave word."""
        while self.gone:
            number, held = self.gone.popleft()
            self._live.pop(number, None)
            self.held -= held

    def _move(self, chunk: Chunk, file: BackingFile) -> None:
        size = chunk.fill
        extent = file.extent(max(size, 1))
        extent.write([chunk.bytes()[:size]], 0)
        self.grown(chunk, -chunk.held)
        chunk.moved(extent)
        self._live.pop(chunk.number, None)

    def _failed(self, error: OSError) -> None:
        """Nothing is lost: what cannot be moved stays in memory, and the next try comes when there is a lot more."""
        _log.warning(
            "records stay in memory, beyond odradek.memory.bytes: no temporary file takes them (%s)", str(error)
        )
        self._give_up_at = self.held + self.held // 4 + _EXTENT

    # -- looking into files

    def mapped(self, chunk: Chunk) -> memoryview:
        """A chunk's bytes. The last few maps are kept, so that the process holds little of what is in files."""
        extent = chunk.extent
        assert extent is not None, "a chunk without a view is in a file"
        view = extent.view(extent.offset, extent.size)
        with self._lock:
            self._mapped.append((ref(chunk), extent.size))
            self._mapped_bytes += extent.size
            chunk.view = view
            while (self._mapped_bytes > _MOST_MAPPED or len(self._mapped) > _MOST_MAPS) and len(self._mapped) > 1:
                oldest, size = self._mapped.popleft()
                self._mapped_bytes -= size
                unmapped = oldest()
                if unmapped is not None and unmapped is not chunk and unmapped.extent is not None:
                    unmapped.view = None
        return view
