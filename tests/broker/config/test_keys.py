"""Names of configs, with and without a listener's prefix."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigType, Update, keys_of
from odradek.broker.config.keys import BOUNDED, base_name, bounds_of, broker_keys, keys_of_release, topic_keys
from odradek.broker.releases.release import release_names, release_of

key_of, shown_key = keys_of_release(release_of()).find, keys_of_release(release_of()).shown


def test_a_config_key_without_a_prefix_is_a_plain_name() -> None:
    assert key_of("num.io.threads") is broker_keys()["num.io.threads"]
    assert "odradek.flush" in broker_keys()
    assert "odradek.flush" not in topic_keys()
    assert key_of("no.such.name") is None


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("listener.name.outside.ssl.keystore.location", "ssl.keystore.location"),
        ("listener.name.outside.max.connections", "max.connections"),
        ("listener.name.outside.plain.sasl.jaas.config", "sasl.jaas.config"),
        ("listener.name.a.b.scram-sha-256.sasl.jaas.config", "sasl.jaas.config"),
    ],
)
def test_config_names_with_a_listener_have_the_key_of_the_plain_name(name: str, key: str) -> None:
    assert key_of(name) is broker_keys()[key]


@pytest.mark.parametrize(
    "name",
    ["listener.name.", "listener.name.x", "listener.name.x.no.such.name", "listener.name.x.log.retention.ms"],
)
def test_names_that_no_listener_has(name: str) -> None:
    assert key_of(name) is None


def test_config_key_of_any_name_is_told() -> None:
    limit = shown_key("listener.name.x.max.connections")
    assert (limit.name, limit.type, limit.update, limit.is_sensitive) == (
        "listener.name.x.max.connections",
        ConfigType.INT,
        Update.READ_ONLY,
        False,
    )
    assert shown_key("listener.name.x.plain.sasl.jaas.config").is_sensitive
    unknown = shown_key("my.own.name")
    assert (unknown.type, unknown.is_sensitive) == (ConfigType.UNKNOWN, True)
    assert shown_key("listener.name.x.unknown").is_sensitive
    assert shown_key("num.io.threads") is broker_keys()["num.io.threads"]


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("num.io.threads", None),
        ("listener.name.x.max.connections", "max.connections"),
        ("listener.name.x.plain.sasl.jaas.config", "sasl.jaas.config"),
        ("listener.name.x.any.thing", "any.thing"),
    ],
)
def test_config_name_of_a_listener_tells_listener_and_key(name: str, base: str | None) -> None:
    assert base_name(name) == base


def test_the_authorizers_own_configs_are_taken_but_not_shown_as_kafka_does_not_know_them() -> None:
    for name in ("super.users", "allow.everyone.if.no.acl.found"):
        assert name in broker_keys()
        assert shown_key(name).is_sensitive


def test_every_bounded_config_is_a_groups_and_has_an_upper_bound_of_the_broker() -> None:
    for name in BOUNDED:
        lowest, highest = bounds_of(name)
        assert name in keys_of("group")
        assert highest in broker_keys()
        assert lowest is None or lowest in broker_keys()


def test_standby_replicas_have_bounds_of_another_name_and_no_lowest_one() -> None:
    assert bounds_of("streams.num.standby.replicas") == (None, "group.streams.max.standby.replicas")
    assert bounds_of("consumer.session.timeout.ms") == (
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms",
    )


def test_bounds_of_group_configs_without_bounds_are_none() -> None:
    assert bounds_of("share.auto.offset.reset") == (None, None)
    assert bounds_of("streams.initial.rebalance.delay.ms") == (None, None)


@pytest.mark.parametrize("version", release_names())
def test_every_release_takes_its_own_defaults(version: str) -> None:
    """`listeners` and others were texts up to 4.1."""
    keys = keys_of_release(release_of(version))
    for key in [*keys.broker.values(), *keys.group.values()]:
        if key.default is not None:
            key.parse(key.default)


@pytest.mark.parametrize("version", release_names())
def test_every_release_takes_addresses_and_log_directories(version: str) -> None:
    given = {"listeners": "A://127.0.0.1:1,CONTROLLER://:2", "advertised.listeners": "A://b:1", "log.dirs": "/a,/b"}
    if version != "2.8":
        given["controller.listener.names"] = "CONTROLLER"
    config = BrokerConfig({"odradek.kafka.version": version, **given})
    for name, value in given.items():
        assert (config.get_list(name), config.text(name, 1)) == (tuple(value.split(",")), value)
