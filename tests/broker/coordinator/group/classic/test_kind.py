"""Classic groups after a load, and with a log that refuses their records."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.group_driver import GroupDriver
from tests.fakes.journal import FakeJournal

E = ErrorCode


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def test_a_group_that_is_too_large_at_the_load_rebalances(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    smaller = GroupDriver(GroupSettings(max_size=1), driver.journal)
    assert smaller.state() == "PreparingRebalance"
    kept = smaller.join(leader)
    assert smaller.join(follower).result().error_code == E.GROUP_MAX_SIZE_REACHED
    assert [m.member_id for m in kept.result().members] == [leader]


def test_members_survive_a_reload_with_a_whole_session_before_them(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=10_000)
    driver.wait(seconds=9)
    driver.shard.reload()
    driver.load()
    driver.wait(seconds=9)
    assert driver.state() == "Stable"
    assert driver.beat(leader, 2) == E.NONE
    assert driver.sync(follower, 2).result().assignment == follower.encode()
    driver.wait(seconds=2)
    assert driver.beat(leader, 2) == E.REBALANCE_IN_PROGRESS
    assert driver.beat(follower, 2) == E.UNKNOWN_MEMBER_ID


def test_who_waits_is_let_go_by_a_reload(driver: GroupDriver) -> None:
    driver.stable()
    waiting = driver.join()
    driver.shard.reload()
    with pytest.raises(KafkaError) as caught:
        waiting.result()
    assert caught.value.code is E.NOT_COORDINATOR


def test_a_group_that_cannot_be_stored_does_not_exist() -> None:
    driver = GroupDriver(journal=FakeJournal())
    driver.journal.refuse = KafkaError(E.KAFKA_STORAGE_ERROR)
    assert driver.join().result().error_code == E.NOT_COORDINATOR
    assert driver.state() == "none"
    assert len(driver.shard.timers) == 1, "only the look for expired offsets"
