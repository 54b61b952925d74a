"""Configs as group machines read them."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.group.settings import LiveConfigs, fixed_configs


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
    own: dict[str, dict[str, str]] = {}
    configs = LiveConfigs(BrokerConfig({}), lambda group_id: own.get(group_id, {}))
    assert configs.group("g", "share.isolation.level") == "read_uncommitted"
    own["g"] = {"share.isolation.level": "read_committed"}
    assert configs.group("g", "share.isolation.level") == "read_committed"
    del own["g"]
    assert configs.group("g", "share.isolation.level") == "read_uncommitted"
