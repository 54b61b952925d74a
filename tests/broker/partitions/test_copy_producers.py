"""What a follower that is behind knows of producers and transactions."""

from __future__ import annotations

from odradek.broker.partitions.copy_producers import producers_of, stable_offset
from odradek.broker.partitions.replicas import Replica
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from tests.storage.logs import NOW, make_log


def transaction(log: PartitionLog, producer_id: int, sequence: int = 0) -> None:
    batch = build_batch(
        [Record(0, NOW, None, b"v")],
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        transactional=True,
    )
    log.producers.begin_verification(producer_id, 0, sequence, NOW, supports_epoch_bump=False)
    log.append(batch, now_ms=NOW)


def marker(log: PartitionLog, producer_id: int, *, commit: bool = True) -> None:
    batch = build_end_txn_batch(EndTxnMarker(commit, 0), producer_id=producer_id, producer_epoch=0, timestamp=NOW)
    log.append(batch, now_ms=NOW, origin=AppendOrigin.COORDINATOR)


def copy_of(log: PartitionLog, end: int) -> Replica:
    copy = Replica(2, log, NOW)
    copy.end = copy.high_watermark = end
    return copy


def test_a_transaction_is_open_for_whom_its_marker_has_not_reached() -> None:
    log = make_log()
    transaction(log, 7)  # 0
    transaction(log, 8)  # 1
    marker(log, 7)  # 2
    marker(log, 8, commit=False)  # 3
    assert stable_offset(copy_of(log, 4)) == 4
    assert [stable_offset(copy_of(log, end)) for end in (0, 1, 2, 3)] == [0, 0, 0, 1]
    known = producers_of(copy_of(log, 3))
    assert [(p.producer_id, p.current_txn_first_offset) for p in known] == [(7, None), (8, 1)]


def test_a_copy_that_grows_is_read_on_and_one_that_shrinks_anew() -> None:
    log = make_log()
    for producer in range(5):
        transaction(log, producer)
    copy = copy_of(log, 2)
    assert len(producers_of(copy)) == 2
    first = copy.producers
    copy.end = 4
    assert (len(producers_of(copy)), copy.producers is first) == (4, True)
    copy.end = 3
    assert (len(producers_of(copy)), copy.producers is first) == (3, False)


def test_a_copy_that_has_everything_knows_what_the_log_knows() -> None:
    log = make_log()
    transaction(log, 7)
    copy = copy_of(log, 1)
    assert producers_of(copy) is log.producers
    assert stable_offset(copy) == 0


def test_what_a_follower_does_not_know_to_be_committed_is_not_stable() -> None:
    log = make_log()
    transaction(log, 7)
    marker(log, 7)
    copy = copy_of(log, 2)
    copy.end, copy.high_watermark = 2, 1
    assert stable_offset(copy) <= 1
