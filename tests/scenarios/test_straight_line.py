"""Produce and consume without groups, the same for each Python client library."""

from __future__ import annotations

import time

import pytest

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.python_clients import KITS, Kit, Out, Reading, Settings
from tests.scenarios.target import Target, unique

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
HOUR_MS = 3_600_000


@pytest.fixture(params=KITS, ids=lambda kit: kit.name)
def kit(request: pytest.FixtureRequest) -> Kit:
    chosen: Kit = request.param
    return chosen


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_produced_with_a_codec_comes_back(kit: Kit, codec: str, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    records = [Out(b"value %d " % n * 20, key=b"%d" % n) for n in range(200)]
    placed = kit.produce(bootstrap, topic, records, Settings(codec=codec))
    assert placed == [(0, n) for n in range(200)]
    seen = kit.consume(bootstrap, topic, 200, Reading())
    assert [(each.offset, each.key, each.value) for each in seen] == [
        (n, record.key, record.value) for n, record in enumerate(records)
    ]


@pytest.mark.round
@pytest.mark.parametrize("reader", KITS, ids=lambda kit: f"read-by-{kit.name}")
def test_headers_timestamps_and_tombstones_pass_between_clients(
    kit: Kit, reader: Kit, bootstrap: str, make_topic: MakeTopic
) -> None:
    topic = make_topic(partitions=2)
    at = time.time_ns() // 1_000_000 - HOUR_MS
    last = b"x" if kit.name == "kafka-python" else None  # kafka-python cannot send a header without a value
    records = [
        Out(b"plain", timestamp=at),
        Out(None, key=b"gone", timestamp=at + 1),
        Out(b"", key=b"", timestamp=at + 2, headers=(("a", b"1"), ("a", b"2"), ("empty", b""), ("none", last))),
        Out(b"other", partition=1, timestamp=at + 3, headers=(("h\u00e9", b"\xff\x00"),)),
    ]
    kit.produce(bootstrap, topic, records, Settings())
    seen = reader.consume(bootstrap, topic, 4, Reading(start={0: 0, 1: 0}))
    found = sorted(seen, key=lambda each: each.timestamp)
    assert [(r.partition, r.timestamp, r.timestamp_type, r.key, r.value, r.headers) for r in found] == [
        (r.partition, r.timestamp, 0, r.key, r.value, r.headers) for r in records
    ]


def test_log_append_time_replaces_the_timestamp(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic(message_timestamp_type="LogAppendTime")
    before = time.time_ns() // 1_000_000
    kit.produce(bootstrap, topic, [Out(b"x", timestamp=12345)], Settings(codec="gzip"))
    (seen,) = kit.consume(bootstrap, topic, 1, Reading())
    assert seen.timestamp_type == 1
    assert before <= seen.timestamp <= before + 60_000


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_every_acks_setting_delivers(kit: Kit, acks: int, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    kit.produce(bootstrap, topic, [Out(b"%d" % n) for n in range(20)], Settings(acks=acks))
    assert [each.value for each in kit.consume(bootstrap, topic, 20, Reading())] == [b"%d" % n for n in range(20)]


@pytest.mark.round
def test_an_idempotent_producer_delivers_once_and_in_order(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=3)
    records = [Out(b"%d" % n, partition=n % 3) for n in range(300)]
    kit.produce(bootstrap, topic, records, Settings(idempotent=True, linger_ms=1))
    seen = kit.consume(bootstrap, topic, 300, Reading(start={0: 0, 1: 0, 2: 0}))
    for partition in range(3):
        values = [each.value for each in seen if each.partition == partition]
        assert values == [b"%d" % n for n in range(partition, 300, 3)]


def test_reading_starts_at_the_offset_sought(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    kit.produce(bootstrap, topic, [Out(b"%d" % n) for n in range(100)], Settings(codec="lz4"))
    seen = kit.consume(bootstrap, topic, 27, Reading(start={0: 73}))
    assert [each.offset for each in seen] == list(range(73, 100))
    assert seen[0].value == b"73"


def test_offsets_for_times(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    start = time.time_ns() // 1_000_000 - HOUR_MS
    for number in range(5):  # a batch each
        kit.produce(bootstrap, topic, [Out(b"x", timestamp=start + number * 1000)], Settings())
    assert kit.offsets_for_time(bootstrap, topic, {0: start}) == {0: 0}
    assert kit.offsets_for_time(bootstrap, topic, {0: start + 2001}) == {0: 3}
    end = 5 if kit.name == "confluent-kafka" else None  # librdkafka answers the end offset where others answer nothing
    found = kit.offsets_for_time(bootstrap, topic, {0: start + 4001, 1: start})
    assert found[0] in (end, None)
    assert found[1] in (0 if end else None, None)


def test_watermarks_of_a_partition_are_told(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    assert kit.watermarks(bootstrap, topic, 0) == (0, 0)
    kit.produce(bootstrap, topic, [Out(b"x")] * 7, Settings())
    assert kit.watermarks(bootstrap, topic, 0) == (0, 7)


def test_a_record_of_nearly_a_megabyte(kit: Kit, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    kit.produce(bootstrap, topic, [Out(bytes(range(256)) * 3900)], Settings())
    (seen,) = kit.consume(bootstrap, topic, 1, Reading())
    assert seen.value == bytes(range(256)) * 3900


def test_producing_to_an_unknown_topic_creates_it(kit: Kit, broker: Target) -> None:
    topic = unique("auto")
    kit.produce(broker.bootstrap, topic, [Out(b"x")], Settings())
    assert [each.value for each in kit.consume(broker.bootstrap, topic, 1, Reading())] == [b"x"]
