"""A log in which somebody keeps a state: what is new is read once, and nothing is appended behind what is unread."""

from __future__ import annotations

import pytest

import odradek
from odradek.broker.facade.records.state_log import News, StateLog
from odradek.protocol.errors import KafkaError
from tests.fakes.brokers import broker_fixture

broker = broker_fixture()


def kept(broker: odradek.KafkaBroker) -> StateLog:
    return StateLog(broker.cluster, broker._look, "state")


def seen(news: News | None) -> tuple[bool, list[bytes | None]] | None:
    return None if news is None else (news.replaced, [each.value for each in news.records])


def test_what_is_new_is_read_once(broker: odradek.KafkaBroker) -> None:
    log = kept(broker)
    assert log.news() is None
    assert log.append([(b"k", b"1"), (b"k", b"2")])
    assert seen(log.news()) == (False, [b"1", b"2"])
    assert log.news() is None
    assert log.append([(b"k", None)])
    assert seen(log.news()) == (False, [None])
    assert repr(log) == "<StateLog state to 3>"


def test_nothing_is_appended_behind_what_is_unread(broker: odradek.KafkaBroker) -> None:
    one, two = kept(broker), kept(broker)
    assert one.append([(b"k", b"1")])
    assert not two.append([(b"k", b"2")])
    assert seen(two.news()) == (True, [b"1"])
    assert two.append([(b"k", b"2")])
    assert not one.append([(b"k", b"3")])
    assert seen(one.news()) == (False, [b"1", b"2"])


def test_another_log_is_read_anew(broker: odradek.KafkaBroker) -> None:
    log = kept(broker)
    log.append([(b"k", b"1")])
    log.news()
    snapshot = broker.snapshot()
    log.append([(b"k", b"2")])
    log.news()
    broker.restore(snapshot)
    assert not log.append([(b"k", b"3")])
    assert seen(log.news()) == (True, [b"1"])
    broker.topic("state").delete()
    assert not log.append([(b"k", b"3")])
    assert seen(log.news()) == (True, [])
    assert log.append([(b"k", b"3")])
    assert seen(log.news()) == (False, [b"3"])


def test_a_log_of_no_use() -> None:
    with odradek.KafkaBroker(topics={"state": 2}) as broker, pytest.raises(KafkaError, match="it needs just one"):
        kept(broker).news()
    with odradek.KafkaBroker(topics=["state"]) as broker, pytest.raises(KafkaError, match=r"cleanup\.policy=compact"):
        kept(broker).append([(b"k", b"1")])


def test_state_log_refuses_records_that_are_too_large(broker: odradek.KafkaBroker) -> None:
    log = kept(broker)
    log.append([(b"k", b"1")])
    log.news()
    with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
        log.append([(b"k", b"1" * 2_000_000)])
    assert log.news() is None
