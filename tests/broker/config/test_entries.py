"""What DescribeConfigs shows: values, their sources, and the settings behind them."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig, ConfigSource
from odradek.broker.config.entries import (
    ConfigEntry,
    broker_entries,
    client_metrics_entries,
    cluster_default_entries,
    group_entries,
    selected,
    topic_entries,
)

S = ConfigSource


def one(entries: list[ConfigEntry], name: str) -> ConfigEntry:
    [found] = selected(entries, [name])
    return found


def behind(entry: ConfigEntry) -> list[tuple[str, str | None, ConfigSource]]:
    return [tuple(synonym) for synonym in entry.synonyms]  # type: ignore[misc]


def test_a_topics_own_setting_comes_before_the_brokers() -> None:
    broker = BrokerConfig({"log.retention.ms": 1000})
    entry = one(topic_entries(broker, {"retention.ms": "5"}, 1), "retention.ms")
    assert (entry.value, entry.source, entry.read_only) == ("5", S.DYNAMIC_TOPIC, False)
    assert behind(entry)[:2] == [("retention.ms", "5", S.DYNAMIC_TOPIC), ("log.retention.ms", "1000", S.STATIC_BROKER)]


def test_a_topic_without_a_setting_shows_the_brokers() -> None:
    broker = BrokerConfig({"log.retention.ms": 1000})
    entry = one(topic_entries(broker, {}, 1), "retention.ms")
    assert (entry.value, entry.source) == ("1000", S.STATIC_BROKER)
    assert one(topic_entries(BrokerConfig(), {}, 1), "segment.bytes").source is S.DEFAULT


def test_a_nodes_dynamic_setting_counts_for_that_node() -> None:
    broker = BrokerConfig({"message.max.bytes": 5}, node_ids=(1, 2))
    broker.set_dynamic(None, {"message.max.bytes": "6"})
    broker.set_dynamic(2, {"message.max.bytes": "7"})
    first, second = (one(broker_entries(broker, node, {}), "message.max.bytes") for node in (1, 2))
    assert (first.value, first.source) == ("6", S.DYNAMIC_DEFAULT_BROKER)
    assert (second.value, second.source) == ("7", S.DYNAMIC_BROKER)
    assert [source for _, _, source in behind(second)][:3] == [
        S.DYNAMIC_BROKER,
        S.DYNAMIC_DEFAULT_BROKER,
        S.STATIC_BROKER,
    ]


def test_a_nodes_place_in_the_cluster_is_a_static_setting() -> None:
    entry = one(broker_entries(BrokerConfig(), 2, {"node.id": "2"}), "node.id")
    assert (entry.value, entry.source, entry.read_only) == ("2", S.STATIC_BROKER, True)


def test_a_password_is_never_shown() -> None:
    entry = one(broker_entries(BrokerConfig(), 1, {"ssl.key.password": "secret"}), "ssl.key.password")
    assert entry.is_sensitive
    assert entry.value is None
    assert all(value is None for _, value, _ in behind(entry))


def test_the_cluster_wide_settings_alone() -> None:
    broker = BrokerConfig({"log.retention.ms": 1000})
    assert cluster_default_entries(broker) == []
    broker.set_dynamic(None, {"log.retention.ms": "6"})
    [entry] = cluster_default_entries(broker)
    assert (entry.name, entry.value, entry.source) == ("log.retention.ms", "6", S.DYNAMIC_DEFAULT_BROKER)


def test_a_groups_setting_stands_before_the_brokers() -> None:
    broker = BrokerConfig({"group.consumer.session.timeout.ms": 50_000})
    plain = one(group_entries(broker, {}, 1), "consumer.session.timeout.ms")
    assert (plain.value, plain.source) == ("50000", S.STATIC_BROKER)
    own = one(group_entries(broker, {"consumer.session.timeout.ms": "46000"}, 1), "consumer.session.timeout.ms")
    assert (own.value, own.source) == ("46000", S.GROUP)


def test_entries_of_client_metrics_are_selected_by_name() -> None:
    entries = client_metrics_entries({"interval.ms": "1000"})
    assert (one(entries, "interval.ms").value, one(entries, "interval.ms").source) == ("1000", S.CLIENT_METRICS)
    assert one(entries, "metrics").source is S.DEFAULT
    assert selected(entries, None) == selected(entries, []) == entries
    assert selected(entries, ["nonsense"]) == []


def test_names_that_nobody_knows_show_without_their_value() -> None:
    broker = BrokerConfig(file={"my.own.name": "secret"})
    broker.set_dynamic(1, {"my.dynamic": "x"})
    entries = {entry.name: entry for entry in broker_entries(broker, 1, {})}
    for name, source in (("my.own.name", ConfigSource.STATIC_BROKER), ("my.dynamic", ConfigSource.DYNAMIC_BROKER)):
        entry = entries[name]
        assert (entry.value, entry.source, entry.is_sensitive, entry.read_only) == (None, source, True, True)
        assert entry.synonyms == ((name, None, source),)


def test_a_broker_shows_no_config_that_kafka_does_not_have() -> None:
    broker = BrokerConfig({"odradek.flush": "always", "message.max.bytes": "7"})
    names = {entry.name for entry in broker_entries(broker, 1, {})}
    assert "message.max.bytes" in names
    assert not [name for name in names if name.startswith("odradek.")]


def test_a_listeners_config_stands_before_the_plain_one() -> None:
    # As a real broker shows it.
    name = "listener.name.inside.max.connections"
    broker = BrokerConfig({name: "2147483647"})
    broker.set_dynamic(None, {name: "61"})
    broker.set_dynamic(1, {name: "60"})
    entry = next(entry for entry in broker_entries(broker, 1, {}) if entry.name == name)
    assert (entry.value, entry.source, entry.read_only) == ("60", ConfigSource.DYNAMIC_BROKER, True)
    assert entry.synonyms == (
        (name, "60", 2),
        (name, "61", 3),
        (name, "2147483647", 4),
        ("max.connections", "2147483647", 5),
    )
    [default] = cluster_default_entries(broker)
    assert (default.name, default.value, default.read_only) == (name, "61", True)
