"""A log whose medium fails on purpose: full, or with bytes that can't be written, read or synced.

A test breaks a log and mends it again. The content of the log stays. A call that meets the breakage gets the
StorageError of a failing disk. A log that is not broken runs none of this code.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from odradek.protocol.file_slice import FileSlice
from odradek.protocol.records import Buffer
from odradek.storage.backend import BatchStore, LogStore, SegmentStores, StorageError
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog

FULL, WRITE, READ, SYNC = "full", "write", "read", "sync"
_WRITES = (FULL, WRITE)


class Breakage:
    """A breakage.

    `how`: "full" and "write" (appends), "read", "sync". `on_hit` is called when a call meets it. `offset`: reads fail
    in the segment with this offset, None for all segments. `refuses`: with False appends succeed and are only reported.
    """

    def __init__(
        self, how: str, on_hit: Callable[[], None], *, offset: int | None = None, refuses: bool = True
    ) -> None:
        self.how = how
        self.on_hit = on_hit
        self.offset = offset
        self.refuses = refuses

    def meet(self, what: str, name: str) -> None:
        """StorageError where this is broken; `what`: "write", "read" or "sync"."""
        if self.how == what or (what == WRITE and self.how in _WRITES):
            self.on_hit()
            if self.refuses:
                code = errno.ENOSPC if self.how == FULL else errno.EIO
                raise StorageError(f"{name}: {os.strerror(code)}", name)


class _BrokenBatches:
    """The batches of a broken segment."""

    def __init__(self, inner: BatchStore, breakage: Breakage, name: str) -> None:
        self.inner = inner
        self._breakage = breakage
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def append(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        self._breakage.meet(WRITE, self._name)
        return self.inner.append(batch, base_offset, leader_epoch)

    def read(self, position: int, length: int) -> list[memoryview]:
        self._breakage.meet(READ, self._name)
        return self.inner.read(position, length)

    def slices(self, position: int, length: int) -> Sequence[memoryview | FileSlice]:
        self._breakage.meet(READ, self._name)
        return self.inner.slices(position, length)

    def view(self, position: int) -> tuple[memoryview, int]:
        self._breakage.meet(READ, self._name)
        return self.inner.view(position)

    def flush(self) -> None:
        self._breakage.meet(SYNC, self._name)
        self.inner.flush()

    def begin_sync(self) -> Callable[[], None] | None:
        sync = self.inner.begin_sync()
        if sync is None:
            return None

        def broken() -> None:
            try:
                self._breakage.meet(SYNC, self._name)
            finally:
                sync()

        return broken


class _BrokenStore:
    """The store of a log whose new segments are broken like the old ones."""

    def __init__(self, inner: LogStore, spoil: Callable[[SegmentStores], None]) -> None:
        self.inner = inner
        self._spoil = spoil

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def segment_sealed(self, stores: SegmentStores) -> None:
        with _whole(stores):
            self.inner.segment_sealed(stores)

    def create_segment(self, base_offset: int, config: LogConfig) -> SegmentStores:
        stores = self.inner.create_segment(base_offset, config)
        self._spoil(stores)
        return stores


@contextmanager
def _whole(stores: SegmentStores) -> Iterator[None]:
    """The medium's own stores, without the breakage."""
    batches: object = stores.batches
    if not isinstance(batches, _BrokenBatches):
        yield
        return
    stores.batches = batches.inner
    try:
        yield
    finally:
        stores.batches = cast("BatchStore", batches)


def break_log(log: PartitionLog, breakage: Breakage) -> None:
    """Break a log; the breakage replaces an earlier one."""
    mend_log(log)

    def spoil(stores: SegmentStores) -> None:
        name = f"{log.topic}-{log.partition}/{stores.base_offset:020d}.log"
        stores.batches = cast("BatchStore", _BrokenBatches(stores.batches, breakage, name))

    offset = breakage.offset
    log.store = cast("LogStore", _BrokenStore(log.store, spoil if offset is None else _leave))
    for segment in log.segments:
        if offset is None or segment.base_offset <= offset < max(segment.next_offset, segment.base_offset + 1):
            spoil(segment.stores)


@contextmanager
def unbroken(log: PartitionLog) -> Iterator[None]:
    """The log without its breakage, for code that takes it apart."""
    store: object = log.store
    if not isinstance(store, _BrokenStore):
        yield
        return
    before = [(segment.stores, segment.stores.batches) for segment in log.segments]
    mend_log(log)
    try:
        yield
    finally:
        log.store = cast("LogStore", store)
        for stores, batches in before:
            stores.batches = batches


def _leave(stores: SegmentStores) -> None:
    """Take the breakage off a segment."""


def mend_log(log: PartitionLog) -> None:
    """Remove the breakage from a log."""
    for segment in log.segments:
        batches: object = segment.stores.batches
        if isinstance(batches, _BrokenBatches):
            segment.stores.batches = batches.inner
    store: object = log.store
    if isinstance(store, _BrokenStore):
        log.store = store.inner
