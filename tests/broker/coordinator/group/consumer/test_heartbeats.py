"""Heartbeats of hostile, slow and unlucky members, and what a heartbeat costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from odradek.broker.coordinator.group.consumer.group import MemberState
from odradek.broker.coordinator.group.epoch_group import AWAY
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.consumer_group_driver import ConsumerDriver, given, hard_state
from tests.fakes.group_driver import join_group
from tests.fakes.steps import steps

E = ErrorCode
STABLE = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}


def owned(driver: ConsumerDriver, **partitions: list[int]) -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for name, indexes in partitions.items():
        facts = driver.topics.named(name)
        assert facts is not None
        found[facts.topic_id] = indexes
    return found


def owned_id(driver: ConsumerDriver, name: str) -> bytes:
    (topic_id,) = owned(driver, **{name: []})
    return topic_id


# -- fencing


@pytest.mark.parametrize(
    ("member_id", "epoch", "code", "text"),
    [
        ("nobody", 1, E.UNKNOWN_MEMBER_ID, "Member nobody is not a member of group g."),
        ("nobody", -1, E.UNKNOWN_MEMBER_ID, "Member nobody is not a member of group g."),
        ("a", 2**31 - 1, E.FENCED_MEMBER_EPOCH, "a greater member epoch (2147483647)"),
        ("a", 3, E.FENCED_MEMBER_EPOCH, "a greater member epoch (3) than the one known by the group coordinator (2)"),
        ("a", 1, E.FENCED_MEMBER_EPOCH, "a smaller member epoch (1) than the one known by the group coordinator (2)"),
    ],
)
def test_consumer_heartbeat_that_is_refused_changes_nothing(
    member_id: str, epoch: int, code: ErrorCode, text: str
) -> None:
    driver = ConsumerDriver()
    driver.join("a")
    before, end = hard_state(driver.group), driver.journal.end_offset
    refused, message = driver.refusal(member_id, epoch)
    assert refused is code
    assert text in message
    assert (hard_state(driver.group), driver.journal.end_offset) == (before, end)


def test_a_group_that_is_not_there() -> None:
    driver = ConsumerDriver()
    assert driver.refusal("a", 1) == (E.GROUP_ID_NOT_FOUND, "Consumer group g not found.")
    assert driver.refusal("a", -1)[0] is E.GROUP_ID_NOT_FOUND
    assert driver.journal.end_offset == 0


def test_the_previous_epoch_is_good_while_its_answer_may_be_lost() -> None:
    driver = ConsumerDriver()
    driver.join("a")
    driver.join("b")
    everything, half = owned(driver, t=[0, 1, 2, 3]), owned(driver, t=[0, 1])
    assert driver.beat("a", 2, owned=everything).assignment is not None
    assert driver.beat("a", 2, owned=half).member_epoch == 3
    assert driver.beat("a", 2, owned=half).member_epoch == 3
    assert driver.refusal("a", 2, owned=everything)[0] is E.FENCED_MEMBER_EPOCH
    assert driver.refusal("a", 2)[0] is E.FENCED_MEMBER_EPOCH


def test_consumer_group_heartbeat_to_a_full_group_is_refused() -> None:
    driver = ConsumerDriver({**STABLE, "group.consumer.max.size": "1"})
    driver.join("a")
    assert driver.refusal("b", 0, topics=("t",), owned={}, rebalance_timeout_ms=1) == (
        E.GROUP_MAX_SIZE_REACHED,
        "The consumer group has reached its maximum capacity of 1 members.",
    )
    assert driver.beat("a", 2).member_epoch == 2


# -- time


def test_silence_ends_a_session() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.join("b")
    driver.wait(44)
    assert driver.beat("a", 2, owned=owned(driver, t=[0, 1])).member_epoch == 3
    driver.wait(2)
    assert list(driver.group.members) == ["a"]
    assert driver.refusal("b", 3)[0] is E.UNKNOWN_MEMBER_ID
    driver.wait(43)
    assert driver.present is not None
    assert driver.group.is_empty
    assert hard_state(driver.rebuilt()) == hard_state(driver.group)


def test_consumer_member_that_revokes_too_late_is_removed() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.join("b")
    everything = owned(driver, t=[0, 1, 2, 3])
    driver.beat("a", 2, owned=everything)
    assert driver.group.members["a"].state is MemberState.UNREVOKED_PARTITIONS
    for _ in range(29):
        driver.beat("a", 2, owned=everything)
        driver.beat("b", 3)
        driver.wait(1)
    assert "a" in driver.group.members
    driver.wait(1)
    assert list(driver.group.members) == ["b"]
    reply = driver.beat("b", 3)
    assert reply.member_epoch == 4
    assert [list(indexes) for indexes in (given(reply) or {}).values()] == [[0, 1, 2, 3]]


def test_a_new_coordinator_gives_everybody_a_whole_session() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.wait(40)
    before = hard_state(driver.group)
    driver.shard.reload()
    while not driver.shard.is_active:
        driver.shard.load_slice()
    assert hard_state(driver.group) == before
    driver.wait(44)
    assert "a" in driver.group.members
    driver.wait(2)
    assert driver.group.is_empty


def test_a_static_member_keeps_its_place_for_a_session() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a", instance_id="i")
    assigned = driver.group.members["a"].assigned
    assert driver.beat("a", AWAY, instance_id="i").member_epoch == AWAY
    assert driver.join("b", instance_id="i").member_epoch == 2
    assert driver.group.members["b"].assigned.keys() == assigned.keys()
    assert driver.refusal("a", 2, instance_id="i")[0] is E.FENCED_INSTANCE_ID
    assert driver.refusal("c", 0, instance_id="i", topics=("t",), owned={})[0] is E.UNRELEASED_INSTANCE_ID
    driver.beat("b", AWAY, instance_id="i")
    driver.wait(46)
    assert driver.group.is_empty


# -- a log that refuses


@pytest.mark.parametrize("code", [E.NOT_ENOUGH_REPLICAS, E.NOT_LEADER_OR_FOLLOWER, E.MESSAGE_TOO_LARGE])
def test_consumer_heartbeat_that_could_not_be_stored_changes_nothing(code: ErrorCode) -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    before = hard_state(driver.group)
    driver.journal.refuse = KafkaError(code)
    attempts: list[Callable[[], Any]] = [
        lambda: driver.join("b"),
        lambda: driver.beat("a", -1),
        lambda: driver.beat("a", 2, topics=("t", "u")),
        lambda: driver.beat("a", 2, regex="u.*"),
    ]
    for attempt in attempts:
        with pytest.raises(KafkaError):
            attempt()
        assert hard_state(driver.group) == before
    driver.journal.refuse = None
    assert driver.beat("a", 2).member_epoch == 2
    assert driver.join("b").member_epoch == 3
    assert hard_state(driver.rebuilt()) == hard_state(driver.group)


# -- without news


def test_a_heartbeat_without_news_writes_nothing_and_keeps_the_session() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.beat("a", 2, owned=owned(driver, t=[0, 1, 2, 3]))
    before = driver.journal.end_offset
    for _ in range(3):
        driver.wait(44)
        reply = driver.beat("a", 2)
        told = reply.member_id, reply.member_epoch, reply.heartbeat_interval_ms, reply.assignment
        assert told == ("a", 2, 5000, None)
    assert driver.journal.end_offset == before
    driver.wait(46)
    assert driver.group.is_empty


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ({"rack_id": "r"}, {"rack_id": "r"}),
        ({"server_assignor": "range"}, {"server_assignor": "range"}),
        ({"rebalance_timeout_ms": 7}, {"rebalance_timeout_ms": 7}),
        ({"topics": ("u",)}, {"topics": ("u",)}),
        ({"regex": "u.*"}, {"regex": "u.*"}),
        ({"client_id": "other"}, {"client_id": "other"}),
        ({"topics": ("t",)}, {}),
        ({"rebalance_timeout_ms": 30_000}, {}),
    ],
)
def test_each_news_of_a_heartbeat_is_stored(said: dict[str, Any], changed: dict[str, Any]) -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.beat("a", 2, owned=owned(driver, t=[0, 1, 2, 3]))
    before, end = driver.group.members["a"], driver.journal.end_offset
    driver.beat("a", 2, **said)
    after = driver.group.members["a"]
    assert (driver.journal.end_offset > end) is bool(changed)
    assert after.metadata == before.metadata._replace(**changed)
    assert hard_state(driver.rebuilt()) == hard_state(driver.group)


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ({}, False),
        ({"rebalance_timeout_ms": 30_000, "topics": ("t",)}, False),
        ({"topics": ("t",), "owned": True}, False),
        ({"rebalance_timeout_ms": 30_000, "owned": True}, False),
        ({"rebalance_timeout_ms": 30_000, "topics": ("t",), "owned": True}, True),
        ({"rebalance_timeout_ms": 30_000, "regex": "t", "owned": True}, True),
    ],
)
def test_a_member_that_says_everything_is_told_its_assignment_again(said: dict[str, Any], answered: bool) -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    if "regex" in said:
        driver.beat("a", 2, topics=(), regex="t")
        driver.beat("a", driver.group.members["a"].epoch)
    everything = owned(driver, t=[0, 1, 2, 3])
    told = {**said, "owned": everything} if "owned" in said else said
    reply = driver.beat("a", driver.group.members["a"].epoch, **told)
    assert (reply.assignment is not None) is answered


def test_a_heartbeat_without_news_meets_what_has_changed_meanwhile() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a")
    driver.beat("a", 2, owned=owned(driver, t=[0, 1, 2, 3]))
    driver.change_topic("t", 5)
    assert given(driver.beat("a", 2)) == {owned_id(driver, "t"): (0, 1, 2, 3, 4)}
    assert driver.beat("a", 3, client_id="another").assignment is None
    assert driver.group.members["a"].metadata.client_id == "another"
    driver.join("b")
    assert sorted(given(driver.beat("a", 3, client_id="another")) or {}) == [owned_id(driver, "t")]


def test_an_instance_id_that_its_member_has_changed_is_free() -> None:
    driver = ConsumerDriver()
    driver.join("a", instance_id="one")
    driver.beat("a", -2, instance_id="one")
    driver.beat("a", 0, instance_id="two", topics=("t",), owned={})
    assert driver.join("b", instance_id="one").member_id == "b"
    assert driver.group.static_ids == {"two": "a", "one": "b"}


def test_an_instance_id_of_a_member_that_left_with_another_one_joins_anew() -> None:
    driver = ConsumerDriver()
    driver.join("other")
    driver.join("a", instance_id="one")
    driver.beat("a", 0, instance_id="two", topics=("t",), owned={})
    driver.beat("a", -1, instance_id="two")
    assert driver.join("b", instance_id="one").member_id == "b"
    assert list(driver.group.members) == ["other", "b"]


def test_a_static_member_without_news_is_asked_for_its_instance() -> None:
    driver = ConsumerDriver(STABLE)
    driver.join("a", instance_id="i")
    assert driver.beat("a", 2, instance_id="i").member_epoch == 2
    assert driver.beat("a", 2).member_epoch == 2
    assert driver.refusal("a", 2, instance_id="j")[0] is E.UNKNOWN_MEMBER_ID
    driver.beat("a", AWAY, instance_id="i")
    driver.join("b", instance_id="i")
    assert driver.refusal("a", 2, instance_id="i")[0] is E.FENCED_INSTANCE_ID
    assert driver.refusal("a", 2)[0] is E.UNKNOWN_MEMBER_ID


# -- what it costs


def a_settled_group(members: int) -> ConsumerDriver:
    driver = ConsumerDriver({"group.consumer.assignment.interval.ms": "15000", "group.consumer.max.size": str(members)})
    driver.topics.put("wide", members)
    for number in range(members):
        driver.join(f"m{number}", ("wide",))
    driver.wait(16)
    for _ in range(3):
        for member_id in list(driver.group.members):
            member = driver.group.members[member_id]
            assignment = {topic_id: list(indexes) for topic_id, indexes in driver.group.target.of(member_id).items()}
            driver.beat(member_id, member.epoch, owned=assignment)
    assert driver.group.state_name == "Stable"
    return driver


def test_a_heartbeat_without_news_costs_the_same_in_a_group_of_any_size() -> None:
    costs: set[int] = set()
    for members in (10, 500):
        driver = a_settled_group(members)
        epoch = driver.group.epoch
        driver.beat("m1", epoch)
        end = driver.journal.end_offset
        costs.add(steps(partial(driver.beat, "m1", epoch)))
        assert driver.journal.end_offset == end
    assert len(costs) == 1, costs


# -- members that want nothing


_HALF: tuple[list[int], list[int]] = [2, 3], [0, 1]
_NOTHING: tuple[list[int], list[int]] = [], []


@pytest.mark.parametrize(
    ("member_id", "targets"),
    [
        ("0AjMS2zySMCIn5ppERyupg", _HALF),
        ("tRGj7HM4QjSWYJq5UmVAnA", _HALF),
        ("XGPSi-1oTO6YVw1weMBkWA", _NOTHING),
        ("feAZ7shdRrinOh4Paigshg", _HALF),
        ("U28NG3QrTDOEjX3z6xZ6bQ", _NOTHING),
        ("dof958MWRYSrBrmzX6lYBQ", _HALF),
    ],
)
def test_a_classic_member_without_topics_is_reckoned_among_equals(
    member_id: str, targets: tuple[list[int], list[int]]
) -> None:
    """It joins when another member has left: seen on a real Kafka, which gave these ids and made these targets.

    The group still counts as homogeneous, so all get what the first in order wants. What the new member gets and does
    not want, nobody has until the next epoch.
    """
    driver = ConsumerDriver(new_short_id=lambda: member_id)
    driver.join("m-a")
    driver.join("m-b")
    driver.beat("m-a", 2)
    driver.beat("m-a", 2, owned=owned(driver, t=[0, 1]))
    driver.beat("m-b", 3)
    driver.beat("m-a", -1)
    for said in ("", member_id):
        nothing = [("range", b"\0\0" + b"\0\0\0\0" + b"\xff\xff\xff\xff")]
        driver.ask(join_group("g", said, nothing, client_id="", host="/h", version=9))
    held = [driver.group.target.of(each).get(owned_id(driver, "t"), ()) for each in ("m-b", member_id)]
    assert tuple(map(sorted, held)) == targets
    assert driver.beat("m-b", 3).member_epoch == (4 if targets is _HALF else 3)
