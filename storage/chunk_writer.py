"""The thread that brings chunks to the temporary file: a disk may take its time, an event loop may not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Protocol
from weakref import ref

from odradek.storage.backing_file import BackingFile, Extent, temporary_file

THREAD_NAME = "odradek chunk writer"


class Movable(Protocol):
    """A chunk, as far as writing goes. `held`: the bytes that it takes in memory; `fill`: how many are used."""

    extent: Extent | None
    held: int
    number: int

    @property
    def fill(self) -> int: ...

    def bytes(self) -> memoryview:
        """What it holds, from the first byte on."""

    def moved(self, extent: Extent) -> None:
        """The bytes are there now."""


class ChunkWriter:
    """Writes chunks one after the other, and gives back the room of those that went.

    Owner: a pool, from whose thread `put`, `take_failure` and `close` are called. A chunk that ends before its turn is
    not written. After a failure nothing that was handed over before is written; it is put again if it shall be.
    `gone` takes (number, bytes) of each chunk that left memory. `on_written` is called in the writer's thread after
    each job. The thread does not know the pool: that goes when nobody needs it, and closes its writer.
    RuntimeError if the system has no thread left.
    """

    __slots__ = ("_failed", "_failure", "_file", "_generation", "_gone", "_jobs", "on_written", "written")

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

    def put(self, chunk: Movable) -> None:
        """Write a chunk that nobody appends to any more."""
        self._jobs.put(partial(self._write, self._generation, ref(chunk)))

    def take_failure(self) -> Exception | None:
        """Why nothing is written any more of what was handed over; what is put from now on is tried."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._generation += 1
        return failure

    def close(self) -> None:
        """End when everything is done that was put. It may be called in any thread and does not wait."""
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
            del job  # nothing is kept while this waits
            told = self.on_written
            if told is not None:
                told()
                del told

    def _write(self, generation: int, which: ref[Movable]) -> None:
        chunk = which()
        if generation <= self._failed or chunk is None or chunk.extent is not None:
            return
        try:
            extent = self._stored(chunk)
        except Exception as error:  # whatever it is: who waits for this thread has to learn of it
            self._failed = generation
            self._failure = error.with_traceback(None)  # its frames have the chunk, and whoever logs it keeps it
            return
        held, chunk.held = chunk.held, 0
        chunk.moved(extent)
        self.written += 1
        self._gone.append((chunk.number, held))

    def _stored(self, chunk: Movable) -> Extent:
        file = self._file
        if file is None:
            file = self._file = temporary_file()
            file.later = self._jobs.put
        extent = file.extent(max(chunk.fill, 1))
        extent.write(chunk.bytes()[: chunk.fill])
        return extent
