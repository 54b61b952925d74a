"""A group's own configs, and the broker's behind them."""

from __future__ import annotations

from odradek.broker.coordinator.group.settings import fixed_configs
from odradek.broker.coordinator.group.share.settings import share_settings
from odradek.broker.partitions.share.states import ShareSettings


def test_the_defaults_are_kafkas() -> None:
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
