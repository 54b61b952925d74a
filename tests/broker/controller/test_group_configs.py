from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.controller.group_configs import check_group_configs


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (
            {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "1"},
            "consumer.heartbeat.interval.ms must be greater than or equal to group.consumer.min.heartbeat.interval.ms",
        ),
        (
            {"share.delivery.count.limit": "11", "share.partition.max.record.locks": "1"},
            "share.delivery.count.limit must be less than or equal to group.share.max.delivery.count.limit",
        ),
        (
            {"streams.num.standby.replicas": "3"},
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
    ],
)
def test_numbers_lie_within_the_brokers_bounds(own: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_group_configs(own, BrokerConfig({"odradek.kafka.version": "4.3"}))
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("streams.session.timeout.ms", "599", "must be in the range 600 to 60000 inclusive."),
        ("streams.heartbeat.interval.ms", "15001", "must be in the range 5000 to 15000 inclusive."),
        ("streams.num.standby.replicas", "3", "must be less than or equal to 2"),
        ("share.delivery.count.limit", "11", "must be in the range 2 to 10 inclusive."),
    ],
)
def test_4_4_tells_the_bounds(name: str, value: str, why: str) -> None:
    broker = BrokerConfig({"group.streams.min.session.timeout.ms": "600"})
    with pytest.raises(ConfigError) as refused:
        check_group_configs({name: value}, broker)
    assert str(refused.value) == f"{name} {why}"


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_a_session_is_longer_than_the_time_between_two_heartbeats(kind: str) -> None:
    session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
    broker = BrokerConfig(
        {f"group.{kind}.min.session.timeout.ms": "600", f"group.{kind}.heartbeat.interval.ms": "5000"}
    )
    for own in ({session: "600"}, {session: "5000"}, {session: "6000", heartbeat: "6000"}):
        with pytest.raises(ConfigError) as refused:
            check_group_configs(own, broker)
        assert str(refused.value) == f"{session} must be greater than {heartbeat}"
    check_group_configs({session: "5001"}, broker)
    check_group_configs({session: "6001", heartbeat: "6000"}, broker)
    check_group_configs({heartbeat: "6000"}, broker)


def test_what_the_group_does_not_set_is_within_the_bounds() -> None:
    check_group_configs({}, BrokerConfig({}))
    check_group_configs({"share.auto.offset.reset": "earliest"}, BrokerConfig({}))
