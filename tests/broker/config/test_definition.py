"""Config values: what is taken, what is shown, and Kafka's words for the rest (all expected values seen on 4.3.1)."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import (
    ConfigError,
    format_value,
    keys_of,
    message_format,
    protocol_version,
    response_order,
)

# -- Names of versions are taken as Kafka takes them, and stand for message formats.


def test_versions_are_ordered_and_patch_releases_are_their_minor_release() -> None:
    names = ["0.8.2.1", "0.9.0", "0.10.0-IV0", "0.10.0", "0.10.2.2", "0.11.0", "1.1", "2.8-IV0", "2.8", "3.0", "3.9"]
    places = [protocol_version(name) for name in names]
    assert None not in places
    assert sorted(map(int, filter(None, places))) == [int(place or 0) for place in places]
    assert protocol_version("2.8.2") == protocol_version("2.8-IV1") == protocol_version("2.8")


@pytest.mark.parametrize("text", ["", "9.9", "0.10", "0.11", "1", "2.8-IV2", "x.2.8", "-1"])
def test_protocol_version_of_another_text_is_none(text: str) -> None:
    assert protocol_version(text) is None


@pytest.mark.parametrize(
    ("version", "kept"), [("0.8.0", 0), ("0.9.0.1", 0), ("0.10.0-IV0", 1), ("0.10.2", 1), ("0.11.0-IV0", 2), ("2.8", 2)]
)
def test_a_version_stands_for_a_message_format(version: str, kept: int) -> None:
    assert message_format(version) == kept


def formats(release: str, **configs: str) -> int:
    values = {name.replace("_", "."): value for name, value in configs.items()}
    config = BrokerConfig({"odradek.kafka.version": release, "odradek.zookeeper": "true", **values})
    return config.log_config({}).message_format


def test_the_format_counts_below_version_3_of_the_protocol() -> None:
    assert formats("2.8", log_message_format_version="0.10.2") == 1
    assert formats("3.6", log_message_format_version="0.10.2") == 2
    assert formats("3.6", log_message_format_version="0.9.0", inter_broker_protocol_version="2.8") == 0
    assert formats("3.6", inter_broker_protocol_version="2.8") == 2


def test_a_version_that_the_release_does_not_know_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Version `3\.0` is not a valid version"):
        formats("2.8", log_message_format_version="3.0")
    with pytest.raises(ConfigError, match=r"Version 3\.7 is not a valid version"):
        formats("3.6", inter_broker_protocol_version="3.7")


TABLES = ("broker", "topic", "group", "client_metrics", "odradek")


@pytest.mark.parametrize(
    ("table", "name", "text", "shown"),
    [
        ("topic", "retention.ms", " 5 ", "5"),
        ("topic", "retention.ms", "+5", "5"),
        ("topic", "preallocate", "TRUE", "true"),
        ("topic", "preallocate", " true ", "true"),
        ("topic", "cleanup.policy", "", ""),
        ("topic", "cleanup.policy", "compact, delete", "compact,delete"),
        ("topic", "compression.type", " gzip ", "gzip"),
        ("topic", "min.cleanable.dirty.ratio", "1e-1", "0.1"),
        ("topic", "min.cleanable.dirty.ratio", "NaN", "NaN"),
        ("topic", "follower.replication.throttled.replicas", "*", "*"),
        ("topic", "follower.replication.throttled.replicas", "0:1,1:2", "0:1,1:2"),
        ("broker", "group.consumer.migration.policy", "Disabled", "Disabled"),
        ("broker", "metric.reporters", "", ""),
        ("group", "share.auto.offset.reset", "by_duration:PT1H", "by_duration:PT1H"),
        ("client_metrics", "match", "client_id=*", "client_id=*"),
    ],
)
def test_a_config_takes_values_of_its_type(table: str, name: str, text: str, shown: str) -> None:
    assert keys_of(table)[name].normal(text) == shown


@pytest.mark.parametrize(
    ("table", "name", "text", "why"),
    [
        (
            "topic",
            "retention.ms",
            "soon",
            "Invalid value soon for configuration retention.ms: Not a number of type LONG",
        ),
        ("topic", "retention.ms", "", "Invalid value  for configuration retention.ms: Not a number of type LONG"),
        ("topic", "retention.ms", "-2", "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        (
            "topic",
            "retention.ms",
            "99999999999999999999",
            "Invalid value 99999999999999999999 for configuration retention.ms: Not a number of type LONG",
        ),
        (
            "topic",
            "retention.ms",
            "1_000",
            "Invalid value 1_000 for configuration retention.ms: Not a number of type LONG",
        ),
        (
            "topic",
            "segment.bytes",
            "3000000000",
            "Invalid value 3000000000 for configuration segment.bytes: Not a number of type INT",
        ),
        (
            "topic",
            "preallocate",
            "yes",
            "Invalid value yes for configuration preallocate: Expected value to be either true or false",
        ),
        (
            "topic",
            "cleanup.policy",
            "x",
            "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        ("topic", "cleanup.policy", "compact,,delete", "Configuration 'cleanup.policy' values must not be empty."),
        (
            "topic",
            "compression.type",
            "bzip",
            "Invalid value bzip for configuration compression.type: String must be one of: uncompressed, zstd, lz4, "
            "snappy, gzip, producer",
        ),
        (
            "topic",
            "compression.gzip.level",
            "0",
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
        ),
        (
            "topic",
            "compression.lz4.level",
            "99",
            "Invalid value 99 for configuration compression.lz4.level: Value must be no more than 17",
        ),
        (
            "topic",
            "min.cleanable.dirty.ratio",
            "2",
            "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1",
        ),
        (
            "topic",
            "min.cleanable.dirty.ratio",
            "abc",
            "Invalid value abc for configuration min.cleanable.dirty.ratio: Not a number of type DOUBLE",
        ),
        (
            "topic",
            "follower.replication.throttled.replicas",
            "x",
            "Invalid value [x] for configuration follower.replication.throttled.replicas: "
            "follower.replication.throttled.replicas must be the literal '*' or a list of replicas in the following "
            "format: [partitionId]:[brokerId],[partitionId]:[brokerId],...",
        ),
        (
            "broker",
            "group.consumer.migration.policy",
            "foo",
            "Invalid value foo for configuration group.consumer.migration.policy: String must be one of (case "
            "insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL",
        ),
        (
            "broker",
            "remote.log.metadata.manager.listener.name",
            "",
            "Invalid value  for configuration remote.log.metadata.manager.listener.name: String must be non-empty",
        ),
        (
            "broker",
            "process.roles",
            "",
            "Configuration 'process.roles' must not be empty. Valid values include: [broker, controller]",
        ),
        (
            "broker",
            "group.consumer.assignors",
            "",
            "Configuration 'group.consumer.assignors' must not be empty. Valid values include: any non-empty value",
        ),
        (
            "broker",
            "offsets.topic.replication.factor",
            "99999",
            "Invalid value 99999 for configuration offsets.topic.replication.factor: Not a number of type SHORT",
        ),
        (
            "group",
            "share.auto.offset.reset",
            "by_duration:-PT1H",
            "Invalid value by_duration:-PT1H for configuration share.auto.offset.reset: Invalid value "
            "`by_duration:-PT1H` for configuration share.auto.offset.reset. The value must be either 'earliest', "
            "'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
        ),
    ],
)
def test_a_config_refuses_values_of_other_types(table: str, name: str, text: str, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        keys_of(table)[name].parse(text)
    assert str(refused.value) == why


@pytest.mark.parametrize("table", TABLES)
def test_every_default_is_a_value_in_its_normal_form(table: str) -> None:
    for key in keys_of(table).values():
        if key.default is not None:
            assert key.normal(key.default) == key.default, key.name


@pytest.mark.parametrize("table", TABLES)
def test_every_key_is_described_in_a_sentence(table: str) -> None:
    for key in keys_of(table).values():
        assert key.documentation.endswith("."), key.name
        assert 15 < len(key.documentation) < 160, key.name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (("a", "b"), "a,b"),
        (0.5, "0.5"),
        (1.0, "1.0"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (1.5e-5, "1.5E-5"),
        (float("inf"), "Infinity"),
    ],
)
def test_values_are_written_as_java_does(value: object, text: str | None) -> None:
    assert format_value(value) == text  # type: ignore[arg-type]


def test_answers_keep_the_order_of_a_hash_map() -> None:
    names = ["consumer.heartbeat.interval.ms", "consumer.session.timeout.ms", "share.auto.offset.reset"]
    assert sorted(response_order(names)) == names
    assert response_order(list(reversed(names))) == response_order(names)
