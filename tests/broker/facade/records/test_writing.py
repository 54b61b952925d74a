"""Writing records without a client, alone and in transactions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from confluent_kafka import Consumer, TopicPartition

from odradek.broker.controller.feature_control import FeatureUpdate
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.records.record import ProducerRecord, RecordMetadata
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.brokers import broker_fixture

broker = broker_fixture(topics={"t": 3})


def values(broker: KafkaBroker, isolation: Any = "read_committed") -> list[bytes | None]:
    return [record.value for record in broker.records("t", isolation=isolation)]


def test_produce_writes_a_record_with_all_its_fields(broker: KafkaBroker) -> None:
    written = broker.produce("t", "v", key="k", headers={"h": "1"}, partition=2, timestamp=1_700_000_000_000)
    assert written == RecordMetadata("t", 2, 0, 1_700_000_000_000)
    (record,) = broker.records("t")
    assert (record.partition, record.offset, record.timestamp) == (2, 0, 1_700_000_000_000)
    assert (record.key, record.value, record.headers) == (b"k", b"v", (("h", b"1"),))
    assert (record.producer_id, record.transactional) == (-1, False)


def test_many_records_are_where_the_call_says(broker: KafkaBroker) -> None:
    given = [ProducerRecord(f"v{n}", key=f"k{n % 50}", headers=[("n", str(n))]) for n in range(2500)]
    written = broker.produce_all("t", iter(given))
    stored = {(record.partition, record.offset): record.value for record in broker.records("t")}
    assert len(stored) == 2500
    assert [stored[each.partition, each.offset] for each in written] == [str(each.value).encode() for each in given]
    by_key: dict[Any, set[int]] = {}
    for asked, each in zip(given, written, strict=True):
        by_key.setdefault(asked.key, set()).add(each.partition)
    assert {len(partitions) for partitions in by_key.values()} == {1}


def test_the_time_is_the_brokers_and_log_append_time_is_told(broker: KafkaBroker) -> None:
    broker.create_topic("appended", config={"message.timestamp.type": "LogAppendTime"})
    with broker.clock.stopped():
        now_ms = broker.clock.now_ms()
        assert broker.produce("t", "v").timestamp == now_ms
        assert broker.produce("appended", "v", timestamp=5).timestamp == now_ms


def test_produce_uses_the_serializers_given(broker: KafkaBroker) -> None:
    broker.produce("t", {"n": 1}, key=7, key_serializer=lambda n: bytes([n]), value_serializer=_as_json)
    broker.produce_all("t", [[1], ProducerRecord([2])], value_serializer=_as_json)
    assert sorted(value for value in values(broker) if value) == [b"[1]", b"[2]", b'{"n": 1}']


def _as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_consumer_that_waits_gets_the_record(broker: KafkaBroker) -> None:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "fetch.wait.max.ms": 60_000})
    consumer.assign([TopicPartition("t", 0, 0)])
    late = threading.Timer(0.2, broker.produce, ["t", "late"], {"partition": 0})
    late.start()
    message = consumer.poll(30)
    late.join()
    consumer.close()
    assert message is not None
    assert message.value() == b"late"


# -- refusals


def test_nothing_is_created_by_writing(broker: KafkaBroker) -> None:
    broker.create_topic("orders")
    with pytest.raises(KafkaError, match=r"no topic 'order' \(did you mean 'orders'\?\)") as caught:
        broker.produce("order", "v")
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert sorted(broker.topics) == ["orders", "t"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"partition": 3}, KafkaError, "no partition 3, it has 3"),
        ({"partition": "1"}, TypeError, "partition='1': expected a whole number"),
        ({"timestamp": -1}, ValueError, "expected milliseconds since 1970"),
        ({"transaction": "open"}, ValueError, "needs a transactional_id"),
        ({"transaction": "roll", "transactional_id": "x"}, ValueError, "expected one of commit, abort, open"),
        ({"transactional_id": ""}, ValueError, "must not be empty"),
        ({"headers": {"h": 1}}, TypeError, "as header, not 1"),
    ],
)
def test_what_makes_no_sense_is_refused(
    broker: KafkaBroker, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        broker.produce("t", "v", **arguments)
    assert values(broker) == []


def test_the_log_refuses_as_it_refuses_clients(broker: KafkaBroker) -> None:
    broker.create_topic("compacted", config={"cleanup.policy": "compact", "max.message.bytes": 2000})
    for key, value, code in (("k", "v" * 3000, 10), (None, "v", 87)):
        with pytest.raises(KafkaError, match="compacted-0: ") as caught:
            broker.produce("compacted", value, key=key)
        assert caught.value.code == code
    with pytest.raises(KafkaError) as caught:
        broker.produce("__consumer_offsets", "v")
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.group("g").set_offsets({("t", 0): 0})
    with pytest.raises(KafkaError) as caught:
        broker.produce("__consumer_offsets", "v")
    assert caught.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_nobody_writes_to_a_partition_without_a_leader_or_enough_replicas() -> None:
    config = {"min.insync.replicas": "2"}
    with KafkaBroker(nodes=2, topics={"t": {"replication_factor": 2, "config": config}, "u": 2}) as broker:
        broker.stop_node(2)
        with pytest.raises(KafkaError) as caught:
            broker.produce("t", "v")
        assert caught.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
        alone = next(each.index for each in broker.topics["u"].partitions if each.leader < 0)
        with pytest.raises(KafkaError, match="has no leader") as caught:
            broker.produce("u", "v", partition=alone)
        assert caught.value.code is ErrorCode.LEADER_NOT_AVAILABLE


def test_in_the_callers_trio_run() -> None:
    async def main() -> None:
        async with open_broker(topics={"t": 1}) as own:
            await own.produce_all("t", ["a", "b"], transactional_id="tx")
            assert [record.value for record in own.records("t")] == [b"a", b"b"]

    trio.run(main)


transactional_broker = broker_fixture(topics={"t": 3})


def committed_values(transactional_broker: KafkaBroker, isolation: Any = "read_committed") -> list[bytes | None]:
    return [record.value for record in transactional_broker.records("t", isolation=isolation)]


def test_a_transaction_is_committed_aborted_or_left_open(transactional_broker: KafkaBroker) -> None:
    transactional_broker.produce_all("t", ["a", "b", "c", "d"], transactional_id="tx")
    assert sorted(committed_values(transactional_broker)) == [b"a", b"b", b"c", b"d"]  # type: ignore[type-var]
    assert transactional_broker.transactions["tx"].state == "CompleteCommit"
    assert [r.control for r in transactional_broker.records("t", control=True) if r.control] == ["commit"] * 3

    transactional_broker.produce("t", "gone", partition=0, transactional_id="tx", transaction="abort")
    assert transactional_broker.transactions["tx"].state == "CompleteAbort"
    assert b"gone" not in committed_values(transactional_broker)

    transactional_broker.produce("t", "pending", partition=0, transactional_id="tx", transaction="open")
    assert transactional_broker.transactions["tx"].state == "Ongoing"
    assert transactional_broker.transactions["tx"].partitions == (("t", 0),)
    assert b"pending" in committed_values(transactional_broker, "read_uncommitted")
    assert b"pending" not in committed_values(transactional_broker)

    transactional_broker.produce("t", "next", partition=0, transactional_id="tx")
    assert committed_values(transactional_broker).count(b"next") == 1
    assert b"pending" not in committed_values(transactional_broker)
    assert transactional_broker.transactions["tx"].state == "CompleteCommit"


def test_an_open_transaction_ends_at_its_timeout(transactional_broker: KafkaBroker) -> None:
    transactional_broker.produce("t", "pending", partition=0, transactional_id="tx", transaction="open")
    transactional_broker.produce("t", "behind", partition=0)
    assert committed_values(transactional_broker) == []
    transactional_broker.clock.advance(minutes=2)
    assert [r.value for r in transactional_broker.topic("t").wait(1, isolation="read_committed")] == [b"behind"]


def test_a_failure_half_way_aborts_the_transaction(transactional_broker: KafkaBroker) -> None:
    def records() -> Iterator[Any]:
        yield from ("v" for _ in range(1500))
        yield 5

    with pytest.raises(TypeError, match="not 5"):
        transactional_broker.produce_all("t", records(), transactional_id="tx")
    assert transactional_broker.transactions["tx"].state == "CompleteAbort"
    assert committed_values(transactional_broker) == []


def test_a_held_transaction_is_not_waited_for_forever(transactional_broker: KafkaBroker) -> None:
    with transactional_broker.hold("tx", at="PrepareCommit"):
        transactional_broker.produce("t", "v", transactional_id="tx")
        assert transactional_broker.transactions["tx"].state == "PrepareCommit"
        with pytest.raises(KafkaError, match="'tx' has not ended") as caught:
            transactional_broker.produce("t", "v", transactional_id="tx")
        assert caught.value.code is ErrorCode.CONCURRENT_TRANSACTIONS
    assert committed_values(transactional_broker) == [b"v"]


def test_before_kip_890_a_transaction_keeps_its_epoch(transactional_broker: KafkaBroker) -> None:
    update = FeatureUpdate("transaction.version", 0, upgrade_type=2)
    transactional_broker._call(lambda: transactional_broker.cluster.controller.update_features([update]))
    transactional_broker.produce("t", "v", transactional_id="tx")
    transactional_broker.produce("t", "gone", transactional_id="tx", transaction="abort")
    assert committed_values(transactional_broker) == [b"v"]
    epochs = [record.producer_epoch for record in transactional_broker.records("t", control=True)]
    assert sorted(epochs) == [0, 0, 1, 1]  # a marker has the epoch of its records; the second producer has the next
