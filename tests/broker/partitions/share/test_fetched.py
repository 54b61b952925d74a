"""Batches of a read: how far they are looked at, and which bytes go out."""

from __future__ import annotations

from odradek.broker.partitions.share.fetched import FetchedBatches
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.record_batch import assign_offsets, build_batch, iter_batches
from odradek.protocol.records import Record


def batch(base: int, count: int, **options: int | bool) -> bytes:
    records = [Record(base + i, 1, None, b"v", ()) for i in range(count)]
    return build_batch(records, base_offset=base, **options)  # type: ignore[arg-type]


def marker(base: int, producer_id: int, commit: bool) -> bytes:
    made = bytearray(
        build_end_txn_batch(EndTxnMarker(commit, 0), producer_id=producer_id, producer_epoch=0, timestamp=1)
    )
    assign_offsets(made, base, 0)
    return bytes(made)


def bases(views: list[memoryview]) -> list[int]:
    return [found.base_offset for view in views for found in iter_batches(bytes(view))]


def test_looks_no_further_than_asked() -> None:
    fetched = FetchedBatches([memoryview(batch(0, 3) + batch(3, 2)), memoryview(batch(5, 5) + batch(10, 1))])
    assert fetched.base_offset == 0
    assert list(fetched.bases()) == [0]
    assert fetched.reach(3) == 4
    assert list(fetched.bases()) == [0, 3]
    assert fetched.reach(100) == 10
    assert fetched.last_offset_with(7) == 9
    assert fetched.last_offset_with(11) == 11


def test_the_bytes_of_what_was_acquired() -> None:
    fetched = FetchedBatches([memoryview(batch(0, 3) + batch(3, 2)), memoryview(batch(5, 5) + batch(10, 1))])
    fetched.reach(100)
    assert bases(fetched.views(1, 2)) == [0]
    assert bases(fetched.views(4, 6)) == [3, 5]
    assert bases(fetched.views(0, 10)) == [0, 3, 5, 10]


def test_nothing_read() -> None:
    assert FetchedBatches([]).reach(0) == -1


def test_batches_of_aborted_transactions() -> None:
    data = b"".join(
        (
            batch(0, 2),
            batch(2, 2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True),
            batch(4, 1, producer_id=8, producer_epoch=0, base_sequence=0, transactional=True),
            marker(5, 7, False),
            batch(6, 1, producer_id=7, producer_epoch=0, base_sequence=2, transactional=True),
            marker(7, 7, True),
        )
    )
    fetched = FetchedBatches([memoryview(data)], [(7, 2)])
    fetched.reach(100)
    assert fetched.aborted() == [(2, 3)]
    assert FetchedBatches([memoryview(data)]).aborted() == []
