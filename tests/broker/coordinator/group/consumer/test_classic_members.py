"""Classic members of consumer groups: groups of one kind that become groups of the other, and those that may not."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.classic.group import ClassicGroup, Heartbeat
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.runtime.machine import Command
from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    decode_assignment,
    encode_assignment,
    encode_subscription,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from tests.fakes.consumer_group_driver import NO_INTERVAL, ConsumerDriver
from tests.fakes.group_driver import join_group, leave_group, sync_group
from tests.fakes.shard_stage import submitted

E = ErrorCode
SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(["t"], None, []), 1)
ALL = encode_assignment(ConsumerProtocolAssignment([AssignedPartitions("t", [0, 1, 2, 3])], None))


def driver_with(policy: str = "BIDIRECTIONAL", **configs: str) -> ConsumerDriver:
    named = {f"group.consumer.{name.replace('_', '.')}": value for name, value in configs.items()}
    return ConsumerDriver({**NO_INTERVAL, "group.consumer.migration.policy": policy, **named})


def waited(driver: ConsumerDriver, command: Command[Any]) -> Any:
    """The reply to a command of a classic group, which comes with a timer."""
    slot = submitted(driver.shard, command)
    driver.shard.fire_due()
    return slot.result()


def classic_group(
    driver: ConsumerDriver,
    *,
    assignment: bytes = ALL,
    metadata: bytes = SUBSCRIPTION,
    protocol_type: str = "consumer",
    instance_id: str | None = None,
) -> tuple[str, int]:
    """A stable classic group of one member: its id and the generation."""
    protocols = [("range", metadata), ("roundrobin", metadata)]
    joined = waited(driver, join_group("g", "", protocols, protocol_type=protocol_type, instance_id=instance_id))
    member_id, generation = joined.member_id, joined.generation_id
    synced = waited(driver, sync_group("g", member_id, generation, {member_id: assignment}, instance_id=instance_id))
    assert (joined.error_code, synced.error_code) == (E.NONE, E.NONE)
    return member_id, generation


def beat(driver: ConsumerDriver, member_id: str, generation: int) -> ErrorCode:
    """The error of a classic member's heartbeat."""
    try:
        return ErrorCode(driver.ask(Heartbeat(HeartbeatRequest("g", generation, member_id))).error_code)
    except KafkaError as error:
        return error.code


def kind(driver: ConsumerDriver) -> type[Any]:
    return type(driver.shard.machine.group("g"))


def test_a_classic_group_becomes_a_consumer_group_and_one_again() -> None:
    driver = driver_with()
    member_id, generation = classic_group(driver)
    assert driver.join("b").member_epoch == generation + 1
    group = driver.group
    classic = group.members[member_id]
    assert (list(group.members), group.epoch, classic.epoch) == ([member_id, "b"], generation + 1, generation)
    assert [sorted(partitions) for partitions in classic.assigned.values()] == [[0, 1, 2, 3]]
    assert (classic.metadata.topics, classic.metadata.rebalance_timeout_ms) == (("t",), 300_000)
    assert beat(driver, member_id, generation) is E.REBALANCE_IN_PROGRESS
    assert beat(driver, member_id, generation + 1) is E.ILLEGAL_GENERATION
    driver.beat("b", -1)
    assert kind(driver) is ClassicGroup
    again = driver.shard.machine.groups.find("g", ClassicGroup)
    assert again is not None
    assert (list(again.members), again.state.value) == ([member_id], "PreparingRebalance")
    assert again.generation == generation + 1
    assert again.members[member_id].protocols == (("range", SUBSCRIPTION), ("roundrobin", SUBSCRIPTION))


def test_a_classic_member_joins_again_and_gets_its_part() -> None:
    driver = driver_with()
    member_id, _ = classic_group(driver)
    driver.join("b")
    for _ in range(2):
        joined = driver.ask(join_group("g", member_id, [("range", SUBSCRIPTION)], version=9))
        assert (joined.error_code, joined.protocol_name, joined.members) == (E.NONE, "range", [])
    assert joined.generation_id == driver.group.epoch
    for generation, protocol, code in (
        (joined.generation_id - 1, "range", E.ILLEGAL_GENERATION),
        (joined.generation_id, "roundrobin", E.INCONSISTENT_GROUP_PROTOCOL),
        (joined.generation_id, "range", E.NONE),
        (joined.generation_id, None, E.NONE),
    ):
        synced = driver.ask(sync_group("g", member_id, generation, protocol_name=protocol))
        assert synced.error_code == code
    (row,) = decode_assignment(synced.assignment)[0].assigned_partitions
    assert (row.topic, len(row.partitions)) == ("t", 2)
    assert beat(driver, member_id, joined.generation_id) is E.NONE
    assert beat(driver, "b", driver.group.epoch) is E.UNKNOWN_MEMBER_ID
    left = driver.ask(leave_group("g", [("nobody", None), (member_id, None)]))
    assert [each.error_code for each in left.members] == [E.UNKNOWN_MEMBER_ID, E.NONE]
    assert list(driver.group.members) == ["b"]


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [
        ("BIDIRECTIONAL", True, True),
        ("UPGRADE", True, False),
        ("DOWNGRADE", False, True),
        ("DISABLED", False, False),
    ],
)
def test_the_migration_policy_says_which_way_a_group_may_go(policy: str, upgrades: bool, downgrades: bool) -> None:
    driver = driver_with(policy)
    classic_group(driver)
    if not upgrades:
        assert driver.refusal("b", 0, topics=["t"], owned={}, rebalance_timeout_ms=1)[1] == (
            "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
        )
        return
    driver.join("b")
    driver.beat("b", -1)
    assert kind(driver) is (ClassicGroup if downgrades else ConsumerGroup)


