"""Stores of batches over chunks, with what they hold."""

from __future__ import annotations

from random import Random

from odradek.protocol.file_slice import FileSlice
from odradek.storage.chunks import ChunkPool
from odradek.storage.memory_backend import MemoryBatchStore

KB, MB = 1024, 1024 * 1024
_CONTENT = Random(0)
"""Not the system's: that call lets another thread go first, and beside one that computes each costs milliseconds."""


def filled(pool: ChunkPool, sizes: list[int]) -> tuple[MemoryBatchStore, bytes]:
    """A store with batches of these sizes, and what it holds."""
    store, model = MemoryBatchStore(pool), []
    for i, size in enumerate(sizes):
        batch = sized(_CONTENT.randbytes(size))
        store.append(batch, i, 3)
        model.append(as_stored(batch, i, 3))
    return store, b"".join(model)


def sized(content: bytes) -> bytes:
    """These bytes, with their length where a batch has it."""
    return content[:8] + (len(content) - 12).to_bytes(4, "big") + content[12:]


def as_stored(batch: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """A batch as a store keeps it, with these two fields in its header."""
    return base_offset.to_bytes(8, "big") + batch[8:12] + leader_epoch.to_bytes(4, "big") + batch[16:]


def whole(store: MemoryBatchStore) -> bytes:
    """All bytes of a store."""
    return b"".join(store.read(0, store.size)) if store.size else b""


def in_files(store: MemoryBatchStore) -> int:
    """How many bytes are sent from files."""
    return sum(len(part) for part in store.slices(0, store.size) if isinstance(part, FileSlice))
