"""Configs as group machines read them."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.group.settings import (
    ConsumerConfigs,
    GroupConfigs,
    ShareConfigs,
    StreamsConfigs,
    fixed_configs,
    read_settings,
    share_settings,
)
from odradek.broker.metadata.image import ResourceType
from odradek.broker.partitions.share.states import ShareSettings


def test_values_are_typed_and_defaults_are_kafkas() -> None:
    configs = fixed_configs({"group.consumer.max.size": "12"})
    assert configs.broker("group.consumer.max.size") == 12
    assert configs.broker("group.share.max.size") == 200
    assert configs.broker("group.consumer.assignors") == ("uniform", "range")


def test_a_group_has_its_own_value_or_the_brokers_or_kafkas() -> None:
    configs = fixed_configs(
        {"group.consumer.session.timeout.ms": "50000"}, {"own": {"consumer.session.timeout.ms": "46000"}}
    )
    assert configs.group("own", "consumer.session.timeout.ms") == 46_000
    assert configs.group("other", "consumer.session.timeout.ms") == 50_000
    assert configs.group("other", "share.auto.offset.reset") == "latest"
    assert configs.group("other", "share.renew.acknowledge.enable") is True


def test_changes_are_seen_at_once() -> None:
    own: dict[tuple[int, str], dict[str, str]] = {}
    configs = GroupConfigs(BrokerConfig({}), own)
    assert configs.group("g", "share.isolation.level") == "read_uncommitted"
    own[ResourceType.GROUP, "g"] = {"share.isolation.level": "read_committed"}
    assert configs.group("g", "share.isolation.level") == "read_committed"
    del own[ResourceType.GROUP, "g"]
    assert configs.group("g", "share.isolation.level") == "read_uncommitted"


def test_group_config_that_was_stored_is_held_within_the_bounds() -> None:
    """Seen on a real Kafka that was started anew with other bounds; DescribeConfigs goes on to tell what is stored."""
    lower = {"group.consumer.max.heartbeat.interval.ms": "10000", "group.share.max.heartbeat.interval.ms": "10000"}
    own = {
        "high": {"consumer.heartbeat.interval.ms": "15000", "share.heartbeat.interval.ms": "15000"},
        "low": {"consumer.heartbeat.interval.ms": "5000", "share.heartbeat.interval.ms": "5000"},
    }
    for kind in ("consumer", "share"):
        name = f"{kind}.heartbeat.interval.ms"
        assert fixed_configs(lower, own).group("high", name) == 10_000
        assert fixed_configs(lower, own).group("low", name) == 5_000
        higher = {f"group.{kind}.min.heartbeat.interval.ms": "8000", f"group.{kind}.heartbeat.interval.ms": "9000"}
        assert fixed_configs(higher, own).group("high", name) == 15_000
        assert fixed_configs(higher, own).group("low", name) == 8_000


def test_standby_replicas_have_an_upper_bound_alone() -> None:
    own = {"g": {"streams.num.standby.replicas": "2"}}
    configs = fixed_configs({"group.streams.max.standby.replicas": "1"}, own)
    assert configs.group("g", "streams.num.standby.replicas") == 1


def test_the_brokers_and_the_groups_own() -> None:
    own = {"streams.heartbeat.interval.ms": "6000", "streams.num.standby.replicas": "2"}
    configs = StreamsConfigs(
        fixed_configs(
            {
                "group.streams.max.size": "7",
                "group.streams.session.timeout.ms": "50000",
                "group.streams.assignment.interval.ms": "9",
                "group.streams.initial.rebalance.delay.ms": "4",
            },
            {"g": own},
        )
    )
    assert configs.max_size == 7
    assert configs.session_timeout_ms("g") == configs.session_timeout_ms("h") == 50_000
    assert (configs.heartbeat_interval_ms("g"), configs.heartbeat_interval_ms("h")) == (6000, 5000)
    assert configs.assignment_configs("g") == {"num.standby.replicas": "2"}
    assert configs.assignment_configs("h") == {"num.standby.replicas": "0"}
    assert [configs.may_assign("g", last_ms, 109) for last_ms in (0, 100, 101)] == [True, True, False]
    assert configs.initial_delay_ms("g") == 4


def test_share_group_settings_default_to_kafkas() -> None:
    assert share_settings(fixed_configs(), "g") == ShareSettings()


def test_a_groups_own_configs_come_first() -> None:
    configs = fixed_configs(
        {"group.share.record.lock.duration.ms": "20000", "group.share.delivery.count.limit": "3"},
        {"g": {"share.delivery.count.limit": "7", "share.isolation.level": "read_committed"}},
    )
    assert share_settings(configs, "g") == ShareSettings(
        lock_duration_ms=20_000, delivery_limit=7, isolation_level="read_committed"
    )
    assert share_settings(configs, "h") == ShareSettings(lock_duration_ms=20_000, delivery_limit=3)


@pytest.mark.parametrize("version", ["4.0", "4.1", "4.2", "4.3"])
def test_releases_without_a_config_do_what_they_did_before_it(version: str) -> None:
    """The intervals between assignments and the switch for renewals came with 4.3."""
    configs = GroupConfigs(BrokerConfig({"odradek.kafka.version": version}), {})
    interval = 1000 if version == "4.3" else 0
    for each in (ConsumerConfigs(configs), StreamsConfigs(configs), ShareConfigs(configs)):
        assert each.may_assign("g", 1, 1 + interval)
        assert each.may_assign("g", 1, interval) is (interval == 0)
    assert configs.group("g", "share.renew.acknowledge.enable") is True


def test_settings_come_from_the_configuration() -> None:
    config = BrokerConfig(
        {
            "group.min.session.timeout.ms": "1",
            "group.max.session.timeout.ms": "2",
            "group.initial.rebalance.delay.ms": "3",
            "group.max.size": "4",
            "offset.metadata.max.bytes": "5",
            "offsets.retention.minutes": "6",
            "offsets.retention.check.interval.ms": "7",
        }
    )
    assert read_settings(config)[:7] == (1, 2, 3, 4, 5, 360_000, 7)
