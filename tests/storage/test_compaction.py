"""Compaction: what a real broker's cleaner leaves, and properties that must hold for any log."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.long_work import LongStep, LongWork
from odradek.protocol.message_sets import format_of
from odradek.protocol.record_batch import Codec, RecordBatch, assemble, build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage import compaction
from odradek.storage.compaction import cleanable_range, compaction_steps
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from odradek.storage.trimming import apply_retention
from tests.fakes.examples import examples
from tests.storage.logs import NOW, batches, committed, compact, end, make_log, put, records

VECTORS = Path(__file__).parent.parent / "vectors"
DAY = 86_400_000


def compacted(**config: object) -> PartitionLog:
    return make_log(cleanup=["compact"], **config)


def shown(batch: RecordBatch) -> tuple[object, ...]:
    """A batch without what depends on the compressor: its length and checksum."""
    data = bytes(batch.data)
    return data[:8], data[12:17], data[21:61], bytes(batch.body())


def test_every_batch_is_as_a_real_brokers_cleaner_left_it() -> None:
    """Six rounds of plain, idempotent and transactional writes with tombstones, each followed by a cleaning."""
    with gzip.open(VECTORS / "compaction.json.gz", "rt") as file:
        real = json.load(file)
    log = compacted(min_cleanable_dirty_ratio=0.01, delete_retention_ms=real["delete_retention_ms"], segment_ms=10**12)
    for round_ in real["rounds"]:
        bases = {int(base) for base in round_["before"]}
        known = log.log_end_offset
        for data in round_["before"].values():
            for batch in iter_batches(bytes.fromhex(data)):
                if batch.base_offset < known:
                    continue
                if batch.base_offset in bases and batch.base_offset > log.active.base_offset:
                    log.roll(0)
                log.append(batch.data, now_ms=0, origin=AppendOrigin.REPLICATION)
        assert (compact(log, round_["now_ms"]) is not None) == round_["compacted"]
        assert {str(s.base_offset) for s in log.segments} == set(round_["after"])
        expected = [shown(b) for data in round_["after"].values() for b in iter_batches(bytes.fromhex(data))]
        found = [shown(b) for segment in log.segments for _, b in segment.iter_batches()]
        assert found == expected
        assert all(b.is_crc_valid for segment in log.segments for _, b in segment.iter_batches())


def test_the_latest_value_of_each_key_stays_with_its_offset() -> None:
    log = compacted()
    for i in range(10):
        put(log, (b"k%d" % (i % 3), b"v%d" % i))
    log.roll(NOW)
    assert compact(log, NOW) is not None
    assert [(r.offset, r.key, r.value) for r in records(log)] == [
        (7, b"k1", b"v7"),
        (8, b"k2", b"v8"),
        (9, b"k0", b"v9"),
    ]
    assert (log.log_start_offset, log.log_end_offset) == (0, 10)
    assert [b.base_offset for b in iter_batches(log.read(2, max_bytes=1 << 20, up_to_offset=10).parts)] == [7, 8, 9]


def test_compaction_leaves_the_active_segment() -> None:
    log = compacted()
    for _ in range(5):
        put(log)
    assert compact(log, NOW) is None
    assert len(records(log)) == 5


def test_compaction_leaves_logs_without_the_policy() -> None:
    log = make_log()
    put(log)
    put(log)
    log.roll(NOW)
    assert compact(log, NOW, force=True) is None


def test_compaction_waits_for_the_dirty_ratio() -> None:
    log = compacted(min_cleanable_dirty_ratio=0.6)
    for i in range(6):
        put(log, (b"k%d" % i, b"v"))
    log.roll(NOW)
    assert compact(log, NOW) is not None
    for i in range(6):
        put(log, (b"k%d" % i, b"w"))
    log.roll(NOW)
    assert cleanable_range(log, NOW).dirty_ratio == 0.5
    assert compact(log, NOW) is None
    assert compact(log, NOW, force=True) is not None


def test_compaction_waits_for_the_lags() -> None:
    log = compacted(min_compaction_lag_ms=1000, min_cleanable_dirty_ratio=0.0)
    put(log, (b"k", b"1"))
    log.roll(NOW)
    put(log, (b"k", b"2"), at=NOW + 500)
    log.roll(NOW)
    assert compact(log, NOW + 999) is None
    assert compact(log, NOW + 1000) is not None
    assert len(records(log)) == 2
    assert compact(log, NOW + 1500) is not None
    assert [r.value for r in records(log)] == [b"2"]
    log = compacted(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=1000)
    put(log)
    put(log)
    log.roll(NOW)
    assert compact(log, NOW + 1000) is None
    assert compact(log, NOW + 1001) is not None


def test_tombstones_live_for_the_delete_retention_after_the_first_pass() -> None:
    log = compacted(delete_retention_ms=1000, min_cleanable_dirty_ratio=0.0)

    def next_pass(now_ms: int) -> list[bytes | None]:
        put(log, (b"other", b"x"))
        log.roll(NOW)
        assert compact(log, now_ms) is not None
        return [r.value for r in records(log) if r.key == b"k"]

    put(log, (b"k", b"v"), (b"k", None))
    assert next_pass(NOW + 50 * DAY) == [None]
    assert batches(log)[0].delete_horizon_ms == NOW + 50 * DAY + 1000
    assert next_pass(NOW + 50 * DAY + 999) == [None]
    assert next_pass(NOW + 50 * DAY + 1000) == []


def test_headers_timestamps_and_codec_survive_rebuilding() -> None:
    log = compacted()
    put(log, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"), at=NOW + 5, codec=Codec.ZSTD, epoch=3)
    put(log, (b"b", b"4"), at=NOW + 9)
    log.roll(NOW)
    compact(log, NOW)
    first = batches(log)[0]
    assert (first.codec, first.partition_leader_epoch, first.base_offset, first.last_offset) == (Codec.ZSTD, 3, 0, 2)
    assert [(r.offset, r.timestamp, r.value) for r in first.records()] == [(0, NOW + 5, b"1"), (2, NOW + 5, b"3")]


def test_rebuilt_batches_stay_in_their_message_format() -> None:
    log = compacted(message_format=1)
    put(log, (b"a", b"1"), (b"b", b"2"))
    put(log, (b"b", b"3"))
    log.roll(NOW)
    compact(log, NOW)
    first = batches(log)[0]
    assert ([r.value for r in first.records()], format_of(first)) == ([b"1"], 1)


def test_the_last_batch_of_a_producer_stays_empty() -> None:
    log = compacted()
    put(log, (b"k", b"1"), producer=(5, 2, 0))
    put(log, (b"k", b"2"), producer=(5, 2, 1))
    put(log, (b"k", b"3"))
    log.roll(NOW)
    compact(log, NOW)
    first, second = batches(log)
    assert (first.base_offset, first.record_count, first.producer_id, first.last_sequence) == (1, 0, 5, 1)
    assert second.base_offset == 2
    log.rebuild_producers()
    assert next(iter(log.producers)).last_sequence == 1
    assert put(log, (b"k", b"2"), producer=(5, 2, 1)).duplicate


def test_compaction_ends_at_an_open_transaction() -> None:
    log = compacted()
    put(log, (b"k", b"1"))
    put(log, (b"k", b"2"), producer=(1, 0, 0), transactional=True)
    put(log, (b"k", b"3"))
    log.roll(NOW)
    assert cleanable_range(log, NOW).first_uncleanable == 1
    compact(log, NOW)
    assert len(records(log)) == 3
    end(log, 1, 0, commit=False)
    log.roll(NOW)
    assert compact(log, NOW, force=True) is not None
    assert [r.value for r in records(log)] == [b"3"]


def test_a_run_gives_up_when_its_segments_go() -> None:
    log = make_log(cleanup=["compact", "delete"], retention_ms=1)
    for i in range(6000):
        put(log, (b"k%d" % i, b"v" * 50))
    log.roll(NOW)
    steps = compaction_steps(log, NOW)
    next(steps)
    apply_retention(log, NOW + DAY)
    assert all(step is None for step in steps)
    assert (log.log_start_offset, log.size_bytes) == (6000, 0)


def test_appends_between_steps_are_kept() -> None:
    log = compacted()
    for i in range(6000):
        put(log, (b"k%d" % (i % 100), b"v" * 50))
    log.roll(NOW)
    steps = compaction_steps(log, NOW)
    next(steps)
    put(log, (b"k1", b"new"))
    assert list(filter(None, steps))
    assert len(records(log)) == 101
    assert records(log)[-1].value == b"new"


Write = tuple[int, int, bool, bool]  # producer (0: none), key, tombstone, ends its transaction


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.booleans(), st.booleans()), max_size=50),
    st.lists(st.integers(0, 60), max_size=4),
    st.data(),
)
@settings(max_examples=examples(80), deadline=None)
def test_compaction_is_not_seen_by_readers(writes: list[Write], passes: list[int], data: st.DataObject) -> None:
    """The last committed value of every key is the same with and without compactions in between."""
    logs = [compacted(delete_retention_ms=0, min_cleanable_dirty_ratio=0.0), compacted()]
    sequences = [0, 0, 0]
    for number, (producer, key, tombstone, ends) in enumerate(writes):
        commit = data.draw(st.booleans()) if ends else False
        for log in logs:
            put(
                log,
                (b"k%d" % key, None if tombstone else b"v%d" % number),
                producer=(producer, 0, sequences[producer]) if producer else (-1, -1, -1),
                transactional=bool(producer),
            )
            if ends and producer:
                end(log, producer, 0, commit=commit)
        sequences[producer] += 1
        for _ in range(passes.count(number)):
            logs[0].roll(NOW)
            compact(logs[0], NOW + number)

    def last_values(log: PartitionLog) -> dict[bytes | None, bytes]:
        values = {r.key: r.value for r in committed(log)}
        return {k: v for k, v in values.items() if v is not None}

    first, second = logs
    assert last_values(first) == last_values(second)
    assert first.log_end_offset == second.log_end_offset
    assert first.last_stable_offset == second.last_stable_offset
    before = {p.producer_id: (p.producer_epoch, p.last_sequence) for p in second.producers}
    open_before = first.producers.first_ongoing_offset
    first.rebuild_producers()
    assert {p.producer_id: (p.producer_epoch, p.last_sequence) for p in first.producers} == before
    assert first.producers.first_ongoing_offset == open_before
    assert [r.offset for r in records(first)] == sorted({r.offset for r in records(first)})


@pytest.mark.parametrize("segment_bytes", [250, 100_000])
def test_compacted_segments_are_joined_up_to_the_segment_size(segment_bytes: int) -> None:
    log = compacted(segment_bytes=segment_bytes, min_cleanable_dirty_ratio=0.0)
    for i in range(20):
        put(log, (b"k%d" % (i % 2), b"v"))
        if i % 3 == 2:
            log.roll(NOW)
    log.roll(NOW)
    compact(log, NOW)
    put(log)
    log.roll(NOW)
    compact(log, NOW)
    sizes = [s.size for s in log.segments]
    assert all(size <= segment_bytes for size in sizes)
    assert len(log.segments) == 2
    assert [r.offset for r in records(log)] == [18, 19, 20]


def test_a_run_gives_up_when_the_log_is_closed() -> None:
    log = compacted()
    for i in range(6000):
        put(log, (b"k%d" % i, b"v" * 50))
    log.roll(NOW)
    steps = compaction_steps(log, NOW)
    next(steps)
    log.close()
    assert list(steps) == []


def test_a_marker_behind_the_cleaned_part_keeps_its_index_entry() -> None:
    """A transaction is aborted while an older one is open: the pass ends before both, in the middle of a segment."""
    log = compacted(delete_retention_ms=0, min_cleanable_dirty_ratio=0.0)
    put(log, (b"k", b"old"))
    put(log, (b"k", b"new"))
    put(log, (b"k", b"open"), producer=(1, 0, 0), transactional=True)
    put(log, (b"k", b"aborted"), producer=(2, 0, 0), transactional=True)
    end(log, 2, 0, commit=False)
    log.roll(NOW)
    compact(log, NOW)
    end(log, 1, 0, commit=False)
    assert [(r.key, r.value) for r in committed(log)] == [(b"k", b"new")]
    assert log.aborted_transactions(0, log.log_end_offset) == [(2, 3), (1, 2)]


def test_records_that_cannot_be_read_end_compaction(caplog: pytest.LogCaptureFixture) -> None:
    """As Kafka's cleaner marks such a partition uncleanable; nobody else is troubled by it."""
    log = make_log(cleanup=["compact"], min_cleanable_dirty_ratio=0.0)
    put(log, (b"k", b"1"))
    log.append(assemble(1, 0, (0, 4, 0, 0, -1, -1, -1, 5), b"\xff" * 40), now_ms=NOW, origin=AppendOrigin.REPLICATION)
    put(log, (b"k", b"2"))
    log.roll(NOW)
    before = [(b.base_offset, bytes(b.data)) for b in batches(log)]
    assert compact(log, NOW) is None
    assert "t-0 can't be compacted until the next start" in caplog.text
    caplog.clear()
    assert compact(log, NOW) is None
    assert caplog.text == ""
    assert [(b.base_offset, bytes(b.data)) for b in batches(log)] == before
    assert put(log).base_offset == 7


