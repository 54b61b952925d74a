"""The pieces that logs in memory consist of, and the limit that they have together.

A `Chunk` is filled once and never changed. It begins as a bytearray. All logs of a cluster share one `ChunkPool`,
which counts the bytes in memory. Beyond the limit the oldest chunks move to a temporary file, so that the page cache
holds them and not the process. Logs with bytes in common share a chunk, and all of them see it move. Views stay valid
wherever it goes.

A large Fetch reads no bytes: `read_to_send` returns `FileSlice`s. `broker/net/sending` passes them to `sendfile` on
Linux, unless the connection is paced, and maps them for one call of `sendmsg` elsewhere. So the unsent part of an
answer takes no memory of the process. A chunk that large fetches have taken twice moves to the file before memory is
full, so that the next ones go by descriptor. A single reader of everything never pays for that. With a limit of -1
nothing moves.

If the file takes nothing (a full disk, no thread, no folder), records stay in memory beyond the limit, and nobody
waits. That is logged as an error once. The next try comes after a quarter of the limit and 4 MiB more. If it works,
the limit holds again.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from itertools import count
from weakref import ref

from odradek.protocol.file_slice import SENDS_FILES, WORTH_SENDING
from odradek.storage.backing_file import ChunkMaps, ChunkWriter, Extent
from odradek.storage.filling import Filling

DEFAULT_LIMIT = 160 * 1024 * 1024
LEAST_SLACK = 16 * 1024 * 1024
_WORTH_TRIMMING = 16 * 1024
_MORE_BEFORE_NEXT_TRY = 4 * 1024 * 1024
_OFTEN = 2
"""A chunk moves after so many sends: a single reader does not pay for it, and many readers gain."""
_log = logging.getLogger("odradek.storage")


class Chunk:
    """A run of whole batches. Owner: the batch store that appends to it; `pool` may end and move it at any time.

    `view`: its bytes, None while they are in a file and not mapped. `filling`: the part for appends; it takes none once
    the chunk has ended. `held`: the bytes that count against the pool's limit. `sent`: the bytes that went out in large
    answers.
    """

    __slots__ = ("__weakref__", "extent", "filling", "held", "number", "pool", "sent", "view")

    def __init__(self, buffer: bytearray, pool: ChunkPool | None) -> None:
        self.filling = Filling(buffer)
        self.view: memoryview | None = self.filling.writer.toreadonly()
        self.extent: Extent | None = None
        self.pool = pool
        self.number = -1
        self.held = 0
        self.sent = 0

    @property
    def fill(self) -> int:
        """The number of used bytes."""
        return self.filling.fill

    def bytes(self) -> memoryview:
        """A view of all bytes, from the first one on."""
        view = self.view
        if view is None:
            assert self.pool is not None, "only a pool moves chunks to files"
            view = self.pool.maps.look(self)
        return view

    def end(self) -> None:
        """Take no more appends, and free a large unused end."""
        filling = self.filling
        if filling.capacity - filling.fill >= _WORTH_TRIMMING:
            kept = bytes(filling.writer[: filling.fill])
            if self.pool is not None:
                self.pool.shrunk(self, filling.capacity - len(kept))
            self.view = memoryview(kept)
        self.freeze()

    def freeze(self) -> None:
        """Take no more appends."""
        self.filling.end()

    def moved(self, extent: Extent) -> None:
        """The bytes have moved to this extent. Other threads may be reading meanwhile."""
        self.extent = extent  # first: a reader that finds no view looks here
        self.view = None

    def __del__(self) -> None:
        if self.held and self.pool is not None:
            self.pool.let_go(self.number, self.held)


class ChunkPool:
    """The chunks of all logs of a cluster, and the bytes of them that are in memory.

    `limit`: the bytes that may be in memory; negative for no limit. When there is no room for a new bytearray, the
    oldest chunks go to a thread that writes them to a file. They are read from memory until they are written. `held`:
    the bytes in memory; `leaving`: those of them that wait to be written. `crowded`: whether `leaving` exceeds the
    slack, a quarter of the limit and at least 16 MiB. Requests should then wait before they append; `on_crowded` is
    called with each change. A failure ends the wait too: records stay in memory, and the next try comes after another
    quarter. `sends_files`: whether often-sent chunks move too. Owner: the backend, one thread. Chunks may end, and be
    read, in any thread.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT, least_slack: int = LEAST_SLACK) -> None:
        self.limit = limit if limit >= 0 else 1 << 62
        self.sends_files = SENDS_FILES and limit >= 0
        self.held = 0
        self.leaving = 0
        self.crowded = False
        self.on_crowded: Callable[[bool], None] | None = None
        self.gone: deque[tuple[int, int]] = deque()
        self.maps = ChunkMaps()
        self._slack = max(self.limit // 4, least_slack)
        self._live: OrderedDict[int, ref[Chunk]] = OrderedDict()
        self._leaving: dict[int, tuple[ref[Chunk], int]] = {}
        self._numbers = count()
        self._give_up_at = 0
        self._writer: ChunkWriter | None = None
        self._on_written: Callable[[], None] | None = None
        self._seen = 0

    def chunk(self, buffer: bytearray) -> Chunk:
        """A new chunk in this bytearray."""
        size = len(buffer)
        self._make_room(size)
        chunk = Chunk(buffer, self)
        chunk.number = number = next(self._numbers)
        chunk.held = size
        self.held += size
        self._live[number] = ref(chunk)
        return chunk

    def shrunk(self, chunk: Chunk, count: int) -> None:
        """A chunk in memory, which does not wait to be written, has become smaller by so many bytes."""
        chunk.held -= count
        self.held -= count

    def _make_room(self, size: int) -> None:
        """Have the oldest chunks written, until so many bytes fit."""
        self.collect()
        if self.held < self._give_up_at:
            return
        while self.held - self.leaving + size > self.limit and self._live:
            writer = self._writer or self._start_writer()
            if writer is None:
                break
            number, which = self._live.popitem(last=False)
            chunk = which()
            if chunk is not None:
                self._hand_over(writer, number, chunk)
        self._compare()

    def _hand_over(self, writer: ChunkWriter, number: int, chunk: Chunk) -> None:
        chunk.freeze()
        self._leaving[number] = ref(chunk), chunk.held
        self.leaving += chunk.held
        writer.put(chunk)

    def sent(self, chunk: Chunk, count: int) -> None:
        """So many bytes of a chunk in memory went out in a large answer.

        An often-sent chunk moves to the file. Nobody waits for that: a chunk that would crowd the writer stays for now.
        """
        chunk.sent += count
        if chunk.sent < _OFTEN * chunk.fill or chunk.fill < WORTH_SENDING or not self.sends_files:
            return
        if self.leaving:
            self.collect()
        if self._give_up_at or self.leaving + chunk.held > self._slack // 2 or chunk.number not in self._live:
            return
        writer = self._writer or self._start_writer()
        if writer is not None:
            del self._live[chunk.number]
            self._hand_over(writer, chunk.number, chunk)

    def _start_writer(self) -> ChunkWriter | None:
        try:
            self._writer = ChunkWriter(self.gone, self._on_written)
        except RuntimeError as error:
            self._failed(error)
        self._seen = 0
        return self._writer

    # -- what the writer and other threads have done

    def let_go(self, number: int, held: int) -> None:
        """A chunk in memory has ended, for example because its topic was deleted. Any thread may call this."""
        self.gone.append((number, held))
        told = self._on_written
        if told is not None:
            told()

    def when_written(self, told: Callable[[], None] | None) -> None:
        """Set the function to call when chunks have left memory, or failed to.

        Time to `collect`. It is called in the writer's thread, or in the thread where a chunk ends.
        """
        self._on_written = told
        if self._writer is not None:
            self._writer.on_written = told

    def collect(self) -> None:
        """Count the chunks that have left memory, or failed to, since the last call."""
        while self.gone:  # a chunk may end in any thread, so it only puts itself on a list
            number, held = self.gone.popleft()
            self.held -= held
            self._live.pop(number, None)
            _, handed_over = self._leaving.pop(number, (None, 0))
            self.leaving -= handed_over
        if self._writer is not None:
            self._look_at(self._writer)
        self._compare()

    def _look_at(self, writer: ChunkWriter) -> None:
        failure = writer.take_failure()
        if failure is not None:
            self._take_back()
            self._failed(failure)
        elif writer.written != self._seen:
            self._seen = writer.written
            if self._give_up_at:
                self._give_up_at = 0
                _log.info("the temporary file takes records again")

    def _failed(self, error: Exception) -> None:
        self._give_up_at = self.held + self.held // 4 + _MORE_BEFORE_NEXT_TRY
        _log.error(
            "no temporary file takes records (%s: %s): they stay in memory, even beyond odradek.memory.bytes. The next "
            "try comes when there are %d MiB of them",
            *(type(error).__name__, error, self._give_up_at >> 20),
        )

    def _take_back(self) -> None:
        """The chunks that wait to be written are the oldest in memory again. One that is being written moves all the
        same.
        """
        for number, (which, _) in reversed(self._leaving.items()):
            self._live[number] = which
            self._live.move_to_end(number, last=False)
        self._leaving.clear()
        self.leaving = 0

    def _compare(self) -> None:
        crowded = self.leaving > self._slack
        if crowded is not self.crowded:
            self.crowded = crowded
            if self.on_crowded is not None:
                self.on_crowded(crowded)

    def close(self) -> None:
        """End the writer without waiting for it. Chunks that other logs share stay readable, and may still move."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            self._take_back()
            self._compare()

    def __del__(self) -> None:
        if self._writer is not None:
            self._writer.close()
