"""Batches of a read: how far they are looked at, and which bytes go out."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.partitions.share.manager import LiveSharePartition, SharePartitions
from odradek.broker.partitions.share.reading import FetchedBatches, ShareReadRequest, read_shared
from odradek.broker.partitions.share.share_partition import SharePartition
from odradek.broker.partitions.share.states import READ_COMMITTED, ShareKey, ShareSettings
from odradek.broker.partitions.waiters import WaiterSet
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.record_batch import assign_offsets, build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.broken_log import READ, Breakage, break_log
from tests.broker.partitions.share.logs import Coordinator
from tests.storage.logs import end, make_log, put


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


def test_no_fetched_batches_reach_no_offset() -> None:
    assert FetchedBatches([]).reach(0) == -1


def test_share_fetch_knows_batches_of_aborted_transactions() -> None:
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
    for order in ([(7, 2), (8, 4)], [(8, 4), (7, 2)]):
        both = FetchedBatches([memoryview(data)], order)
        both.reach(100)
        assert both.aborted() == [(2, 3), (4, 4)]
    assert FetchedBatches([memoryview(data)]).aborted() == []


class FakePartition:
    """A log that this node leads."""

    def __init__(self, *sizes: int) -> None:
        self.leader_id, self.leader_epoch, self.deleted = 1, 0, False
        self.waiters = WaiterSet()
        self.log = make_log()
        for size in sizes:
            self.log.append(
                build_batch([Record(i, 1, None, b"v" * 10, ()) for i in range(size)]), now_ms=1, leader_epoch=0
            )


def live(index: int, *sizes: int) -> LiveSharePartition:
    partition: Any = FakePartition(*sizes)
    return LiveSharePartition(
        ShareKey("g", bytes(16), index), partition, SharePartition(lambda: ShareSettings(), Coordinator()), 0
    )


def read(*lives: LiveSharePartition, at_once: bool = False, **options: int) -> Any:
    request = ShareReadRequest(
        "m", options.get("records", 100), 100, 0, options.get("min_bytes", 1), options.get("max_bytes", 1 << 20)
    )
    client: Any = None
    shares = SharePartitions(BrokerClock(), client, lambda g: ShareSettings(), lambda run: None, lambda w, e: None)
    found = read_shared(shares, lives, request, 1_000, at_once=at_once)
    return None if found is None else [(each.live.key.partition, list(each.ranges)) for each in found]


def test_partitions_are_served_in_order_up_to_the_limit_of_records() -> None:
    assert read(live(0, 5, 5), live(1, 5), records=7) == [(0, [(0, 9, 1)]), (1, [])]
    assert read(live(0, 5), live(1, 5), records=7) == [(0, [(0, 4, 1)]), (1, [(0, 4, 1)])]


def test_share_fetch_waits_for_min_bytes() -> None:
    one = live(0, 1)
    assert read(one, min_bytes=10_000) is None
    assert read(live(0), min_bytes=1) is None
    assert read(live(0), min_bytes=0) == [(0, [])]
    assert read(one, min_bytes=10_000, at_once=True) == [(0, [(0, 0, 1)])]


def test_each_partition_gets_its_part_of_the_bytes_and_the_first_batch_comes_anyway() -> None:
    assert read(live(0, 50, 50), live(1, 50), max_bytes=10) == [(0, [(0, 49, 1)]), (1, [])]


@pytest.mark.parametrize(
    ("batches", "max_batches", "got"),
    [
        ((4, 4), 4, [1, 1]),
        ((1, 4), 4, [0, 1]),
        ((0, 4), 4, [None, 1]),
        ((4, 4), 1, [0, None]),
        ((4, 4, 4), 7, [1, 1, 1]),
    ],
)
def test_the_bytes_are_shared_out_in_equal_parts(
    batches: tuple[int, ...], max_batches: int, got: list[int | None]
) -> None:
    lives = [live(index, *[1] * count) for index, count in enumerate(batches)]
    size = len(build_batch([Record(0, 1, None, b"v" * 10, ())]))
    found = read(*lives, max_bytes=max_batches * size, min_bytes=0)
    assert [ranges[-1][1] if ranges else None for _, ranges in found] == got


def test_members_that_read_committed_records_get_those_before_the_first_open_transaction() -> None:
    one = live(0, 2)
    log = one.partition.log
    put(log, at=1, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=False, at=1)
    put(log, at=1)
    put(log, at=1, producer=(8, 0, 0), transactional=True)
    one.machine._read_settings = lambda: ShareSettings(isolation_level=READ_COMMITTED)
    assert read(one) == [(0, [(0, 1, 1), (3, 4, 1)])]
    assert read(one) is None
    one.machine._read_settings = lambda: ShareSettings()
    assert read(one) == [(0, [(5, 5, 1)])]


def test_a_log_that_cannot_be_read_is_told_at_once() -> None:
    good, bad = live(0, 1), live(1, 1)
    break_log(bad.partition.log, Breakage(READ, lambda: None))
    client: Any = None
    shares = SharePartitions(BrokerClock(), client, lambda g: ShareSettings(), lambda run: None, lambda w, e: None)
    request = ShareReadRequest("m", 9, 9, 0, 1 << 20, 1 << 20)
    found = read_shared(shares, [good, bad], request, 1_000, at_once=False)
    assert found is not None
    assert [(each.error and each.error.code, len(each.ranges)) for each in found] == [
        (None, 1),
        (ErrorCode.KAFKA_STORAGE_ERROR, 0),
    ]


def test_a_negative_limit_of_bytes_is_an_error_of_each_partition_that_could_be_read() -> None:
    full = live(1, 5)
    read(full)
    full.machine._read_settings = lambda: ShareSettings(max_locks=5)
    client: Any = None
    shares = SharePartitions(BrokerClock(), client, lambda g: ShareSettings(), lambda run: None, lambda w, e: None)
    found = read_shared(shares, [live(0), full], ShareReadRequest("m", 1, 1, 0, 1, -1), 1_000, at_once=False)
    assert found is not None
    assert [(each.live.key.partition, each.error and each.error.code) for each in found] == [
        (0, ErrorCode.UNKNOWN_SERVER_ERROR)
    ]


def test_a_log_that_starts_later_by_now() -> None:
    one = live(0, 5, 5)
    one.partition.log.delete_records(7)
    assert read(one) == [(0, [])]
    assert read(one) == [(0, [(7, 9, 1)])]


def test_a_full_share_partition_is_left_out() -> None:
    one = live(0, 5)
    read(one)
    one.machine._read_settings = lambda: ShareSettings(max_locks=5)
    assert read(one) is None
    assert read(one, at_once=True) == []
