"""The bounds of what groups set for themselves."""

from __future__ import annotations

from odradek.broker.config.definition import keys_of
from odradek.broker.config.group_bounds import BOUNDED, bounds_of
from odradek.broker.config.keys import broker_keys


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


def test_other_configs_have_none() -> None:
    assert bounds_of("share.auto.offset.reset") == (None, None)
    assert bounds_of("streams.initial.rebalance.delay.ms") == (None, None)
