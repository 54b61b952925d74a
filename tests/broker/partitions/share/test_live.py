"""Share partitions at work: loading, locks on the broker's clock, waiters, changes of the leader."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire
from odradek.broker.partitions.share.live import SharePartitions
from odradek.broker.partitions.share.sessions import SessionKey
from odradek.broker.partitions.share.share_partition import StateWrite
from odradek.broker.partitions.share.states import (
    ACCEPT,
    AcknowledgementBatch,
    ShareKey,
    ShareSettings,
    StateBatch,
    StoredState,
)
from odradek.broker.partitions.waiters import Waiter, WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.partitions.share.logs import Spans

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
        self.shares = SharePartitions(
            self.clock,
            self.client,
            lambda group_id: ShareSettings(lock_duration_ms=1_000),
            start,
            lambda where, error: self.reports.append(where),
        )

    def fetch(self, member: str) -> list[Any]:
        live = self.shares.open(KEY, self.partition, 1)
        request = AcquireRequest(member, 10, fetch_offset=live.machine.next_fetch_offset())
        found = acquire(live.machine, request, Spans([(0, 4)]), self.clock.now_ms())
        self.shares.watch(live)
        return found

    def accept(self, member: str) -> None:
        self.shares.acknowledge(KEY, member, [AcknowledgementBatch(0, 4, [ACCEPT])])


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
    bench.shares.add_waiter(waiter, [live])
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
    bench.shares.add_waiter(waiter, [live])
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
    bench.shares.add_waiter(waiter, [live])
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


def test_switched_off_nothing_is_kept() -> None:
    bench = Bench()
    bench.fetch("a")
    bench.shares.sessions(1).open(SessionKey("g", "a"), [], "c", 10)
    live = bench.shares.find(KEY)
    assert live is not None
    waiter = Waiter(1)
    bench.shares.add_waiter(waiter, [live])
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
