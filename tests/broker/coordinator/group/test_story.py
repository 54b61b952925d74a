"""What the log tells of groups of the consumer, share and streams kind."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from odradek.broker.coordinator.group.consumer.commands import FenceMember
from odradek.broker.coordinator.group.share.commands import ExpireShareMember
from odradek.broker.coordinator.group.story import follow
from odradek.broker.runtime.machine import Effect, Outcome, make_outcome
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group.share.driver import ShareDriver
from tests.fakes.consumer_group_driver import ConsumerDriver

LOGGER = "odradek.broker.coordinator.group"


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was told since the last call."""
    caplog.set_level(logging.INFO, LOGGER)

    def since() -> list[str]:
        lines = [record.getMessage() for record in caplog.records if record.name == LOGGER]
        caplog.clear()
        return lines

    return since


def test_members_epochs_targets_and_states(told: Callable[[], list[str]]) -> None:
    driver = ConsumerDriver()
    driver.join("a")
    assert told() == [
        "group g: member a joins",
        "group g: epoch 2, 1 members",
        "group g: target assignment of epoch 2",
        "group g: from Dead to Stable",
    ]
    driver.join("b")
    assert told()[-2:] == ["group g: target assignment of epoch 3", "group g: from Stable to Reconciling"]
    driver.beat("b", -1)
    assert told() == [
        "group g: member b leaves",
        "group g: epoch 4, 1 members",
        "group g: from Reconciling to Assigning",
    ]


def test_why_a_member_is_out(told: Callable[[], list[str]]) -> None:
    driver = ConsumerDriver()
    driver.join("a", rebalance_timeout_ms=10_000)
    told()
    driver.wait(60)
    assert told() == [
        "group g: member a was not heard of in time",
        "group g: epoch 3, 0 members",
        "group g: from Stable to Empty",
    ]
    driver.join("a", rebalance_timeout_ms=10_000)
    driver.join("b")
    driver.beat("a", 4)  # it shall give up half of it, and never says that it has
    told()
    for _ in range(5):
        driver.wait(2.5)
        try:
            driver.beat("a", 4)
        except KafkaError:
            break
    assert "group g: member a did not give up its partitions in time" in told()


def test_a_share_group(told: Callable[[], list[str]]) -> None:
    driver = ShareDriver()
    driver.beat("a", 0, "t")
    assert told()[:2] == ["group g: member a joins", "group g: epoch 2, 1 members"]
    driver.ask(ExpireShareMember("g", "a"))
    assert told()[0] == "group g: member a was not heard of in time"


def test_nothing_is_followed_while_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, LOGGER)
    ConsumerDriver().join("a")
    assert caplog.records == []


def test_what_a_step_does_by_itself_stays() -> None:
    done: list[str] = []

    def then() -> list[Effect]:
        done.append("then")
        return []

    outcome: Outcome[None] = make_outcome(then=then)
    follow(lambda _: None, FenceMember("g", "m"), outcome)
    assert outcome.then is not None
    assert list(outcome.then()) == []
    assert done == ["then"]
