"""The partition log: offsets, reads, transactions, deletion, against a plain model and by example."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import SENDS_FILES, FileSlice, joined
from odradek.protocol.record_batch import Record, build_batch, iter_batches
from odradek.storage.backend import LoadedLog, LogBackend, LogStore
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend, MemoryLogStore
from odradek.storage.partition_log import AppendOrigin, PartitionLog, RecordsRefused
from tests.fakes.examples import examples
from tests.fakes.held_file import settle
from tests.storage.cut_model import CutModel
from tests.storage.log_model import LogModel
from tests.storage.logs import NOW, batches, committed, end, make_log, put, records

VECTORS = Path(__file__).parent.parent / "vectors"


def test_offsets_are_assigned_in_order() -> None:
    log = make_log()
    first = put(log, (b"a", b"1"), (b"b", b"2"))
    second = put(log, (b"c", b"3"))
    assert (first.base_offset, first.last_offset, second.base_offset, second.last_offset) == (0, 1, 2, 2)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark, log.last_stable_offset) == (0, 3, 3, 3)
    assert [(r.offset, r.key) for r in records(log)] == [(0, b"a"), (1, b"b"), (2, b"c")]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_the_senders_buffer_is_copied_and_never_written(kind: Any) -> None:
    data = kind(build_batch([Record(0, NOW, b"k", b"v")]))
    before = bytes(data)
    log = make_log()
    put(log)
    log.append(data, now_ms=NOW, leader_epoch=4)
    assert bytes(data) == before
    if kind is bytearray:
        data[:] = bytes(len(data))
    assert [b.base_offset for b in batches(log)] == [0, 1]
    assert batches(log)[1].partition_leader_epoch == 4
    assert all(b.is_crc_valid for b in batches(log))


def test_views_stay_valid_while_the_log_grows_and_shrinks() -> None:
    log = make_log(segment_bytes=500)
    put(log, (b"k", b"first"))
    view = log.read(0, max_bytes=1000, up_to_offset=1).parts[0]
    before = bytes(view)
    for _ in range(100):
        put(log)
    log.delete_records(log.log_end_offset)
    log.close()
    assert bytes(view) == before
    assert view.readonly


def test_a_read_of_a_log_keeps_its_limits() -> None:
    log = make_log()
    for i in range(10):
        put(log, (b"k", b"%d" % i))
    size = batches(log)[0].size_bytes
    read = log.read(3, max_bytes=size * 2, up_to_offset=10)
    assert [b.base_offset for b in iter_batches(read.parts)] == [3, 4]
    assert log.read(3, max_bytes=size * 3 - 1, up_to_offset=10).size_bytes == size * 2
    assert log.read(3, max_bytes=1, up_to_offset=10).size_bytes == size
    assert log.read(3, max_bytes=1, up_to_offset=10, min_one=False).size_bytes == 0
    assert log.read(3, max_bytes=0, up_to_offset=10, min_one=False) == ([], 0)
    assert log.read(3, max_bytes=1 << 20, up_to_offset=5).size_bytes == size * 2
    assert log.read(10, max_bytes=1 << 20, up_to_offset=10) == ([], 0)
    assert log.read(7, max_bytes=1 << 20, up_to_offset=5) == ([], 0)


def test_log_read_is_cut_at_its_limit() -> None:
    log = make_log()
    for i in range(10):
        put(log, (b"k", b"%d" % i))
    size = batches(log)[0].size_bytes
    content = joined(log.read_to_send(0, max_bytes=1 << 20, up_to_offset=10)[0])
    for limit in (1, size, size + 1, 2 * size - 1, 2 * size, 7 * size - 1, 8 * size):
        parts, sent = log.read_to_send(3, max_bytes=limit, up_to_offset=10)
        assert sent == min(max(limit, size), 7 * size), "the first batch comes whole"
        assert joined(parts) == content[3 * size :][:sent]
    assert log.read_to_send(3, max_bytes=size - 1, up_to_offset=10, min_one=False) == ([], 0)
    assert log.read_to_send(3, max_bytes=size + 5, up_to_offset=10, min_one=False)[1] == size + 5
    assert log.read_to_send(3, max_bytes=3 * size, up_to_offset=5)[1] == 2 * size, "nothing from there on"


def test_who_reads_a_batch_at_a_time_gets_each_one_also_when_the_end_is_cut_and_written_anew() -> None:
    log = make_log(segment_bytes=500)
    for i in range(10):
        put(log, *[(b"k", b"%d" % i)] * (1 + i % 3))

    def one_by_one() -> list[bytes]:
        offset, found = 0, []
        while offset < log.log_end_offset:
            (batch,) = iter_batches(joined(log.read_to_send(offset, max_bytes=1, up_to_offset=log.log_end_offset)[0]))
            found.append(bytes(batch.data))
            offset = batch.next_offset
        return found

    assert one_by_one() == one_by_one() == [bytes(batch.data) for batch in batches(log)]
    log.truncate(log.log_end_offset - 4, now_ms=NOW)
    put(log, *[(b"other", b"x" * 50)] * 4)
    put(log)
    assert one_by_one() == [bytes(batch.data) for batch in batches(log)]


def test_a_read_from_within_a_batch_begins_with_that_batch() -> None:
    log = make_log()
    put(log, (b"a", b""), (b"b", b""), (b"c", b""))
    assert next(iter_batches(log.read(2, max_bytes=100, up_to_offset=3).parts)).base_offset == 0


@pytest.mark.parametrize("offset", [-1, 3, 11])
def test_offsets_outside_the_log_are_refused(offset: int) -> None:
    log = make_log()
    for _ in range(10):
        put(log)
    log.delete_records(5)
    with pytest.raises(KafkaError) as caught:
        log.read(offset, max_bytes=100, up_to_offset=log.high_watermark)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_delete_records_moves_the_start_of_a_log() -> None:
    log = make_log()
    for _ in range(4):
        put(log)
    assert log.delete_records(2) == 2
    assert log.delete_records(1) == 2
    assert [r.offset for r in records(log)] == [2, 3]
    assert log.delete_records(-1) == 4
    assert records(log) == []
    with pytest.raises(KafkaError) as caught:
        log.delete_records(5)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert put(log).base_offset == 4


def test_segments_roll_by_size_and_by_record_time() -> None:
    log = make_log(segment_bytes=300)
    for _ in range(10):
        put(log)
    assert len(log.segments) == 3  # four batches of 70 bytes fit, a fifth does not
    log = make_log(segment_ms=1000)
    put(log, at=NOW)
    put(log, at=NOW + 1000)
    assert len(log.segments) == 1
    put(log, at=NOW + 1001)
    assert len(log.segments) == 2


def test_a_segment_of_records_without_timestamps_rolls_by_the_time_of_its_creation() -> None:
    log = make_log(segment_ms=1000)
    for now_ms in (NOW, NOW + 1000):
        put(log, at=-1, now_ms=now_ms)
    assert len(log.segments) == 1
    put(log, at=-1, now_ms=NOW + 1001)
    assert len(log.segments) == 2


def test_segments_roll_when_an_index_is_full() -> None:
    log = make_log(segment_index_bytes=16, index_interval_bytes=0)
    for i in range(7):
        put(log, at=NOW + i)
    # A time index of 16 bytes holds one entry of 12; the entry is made with a segment's second batch.
    assert [s.next_offset - s.base_offset for s in log.segments] == [2, 2, 2, 1]


def test_reads_cross_segment_ends_one_at_a_time() -> None:
    log = make_log(segment_bytes=300)
    for _ in range(10):
        put(log)
    read = log.read(0, max_bytes=1 << 20, up_to_offset=10)
    assert [b.base_offset for b in iter_batches(read.parts)] == [0, 1, 2, 3]
    assert [r.offset for r in records(log)] == list(range(10))


def test_leader_epochs_follow_appends() -> None:
    log = make_log()
    put(log, epoch=1)
    put(log, epoch=1)
    put(log, epoch=3)
    assert log.leader_epochs.entries() == [(1, 0), (3, 2)]
    assert log.end_offset_for_epoch(1) == (1, 2)
    assert log.end_offset_for_epoch(2) == (1, 2)
    assert log.end_offset_for_epoch(3) == (3, 3)
    assert log.end_offset_for_epoch(9) == (-1, -1)
    log.delete_records(3)
    assert log.leader_epochs.entries() == [(3, 3)]


# --- transactions ----------------------------------------------------------------------------------------------------


def test_the_stable_offset_waits_for_the_oldest_open_transaction() -> None:
    log = make_log()
    put(log)
    put(log, producer=(1, 0, 0), transactional=True)
    put(log, producer=(2, 0, 0), transactional=True)
    put(log)
    assert log.last_stable_offset == 1
    assert log.producers.has_ongoing_transaction(1, 0)
    end(log, 1, 0, commit=True)
    assert log.last_stable_offset == 2
    assert not log.producers.has_ongoing_transaction(1, 0)
    end(log, 2, 0, commit=False)
    assert log.last_stable_offset == log.log_end_offset == 6
    assert log.aborted_transactions(0, 6) == log.aborted_in_read(0, 1000) == [(2, 2)]
    assert [r.offset for r in committed(log)] == [0, 1, 3]


def test_a_marker_without_data_is_no_aborted_transaction() -> None:
    log = make_log()
    end(log, 1, 0, commit=False)
    assert log.aborted_transactions(0, 10) == []
    assert log.last_stable_offset == 1


def test_log_refuses_wrong_transaction_markers() -> None:
    log = make_log()
    put(log, producer=(1, 5, 0), transactional=True)
    with pytest.raises(KafkaError) as caught:
        end(log, 1, 4, commit=True)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    end(log, 1, 5, commit=True, coordinator_epoch=3)
    with pytest.raises(KafkaError) as caught:
        end(log, 1, 5, commit=True, coordinator_epoch=2)
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert log.log_end_offset == 2


def test_a_plain_write_within_a_transaction_is_refused() -> None:
    log = make_log()
    put(log, producer=(1, 0, 0), transactional=True)
    with pytest.raises(RecordsRefused) as caught:
        put(log, producer=(1, 0, 1))
    assert caught.value.code is ErrorCode.INVALID_TXN_STATE


def test_a_real_partition_with_transactions_gives_the_real_indexes_and_producers() -> None:
    """Copying a real broker's partition gives the aborted index and the producer snapshots it wrote itself."""
    with gzip.open(VECTORS / "txn_partition.json.gz", "rt") as file:
        real = json.load(file)
    log = make_log()
    snapshots = {int(offset): entries for offset, entries in real["snapshots"].items()}
    checked = 0
    for segment in real["segments"]:
        for batch in iter_batches(bytes.fromhex(segment["log"])):
            if (entries := snapshots.get(batch.base_offset)) is not None:
                assert_producers(log, entries)
                checked += 1
            log.append(batch.data, now_ms=NOW, origin=AppendOrigin.REPLICATION)
    assert_producers(log, snapshots[log.log_end_offset])
    assert checked == len(snapshots) - 1
    aborted = [tuple(e) for s in log.segments for e in s.stores.txn_index.entries()]
    assert aborted == [tuple(row) for row in real["aborted"]]
    assert log.last_stable_offset == 53