def large_batch(*values: bytes | None) -> bytes:
    """A batch of the keys 0, 1, ... in which a value inflates far."""
    rows = [Record(0, NOW, b"%d" % index, value) for index, value in enumerate(values)]
    return build_batch(rows, codec=Codec.ZSTD)


def test_a_large_batch_is_compacted_in_steps_that_a_thread_may_do() -> None:
    log = compacted()
    for values in ((bytes(600_000), b"a", None), (bytes(600_000), b"b", None)):
        log.append(large_batch(*values), now_ms=NOW)
    put(log, (b"1", b"c"))
    log.roll(NOW)
    done = 0
    result = None
    for step in compaction_steps(log, NOW):
        if isinstance(step, LongStep):
            step.do(LongWork())
            done += 1
        result = step
    assert done >= 4
    assert result is not None
    assert [(r.offset, r.key, r.value) for r in records(log)] == [
        (3, b"0", bytes(600_000)),
        (5, b"2", None),
        (6, b"1", b"c"),
    ]
    assert {batch.codec for batch in batches(log)} == {Codec.ZSTD, Codec.NONE}


def test_a_run_goes_on_behind_the_last_key_of_a_full_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_MAP_BYTES", 3 * 202)
    log = compacted()
    for value in (b"a", b"b"):
        log.append(build_batch([Record(0, NOW, b"k%d" % key, value) for key in range(5)]), now_ms=NOW)
    log.roll(NOW)
    result = compact(log, NOW)
    assert result is not None
    assert (result.records_before, result.records_after, result.end_offset) == (10, 5, 10)
    assert [(r.offset, r.key, r.value) for r in records(log)] == [(5 + key, b"k%d" % key, b"b") for key in range(5)]
    assert compact(log, NOW, force=True) is None


def test_a_batch_whose_offsets_go_back_when_the_map_is_full_is_not_compacted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_MAP_BYTES", 2 * 202)
    log = compacted()
    rows = [Record(0, NOW, b"k%d" % key, b"v") for key in range(5)]
    body = build_batch([row._replace(offset=0) for row in rows], keep_offsets=True, last_offset=4)
    log.append(body, now_ms=NOW, origin=AppendOrigin.REPLICATION)
    log.roll(NOW)
    assert compact(log, NOW) is None
    assert log.uncleanable
