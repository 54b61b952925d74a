"""Waiters: woken by what they wait for, and by nothing less."""

from __future__ import annotations

from odradek.broker.partitions.waiters import Waiter, WaiterSet


def test_a_waiter_is_woken_when_enough_bytes_have_come() -> None:
    waiters, waiter = WaiterSet(), Waiter(100)
    waiters.add(waiter)
    waiters.appended(60, stable_moved=True)
    waiters.appended(39, stable_moved=True)
    assert not waiter.woken
    waiters.appended(1, stable_moved=True)
    assert waiter.woken


def test_more_bytes_than_a_waiter_wants_wake_it() -> None:
    waiters, waiter = WaiterSet(), Waiter(100)
    waiters.add(waiter)
    waiters.appended(150, stable_moved=False)
    assert waiter.woken


def test_a_committed_reader_waits_for_the_stable_offset() -> None:
    waiters, waiter = WaiterSet(), Waiter(1, committed=True)
    waiters.add(waiter)
    waiters.appended(10_000, stable_moved=False)
    assert not waiter.woken
    waiters.appended(1, stable_moved=True)
    assert waiter.woken


def test_only_followers_see_what_is_not_committed() -> None:
    waiters, reader, follower = WaiterSet(), Waiter(1), Waiter(1, uncommitted=True)
    waiters.add(reader)
    waiters.add(follower)
    waiters.wake_followers()
    assert (reader.woken, follower.woken) == (False, True)


def test_wake_all_wakes_everybody() -> None:
    waiters = WaiterSet()
    both = [Waiter(1000), Waiter(1000, committed=True)]
    for waiter in both:
        waiters.add(waiter)
    waiters.wake_all()
    assert all(waiter.woken for waiter in both)


def test_at_the_end_nobody_waits_on() -> None:
    waiters, waiter = WaiterSet(), Waiter(1000)
    waiters.add(waiter)
    waiters.end_all()
    assert waiter.woken
    assert waiter.over


def test_a_discarded_waiter_hears_nothing() -> None:
    waiters, waiter = WaiterSet(), Waiter(1)
    waiters.add(waiter)
    waiters.add(waiter)
    assert len(waiters) == 1
    waiters.discard(waiter)
    waiters.discard(waiter)
    waiters.wake_all()
    assert not waiter.woken
    assert len(waiters) == 0


def test_a_waiter_that_leaves_is_in_no_set() -> None:
    told: list[str] = []
    sets, waiter = [WaiterSet(), WaiterSet()], Waiter(1, lambda: told.append("now"))
    waiter.wait_in(sets)
    assert [len(each) for each in sets] == [1, 1]
    waiter.leave()
    assert [len(each) for each in sets] == [0, 0]
    waiter.wake()
    assert told == []


def test_a_waiter_tells_once_that_it_is_woken() -> None:
    told: list[str] = []
    waiter = Waiter(1, lambda: told.append("now"))
    waiter.wake()
    waiter.wake()
    assert told == ["now"]
