"""Maps of chunks that lie in files: few at a time, whoever looks."""

from __future__ import annotations

import pytest

from odradek.storage.chunks import ChunkPool
from tests.fakes.held_file import settle
from tests.storage.chunk_stores import KB, MB, filled


@pytest.mark.long
def test_little_is_mapped_at_a_time() -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 300)
    settle(pool)
    for at in range(299):
        view, start = store.view(at * MB)
        assert bytes(view[start : start + 16]) == model[at * MB : at * MB + 16]
    assert sum(chunk.view is not None and chunk.extent is not None for chunk in store._chunks) <= 64


def test_what_was_looked_at_last_stays_mapped() -> None:
    pool = ChunkPool(0)
    store, _ = filled(pool, [200 * KB] * 100)
    settle(pool)
    first = store.view(0)[0]
    assert store._chunks[0].view is not None
    for at in range(99):
        store.view(at * 200 * KB)
    assert store._chunks[0].view is None, "64 others were looked at"
    assert store._chunks[98].view is not None
    assert len(bytes(first)) == 200 * KB, "a view stays"


@pytest.mark.long
def test_one_large_chunk_is_mapped_whatever_its_size() -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [70 * MB, 100])
    settle(pool)
    view, start = store.view(0)
    assert bytes(view[start + 69 * MB : start + 69 * MB + 100]) == model[69 * MB : 69 * MB + 100]
    assert store._chunks[0].view is not None
