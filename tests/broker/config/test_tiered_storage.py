"""Configs of tiered storage, and what a broker with a tier answers: as recorded from Kafka 4.3.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from odradek import KafkaBroker
from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.config.tiered_storage import FORGETS, FORGETS_METADATA, STORAGES, check_broker, check_topic
from odradek.storage.loading import Tier
from tests.fakes.wire_client import WireClient
from tests.scenarios.tiered_storage import BROKER, CASES, VECTORS, transcribe

ON = {"remote.log.storage.system.enable": "true", "remote.log.storage.manager.class.name": STORAGES[0]}
RECORDED = json.loads(VECTORS.read_text())


def port_of(broker: KafkaBroker) -> int:
    return int(broker.bootstrap_servers.rpartition(":")[2])


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_a_broker_tells_what_kafka_tells(case: str) -> None:
    own, stories = CASES[case]
    with KafkaBroker(config={**BROKER, **own}) as broker, WireClient(port=port_of(broker)) as client:
        assert transcribe(client, stories) == RECORDED[case]


def checked(values: Mapping[str, str]) -> None:
    check_broker(BrokerConfig(values), ["PLAINTEXT", "INTERNAL"])


def test_the_managers_of_kafkas_own_tests_are_known() -> None:
    checked({})
    for storage in STORAGES:
        checked({**ON, "remote.log.storage.manager.class.name": storage})
    checked({**ON, "remote.log.metadata.manager.class.name": FORGETS_METADATA})
    checked({"remote.log.storage.manager.class.name": "com.example.Mine"})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"remote.log.storage.system.enable": "true"}, r"remote\.log\.storage\.manager\.class\.name= is not supported"),
        ({**ON, "remote.log.storage.manager.class.name": "com.example.Mine"}, r"com\.example\.Mine is not supported"),
        ({**ON, "remote.log.metadata.manager.class.name": "com.example.Mine"}, r"com\.example\.Mine is not supported"),
        (
            {**ON, "remote.log.metadata.manager.listener.name": "OTHER"},
            "Should be set as a listener name within valid broker listener name list: PLAINTEXT, INTERNAL",
        ),
        (
            {**ON, "log.retention.ms": "100", "log.local.retention.ms": "200"},
            r"Invalid value 200 for configuration local\.retention\.ms: Value must not be more than retention\.ms",
        ),
    ],
)
def test_what_a_broker_does_not_start_with(values: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        checked(values)


def test_a_listener_is_found_in_any_case() -> None:
    checked({**ON, "remote.log.metadata.manager.listener.name": "internal"})


def test_the_brokers_limits_count_for_topics_that_have_none() -> None:
    broker = BrokerConfig({**ON, "log.retention.ms": "2000", "log.local.retention.ms": "1000"})
    check_topic(broker, {}, {"remote.storage.enable": "true", "retention.ms": "1001"})
    with pytest.raises(ConfigError, match=r"Value must not be more than retention\.ms property value: 999"):
        check_topic(broker, {}, {"remote.storage.enable": "true", "retention.ms": "999"})
    check_topic(broker, {}, {"retention.ms": "999"})


def test_a_topic_is_not_tiered_where_the_broker_is_not() -> None:
    with pytest.raises(ConfigError) as refused:
        check_topic(BrokerConfig({}), {}, {"remote.storage.enable": "true"})
    assert str(refused.value) == (
        "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
    )


def test_a_directory_with_a_tiered_topic_needs_the_tier(tmp_path: Path) -> None:
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.create_topic("t", config={"remote.storage.enable": "true"})
        broker.create_topic("u", config={"remote.storage.enable": "false"})
    with pytest.raises(ConfigError, match="You have to delete all topics with the property"):
        KafkaBroker(data_dir=tmp_path).start()
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.topic("t").delete()
    with KafkaBroker(data_dir=tmp_path) as broker:
        assert "u" in broker.topics


def test_a_log_is_tiered_where_broker_and_topic_say_so() -> None:
    tiered = {"remote.storage.enable": "true"}
    log = BrokerConfig({**ON, "log.local.retention.ms": "1000"}).log_config(tiered)
    assert (log.remote_storage_enable, log.remote_storage_keeps) == (True, True)
    assert (log.local_retention_ms, log.local_retention_bytes) == (1000, -1)
    assert not BrokerConfig(ON).log_config({}).remote_storage_enable
    assert not BrokerConfig({}).log_config(tiered).remote_storage_enable
    assert BrokerConfig(ON).log_config({"retention.ms": "5", "retention.bytes": "6"}).local_retention_bytes == 6
    assert BrokerConfig(ON).log_config({"remote.log.copy.disable": "true", **tiered}).remote_log_copy_disable
    forgets = {**ON, "remote.log.storage.manager.class.name": FORGETS}
    assert not BrokerConfig(forgets).log_config(tiered).remote_storage_keeps
    forgets = {**ON, "remote.log.metadata.manager.class.name": FORGETS_METADATA}
    assert not BrokerConfig(forgets).log_config(tiered).remote_storage_keeps


def test_a_restart_keeps_what_is_tiered(tmp_path: Path) -> None:
    topic = {"remote.storage.enable": "true", "internal.segment.bytes": "100", "local.retention.bytes": "1"}
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        broker.clock.freeze()
        broker.create_topic("t", config=topic)
        broker.produce_all("t", [b"v" * 30])
        broker.produce_all("t", [b"v" * 30])
        broker.clock.advance(minutes=6)
        log = broker.cluster.topics.by_name("t").partitions[0].log
        assert log.tier == (1, 0)
        assert list(broker.topics) == ["t"], "no topic keeps what is known of the tier"
    with KafkaBroker(config=ON, data_dir=tmp_path) as broker:
        assert len(list(broker.records("t"))) == 2
        log = broker.cluster.topics.by_name("t").partitions[0].log
        assert (log.log_start_offset, log.tier) == (0, (0, -1)), "everything is local until the next rounds"


def test_snapshots_and_forks_know_what_is_tiered() -> None:
    topic = {"remote.storage.enable": "true", "internal.segment.bytes": "100", "local.retention.bytes": "1"}

    def fill(broker: KafkaBroker) -> None:
        for _ in range(3):
            broker.produce_all("t", [b"v" * 30])
        broker.clock.advance(minutes=6)

    def tier(broker: KafkaBroker) -> Tier | None:
        return broker.cluster.topics.by_name("t").partitions[0].log.tier

    with KafkaBroker(config=ON) as broker:
        broker.clock.freeze()
        broker.create_topic("t", config=topic)
        fill(broker)
        snapshot = broker.snapshot()
        fill(broker)
        assert tier(broker) == (5, 4)
        with broker.fork() as fork:
            assert tier(fork) == (5, 4)
        broker.restore(snapshot)
        assert tier(broker) == (2, 1)
