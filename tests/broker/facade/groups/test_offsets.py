"""Offsets that a test commits for a group."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError


def test_a_group_begins_where_it_was_set_and_cannot_be_set_while_it_has_members() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b", "c"])
        broker.group("g").set_offsets({("t", 0): 1})
        assert broker.group("g").lag == 2
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"})
        consumer.subscribe(["t"])
        assert [message.value() for message in consumer.consume(2, timeout=30)] == [b"b", b"c"]
        with pytest.raises(KafkaError, match="group 'g': offsets can be set only while the group has no members"):
            broker.group("g").set_offsets({("t", 0): 0})
        consumer.close()
        broker.group("g").set_offsets({("t", 0): 0})
        assert broker.group("g").lag == 3
        broker.reload_coordinator(broker.cluster.groups.partition_for("g"))
        assert broker.group("g").lag == 3
        assert broker.bugs == []


def test_offsets_that_make_no_sense_are_refused_together() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        for offset in (-1, True, "1", None):
            with pytest.raises(ValueError, match="the offset of t-0 must be a number from 0 on"):
                broker.group("g").set_offsets({("t", 0): offset})  # type: ignore[dict-item]
        for place in (("u", 0), ("t", 1)):
            with pytest.raises(KafkaError) as caught:
                broker.group("g").set_offsets({("t", 0): 0, place: 0})
            assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(TypeError, match=r"5: expected offsets such as {\(.orders., 0\): 5}"):
            broker.group("g").set_offsets(5)  # type: ignore[arg-type]
        for key in ("t", 0, ("t",), ("t", "0")):
            with pytest.raises(TypeError, match=r"a key is \(topic, partition\), such as \(\"(t|orders)\", 0\)"):
                broker.group("g").set_offsets({key: 5})  # type: ignore[dict-item]
        with pytest.raises(ValueError, match="a group id has 32767 bytes at most"):
            broker.group("é" * 16_384).set_offsets({("t", 0): 0})
        assert broker.groups == {}
