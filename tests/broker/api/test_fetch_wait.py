"""A fetch that finds too little waits on the broker's clock and is woken by what concerns it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.requests.parked_request import Parked as ParkedRequest
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.partition_log import AppendOrigin
from tests.fakes.data_plane import START_MS, DataPlane, offsets_of, partitions_of
from tests.fakes.nodes import set_leader

pytestmark = pytest.mark.trio


class Parked:
    """A fetch that must wait, running in a task; `answered_after_ms` and `response` once it is done."""

    def __init__(self, plane: DataPlane) -> None:
        self.plane = plane
        self.response: Any = None
        self.answered_after_ms = -1

    @property
    def done(self) -> bool:
        return self.response is not None

    async def run(self, waiting: Awaitable[Any]) -> None:
        began = self.plane.cluster.clock.now_ms()
        response = await waiting
        self.answered_after_ms = self.plane.cluster.clock.now_ms() - began
        self.response = response


async def parked(
    plane: DataPlane, nursery: trio.Nursery, wanted: Any = None, *, version: int = 12, **options: Any
) -> Parked:
    request = plane.fetch_request(wanted or {"a": 0}, **{"max_wait_ms": 10_000, **options})
    waiting = plane.call(request, version)
    assert isinstance(waiting, ParkedRequest), "answered at once"
    fetch = Parked(plane)
    nursery.start_soon(fetch.run, waiting.response(plane.cluster.clock))
    with trio.CancelScope(shield=True):
        await wait_all_tasks_blocked()
    return fetch


def waiters(plane: DataPlane) -> int:
    return sum(len(partition.waiters) for topic in plane.cluster.topics.all() for partition in topic.partitions)


async def test_data_wakes_it_at_once(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, {"a": [(0, 0), (1, 0)], "b": 0})
        assert waiters(plane) == 3
        plane.produce("a", 2, partition=1)
    assert [offsets_of(data) for data in partitions_of(fetch.response)] == [[], [0, 1], []]
    assert fetch.answered_after_ms < 1000
    assert waiters(plane) == 0


async def test_without_data_it_takes_max_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery)
    assert 10_000 <= fetch.answered_after_ms < 10_100
    assert [offsets_of(data) for data in partitions_of(fetch.response)] == [[]]
    assert waiters(plane) == 0


async def test_min_bytes_hold_it_until_enough_has_come(plane: DataPlane, autojump_clock: MockClock) -> None:
    size = len(plane.batch())
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=3 * size)
        for _ in range(2):
            plane.produce("a", 1)
            await trio.sleep(0.1)
            assert not fetch.done
        plane.produce("a", 1)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0, 1, 2]
    assert fetch.answered_after_ms < 1000


async def test_what_is_there_comes_at_the_end_of_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1_000_000)
        plane.produce("a", 1)
    assert fetch.answered_after_ms >= 10_000
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]


async def test_more_than_the_limits_let_through_does_not_spin(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 1)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1000, partition_max_bytes=10)
        plane.produce("a", 50)
    assert fetch.answered_after_ms >= 10_000
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]


def roll(plane: DataPlane, topic: str = "a") -> None:
    """The next record begins a new segment."""
    plane.cluster.topics.by_name(topic).partitions[0].log.roll(START_MS)


async def test_a_fetch_of_an_older_segment_is_answered_at_once(plane: DataPlane) -> None:
    plane.produce("a", 1)
    roll(plane)
    plane.produce("a", 1)
    options: dict[str, Any] = {"min_bytes": 1_000_000, "max_wait_ms": 10_000}
    assert offsets_of(partitions_of(plane.fetch({"a": 0}, **options))[0]) == [0]
    assert isinstance(plane.call(plane.fetch_request({"a": 1}, **options), 12), ParkedRequest)


async def test_a_new_segment_ends_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 1)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1_000_000)
        at_the_end = await parked(plane, nursery, {"a": 1}, min_bytes=1_000_000)
        roll(plane)
        plane.produce("a", 1)
    assert fetch.answered_after_ms < 1000
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]
    assert at_the_end.answered_after_ms < 1000
    assert offsets_of(partitions_of(at_the_end.response)[0]) == [1]


async def test_min_bytes_are_counted_over_all_partitions_whatever_max_bytes_let_through(plane: DataPlane) -> None:
    for topic, partition in (("a", 0), ("a", 1), ("b", 0)):
        plane.produce(topic, 5, partition=partition)
    asked = {"a": [(0, 0), (1, 0)], "b": 0}
    response = plane.fetch(asked, min_bytes=240, max_bytes=250, partition_max_bytes=80, max_wait_ms=10_000)
    assert [offsets_of(data) for data in partitions_of(response)] == [[0, 1, 2, 3, 4], [], []]
    above_max_bytes = plane.fetch({"a": 0}, min_bytes=10_000, max_bytes=100, max_wait_ms=10_000)
    assert offsets_of(partitions_of(above_max_bytes)[0]) == [0, 1, 2, 3, 4]


async def test_deleted_records_do_not_end_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 3)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1_000_000)
        plane.cluster.topics.by_name("a").partitions[0].delete_records(2)
    assert fetch.answered_after_ms >= 10_000
    assert partitions_of(fetch.response)[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_a_partition_that_is_created_does_not_end_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, {"a": 0, "later": 0})
        plane.topic("later")
        plane.produce("later", 1)
        plane.produce("a", 1)
    assert [data.error_code for data in partitions_of(fetch.response)] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


async def test_a_committed_reader_beyond_the_last_stable_offset_does_not_wait(plane: DataPlane) -> None:
    partition = plane.cluster.topics.by_name("a").partitions[0]
    for sequence in (0, 2):
        producer: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0, "base_sequence": sequence}
        partition.append(plane.batch(2, transactional=True, **producer), now_ms=START_MS)
    waits = []
    for offset in range(5):
        request = plane.fetch_request({"a": offset}, isolation_level=1, max_wait_ms=10_000)
        waits.append(isinstance(plane.call(request, 12), ParkedRequest))
    # Kafka compares the base offset of the batch: offset 1 is in the batch at which the stable part ends
    assert waits == [True, True, False, False, False]


async def test_an_unknown_partition_does_not_end_the_wait_for_others(
    plane: DataPlane, autojump_clock: MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, {"nope": 0, "a": 0})
        plane.produce("a", 1)
    codes = [data.error_code for data in partitions_of(fetch.response)]
    assert codes == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert partitions_of(plane.fetch({"nope": 0}, max_wait_ms=10_000))


async def test_a_committed_reader_wakes_with_the_marker(plane: DataPlane, autojump_clock: MockClock) -> None:
    partition = plane.cluster.topics.get("a").partitions[0]  # type: ignore[union-attr]
    producer: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0}
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, isolation_level=1)
        data = plane.batch(2, base_sequence=0, transactional=True, **producer)
        partition.append(data, now_ms=START_MS)
        await trio.sleep(1)
        assert not fetch.done
        marker = build_end_txn_batch(EndTxnMarker(True, 0), timestamp=START_MS, **producer)
        partition.append(marker, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0, 1, 2]
    assert 1000 <= fetch.answered_after_ms < 2000


async def deleted(plane: DataPlane) -> None:
    plane.cluster.delete_topic("a")


async def led_elsewhere(plane: DataPlane) -> None:
    set_leader(plane.cluster, "a", 0, 2)


@pytest.mark.parametrize(
    ("change", "asked", "code"),
    [
        (deleted, {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (led_elsewhere, {"version": 10}, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (led_elsewhere, {"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
    ],
)
async def test_a_partition_that_goes_away_ends_the_wait(
    plane: DataPlane,
    autojump_clock: MockClock,
    change: Callable[[DataPlane], Awaitable[None]],
    asked: dict[str, int],
    code: ErrorCode,
) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, **asked)
        await change(plane)
    assert [data.error_code for data in partitions_of(fetch.response)] == [code]
    assert fetch.answered_after_ms < 1000
    assert partitions_of(fetch.response)[0].aborted_transactions is None


async def test_a_consumer_may_go_on_waiting_at_a_follower(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery)
        await led_elsewhere(plane)
        record = build_batch([Record(0, 1, None, b"v")])
        plane.cluster.topics.by_name("a").partitions[0].append(record, now_ms=1)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]


async def test_a_fetch_that_is_cancelled_leaves_nothing_behind(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        await parked(plane, nursery, {"a": [(0, 0), (1, 0)]})
        assert waiters(plane) == 2
        nursery.cancel_scope.cancel()
    assert waiters(plane) == 0
    plane.produce("a", 1)


async def test_advancing_the_clock_ends_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, max_wait_ms=3_600_000)
        plane.cluster.clock.advance(hours=1)
        with trio.fail_after(1):
            while not fetch.done:
                await trio.lowlevel.checkpoint()
    assert fetch.answered_after_ms >= 3_600_000


async def test_many_readers_of_one_partition(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetches = [await parked(plane, nursery) for _ in range(20)]
        plane.produce("a", 1)
    assert all(offsets_of(partitions_of(fetch.response)[0]) == [0] for fetch in fetches)
