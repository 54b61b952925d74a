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

Readers of the file get maps; the last few are kept, up to 64 MiB. A disk may block and the event loop must not, so a
thread writes the file and makes holes in it. It begins with the first chunk and ends with the pool. A chunk is read
from memory until it is written, so a log may be deleted, cut, forked or restored meanwhile. The thread reports in a
deque, which the pool reads in the event loop.

If the file takes nothing (a full disk, no thread, no folder), records stay in memory beyond the limit, and nobody
waits. That is logged as an error once. The next try comes after a quarter of the limit and 4 MiB more. If it works,
the limit holds again.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from weakref import ref

from odradek.protocol.file_slice import SENDS_FILES, WORTH_SENDING
from odradek.storage.backing_file import BackingFile, Extent, temporary_file
from odradek.storage.filling import Filling

DEFAULT_LIMIT = 160 * 1024 * 1024
LEAST_SLACK = 16 * 1024 * 1024
_WORTH_TRIMMING = 16 * 1024
_MORE_BEFORE_NEXT_TRY = 4 * 1024 * 1024
_OFTEN = 2
"""A chunk moves after so many sends: a single reader does not pay for it, and many readers gain."""
_MOST_BYTES = 64 * 1024 * 1024
_MOST_CHUNK_MAPS = 64
THREAD_NAME = "odradek chunk writer"
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


class ChunkMaps:
    """The maps of a pool's chunks, oldest first.

    Their number is limited, so that the process maps little of its files. Any thread may ask, because logs of several
    brokers share chunks.
    """

    def __init__(self) -> None:
        self._maps: deque[tuple[ref[Chunk], int]] = deque()
        self._bytes = 0
        self._lock = Lock()

    def look(self, chunk: Chunk) -> memoryview:
        """The bytes of a chunk in a file; they stay the view of the chunk until others need the room."""
        extent = chunk.extent
        assert extent is not None, "a chunk without a view is in a file"
        view = extent.view(extent.offset, extent.size)
        with self._lock:
            self._maps.append((ref(chunk), extent.size))
            self._bytes += extent.size
            chunk.view = view
            while (self._bytes > _MOST_BYTES or len(self._maps) > _MOST_CHUNK_MAPS) and len(self._maps) > 1:
                oldest, size = self._maps.popleft()
                self._bytes -= size
                unmapped = oldest()
                if unmapped is not None and unmapped is not chunk and unmapped.extent is not None:
                    unmapped.view = None
        return view


class ChunkWriter:
    """Writes chunks one after the other, and frees the room of released ones.

    Owner: a pool, from whose thread `put`, `take_failure` and `close` are called. A chunk that ends before its turn is
    not written. A failure drops all chunks that were put before; the pool puts them again if it wants them written.
    `gone` takes (number, bytes) of each chunk that left memory. `on_written` is called in the writer's thread after
    each job. The thread does not refer to the pool, which closes its writer when nobody uses it any more. RuntimeError
    if the system has no thread left.
    """

    def __init__(self, gone: deque[tuple[int, int]], on_written: Callable[[], None] | None = None) -> None:
        self._gone = gone
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._file: BackingFile | None = None
        self._generation = 1
        self._failed = 0
        self._failure: Exception | None = None
        self.written = 0
        self.on_written = on_written
        # A daemon: a disk that hangs must not keep the process from ending.
        Thread(target=self._run, name=THREAD_NAME, daemon=True).start()

    def put(self, chunk: Chunk) -> None:
        """Write a chunk that takes no more appends."""
        self._jobs.put(partial(self._write, self._generation, ref(chunk)))

    def take_failure(self) -> Exception | None:
        """The failure that dropped the chunks put so far, if there was one; later ones are tried."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._generation += 1
        return failure

    def close(self) -> None:
        """End after the chunks that were put. Any thread may call this; it does not wait."""
        if self._file is not None:
            self._file.later = None
        self._jobs.put(None)

    # -- in the thread

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                if self._file is not None:
                    self._file.later = None
                return
            job()
            del job  # while this waits, it refers to no chunk
            told = self.on_written
            if told is not None:
                told()
                del told

    def _write(self, generation: int, which: ref[Chunk]) -> None:
        chunk = which()
        if generation <= self._failed or chunk is None or chunk.extent is not None:
            return
        try:
            extent = self._stored(chunk)
        except Exception as error:  # any error: those who wait for this thread have to learn of it
            self._failed = generation
            self._failure = error.with_traceback(None)  # its frames refer to the chunk
            return
        held, chunk.held = chunk.held, 0
        chunk.moved(extent)
        self.written += 1
        self._gone.append((chunk.number, held))

    def _stored(self, chunk: Chunk) -> Extent:
        file = self._file
        if file is None:
            file = self._file = temporary_file()
            file.later = self._jobs.put
        extent = file.extent(max(chunk.fill, 1))
        extent.write(chunk.bytes()[: chunk.fill])
        return extent


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
