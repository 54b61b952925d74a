"""Looking into the chunks that lie in files: the last few maps are kept."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Protocol
from weakref import ref

from odradek.storage.backing_file import Extent

_MOST_BYTES = 64 * 1024 * 1024
_MOST_MAPS = 64


class Mappable(Protocol):
    """A chunk, as far as looking at it goes. `view`: its bytes, None while they are in a file and not mapped."""

    extent: Extent | None
    view: memoryview | None


class ChunkMaps:
    """The maps of a pool's chunks, oldest first; at most so many that the process holds little of what is in files.

    Any thread may ask: logs of several brokers share chunks.
    """

    __slots__ = ("_bytes", "_lock", "_maps")

    def __init__(self) -> None:
        self._maps: deque[tuple[ref[Mappable], int]] = deque()
        self._bytes = 0
        self._lock = Lock()

    def look(self, chunk: Mappable) -> memoryview:
        """The bytes of a chunk that is in a file; the chunk has them as its view until others need the room."""
        extent = chunk.extent
        assert extent is not None, "a chunk without a view is in a file"
        view = extent.view(extent.offset, extent.size)
        with self._lock:
            self._maps.append((ref(chunk), extent.size))
            self._bytes += extent.size
            chunk.view = view
            while (self._bytes > _MOST_BYTES or len(self._maps) > _MOST_MAPS) and len(self._maps) > 1:
                oldest, size = self._maps.popleft()
                self._bytes -= size
                unmapped = oldest()
                if unmapped is not None and unmapped is not chunk and unmapped.extent is not None:
                    unmapped.view = None
        return view