@pytest.mark.parametrize(
    ("group", "configs", "why"),
    [
        ({"protocol_type": "connect"}, {}, "the group does not use the consumer embedded protocol"),
        ({"assignment": b"\0"}, {}, "the embedded consumer protocol is malformed"),
        (
            {"assignment": encode_assignment(ConsumerProtocolAssignment([], b"mine"))},
            {},
            "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade",
        ),
        ({}, {"max_size": "1"}, None),
    ],
)
def test_a_classic_group_that_is_no_group_of_consumers_stays_one(
    group: dict[str, Any], configs: dict[str, str], why: str | None
) -> None:
    driver = driver_with(**configs)
    classic_group(driver, **group)
    code, text = driver.refusal("b", 0, topics=["t"], owned={}, rebalance_timeout_ms=1)
    if why is None:
        assert code is E.GROUP_MAX_SIZE_REACHED
    else:
        assert (code, text) == (
            E.GROUP_ID_NOT_FOUND,
            f"Cannot upgrade classic group g to consumer group because {why}.",
        )
    assert kind(driver) is ClassicGroup


def test_join_group_to_a_consumer_group_is_refused_where_it_does_not_fit() -> None:
    driver = driver_with(max_size="2")
    member_id, _ = classic_group(driver)
    driver.join("b")
    range_ = [("range", SUBSCRIPTION)]
    for options, code in (
        ({"session_timeout_ms": 1}, E.INVALID_SESSION_TIMEOUT),
        ({"protocol_type": "connect"}, E.INCONSISTENT_GROUP_PROTOCOL),
    ):
        command = join_group("g", member_id, range_, **options)
        assert _code(driver, command) is code
    assert _code(driver, join_group("g", member_id, [("other", SUBSCRIPTION)])) is E.INCONSISTENT_GROUP_PROTOCOL
    assert _code(driver, join_group("g", member_id, [("other", SUBSCRIPTION), *range_])) is E.NONE
    assert _code(driver, join_group("g", "", range_)) is E.GROUP_MAX_SIZE_REACHED
    assert _code(driver, join_group("g", member_id, [("range", b"\0")])) is E.UNKNOWN_SERVER_ERROR
    assert _code(driver, join_group("other", member_id, range_)) is E.UNKNOWN_MEMBER_ID


def _code(driver: ConsumerDriver, command: Any) -> ErrorCode:
    try:
        return ErrorCode(driver.ask(command).error_code)
    except KafkaError as error:
        return error.code


def test_a_classic_member_without_an_id_gets_one_first() -> None:
    driver = driver_with()
    classic_group(driver)
    driver.join("b")
    for version, code in ((3, E.NONE), (4, E.MEMBER_ID_REQUIRED)):
        before = len(driver.group.members)
        told = driver.ask(join_group("g", "", [("range", SUBSCRIPTION)], version=version))
        assert (told.error_code, bool(told.member_id)) == (code, True)
        assert len(driver.group.members) == before + (code is E.NONE)
    static = driver.ask(join_group("g", "", [("range", SUBSCRIPTION)], instance_id="i", version=9))
    assert static.error_code == E.NONE
    assert driver.group.static_ids == {"i": static.member_id}


def test_who_never_joins_again_and_who_never_syncs_is_out() -> None:
    driver = driver_with()
    member_id, generation = classic_group(driver)
    driver.join("b")
    assert beat(driver, member_id, generation) is E.REBALANCE_IN_PROGRESS
    for _ in range(30):
        driver.wait(9.9)
        beat(driver, member_id, generation)
        driver.beat("b", driver.group.members["b"].epoch)
    assert member_id in driver.group.members
    driver.wait(3.1)
    assert list(driver.group.members) == ["b"]
    joined = driver.ask(join_group("g", "", [("range", SUBSCRIPTION)], rebalance_timeout_ms=20_000))
    driver.wait(19.999)
    assert joined.member_id in driver.group.members
    driver.wait(0.001)
    assert joined.member_id not in driver.group.members
