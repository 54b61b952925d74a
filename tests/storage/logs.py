"""Short ways to make a log, to put things in and to see what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.record_batch import Codec, Record, RecordBatch, build_batch, iter_batches
from odradek.storage.compaction import CompactionResult, compaction_steps
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import AppendInfo, AppendOrigin, PartitionLog

NOW = 1_700_000_000_000


def make_log(*, cleanup: Iterable[str] = ("delete",), **config: Any) -> PartitionLog:
    return PartitionLog("t", 0, LogConfig(cleanup_policy=frozenset(cleanup), **config), MemoryBackend(), now_ms=NOW)


def put(
    log: PartitionLog,
    *pairs: tuple[bytes | None, bytes | None],
    at: int = NOW,
    epoch: int = 0,
    codec: Codec = Codec.NONE,
    producer: tuple[int, int, int] = (-1, -1, -1),
    transactional: bool = False,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    now_ms: int | None = None,
) -> AppendInfo:
    """Append one batch; `producer` is (id, epoch, base sequence)."""
    data = build_batch(
        [Record(0, at, key, value) for key, value in pairs or ((b"k", b"v"),)],
        codec=codec,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
        transactional=transactional,
    )
    return log.append(data, now_ms=at if now_ms is None else now_ms, leader_epoch=epoch, origin=origin)


def end(
    log: PartitionLog, producer_id: int, epoch: int, *, commit: bool, coordinator_epoch: int = 0, at: int = NOW
) -> AppendInfo:
    """Append a transaction marker."""
    data = build_end_txn_batch(
        EndTxnMarker(commit, coordinator_epoch), producer_id=producer_id, producer_epoch=epoch, timestamp=at
    )
    return log.append(data, now_ms=at, origin=AppendOrigin.COORDINATOR)


def compact(log: PartitionLog, now_ms: int, *, force: bool = False) -> CompactionResult | None:
    """Compact a log at once; None when nothing was compacted."""
    steps = compaction_steps(log, now_ms, force=force)
    return next((step for step in steps if isinstance(step, CompactionResult)), None)


def batches(log: PartitionLog, start: int | None = None, *, up_to: int | None = None) -> list[RecordBatch]:
    """Every batch, by reading as a consumer does."""
    offset = log.log_start_offset if start is None else start
    stop = log.log_end_offset if up_to is None else up_to
    found: list[RecordBatch] = []
    while offset < stop:
        read = log.read(offset, max_bytes=1 << 20, up_to_offset=stop)
        assert read.size_bytes == sum(map(len, read.parts))
        more = list(iter_batches(read.parts))
        if not more:
            break
        found += more
        offset = more[-1].next_offset
    return found


def records(log: PartitionLog, start: int | None = None, *, up_to: int | None = None) -> list[Record]:
    """Every data record from the start (or from `start`)."""
    first = log.log_start_offset if start is None else start
    return [
        record
        for batch in batches(log, start, up_to=up_to)
        if not batch.is_control
        for record in batch.records()
        if record.offset >= first
    ]


def committed(log: PartitionLog) -> list[Record]:
    """What a read_committed consumer gets: up to the stable offset, aborted data filtered by the aborted list."""
    stop = log.last_stable_offset
    aborted = sorted(log.aborted_transactions(log.log_start_offset, stop), key=lambda pair: pair[1])
    active: set[int] = set()
    found: list[Record] = []
    for batch in batches(log, up_to=stop):
        while aborted and aborted[0][1] <= batch.last_offset:
            active.add(aborted.pop(0)[0])
        if batch.is_control:
            active.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in active):
            found += [r for r in batch.records() if r.offset >= log.log_start_offset]
    return found
