"""The broker's configuration: names, layers, sources, and what topics take from it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.config.broker_config import (
    BROKER_SYNONYMS,
    TOPIC_SYNONYMS,
    BrokerConfig,
    ConfigError,
    ConfigSource,
    TopicConfig,
    broker_keys,
    topic_keys,
)
from odradek.broker.config.definition import Use, keys_of
from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import TimestampType
from odradek.storage.log_config import LogConfig

ROOT = Path(__file__).parents[3]


# -- what is taken


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"log.retention.mss": "1"}, "unknown config 'log.retention.mss' (did you mean 'log.retention.ms'?)"),
        (
            {"retention.ms": "1"},
            "unknown config 'retention.ms' (a topic config: the broker's default for it is 'log.retention.ms')",
        ),
        ({"x": "1"}, "unknown config 'x'"),
        ({"message.format.version": "2.8"}, "unknown config 'message.format.version': Kafka 4.4 does not have it"),
        (
            {"message.format.version": "2.8", "odradek.kafka.version": "3.9"},
            "unknown config 'message.format.version' (a topic config: the broker's default for it is "
            "'log.message.format.version')",
        ),
        (
            {"zookeeper.connect": "a:1", "odradek.kafka.version": "4.0"},
            "unknown config 'zookeeper.connect': Kafka 4.0 does not have it",
        ),
        ({"num.partitions": "x"}, "Invalid value x for configuration num.partitions: Not a number of type INT"),
        ({"num.partitions": 0}, "Invalid value 0 for configuration num.partitions: Value must be at least 1"),
        (
            {"authorizer.class.name": "a.B"},
            "authorizer 'a.B' is not supported by odradek: authorizer.class.name takes "
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer or nothing",
        ),
        ({"node.id": "-1"}, "Invalid value -1 for configuration node.id: Value must be at least 0"),
        (
            {"offsets.topic.compression.codec": "9"},
            "Unknown compression type id: 9",
        ),
        (
            {"kafka.metrics.reporters": "x"},
            "config 'kafka.metrics.reporters' is not supported by odradek (only its default '' is)",
        ),
        (
            {"group.coordinator.rebalance.protocols": "consumer"},
            "Disabling the 'classic' protocol is not supported.",
        ),
        ({"log.retention.ms": None}, "config 'log.retention.ms' needs text, a number, a boolean or a list, not None"),
    ],
)
def test_a_broker_config_of_a_wrong_value_is_refused(values: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        BrokerConfig(values)
    assert str(refused.value) == why


def test_broker_config_takes_python_values() -> None:
    config = BrokerConfig({"num.partitions": 3, "auto.create.topics.enable": False, "log.cleanup.policy": ["compact"]})
    assert config.get_int("num.partitions") == 3
    assert config.get_bool("auto.create.topics.enable") is False
    assert config.get_list("log.cleanup.policy") == ("compact",)
    assert config.get_str("compression.type") == "producer"
    assert config.get("log.retention.ms") is None


def test_a_getter_of_another_type_is_an_error() -> None:
    config = BrokerConfig()
    for getter, name in (
        (config.get_int, "compression.type"),
        (config.get_int, "auto.create.topics.enable"),
        (config.get_bool, "num.partitions"),
        (config.get_str, "num.partitions"),
        (config.get_list, "num.partitions"),
    ):
        with pytest.raises(TypeError):
            getter(name)
    with pytest.raises(KeyError):
        config.get("no.such")


def test_a_refused_key_may_be_set_to_its_default() -> None:
    assert BrokerConfig({"remote.log.storage.system.enable": "false"}).static


def test_a_group_rebalance_does_not_wait_by_default() -> None:
    assert BrokerConfig().get_int("group.initial.rebalance.delay.ms") == 0
    assert (
        BrokerConfig({"group.initial.rebalance.delay.ms": "3000"}).get_int("group.initial.rebalance.delay.ms") == 3000
    )


# -- layers


def test_broker_config_takes_the_value_of_the_strongest_layer() -> None:
    config = BrokerConfig({"log.cleaner.backoff.ms": "1"}, node_ids=(1, 2))
    name = "log.cleaner.backoff.ms"
    config.set_dynamic(None, {name: "2"})
    config.set_dynamic(2, {name: "3"})
    assert [config.get_int(name), config.get_int(name, 1), config.get_int(name, 2)] == [2, 2, 3]
    assert [(s.value, s.source) for s in config.synonyms(name, 2)] == [
        ("3", ConfigSource.DYNAMIC_BROKER),
        ("2", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("1", ConfigSource.STATIC_BROKER),
        ("15000", ConfigSource.DEFAULT),
    ]
    config.set_dynamic(2, {})
    config.set_dynamic(None, {})
    assert config.get_int(name, 2) == 1


def test_the_only_nodes_own_values_are_the_clusters() -> None:
    config = BrokerConfig(node_ids=(1,))
    config.set_dynamic(1, {"log.cleaner.backoff.ms": "3"})
    assert config.get_int("log.cleaner.backoff.ms") == 3


def test_broker_config_tells_which_names_are_set() -> None:
    config = BrokerConfig()
    config.set_dynamic(1, {"log.retention.ms": "5", "log.segment.bytes": "2000000"})
    assert config.is_set("log.retention.ms")
    assert not config.is_set("log.retention.hours")


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ({}, "log.retention.ms", []),
        ({}, "log.retention.hours", [("log.retention.hours", "168", 5)]),
        (
            {"log.retention.ms": "-1"},
            "log.retention.ms",
            [("log.retention.ms", "-1", 4), ("log.retention.hours", "168", 5)],
        ),
        ({"log.retention.ms": "-1"}, "log.retention.hours", [("log.retention.hours", "168", 5)]),
    ],
)
def test_synonyms_begin_at_the_asked_name(
    values: dict[str, str], name: str, expected: list[tuple[str, str, int]]
) -> None:
    assert [tuple(entry) for entry in BrokerConfig(values).synonyms(name, 1)] == expected


# -- topics


@pytest.mark.parametrize(
    ("values", "retention_ms"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": 1}, 3_600_000),
        ({"log.retention.hours": 1, "log.retention.minutes": 2}, 120_000),
        ({"log.retention.minutes": 2, "log.retention.ms": 7}, 7),
        ({"log.retention.hours": -1}, -1),
        ({"log.retention.ms": -1}, -1),
    ],
)
def test_the_most_precise_retention_counts(values: dict[str, int], retention_ms: int) -> None:
    assert BrokerConfig(values).log_config({}).retention_ms == retention_ms


def test_log_config_without_settings_has_kafkas_defaults() -> None:
    assert BrokerConfig().log_config({}) == LogConfig()


def test_a_topic_overrides_the_broker() -> None:
    broker = BrokerConfig({"compression.type": "lz4", "log.message.timestamp.type": "LogAppendTime"})
    assert TopicConfig(broker).log_config().compression_type is Codec.LZ4
    topic = TopicConfig(
        broker,
        {
            "cleanup.policy": "compact,delete",
            "compression.type": "uncompressed",
            "message.timestamp.type": "CreateTime",
            "segment.bytes": "2000000",
        },
    )
    config = topic.log_config()
    assert config.cleanup_policy == {"compact", "delete"}
    assert config.compression_type is Codec.NONE
    assert config.message_timestamp_type is TimestampType.CREATE_TIME
    assert config.segment_bytes == 2_000_000
    assert topic.get("segment.bytes") == 2_000_000
    assert TopicConfig(broker, {"internal.segment.bytes": "100"}).log_config().segment_bytes == 100


def test_equal_settings_share_a_log_config() -> None:
    broker = BrokerConfig()
    assert broker.log_config({"retention.ms": "5"}) is broker.log_config({"retention.ms": "5"})


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"no.such": "1"}, "Unknown topic config name: no.such"),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
        ),
    ],
)
def test_topic_settings_that_are_refused(values: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        TopicConfig.check(values)
    assert str(refused.value) == why


# -- the tables


def test_synonyms_name_real_keys() -> None:
    assert set(TOPIC_SYNONYMS) <= {*topic_keys(), *keys_of("other_topic")}
    behind = {name for family in TOPIC_SYNONYMS.values() for name, _ in family}
    assert behind <= {*broker_keys(), *keys_of("other_broker")}
    assert {name for family in BROKER_SYNONYMS.values() for name in family} <= set(broker_keys())


def source_text() -> str:
    files = [path for folder in ("broker", "storage") for path in (ROOT / folder).rglob("*.py")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_every_honoured_broker_config_is_read_somewhere() -> None:
    text = source_text()
    behind_topics = {name for family in TOPIC_SYNONYMS.values() for name, _ in family}
    bounds = re.compile(r"group\.(consumer|share|streams)\.(min|max)\.")
    of_groups = re.compile(r"group\.(consumer|share|streams)\.")  # read as the default of the group's own config
    unread = [
        key.name
        for key in broker_keys().values()
        if key.use is Use.HONOURED
        and key.name not in behind_topics
        and not bounds.match(key.name)
        and f'"{key.name}"' not in text
        and not (of_groups.match(key.name) and f'"{key.name.removeprefix("group.")}"' in text)
    ]
    assert unread == []


def test_every_honoured_topic_config_reaches_the_log() -> None:
    fields = {name.replace("_", ".") for name in LogConfig.__dataclass_fields__} | {"internal.segment.bytes"}
    reaching = {key.name for key in topic_keys().values() if key.use in (Use.HONOURED, Use.DISK)}
    throttles = {f"{side}.replication.throttled.replicas" for side in ("leader", "follower")}  # the replicator's
    of_controller = {"remote.log.delete.on.disable"}
    of_share_groups = {"errors.deadletterqueue.group.enable"}
    assert reaching - throttles - of_controller - of_share_groups <= fields
