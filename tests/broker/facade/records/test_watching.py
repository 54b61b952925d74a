"""Waiting for records, and following them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio
import trio.testing

import odradek
from odradek import KafkaBroker, KafkaError, ProducerRecord
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.records.watching import News, RecordFollow, TopicWatch
from odradek.broker.facade.thread_bridge import BrokerClosedError


def test_a_watcher_is_told_of_records_of_what_it_looks_at() -> None:
    with KafkaBroker(topics={"t": 2}) as broker:
        partitions = broker.cluster.topics.by_name("t").partitions
        watch = TopicWatch("read_uncommitted")
        before = broker._call(lambda: watch.begin(partitions[:1], "read"))
        changed = broker._call(lambda: watch.begin(partitions[1:], "read"))
        broker.produce("t", "elsewhere", partition=0)
        assert not changed.done()
        broker.produce("t", "here", partition=1)
        changed.result(30)
        assert not before.done()
        broker._call(watch.forget)
        assert broker._call(lambda: [len(one.waiters) for one in partitions]) == [0, 0]


def test_a_broker_that_has_ended_is_told() -> None:
    watch = TopicWatch("read_uncommitted")
    with KafkaBroker(topics=["t"]) as broker:
        partitions = broker.cluster.topics.by_name("t").partitions
        broker._call(lambda: watch.begin(partitions, "read"))
    with pytest.raises(BrokerClosedError, match="while records were read"):
        watch.begin(partitions, "read")


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"t": 2}) as started:
        yield started
        assert all(not each.waiters.all for each in started.cluster.topics.by_name("t").partitions)
        assert started.bugs == []


def test_the_wait_is_over_with_the_last_record(broker: KafkaBroker) -> None:
    assert broker.topic("t").wait(0) == []
    broker.produce("t", "a", partition=1)

    def write() -> None:
        for value in ("b", "c"):
            broker.produce("t", value, partition=0)

    late = threading.Timer(0.05, write)
    late.start()
    assert [record.value for record in broker.topic("t").wait(3)] == [b"b", b"c", b"a"]
    late.join()
    assert [record.value for record in broker.topic("t").wait(1, partition=1)] == [b"a"]


def test_committed_records_are_counted_once_whatever_ends_around_them(broker: KafkaBroker) -> None:
    """Two transactions that overlap, the first of which is aborted after a look that saw what lies before it."""
    found: list[bytes | None] = []

    def wait() -> None:
        found.extend(each.value for each in broker.topic("t").wait(4, partition=0, isolation="read_committed"))

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
        broker.topic("t").wait(2, isolation="read_committed", timeout=0.01)


def test_what_makes_no_sense_is_refused(broker: KafkaBroker) -> None:
    with pytest.raises(KafkaError, match="no topic 'u'"):
        broker.topic("u").wait(1)
    with pytest.raises(KafkaError, match="no partition 2"):
        broker.topic("t").wait(1, partition=2)
    with pytest.raises(ValueError, match="records=-1: expected 0 or more records"):
        broker.topic("t").wait(-1)


def test_a_topic_that_is_deleted_ends_the_wait(broker: KafkaBroker) -> None:
    broker.create_topic("short")
    late = threading.Timer(0.05, broker.topic("short").delete)
    late.start()
    with pytest.raises(KafkaError, match="no topic 'short'"):
        broker.topic("short").wait(1)
    late.join()


def test_a_broker_that_is_closed_ends_the_wait() -> None:
    broker = KafkaBroker(topics={"t": 1}).start()
    late = threading.Timer(0.1, broker.close)
    late.start()
    with pytest.raises(BrokerClosedError, match="closed"):
        broker.topic("t").wait(1, timeout=600)
    late.join()


def test_awaiting_in_the_callers_trio_run() -> None:
    async def main() -> None:
        async with open_broker(topics={"t": 2}) as own, trio.open_nursery() as nursery:

            async def write() -> None:
                for value in ("a", "b"):
                    await own.produce("t", value)

            nursery.start_soon(write)
            assert [record.value for record in await own.topic("t").wait(2)] == [b"a", b"b"]
            with pytest.raises(TimeoutError, match="2 of 3"):
                await own.topic("t").wait(3, timeout=0.01)

    trio.run(main)


def follow(broker: KafkaBroker, **arguments: object) -> RecordFollow:
    return RecordFollow(broker._look, broker.cluster.topics, "t", **arguments)  # type: ignore[arg-type]


def values(news: News) -> list[bytes | None]:
    return [each.value for each in news.records]


def fill(broker: KafkaBroker, *texts: str) -> None:
    broker.produce_all("t", [ProducerRecord(text, partition=0) for text in texts])


def test_what_comes_is_given_once() -> None:
    with KafkaBroker(topics={"t": 2}) as broker:
        fill(broker, "before")
        with follow(broker) as following:
            news = following.look()
            assert values(news) == []
            assert not news.changed.done()
            fill(broker, "a", "b")
            news.changed.result(30)
            news = following.look()
            assert values(news) == [b"a", b"b"]
            broker.produce("t", "c", partition=1)
            news.changed.result(30)
            assert values(following.look()) == [b"c"]
        assert all(not len(each.waiters) for each in broker.cluster.topics.get("t").partitions)  # type: ignore[union-attr]


def test_watching_begins_at_an_offset_or_with_the_latest() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        fill(broker, "a", "b", "c")
        with follow(broker, start=1) as following, follow(broker, latest=2) as latest:
            assert values(following.look()) == [b"b", b"c"]
            assert latest.look().left_out == 0
            fill(broker, "d", "e", "f")
            news = latest.look()
            assert (values(news), news.left_out) == ([b"e", b"f"], 1)


def test_much_comes_in_parts_and_nothing_is_left_out() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", [ProducerRecord(str(number), partition=0) for number in range(4500)])  # large batches
        with follow(broker, start=0) as following:
            found: list[bytes | None] = []
            while len(found) < 4500:
                news = following.look()
                found += values(news)
                assert len(values(news)) <= 2000
                assert news.changed.done() == (len(found) < 4500)
        assert found == [str(number).encode() for number in range(4500)]


def test_what_is_committed_comes_when_it_is() -> None:
    with KafkaBroker(topics={"t": 1}) as broker, follow(broker, start=0, isolation="read_committed") as following:
        broker.produce("t", "gone", partition=0, transactional_id="x", transaction="abort")
        broker.produce("t", "open", partition=0, transactional_id="y", transaction="open")
        news = following.look()
        assert values(news) == []
        fill(broker, "behind")
        assert not news.changed.done()


def test_a_topic_that_is_emptied_or_made_anew_goes_on() -> None:
    with KafkaBroker(topics={"t": 1}) as broker, follow(broker, start=0) as following:
        fill(broker, "a", "b")
        news = following.look()
        assert values(news) == [b"a", b"b"]
        broker.reset()
        fill(broker, "c")
        news.changed.result(30)
        assert values(following.look()) == [b"c"]
        news = following.look()
        broker.topic("t").delete()
        news.changed.result(30)
        with pytest.raises(KafkaError, match="no topic 't'"):
            following.look()


def test_the_end_of_the_broker_is_told() -> None:
    broker = KafkaBroker(topics={"t": 1}).start()
    following = follow(broker)
    changed = following.look().changed
    broker.close()
    changed.result(30)
    with pytest.raises(BrokerClosedError):
        following.look()


def test_following_records_with_a_wrong_argument_or_of_no_topic_is_refused() -> None:
    with odradek.KafkaBroker() as broker:
        with pytest.raises(ValueError, match="latest=0"):
            follow(broker, latest=0)
        with pytest.raises(KafkaError, match="no topic 't'"):
            follow(broker).look()


def test_each_partition_begins_where_it_is_said_and_has_its_share() -> None:
    with KafkaBroker(topics={"t": 2}) as broker:
        for partition in (0, 1):
            broker.produce_all("t", [ProducerRecord(f"{partition}-{each}", partition=partition) for each in range(5)])
        with follow(broker, start=(3, 1), limit=4) as following:
            first, second = following.look(), following.look()
            assert values(first) == [b"0-3", b"0-4", b"1-1", b"1-2"]
            assert values(second) == [b"1-3", b"1-4"]
            assert (first.more, second.more) == (True, False)
