"""A partition log against a model that knows nothing of segments, indexes or batches."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.protocol.record_batch import Codec, iter_batches
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog
from tests.storage.logs import NOW, batches, committed, end, put, records


class LogModel(RuleBasedStateMachine):
    """The log against a list of records, a set of open transactions and the rules of the two isolation levels."""

    def open_log(self, config: LogConfig) -> PartitionLog:
        return PartitionLog("t", 0, config, MemoryBackend(), now_ms=NOW)

    @initialize(segment=st.sampled_from([200, 400, 1000, 100_000]), interval=st.sampled_from([0, 100, 4096]))
    def start(self, segment: int, interval: int) -> None:
        self.log = self.open_log(LogConfig(segment_bytes=segment, index_interval_bytes=interval))
        self.rows: list[tuple[int, bytes, int | None]] = []  # offset, value, producer of a transactional record
        self.markers: dict[int, bool] = {}
        self.open: dict[int, int] = {}
        self.outcome: dict[int, bool] = {}  # first offset of an ended transaction -> committed
        self.owner: dict[int, int] = {}  # offset of transactional data -> first offset of its transaction
        self.sequence: dict[int, int] = {}
        self.next_offset = 0
        self.clock = NOW

    def _append(self, values: list[bytes], producer: int | None, codec: Codec) -> None:
        key = -1 if producer is None else producer
        sequence = self.sequence.get(key, 0)
        self.clock += 7
        info = put(
            self.log,
            *((b"k", v) for v in values),
            at=self.clock,
            codec=codec,
            producer=(-1, -1, -1) if producer is None else (producer, 0, sequence),
            transactional=producer is not None,
        )
        assert (info.base_offset, info.last_offset) == (self.next_offset, self.next_offset + len(values) - 1)
        self.sequence[key] = sequence + len(values)
        for i, value in enumerate(values):
            self.rows.append((self.next_offset + i, value, producer))
            if producer is not None:
                self.open.setdefault(producer, self.next_offset)
                self.owner[self.next_offset + i] = self.open[producer]
        self.next_offset += len(values)

    @rule(values=st.lists(st.binary(max_size=60), min_size=1, max_size=4), codec=st.sampled_from(Codec))
    def plain(self, values: list[bytes], codec: Codec) -> None:
        self._append(values, None, codec)

    @rule(values=st.lists(st.binary(max_size=60), min_size=1, max_size=3), producer=st.integers(1, 3))
    def transactional(self, values: list[bytes], producer: int) -> None:
        self._append(values, producer, Codec.NONE)

    @rule(producer=st.integers(1, 3), commit=st.booleans())
    def finish(self, producer: int, commit: bool) -> None:
        end(self.log, producer, 0, commit=commit, at=self.clock)
        first = self.open.pop(producer, None)
        if first is not None:
            self.outcome[first] = commit
        self.next_offset += 1

    @precondition(lambda self: self.next_offset > 0)
    @rule(data=st.data())
    def trim(self, data: st.DataObject) -> None:
        to = data.draw(st.integers(0, min(self.next_offset, self.log.high_watermark)))
        start = self.log.log_start_offset
        assert self.log.delete_records(to) == max(start, to)

    @rule(data=st.data())
    def read_somewhere(self, data: st.DataObject) -> None:
        log = self.log
        offset = data.draw(st.integers(log.log_start_offset, log.log_end_offset))
        up_to = data.draw(st.sampled_from([log.high_watermark, log.last_stable_offset]))
        limit = data.draw(st.integers(0, 600))
        read = log.read(offset, max_bytes=limit, up_to_offset=up_to)
        found = list(iter_batches(read.parts))
        assert sum(b.size_bytes for b in found) == read.size_bytes
        if offset < up_to:
            assert found
            assert found[0].last_offset >= offset
            assert len(found) == 1 or read.size_bytes <= limit
        assert all(b.last_offset < up_to for b in found)

    @rule(data=st.data())
    def look_up_a_time(self, data: st.DataObject) -> None:
        timestamp = data.draw(st.integers(NOW, self.clock + 10))
        segment = next((s for s in self.log.segments if s.largest_timestamp >= timestamp), None)
        expected = next(
            (
                r
                for _, b in (() if segment is None else segment.iter_batches())
                for r in b.records()
                if r.timestamp >= timestamp and r.offset >= self.log.log_start_offset
            ),
            None,
        )
        found = self.log.offset_for_timestamp(timestamp)
        assert (found and (found.offset, found.timestamp)) == (expected and (expected.offset, expected.timestamp))

    @invariant()
    def offsets_hold(self) -> None:
        log = self.log
        assert log.log_end_offset == self.next_offset
        stable, start = min(self.open.values(), default=self.next_offset), log.log_start_offset
        if stable < start:  # as in Kafka it is the base offset of the batch at the log's start
            stable = next((batch.base_offset for batch in batches(log)), start)
        assert log.last_stable_offset == stable

    @invariant()
    def everything_is_readable(self) -> None:
        start = self.log.log_start_offset
        assert [(r.offset, r.value) for r in records(self.log)] == [(o, v) for o, v, _ in self.rows if o >= start]
        stable = self.log.last_stable_offset
        visible = [
            (o, v)
            for o, v, producer in self.rows
            if start <= o < stable and (producer is None or self.outcome.get(self.owner[o]))
        ]
        assert [(r.offset, r.value) for r in committed(self.log)] == visible
