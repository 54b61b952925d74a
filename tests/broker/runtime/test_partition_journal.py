"""New records of a coordinator, as they are written and replayed."""

from __future__ import annotations

import pytest

from odradek.broker.runtime.machine import NewRecord, Producer
from odradek.broker.runtime.partition_journal import build_coordinator_batch, split, stored
from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record

NOW_MS = 1_800_000_000_000


def test_a_batch_is_what_the_general_builder_makes() -> None:
    records = [Record(0, NOW_MS, b"a", b"1"), Record(1, NOW_MS, b"b" * 100, None)]
    built = build_coordinator_batch([NewRecord(b"a", b"1"), NewRecord(b"b" * 100)], NOW_MS, Producer(5, 2), -1)
    assert built == build_batch(records, producer_id=5, producer_epoch=2, transactional=True)


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_is_compressed(codec: Codec) -> None:
    records = [NewRecord(b"key", b"value" * 100), NewRecord(b"gone", None)]
    (batch,) = iter_batches(build_coordinator_batch(records, 5, Producer(7, 1), 0, codec))
    assert (batch.codec, batch.is_transactional, batch.base_sequence) == (codec, True, 0)
    assert [(record.key, record.value) for record in batch.records()] == [(b"key", b"value" * 100), (b"gone", None)]


def test_what_is_replayed_has_offset_and_producer() -> None:
    records = [NewRecord(b"a", b"1", "one"), NewRecord(b"b")]
    plain = stored(records, 7, None, decode=False)
    assert [(r.key, r.value, r.offset, r.producer_id, r.decoded) for r in plain] == [
        (b"a", b"1", 7, -1, "one"),
        (b"b", None, 8, -1, None),
    ]
    (first, _) = stored(records, 7, Producer(3, 1), decode=True)
    assert (first.producer_id, first.producer_epoch, first.decoded) == (3, 1, None)


def test_records_are_split_where_a_batch_is_full() -> None:
    records = [NewRecord(b"k", bytes(100)) for _ in range(5)]
    assert [len(run) for run in split(records, 400)] == [2, 2, 1]
    assert [len(run) for run in split(records, 1 << 20)] == [5]
    assert [len(run) for run in split(records, 10)] == [1] * 5
