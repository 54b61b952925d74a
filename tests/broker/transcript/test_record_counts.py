"""Records counted by the headers of their batches."""

from __future__ import annotations

from odradek.broker.transcript.record_counts import count_records
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record


def batch(count: int) -> bytes:
    return build_batch([Record(number, 1000, None, b"value", ()) for number in range(count)])


def test_batches_are_added_up() -> None:
    assert count_records(None) == count_records(b"") == 0
    assert count_records(batch(3)) == 3
    assert count_records([batch(3), memoryview(batch(2))]) == 5


def test_a_last_batch_that_was_cut_does_not_count() -> None:
    assert count_records(batch(3) + batch(2)[:-1]) == 3


def test_markers_do_not_count() -> None:
    marker = bytearray(batch(1))
    marker[22] |= 0x20  # the bit for control batches (KIP-98)
    assert count_records(batch(3) + bytes(marker)) == 3


def test_headers_that_were_not_kept_cannot_be_counted() -> None:
    one = batch(1)
    assert count_records(one[:61] + bytes(len(one) - 61)) == 1
    assert count_records(one[:61] + bytes(2 * len(one) - 61)) is None
