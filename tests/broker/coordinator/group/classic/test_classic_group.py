"""A classic group on its own."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.protocol.errors import ErrorCode
from tests.fakes.group_driver import SUBSCRIPTION, GroupDriver

E = ErrorCode


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def test_the_protocol_most_members_prefer_wins(driver: GroupDriver) -> None:
    driver.settings = GroupSettings(initial_rebalance_delay_ms=100)
    driver.shard.reload()
    driver.load()
    slots = [driver.join(protocols=p) for p in (("range", "rr"), ("rr", "range"), ("rr", "range", "sticky"))]
    driver.wait(seconds=1)
    assert {slot.result().protocol_name for slot in slots} == {"rr"}


def test_subscriptions_are_read_as_far_as_they_are_readable(driver: GroupDriver) -> None:
    driver.stable()
    group = driver.machine.classic_group("g")
    assert group is not None
    assert group.is_subscribed_to("t")
    assert not group.is_subscribed_to("u")
    driver.join(group.leader or "", protocols_=(("range", SUBSCRIPTION[:8]),))
    assert group.is_subscribed_to("u"), "unreadable: it might be"