def assert_producers(log: PartitionLog, entries: list[dict[str, Any]]) -> None:
    ours = {p.producer_id: p for p in log.producers}
    for entry in entries:
        state = ours[entry["producerId"]]
        assert state.producer_epoch == entry["producerEpoch"]
        assert state.coordinator_epoch == entry["coordinatorEpoch"]
        assert state.current_txn_first_offset == entry["currentTxnFirstOffset"]
        assert state.last_timestamp == entry["lastTimestamp"]
        assert state.last_sequence == entry.get("lastSequence", -1)
        assert state.last_data_offset == entry.get("lastOffset", -1)


# --- copying ---------------------------------------------------------------------------------------------------------


def test_replicated_batches_keep_offsets_and_epochs() -> None:
    data = build_batch([Record(0, NOW, b"a")], base_offset=7, leader_epoch=2) + build_batch(
        [Record(0, NOW, b"b")], base_offset=12, leader_epoch=3
    )
    log = make_log()
    info = log.append(data, now_ms=NOW, leader_epoch=99, origin=AppendOrigin.REPLICATION)
    assert (info.base_offset, info.last_offset, log.log_end_offset) == (7, 12, 13)
    assert log.leader_epochs.entries() == [(2, 7), (3, 12)]
    assert [r.offset for r in records(log)] == [7, 12]
    for wrong in (data, data[:-1][: len(data) // 2 - 1]):
        with pytest.raises(KafkaError):
            log.append(wrong, now_ms=NOW, origin=AppendOrigin.REPLICATION)


# --- against a model -------------------------------------------------------------------------------------------------


TestLogModel = LogModel.TestCase
TestLogModel.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60), st.integers(0, 3000))
@settings(max_examples=examples(40), deadline=None)
def test_each_offset_is_found_whatever_the_sizes(sizes: list[int], limit: int) -> None:
    log = make_log(index_interval_bytes=500, segment_bytes=5000)
    for size in sizes:
        put(log, (b"k", bytes(size)))
    for offset in range(len(sizes)):
        found = list(iter_batches(log.read(offset, max_bytes=limit, up_to_offset=len(sizes)).parts))
        assert found[0].base_offset == offset


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_large_read_to_be_sent(kind: str, tmp_path: Path) -> None:
    backend: LogBackend = MemoryBackend(0) if kind == "memory" else DiskBackend(tmp_path, now_ms=lambda: NOW)
    log = PartitionLog("t", 0, LogConfig(segment_bytes=1 << 20), backend, now_ms=NOW)
    for i in range(40):
        put(log, (None, bytes([i]) * 70_000))
    if isinstance(backend, MemoryBackend):
        settle(backend.pool)
    for offset in (0, 5, 38):
        read = log.read(offset, max_bytes=400_000, up_to_offset=40)
        sent, size = log.read_to_send(offset, max_bytes=300_000, up_to_offset=40)
        assert sum(map(len, sent)) == size == min(300_000, read.size_bytes)
        assert joined(sent) == b"".join(read.parts)[:size]
        in_file = offset < 38 and (kind == "memory" or SENDS_FILES)  # the last ones are being filled
        assert all(isinstance(part, FileSlice) for part in sent) == in_file
    under_way, _ = log.read_to_send(0, max_bytes=500_000, up_to_offset=40)
    content = joined(under_way)
    log.delete_records(40)
    assert joined(under_way) == content
    log.close()
    backend.close()
    assert joined(under_way) == content


