"""Reading a coordinator's log: what is replayed, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from odradek.broker.runtime.journal import build_coordinator_batch, load, split, stored
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Producer
from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.journal import FakeJournal

NOW_MS = 1_800_000_000_000


class Reader:
    """A machine that notes what it is given."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str | None, int]] = []
        self.producers: set[tuple[int, int]] = set()

    def replay(self, record: LogRecord) -> None:
        value = None if record.value is None else record.value.decode()
        self.seen.append((record.key.decode(), value, record.offset))
        self.producers.add((record.producer_id, record.producer_epoch))

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.seen.append(("commit" if commit else "abort", str(producer_id), -1))

    def decide(self, command: Command[None], now_ms: int) -> Outcome[None]:
        raise NotImplementedError

    def refused(self, *_: object) -> None:
        raise NotImplementedError

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return ()


@pytest.fixture
def journal() -> FakeJournal:
    return FakeJournal()


def put(journal: FakeJournal, *records: tuple[str, str | None], producer: Producer | None = None) -> None:
    journal.append([NewRecord(k.encode(), None if v is None else v.encode()) for k, v in records], NOW_MS, producer)


def read(journal: FakeJournal) -> Reader:
    reader = Reader()
    for _ in load(journal, reader):
        pass
    return reader


def test_of_the_records_of_one_key_in_a_run_the_last_is_replayed_in_its_place(journal: FakeJournal) -> None:
    put(journal, ("a", "1"), ("b", "1"), ("a", "2"))
    put(journal, ("c", "1"))
    put(journal, ("b", None), ("a", "3"))
    reader = read(journal)
    assert reader.seen == [("c", "1", 3), ("b", None, 4), ("a", "3", 5)]
    assert reader.producers == {(-1, -1)}


def test_runs_end_with_the_slice(journal: FakeJournal) -> None:
    journal.batches_per_slice = 1
    put(journal, ("a", "1"))
    put(journal, ("a", "2"))
    assert read(journal).seen == [("a", "1", 0), ("a", "2", 1)]


def test_from_the_first_transaction_on_every_batch_is_replayed(journal: FakeJournal) -> None:
    put(journal, ("a", "1"))
    put(journal, ("a", "2"))
    put(journal, ("a", "3"), producer=Producer(7, 1))
    put(journal, ("a", "4"))
    journal.append_marker(Producer(7, 1), 0, True, NOW_MS)
    put(journal, ("a", "5"))
    put(journal, ("a", "6"))
    reader = read(journal)
    transaction = [("a", "3", 2), ("a", "4", 3), ("commit", "7", -1)]
    assert reader.seen == [("a", "2", 1), *transaction, ("a", "5", 5), ("a", "6", 6)]
    assert reader.producers == {(-1, -1), (7, 1)}


def test_records_with_far_deltas_headers_and_timestamps_of_their_own(journal: FakeJournal) -> None:
    records = [
        Record(i, NOW_MS + i % 3, b"k%d" % i, b"v" * (i % 200), ((f"h{i}", b"x"),) if i % 2 else ()) for i in range(200)
    ]
    journal._put(build_batch(records))
    assert read(journal).seen == [(f"k{i}", "v" * (i % 200), i) for i in range(200)]


def test_what_the_cleaner_leaves_of_a_batch_keeps_its_offsets(journal: FakeJournal) -> None:
    kept = [Record(3, NOW_MS, b"a", b"1"), Record(150, NOW_MS, b"b", None)]
    journal._put(build_batch(kept, base_offset=0, keep_offsets=True, last_offset=199))
    put(journal, ("c", "1"))
    assert read(journal).seen == [("a", "1", 3), ("b", None, 150), ("c", "1", 200)]


def test_compressed_batches_and_records_without_a_key(journal: FakeJournal) -> None:
    journal._put(build_batch([Record(0, NOW_MS, b"a", b"1"), Record(1, NOW_MS, None, b"2")], codec=Codec.GZIP))
    journal._put(build_batch([Record(0, NOW_MS, None, b"3"), Record(1, NOW_MS, b"", b"4")]))
    assert read(journal).seen == [("a", "1", 0), ("", "4", 3)]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_what_cannot_be_replayed_is_left_out_and_told_once(
    journal: FakeJournal, codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    records = [Record(0, NOW_MS, b"a", b"1"), Record(1, NOW_MS, b"\xff", b"2"), Record(2, NOW_MS, b"b", b"\xff")]
    journal._put(build_batch([*records, Record(3, NOW_MS, b"c", b"4")], codec=codec))
    machine = Reader()
    assert next(load(journal, machine, name="__consumer_offsets-7")) == journal.end_offset
    assert machine.seen == [("a", "1", 0), ("c", "4", 3)]
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("__consumer_offsets-7: 2 records cannot be read and are left out, the first at offset 1: ")
    assert "UnicodeDecodeError" in line


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
def test_a_compressed_batch_of_many_records_is_replayed_in_slices(journal: FakeJournal, codec: Codec) -> None:
    put(journal, ("first", "1"))
    journal._put(build_batch([Record(0, NOW_MS, b"k%d" % number, b"v") for number in range(3500)], codec=codec))
    put(journal, ("last", "2"))
    machine = Reader()
    seen = [len(machine.seen) for _ in load(journal, machine)]
    assert seen[:3] == [1001, 2001, 3001]
    assert [offset for _, _, offset in machine.seen] == list(range(3502))


def test_a_compressed_batch_that_inflates_far_is_left_out_and_told(
    journal: FakeJournal, caplog: pytest.LogCaptureFixture
) -> None:
    journal._put(build_batch([Record(0, NOW_MS, b"a", bytes(20_000_000))], codec=Codec.ZSTD))
    put(journal, ("b", "1"))
    assert read(journal).seen == [("b", "1", 1)]
    [line] = [record.getMessage() for record in caplog.records]
    assert line.endswith(
        "1 records cannot be read and are left out, the first at offset 0: "
        "InflatesTooFarError: zstd: data inflates beyond 16777216 bytes"
    )


# -- a partition of this broker as the journal of a coordinator


def test_a_batch_is_what_the_general_builder_makes() -> None:
    records = [Record(0, NOW_MS, b"a", b"1"), Record(1, NOW_MS, b"b" * 100, None)]
    built = build_coordinator_batch([NewRecord(b"a", b"1"), NewRecord(b"b" * 100)], NOW_MS, Producer(5, 2), -1)
    assert built == build_batch(records, producer_id=5, producer_epoch=2, transactional=True)


@pytest.mark.parametrize("codec", Codec)
def test_journal_compresses_its_batches_as_configured(codec: Codec) -> None:
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
