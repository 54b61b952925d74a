"""Waiting for records."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import KafkaError


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"t": 2}) as started:
        yield started
        assert all(not each.waiters.all for each in started.cluster.topics.by_name("t").partitions)
        assert started.bugs == []


def test_the_wait_is_over_with_the_last_record(broker: KafkaBroker) -> None:
    assert broker.wait_records("t", 0) == []
    broker.produce("t", "a", partition=1)

    def write() -> None:
        for value in ("b", "c"):
            broker.produce("t", value, partition=0)

    late = threading.Timer(0.05, write)
    late.start()
    assert [record.value for record in broker.wait_records("t", 3)] == [b"b", b"c", b"a"]
    late.join()
    assert [record.value for record in broker.wait_records("t", 1, partition=1)] == [b"a"]


def test_committed_records_are_counted_once_whatever_ends_around_them(broker: KafkaBroker) -> None:
    """Two transactions that overlap, the first of which is aborted after a look that saw what lies before it."""
    found: list[bytes | None] = []

    def wait() -> None:
        found.extend(each.value for each in broker.wait_records("t", 4, partition=0, isolation="read_committed"))

    def write(value: str, identity: str | None = None, end: Any = "commit") -> None:
        broker.produce("t", value, partition=0, transactional_id=identity, transaction=end)

    write("1")
    write("gone", "a", "abort")
    waiting = threading.Thread(target=wait)
    waiting.start()
    write("2", "a")
    write("open", "b", "open")
    write("gone too", "a", "abort")
    write("3", "a")
    write("4", "b")
    waiting.join(30)
    assert found == [b"1", b"2", b"3", b"4"]


def test_what_is_there_is_told_when_the_time_is_over(broker: KafkaBroker) -> None:
    broker.produce("t", "a", partition=1)
    broker.produce("t", "b", partition=0, transactional_id="tx", transaction="open")
    with pytest.raises(TimeoutError, match=r"'t' has 1 of 2 records after 0.01 s \(read_committed; t-1: 1\)"):
        broker.wait_records("t", 2, isolation="read_committed", timeout=0.01)


def test_what_makes_no_sense_is_refused(broker: KafkaBroker) -> None:
    with pytest.raises(KafkaError, match="no topic 'u'"):
        broker.wait_records("u", 1)
    with pytest.raises(KafkaError, match="no partition 2"):
        broker.wait_records("t", 1, partition=2)
    with pytest.raises(ValueError, match="0 or more, not -1"):
        broker.wait_records("t", -1)


def test_a_topic_that_is_deleted_ends_the_wait(broker: KafkaBroker) -> None:
    broker.create_topic("short")
    late = threading.Timer(0.05, broker.delete_topic, ["short"])
    late.start()
    with pytest.raises(KafkaError, match="no topic 'short'"):
        broker.wait_records("short", 1)
    late.join()


def test_a_broker_that_is_closed_ends_the_wait() -> None:
    broker = KafkaBroker(topics={"t": 1}).start()
    late = threading.Timer(0.1, broker.close)
    late.start()
    with pytest.raises(BrokerClosedError, match="closed"):
        broker.wait_records("t", 1, timeout=600)
    late.join()


def test_awaiting_in_the_callers_trio_run() -> None:
    async def main() -> None:
        async with open_broker(topics={"t": 2}) as own, trio.open_nursery() as nursery:

            async def write() -> None:
                for value in ("a", "b"):
                    await own.produce("t", value)

            nursery.start_soon(write)
            assert [record.value for record in await own.wait_records("t", 2)] == [b"a", b"b"]
            with pytest.raises(TimeoutError, match="2 of 3"):
                await own.wait_records("t", 3, timeout=0.01)

    trio.run(main)