def test_a_small_read_is_sent_from_memory() -> None:
    log = make_log()
    put(log, (None, b"v"))
    sent, _ = log.read_to_send(0, max_bytes=1000, up_to_offset=1)
    assert [type(part) for part in sent] == [memoryview]
    assert log.read_to_send(1, max_bytes=1000, up_to_offset=1) == ([], 0)


# -- A log whose end is cut off: nothing of it is left, in the batches, the indexes or what is known of producers.


def _offsets(log: PartitionLog) -> list[int]:
    return [record.offset for record in records(log)]


def test_a_cut_takes_the_batches_behind_it() -> None:
    log = make_log()
    for _ in range(5):
        put(log, (b"k", b"1"), (b"k", b"2"))
    log.truncate(4, now_ms=NOW)
    assert (log.log_end_offset, log.high_watermark, _offsets(log)) == (4, 4, [0, 1, 2, 3])
    assert put(log).base_offset == 4


def test_a_cut_within_a_batch_takes_the_whole_batch_and_leaves_a_gap() -> None:
    log = make_log()
    put(log)
    put(log, (b"k", b"1"), (b"k", b"2"), (b"k", b"3"))
    log.truncate(2, now_ms=NOW)
    assert (log.log_end_offset, _offsets(log)) == (2, [0])
    assert put(log).base_offset == 2
    assert _offsets(log) == [0, 2]


