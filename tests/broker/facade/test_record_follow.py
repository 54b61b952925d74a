"""Records as they come."""

from __future__ import annotations

import pytest

import odradek
from odradek import KafkaBroker, KafkaError, ProducerRecord
from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.facade.record_follow import News, RecordFollow


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


def test_it_begins_at_an_offset_or_with_the_latest() -> None:
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
        broker.delete_topic("t")
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


def test_mistakes_are_told() -> None:
    with odradek.KafkaBroker() as broker:
        with pytest.raises(ValueError, match="latest=0"):
            follow(broker, latest=0)
        with pytest.raises(KafkaError, match="no topic 't'"):
            follow(broker).look()
