"""Share partitions at work: loading, locks on the broker's clock, waiters, changes of the leader."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire
from odradek.broker.partitions.share.manager import SharePartitions, duration_ms, reset_offset
from odradek.broker.partitions.share.sessions import SessionKey
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import (
    ACCEPT,
    REJECT,
    AcknowledgementBatch,
    ShareKey,
    ShareSettings,
    StateBatch,
    StoredState,
)
from odradek.broker.partitions.waiters import Waiter, WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.broker.partitions.share.logs import Spans
from tests.storage.logs import make_log

KEY = ShareKey("g", bytes(16), 0)


class FakePartition:
    """A partition as far as share partitions look at it."""

    def __init__(self) -> None:
        self.leader_id, self.leader_epoch, self.deleted = 1, 0, False
        self.waiters = WaiterSet()

    def check_leader(self, node_id: int) -> None:
        if node_id != self.leader_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


class FakeClient:
    """A share coordinator that answers what it is told to."""

    def __init__(self) -> None:
        self.stored = StoredState(3, 0, [])
        self.reads: list[int] = []
        self.writes: list[StateWrite] = []
        self.error: KafkaError | None = None

    def read(self, key: ShareKey, leader_epoch: int) -> StoredState:
        self.reads.append(leader_epoch)
        return self.stored

    def write(self, key: ShareKey, state_epoch: int, leader_epoch: int, write: StateWrite) -> None:
        assert state_epoch == self.stored.state_epoch
        if self.error is not None:
            raise self.error
        self.writes.append(write)

    def uncommitted(self, key: ShareKey) -> None:
        """Its followers have everything."""

    def as_members_get_it(self, error: KafkaError) -> KafkaError:
        return error


class Bench:
    """Share partitions with a partition and a coordinator of ours."""

    def __init__(self, start: Callable[[Callable[[], Awaitable[None]]], None] = lambda run: None) -> None:
        self.clock = BrokerClock(start_ms=1_000)
        self.partition: Any = FakePartition()
        self.client = FakeClient()
        self.reports: list[str] = []
        self.settings = ShareSettings(lock_duration_ms=1_000)
        self.asked: list[str] = []
        self.shares = SharePartitions(
            self.clock,
            self.client,
            self.settings_of,
            start,
            lambda where, error: self.reports.append(where),
        )

    def settings_of(self, group_id: str) -> ShareSettings:
        self.asked.append(group_id)
        return self.settings

    def fetch(self, member: str) -> list[Any]:
        live = self.shares.open(KEY, self.partition, 1)
        request = AcquireRequest(member, 10, fetch_offset=live.machine.next_fetch_offset())
        found = acquire(live.machine, request, Spans([(0, 4)]), self.clock.now_ms())
        self.shares.watch(live)
        return found

    def accept(self, member: str) -> None:
        self.shares.acknowledge(KEY, member, [AcknowledgementBatch(0, 4, [ACCEPT])])


def test_a_groups_configuration_is_read_again_when_it_has_changed() -> None:
    bench = Bench()
    bench.fetch("m")
    bench.accept("m")
    assert bench.asked == ["g"]
    bench.settings = ShareSettings(lock_duration_ms=2_000)
    assert bench.shares.settings_of("g").lock_duration_ms == 1_000
    bench.shares.settings_changed()
    assert bench.shares.settings_of("g").lock_duration_ms == 2_000


def test_states_are_read_once_by_each_leader() -> None:
    bench = Bench()
    first = bench.shares.open(KEY, bench.partition, 1)
    assert bench.shares.open(KEY, bench.partition, 1) is first
    bench.partition.leader_epoch = 5
    assert bench.shares.find(KEY) is None
    assert bench.shares.open(KEY, bench.partition, 1) is not first
    assert bench.client.reads == [0, 5]
    with pytest.raises(KafkaError, match="NOT_LEADER_OR_FOLLOWER"):
        bench.shares.open(KEY, bench.partition, 2)


def test_states_that_cannot_be_are_an_error_and_no_crash() -> None:
    bench = Bench()
    bench.client.stored = StoredState(0, 5, [StateBatch(1, 3, 2, 1)])
    with pytest.raises(KafkaError) as caught:
        bench.shares.open(KEY, bench.partition, 1)
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_acknowledging_before_anybody_has_fetched() -> None:
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        Bench().accept("a")


def test_a_leader_that_is_fenced_forgets_what_it_knows() -> None:
    bench = Bench()
    bench.fetch("a")
    waiter = Waiter(1)
    live = bench.shares.open(KEY, bench.partition, 1)
    waiter.wait_in([live.waiters, live.partition.waiters])
    bench.client.error = KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    with pytest.raises(KafkaError, match="NOT_LEADER_OR_FOLLOWER"):
        bench.accept("a")
    assert live.fenced
    assert waiter.woken
    assert bench.fetch("b") == [(0, 4, 1)]


def test_the_end_of_a_session_wakes_those_who_wait() -> None:
    bench = Bench()
    bench.fetch("a")
    cache = bench.shares.sessions(1)
    cache.open(SessionKey("g", "a"), [((bytes(16), 0), "t")], "c1", 10)
    live = bench.shares.open(KEY, bench.partition, 1)
    waiter = Waiter(1)
    waiter.wait_in([live.waiters, live.partition.waiters])
    bench.shares.connection_closed(1, "c1")
    assert waiter.woken
    assert len(cache) == 0
    assert bench.shares.find(KEY) is None  # nobody of the group is left


def test_expired_locks_are_stored_and_told() -> None:
    bench = Bench()
    bench.clock.freeze()
    bench.fetch("a")
    live = bench.shares.open(KEY, bench.partition, 1)
    waiter = Waiter(1)
    waiter.wait_in([live.waiters, live.partition.waiters])
    bench.clock.advance(0.999)
    bench.shares.expire_due()
    assert not waiter.woken
    bench.clock.advance(0.001)
    bench.shares.expire_due()
    assert waiter.woken
    assert bench.client.writes[-1].batches == [(0, 4, 0, 1)]
    assert bench.fetch("b") == [(0, 4, 2)]


async def _expire_by_time() -> None:
    async with trio.open_nursery() as nursery:
        bench = Bench(nursery.start_soon)
        bench.clock.attach()
        bench.fetch("a")
        await wait_all_tasks_blocked()
        bench.clock.advance(2)
        await wait_all_tasks_blocked()
        assert bench.fetch("b") == [(0, 4, 2)]
        nursery.cancel_scope.cancel()


def test_the_task_follows_the_brokers_clock() -> None:
    trio.run(_expire_by_time, clock=MockClock())


async def _wake_earlier() -> None:
    async with trio.open_nursery() as nursery:
        bench = Bench(nursery.start_soon)
        bench.clock.attach()
        bench.settings = ShareSettings(lock_duration_ms=5_000)
        bench.fetch("a")
        await wait_all_tasks_blocked()
        early = ShareKey("h", bytes(16), 0)
        bench.settings = ShareSettings(lock_duration_ms=1_000)
        live = bench.shares.open(early, bench.partition, 1)
        acquire(live.machine, AcquireRequest("b", 10, fetch_offset=0), Spans([(0, 4)]), bench.clock.now_ms())
        bench.shares.watch(live)
        await wait_all_tasks_blocked()
        states = []
        for seconds in (1, 3, 1.1):
            bench.clock.advance(seconds)
            await wait_all_tasks_blocked()
            found = [bench.shares.find(key) for key in (early, KEY)]
            states.append([each is not None and each.machine.next_deadline_ms() is None for each in found])
        assert states == [[True, False], [True, False], [True, True]]
        nursery.cancel_scope.cancel()


def test_the_task_wakes_for_a_lock_that_ends_earlier() -> None:
    trio.run(_wake_earlier, clock=MockClock())


def test_locks_that_cannot_be_stored_as_released_are_released_all_the_same() -> None:
    bench = Bench()
    bench.clock.freeze()
    bench.fetch("a")
    live = bench.shares.find(KEY)
    assert live is not None
    bench.clock.advance(1)
    bench.client.error = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    bench.shares.expire_due()
    assert not live.fenced
    assert bench.fetch("b") == [(0, 4, 2)]
    bench.clock.advance(1)
    bench.client.error = KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    bench.shares.expire_due()
    assert (live.fenced, bench.reports) == (True, [])


def test_a_session_that_ends_gives_back_what_its_member_holds() -> None:
    bench = Bench()
    bench.fetch("a")
    cache = bench.shares.sessions(1)
    for member, connection in (("a", "c1"), ("b", "c2")):
        cache.open(SessionKey("g", member), [((bytes(16), 0), "t")], connection, 10)
    bench.shares.connection_closed(1, "c1")
    assert len(cache) == 1
    assert bench.shares.find(KEY) is not None  # b goes on
    assert bench.fetch("b") == [(0, 4, 2)]
    bench.shares.end_session(1, SessionKey("g", "nobody"))
    bench.client.error = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    bench.shares.end_session(1, SessionKey("g", "b"))
    assert len(cache) == 0


def test_groups_are_forgotten_where_their_last_member_was() -> None:
    bench = Bench()
    bench.fetch("a")
    bench.shares.forget_group("other", 1)
    bench.shares.forget_group("g", 2)
    assert [live.key for live in bench.shares.of_group("g")] == [KEY]
    bench.shares.forget_group("g", 1)
    assert bench.shares.of_group("g") == []


def test_copies_go_on_with_their_locks() -> None:
    bench = Bench()
    bench.clock.freeze()
    bench.fetch("a")
    copies = bench.shares.copied()
    bench.shares.sessions(1).open(SessionKey("g", "a"), [], "c", 10)
    bench.shares.go_on_with(copies, lambda topic_id, index: bench.partition)
    assert len(bench.shares.sessions(1)) == 0
    assert bench.client.reads == [0]
    assert bench.fetch("b") == []
    bench.clock.advance(1)
    bench.shares.expire_due()
    assert bench.fetch("b") == [(0, 4, 2)]
    bench.partition.leader_epoch = 1
    assert bench.shares.copied() == []


def test_switched_off_nothing_is_kept() -> None:
    bench = Bench()
    bench.fetch("a")
    bench.shares.sessions(1).open(SessionKey("g", "a"), [], "c", 10)
    live = bench.shares.find(KEY)
    assert live is not None
    waiter = Waiter(1)
    waiter.wait_in([live.waiters, live.partition.waiters])
    bench.shares.forget_all()
    assert waiter.woken
    assert live.fenced
    assert bench.shares.find(KEY) is None
    assert len(bench.shares.sessions(1)) == 0


def test_what_may_be_lost_is_read_again() -> None:
    bench = Bench()
    bench.shares.open(KEY, bench.partition, 1)
    error = KafkaError(ErrorCode.NOT_COORDINATOR)
    assert bench.shares.uncommitted(KEY) is None
    assert bench.shares.not_stored(KEY, error) is error
    assert bench.shares.find(KEY) is None
    bench.shares.open(KEY, bench.partition, 1)
    assert bench.client.reads == [0, 0]


def test_the_start_offset_of_a_share_group_is_found_by_its_reset_strategy() -> None:
    log = make_log()
    for timestamp in (1_000, 2_000, 3_000):
        log.append(build_batch([Record(0, timestamp, None, b"v", ())]), now_ms=timestamp, leader_epoch=0)
    assert reset_offset(log, "earliest", 5_000) == 0
    assert reset_offset(log, "latest", 5_000) == 3
    assert reset_offset(log, "by_duration:PT3.5S", 5_000) == 1
    with pytest.raises(KafkaError) as caught:
        reset_offset(log, "by_duration:PT1S", 5_000)
    assert caught.value.code is ErrorCode.OFFSET_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("P1D", 86_400_000),
        ("PT1H", 3_600_000),
        ("PT10M", 600_000),
        ("PT20.345S", 20_345),
        ("P2DT3H4M", 183_840_000),
        ("PT-6H3M", -21_420_000),
        ("-PT6H3M", -21_780_000),
        ("pt1,5s", 1_500),
    ],
)
def test_durations_of_iso_8601_are_read(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "1D", "P1W", "PT1D"])
def test_a_text_that_is_no_iso_8601_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an ISO 8601 duration"):
        duration_ms(text)


LOGGER = "odradek.broker.partitions.share"


def _bench() -> Bench:
    bench = Bench()
    bench.partition.topic, bench.partition.index = SimpleNamespace(name="jobs"), 0
    return bench


def test_share_log_tells_of_locks_that_run_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    bench = _bench()
    bench.clock.freeze()
    bench.fetch("a")
    bench.clock.advance(1)
    bench.shares.expire_due()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == "group g: member a said nothing of records 0 to 4 of jobs-0 before its lock ran out (delivery 1)"


def test_records_that_nobody_gets_any_more(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)
    bench = _bench()
    bench.fetch("a")
    types = [ACCEPT, ACCEPT, REJECT, REJECT, ACCEPT]
    bench.shares.acknowledge(KEY, "a", [AcknowledgementBatch(0, 4, types)])
    assert [record.getMessage() for record in caplog.records] == [
        "group g: records 2 to 3 of jobs-0 are archived after delivery 1"
    ]


def test_share_log_says_nothing_while_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    bench = Bench()  # its partition has no name: nobody asks for it
    bench.fetch("a")
    bench.shares.acknowledge(KEY, "a", [AcknowledgementBatch(0, 4, [REJECT])])
    assert caplog.records == []