def test_a_cut_at_the_end_or_behind_it_changes_nothing() -> None:
    log = make_log()
    put(log)
    log.truncate(1, now_ms=NOW)
    log.truncate(9, now_ms=NOW)
    assert (log.log_end_offset, _offsets(log)) == (1, [0])


def test_a_cut_before_the_start_leaves_an_empty_log_that_begins_there() -> None:
    log = make_log(segment_bytes=100)
    for _ in range(4):
        put(log)
    log.delete_records(3)
    log.truncate(1, now_ms=NOW)
    assert (log.log_start_offset, log.log_end_offset, _offsets(log)) == (1, 1, [])
    assert put(log).base_offset == 1


def test_segments_behind_the_cut_are_dropped() -> None:
    log = make_log(segment_bytes=100)
    for _ in range(4):
        put(log)
    assert len(log.segments) == 4
    log.truncate(2, now_ms=NOW)
    assert [segment.base_offset for segment in log.segments] == [0, 1]
    put(log, (b"k", b"new"))
    assert [(record.offset, record.value) for record in records(log)][-1] == (2, b"new")


def test_producers_are_known_as_far_as_the_log_goes() -> None:
    log = make_log()
    put(log, producer=(7, 0, 0))
    put(log, producer=(7, 0, 1))
    log.truncate(1, now_ms=NOW)
    with pytest.raises(KafkaError) as refused:
        put(log, producer=(7, 0, 2))
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert put(log, producer=(7, 0, 1)).base_offset == 1


def test_a_transaction_whose_marker_is_cut_off_is_open_again() -> None:
    log = make_log()
    put(log, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=False)
    assert log.last_stable_offset == 2
    log.truncate(1, now_ms=NOW)
    assert log.last_stable_offset == 0
    assert log.aborted_transactions(0, 2) == []
    end(log, 7, 0, commit=True)
    assert log.last_stable_offset == 2


