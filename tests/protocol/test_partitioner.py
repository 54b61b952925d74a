"""Partitions by key, as clients choose them."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

import odradek
from odradek.protocol.partitioner import Partitioner, murmur2


@pytest.mark.parametrize(
    ("data", "signed"),
    [
        (b"21", -973932308),
        (b"abc", 479470107),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
    ],
)
def test_the_hash_is_that_of_the_java_client(data: bytes, signed: int) -> None:
    assert murmur2(data) == signed & 0xFFFFFFFF


def test_librdkafka_with_murmur2_chooses_the_same_partition() -> None:
    keys = [b"1", b"order-7", "é".encode(), b"\xff" * 9, b"abcd"]
    with odradek.KafkaBroker(topics={"t": 7}) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"})
        for key in keys:
            producer.produce("t", b"", key)
        assert producer.flush(30) == 0
        chosen = {record.key: record.partition for record in broker.records("t")}
        assert {key: broker.produce("t", key=key).partition for key in keys} == chosen


def test_without_a_key_each_topic_is_gone_through_in_turn() -> None:
    partitioner = Partitioner()
    assert [partitioner.partition("t", None, 3) for _ in range(5)] == [0, 1, 2, 0, 1]
    assert partitioner.partition("u", None, 3) == 0
