"""A temporary file on a disk that a test holds: each write waits until it is let through, or fails."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from odradek.protocol.records import Buffer
from odradek.storage.backing_file import BackingFile, temporary_file
from odradek.storage.chunks import THREAD_NAME, ChunkPool


class HeldFile(BackingFile):
    """Its writes wait. `begun` counts those that came so far (a semaphore); `error`: what the next ones raise."""

    def __init__(self, disk: Disk) -> None:
        file = temporary_file()
        super().__init__(os.dup(file.descriptor))
        self._disk = disk

    def write(self, data: Buffer, position: int) -> None:
        disk = self._disk
        disk.begun.release()
        if disk.held:
            disk.permits.acquire()
        if disk.error is not None:
            raise disk.error
        super().write(data, position)


class Disk:
    """What the files of one test lie on."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.permits = threading.Semaphore(0)
        self.held = True
        self.error: Exception | None = None

    def temporary_file(self) -> BackingFile:
        return HeldFile(self)

    def wait_for_write(self) -> None:
        """Return when the writer has begun a write; for a pool that has something to write."""
        self.begun.acquire()
        self.begun.release()

    def let_one_through(self, pool: ChunkPool) -> None:
        """Let the next write happen, and return when the writer has said what became of it."""
        self.begun.acquire()
        told = threading.Semaphore(0)
        pool.when_written(told.release)
        self.permits.release()
        told.acquire()
        pool.when_written(None)
        pool.collect()

    def work(self) -> None:
        """Write everything from now on."""
        self.held = False
        self.permits.release(64)  # more than there are writers that wait already


@contextmanager
def held_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """Temporary files of pools lie on a held disk; what still waits in the end is let through."""
    disk = Disk()
    with monkeypatch.context() as patch:
        patch.setattr("odradek.storage.chunks.temporary_file", disk.temporary_file)
        try:
            yield disk
        finally:
            disk.error = None
            disk.work()


def settle(pool: ChunkPool) -> None:
    """Wait until all that was handed over is written, or is known to stay in memory."""
    told = threading.Semaphore(0)
    pool.when_written(told.release)
    while True:
        pool.collect()
        if not pool.leaving:
            break
        told.acquire()
    pool.when_written(None)


def join_writers() -> None:
    """Wait until the threads have ended that write for pools; for tests whose pools have all gone."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()