def test_leader_epochs_behind_the_cut_are_forgotten() -> None:
    log = make_log()
    put(log, epoch=1)
    put(log, epoch=2)
    put(log, epoch=3)
    log.truncate(2, now_ms=NOW)
    assert log.leader_epochs.entries() == [(1, 0), (2, 1)]


def test_times_of_what_was_cut_off_are_not_found() -> None:
    log = make_log(index_interval_bytes=0)
    for number in range(3):
        put(log, at=NOW + number)
    log.truncate(2, now_ms=NOW)
    assert log.offset_for_timestamp(NOW + 2) is None
    found = log.max_timestamp_offset()
    assert found is not None
    assert (found.offset, found.timestamp) == (1, NOW + 1)


def test_a_view_that_was_read_before_keeps_its_bytes() -> None:
    log = make_log()
    put(log, (b"k", b"old"))
    read = log.read(0, max_bytes=1000, up_to_offset=1)
    before = bytes(read.parts[0])
    log.truncate(0, now_ms=NOW)
    put(log, (b"k", b"new"))
    assert bytes(read.parts[0]) == before


def test_the_high_watermark_waits_where_it_is_held() -> None:
    log = make_log()
    put(log)
    log.hold_high_watermark(1)
    put(log, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=True)
    assert (log.high_watermark, log.last_stable_offset, log.log_end_offset) == (1, 1, 3)
    assert log.advance_high_watermark(2)
    assert (log.high_watermark, log.last_stable_offset) == (2, 1), "the transaction's marker is not committed yet"
    assert not log.advance_high_watermark(2)
    assert log.advance_high_watermark(9)
    assert (log.high_watermark, log.last_stable_offset) == (3, 3)
    put(log)
    log.release_high_watermark()
    assert log.high_watermark == 4
    put(log)
    assert log.high_watermark == 5


def test_a_log_in_memory_is_cut_by_its_own_config() -> None:
    log = PartitionLog("t", 0, LogConfig(segment_bytes=150, index_interval_bytes=0), MemoryBackend(), now_ms=NOW)
    for number in range(6):
        put(log, (b"k", bytes([number])))
    log.truncate(3, now_ms=NOW)
    for number in range(3, 8):
        put(log, (b"k", bytes([number])))
    assert [record.value for record in records(log)] == [bytes([number]) for number in range(8)]


TestCutModel = CutModel.TestCase
TestCutModel.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)


# -- Segments that exist: the log goes on as if it had never been closed.


class KeptStore(MemoryLogStore):
    """A store that finds the segments of another log."""

    def __init__(self, loaded: LoadedLog) -> None:
        super().__init__()
        self.loaded = loaded

    def load(self) -> LoadedLog | None:
        return self.loaded


class KeptBackend(MemoryBackend):
    def __init__(self, loaded: LoadedLog) -> None:
        super().__init__()
        self.loaded = loaded

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return KeptStore(self.loaded)


def reopened(log: PartitionLog, *, with_producers: bool) -> PartitionLog:
    found = LoadedLog(
        [segment.stores for segment in log.segments],
        log.log_start_offset,
        log.recovery_point,
        log.leader_epochs.entries(),
        log.producers if with_producers else None,
        cleaner_offset=log.cleaner_offset,
    )
    return PartitionLog(log.topic, log.partition, log.config, KeptBackend(found), now_ms=NOW)


@pytest.mark.parametrize("with_producers", [True, False])
def test_a_log_over_existing_segments_is_as_before(with_producers: bool) -> None:
    log = make_log(segment_bytes=500, index_interval_bytes=100)
    for i in range(5):
        put(log, producer=(1, 0, i), transactional=True, epoch=i // 2)
        if i in (1, 3):
            end(log, 1, 0, commit=i == 1)
        put(log, producer=(2, 0, i))
    log.delete_records(3)
    again = reopened(log, with_producers=with_producers)
    for name in ("log_start_offset", "log_end_offset", "high_watermark", "last_stable_offset", "size_bytes"):
        assert getattr(again, name) == getattr(log, name), name
    assert again.leader_epochs.entries() == log.leader_epochs.entries()
    assert records(again) == records(log)
    assert again.aborted_transactions(3, 9) == log.aborted_transactions(3, 9) != []
    assert put(again, producer=(2, 0, 4)).duplicate
    assert put(again, producer=(2, 0, 5)).base_offset == log.log_end_offset
    end(again, 1, 0, commit=True)
    assert again.last_stable_offset == again.log_end_offset
