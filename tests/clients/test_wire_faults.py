"""Client libraries get through what goes wrong below the API, as they do with a broker on a bad network."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import confluent_kafka
import pytest

from odradek import KafkaBroker, WireFault
from tests.scenarios.python_clients import KITS, Kit, Out, Reading, Settings

RECORDS = 20
ROBUST = [kit for kit in KITS if kit.name != "aiokafka"]
"""aiokafka gives up where the connection for its first questions breaks."""


pytestmark = pytest.mark.filterwarnings(  # kafka-python leaves sockets that broke to the garbage collector
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics=["t"]) as running:
        yield running
        running.set_faults()
        running.heal()
        assert not running.bugs, running.bugs[0]


def answers(api: str) -> list[WireFault]:
    return [
        WireFault(api, cut_after=0, times=2),
        WireFault(api, cut_after=11, times=2),
        WireFault(api, cut_after=11, how="reset", times=2),
        WireFault(api, cut_after=0, how="half-close", times=1),
        WireFault(api, stall_after=7, stall_ms=200, times=2),
        WireFault(api, pieces=1, times=3),
    ]


def connections() -> list[WireFault]:
    return [
        WireFault(on="connect", how="reset", times=2),
        WireFault(on="connect", how="close", times=2),
        WireFault(on="connect", how="half-close", times=1),
    ]


@pytest.mark.parametrize("fault", [*answers("Produce"), *answers("ApiVersions"), *connections()], ids=repr)
@pytest.mark.parametrize("kit", ROBUST, ids=lambda kit: kit.name)
def test_an_idempotent_producer_writes_each_record_once(kit: Kit, fault: WireFault, broker: KafkaBroker) -> None:
    broker.set_faults(fault)
    kit.produce(broker.bootstrap_servers, "t", [Out(b"%d" % n) for n in range(RECORDS)], Settings(idempotent=True))
    assert [record.value for record in broker.records("t")] == [b"%d" % n for n in range(RECORDS)]
    assert fault.hits


@pytest.mark.parametrize("fault", [*answers("Fetch"), *answers("Metadata"), *connections()], ids=repr)
@pytest.mark.parametrize("kit", ROBUST, ids=lambda kit: kit.name)
def test_a_consumer_reads_each_record_once(kit: Kit, fault: WireFault, broker: KafkaBroker) -> None:
    broker.produce_all("t", [b"%d" % n for n in range(RECORDS)])
    broker.set_faults(fault)
    seen = kit.consume(broker.bootstrap_servers, "t", RECORDS, Reading(start={0: 0}))
    assert [each.value for each in seen] == [b"%d" % n for n in range(RECORDS)]
    assert fault.hits


def test_kafka_python_finds_a_damaged_batch(broker: KafkaBroker) -> None:
    import kafka
    from kafka.errors import CorruptRecordError

    broker.produce("t", "v")
    fault = WireFault("Fetch", flip="records", topic="t")
    broker.set_faults(fault)
    consumer = kafka.KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest")
    consumer.assign([kafka.TopicPartition("t", 0)])
    with pytest.raises(CorruptRecordError):
        consumer.poll(timeout_ms=60_000)
    consumer.close()


def test_librdkafka_finds_a_damaged_batch_and_reads_on(broker: KafkaBroker) -> None:
    broker.produce("t", "v")
    fault = WireFault("Fetch", flip="records", topic="t", times=1)
    broker.set_faults(fault)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "check.crcs": True}
    consumer = confluent_kafka.Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.assign([confluent_kafka.TopicPartition("t", 0, 0)])
    seen: list[confluent_kafka.Message] = []
    while not seen or seen[-1].error():
        message = consumer.poll(60)
        assert message is not None
        seen.append(message)
    assert seen[-1].value() == b"v"
    assert fault.hits == 1
    consumer.close()


@pytest.mark.parametrize("kit", ROBUST, ids=lambda kit: kit.name)
def test_a_producer_waits_while_its_node_is_frozen(kit: Kit, broker: KafkaBroker) -> None:
    broker.freeze_node(1)
    records = [Out(b"%d" % n) for n in range(RECORDS)]
    producing = threading.Thread(
        target=lambda: kit.produce(broker.bootstrap_servers, "t", records, Settings(idempotent=True))
    )
    producing.start()
    producing.join(0.3)
    assert not list(broker.records("t"))
    broker.thaw_node(1)
    producing.join(120)
    assert [record.value for record in broker.records("t")] == [b"%d" % n for n in range(RECORDS)]


@pytest.mark.parametrize("kit", ROBUST, ids=lambda kit: kit.name)
def test_a_slow_link_and_refused_connections(kit: Kit, broker: KafkaBroker) -> None:
    broker.slow("*", 1, ms=20, jitter=20, bytes_per_second=100_000)
    kit.produce(broker.bootstrap_servers, "t", [Out(b"v")] * RECORDS, Settings(idempotent=True))
    refusing = broker.refuse_connections(1)
    timer = threading.Timer(0.3, refusing.undo)
    timer.start()
    seen = kit.consume(broker.bootstrap_servers, "t", RECORDS, Reading(start={0: 0}))
    timer.join()
    assert len(seen) == RECORDS


@pytest.mark.parametrize("how", ["full", "write"])
def test_a_producer_follows_the_leader_whose_disk_works(how: str) -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}) as broker:
        leader = broker.topics["t"].partitions[0].leader
        broker.fail_disk(leader, how)  # type: ignore[arg-type]
        KITS[0].produce(broker.bootstrap_servers, "t", [Out(b"v")] * RECORDS, Settings(idempotent=True))
        assert broker.topics["t"].partitions[0].leader != leader
        assert len(list(broker.records("t"))) == RECORDS
