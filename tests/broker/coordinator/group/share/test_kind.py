"""Share groups in the log: whatever happened, a load gives the group that was there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.commands import DeleteGroup, GroupType, MetadataChanged
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.share.commands import AlterShareOffsets, BeginDeleteOffsets, EndDeleteOffsets
from odradek.broker.coordinator.group.share.group import ShareGroup
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group.share.driver import OTHER, TOPIC, ShareDriver

MEMBERS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("join"), MEMBERS, st.sampled_from([("t",), ("u",), ("t", "u")])),
        st.tuples(st.just("beat"), MEMBERS),
        st.tuples(st.just("leave"), MEMBERS),
        st.tuples(st.just("grow"), st.integers(1, 4)),
        st.tuples(st.just("alter"), st.integers(0, 1)),
        st.tuples(st.just("forget")),
        st.tuples(st.just("delete")),
    ),
    max_size=30,
)


def content(machine: GroupMachine) -> Any:
    """Everything that a load must give back."""
    group = machine.group("g")
    if not isinstance(group, ShareGroup):
        return None
    return {
        "epoch": group.epoch,
        "hash": group.metadata_hash,
        "members": group.members,
        "subscribed": group.subscribed,
        "target": dict(group.target.by_member),
        "assignment": (group.assignment_epoch, group.assignment_timestamp),
        "states": (group.initializing, group.initialized, group.deleting),
    }


@given(steps=STEPS)
def test_a_load_gives_the_group_that_was_there(steps: list[tuple[Any, ...]]) -> None:
    driver = ShareDriver()
    driver.topics.put("u", OTHER, 1)
    for step in steps:
        try:
            take(driver, step)
        except KafkaError:
            continue
        assert content(driver.loaded()) == content(driver.machine)
    group = driver.machine.group("g")
    if isinstance(group, ShareGroup) and group.members:
        driver.settle(*group.members)
        subscribed = {("t", TOPIC), ("u", OTHER)}
        wanted = {
            (topic_id, index)
            for name, topic_id in subscribed
            if name in group.subscribed
            for index in range(driver.topics.facts[name].partitions)
        }
        assert {place for places in driver.held().values() for place in places} == wanted


def take(driver: ShareDriver, step: tuple[Any, ...]) -> None:
    driver.now_ms += 10
    match step:
        case ("join", member, topics):
            driver.beat(member, 0, *topics)
        case ("beat", member):
            group = driver.machine.group("g")
            known = group.members.get(member) if isinstance(group, ShareGroup) else None
            driver.beat(member, 1 if known is None else known.epoch)
        case ("leave", member):
            driver.beat(member, -1)
        case ("grow", partitions):
            driver.topics.put("t", TOPIC, max(partitions, driver.topics.facts["t"].partitions))
            driver.ask(MetadataChanged(["t"]))
        case ("alter", partition):
            driver.ask(AlterShareOffsets("g", {TOPIC: {partition: 5}}))
        case ("forget",):
            places, _ = driver.ask(BeginDeleteOffsets("g", ["t", "u"])).reply
            driver.ask(EndDeleteOffsets("g", list(places)))
        case ("delete",):
            driver.ask(DeleteGroup("g"))


def test_the_group_is_of_its_kind() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    assert driver.group.group_type is GroupType.SHARE
    driver.beat("m", -1)
    driver.ask(DeleteGroup("g"))
    assert driver.machine.group("g") is None
    assert driver.loaded().group("g") is None
