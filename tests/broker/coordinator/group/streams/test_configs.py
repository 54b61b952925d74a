"""The configs of streams groups: the group's own, else the broker's."""

from __future__ import annotations

from odradek.broker.coordinator.group.settings import fixed_configs
from odradek.broker.coordinator.group.streams.configs import StreamsConfigs


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
    assert configs.assignment_interval_ms("g") == 9
    assert configs.initial_delay_ms("g") == 4
