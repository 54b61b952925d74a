"""Share groups: heartbeats, the account of stored share partitions, effects, and loads that give the same group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.groups import (
    DeleteGroup,
    FenceMember,
    GroupType,
    MetadataChanged,
    OffsetToCommit,
    Sender,
)
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.share.group import (
    AlterShareOffsets,
    BeginDeleteOffsets,
    DeleteStates,
    EndDeleteGroup,
    EndDeleteOffsets,
    ForgetDeletedTopics,
    InitializeStates,
    ShareGroup,
    ShareGroupHeartbeat,
    StatesInitialized,
    TopicStates,
)
from odradek.broker.coordinator.group.share.kind import effect_handlers
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState
from odradek.broker.runtime.machine import Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.broker.coordinator.group.share.driver import OTHER, TOPIC, ShareDriver
from tests.fakes.group_driver import commit_offsets


def test_the_first_heartbeat_has_states_begun_and_the_next_gets_the_partitions() -> None:
    driver = ShareDriver()
    assert driver.beat("m", 0, "t") == (2, 5000, {})
    assert driver.initialized == [(2, {TOPIC: [0, 1]})]
    assert driver.beat("m", 2) == (3, 5000, {TOPIC: (0, 1)})
    assert driver.beat("m", 3) == (3, 5000, None)
    assert driver.beat("m", 2) == (3, 5000, None)
    with pytest.raises(KafkaError, match=r"smaller member epoch \(1\).*does not match the previous member epoch \(2\)"):
        driver.beat("m", 1)
    with pytest.raises(KafkaError, match=r"greater member epoch \(4\).* group coordinator \(3\)\. The member") as late:
        driver.beat("m", 4)
    assert late.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert driver.beat("m", 3, "t") == (3, 5000, {TOPIC: (0, 1)})
    assert driver.beat("m", 0, "t") == (3, 5000, {TOPIC: (0, 1)})


def test_a_share_group_takes_the_place_of_no_other_group() -> None:
    driver = ShareDriver()
    driver.ask(commit_offsets("g", [OffsetToCommit("t", TOPIC, 0, 5, -1, "")]))
    for command in (
        driver.heartbeat("m", 0, "t"),
        AlterShareOffsets("g", {TOPIC: {0: 5}}),
        BeginDeleteOffsets("g", ["t"]),
    ):
        with pytest.raises(KafkaError, match=r"Group g is not a share group\.") as other:
            driver.ask(command)
        assert other.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    for late in (StatesInitialized("g", {TOPIC: [0]}), EndDeleteOffsets("g", [TOPIC]), EndDeleteGroup("g")):
        assert driver.ask(late).records == ()
    with pytest.raises(KafkaError, match="Share group h not found") as unknown:
        driver.beat("m", 5, group="h")
    assert unknown.value.code is ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize(
    ("request_fields", "sender", "stored"),
    [
        ({}, ("c", "/h"), False),
        ({}, ("other", "/h"), True),
        ({}, ("c", "/other"), True),
        ({"rack_id": "r"}, ("c", "/h"), True),
        ({"subscribed_topic_names": ["u"]}, ("c", "/h"), True),
        ({"subscribed_topic_names": ["t"]}, ("c", "/h"), False),
    ],
)
def test_a_heartbeat_of_a_member_at_rest_stores_what_is_new(
    request_fields: dict[str, Any], sender: tuple[str, str], stored: bool
) -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    driver.settle("m")
    end = len(driver.log)
    request = ShareGroupHeartbeatRequest("g", "m", driver.group.epoch, **request_fields)
    driver.ask(ShareGroupHeartbeat(request, Sender(*sender, 1)))
    assert (len(driver.log) > end) is stored
    member = driver.group.members["m"]
    assert (member.client_id, member.client_host) == sender
    assert member.rack_id == request_fields.get("rack_id")
    assert member.topics == frozenset(request_fields.get("subscribed_topic_names", ["t"]))


def test_a_topic_that_nobody_subscribes_to_any_more_is_taken_from_the_member_at_once() -> None:
    driver = ShareDriver(group_share_assignment_interval_ms="1000000")
    driver.topics.put("u", OTHER, 1)
    driver.beat("m", 0, "t", "u")
    driver.now_ms += 1_000_000
    assert driver.beat("m", 2).assigned == {TOPIC: (0, 1), OTHER: (0,)}
    assert driver.beat("m", 3, "u") == (3, 5000, {OTHER: (0,)})
    assert driver.group.assignment_epoch < driver.group.epoch


def test_states_that_the_share_coordinator_refuses_are_asked_for_again() -> None:
    driver = ShareDriver()
    driver.refuse = True
    driver.beat("m", 0, "t")
    assert driver.group.initializing == {}
    driver.refuse = False
    driver.beat("m", 2)
    assert driver.beat("m", 2).assigned == {TOPIC: (0, 1)}


def test_members_share_partitions_when_there_are_more_of_them() -> None:
    driver = ShareDriver()
    driver.beat("m0", 0, "t")
    driver.beat("m0", 2)
    for number in range(1, 4):
        driver.beat(f"m{number}", 0, "t")
    driver.settle(*driver.group.members)
    held = driver.held()
    assert all(len(places) == 1 for places in held.values())
    assert sorted(index for places in held.values() for _, index in places) == [0, 0, 1, 1]


def test_assignments_keep_their_distance_in_time() -> None:
    driver = ShareDriver(group_share_assignment_interval_ms="1000")
    driver.beat("m", 0, "t")
    assert driver.beat("m", 2).member_epoch == 2
    driver.now_ms += 999
    assert driver.beat("m", 2).member_epoch == 2
    driver.now_ms += 1
    assert driver.beat("m", 2).member_epoch == 3


def test_topics_that_grow_and_go() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t", "u")
    driver.beat("m", 2)
    driver.topics.put("t", TOPIC, 3)
    driver.topics.put("u", OTHER, 1)
    driver.ask(MetadataChanged(["t", "u"]))
    driver.settle("m")
    assert driver.held()["m"] == {(TOPIC, 0), (TOPIC, 1), (TOPIC, 2), (OTHER, 0)}
    del driver.topics.facts["t"]
    driver.ask(MetadataChanged(["t"]))
    driver.settle("m")
    assert driver.held()["m"] == {(OTHER, 0)}


def test_a_member_at_rest_hears_of_what_has_changed_since() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t", "u")
    driver.settle("m")
    end, epoch = len(driver.log), driver.group.epoch
    assert driver.beat("m", epoch) == (epoch, 5000, None)
    assert len(driver.log) == end
    driver.topics.put("u", OTHER, 1)
    driver.ask(MetadataChanged(["u"]))
    driver.settle("m")
    assert driver.held()["m"] == {(TOPIC, 0), (TOPIC, 1), (OTHER, 0)}
    end, epoch = len(driver.log), driver.group.epoch
    driver.beat("m", epoch)
    assert len(driver.log) == end
    driver.beat("n", 0, "t", "u")
    driver.settle("n", "m")
    assert driver.group.members["m"].epoch == driver.group.members["n"].epoch == driver.group.epoch > epoch
    driver.beat("m", driver.group.epoch, rack="r")
    assert driver.group.members["m"].rack_id == "r"


def test_a_silent_member_is_out() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    driver.beat("n", 0, "t")
    epoch = driver.group.epoch
    driver.ask(FenceMember("g", "m"))
    driver.ask(FenceMember("g", "m"))
    assert list(driver.group.members) == ["n"]
    assert driver.group.epoch == epoch + 1
    with pytest.raises(KafkaError) as caught:
        driver.beat("m", 2)
    assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_share_group_has_so_many_members_and_no_more() -> None:
    driver = ShareDriver(group_share_max_size="2")
    driver.beat("a", 0, "t")
    driver.beat("b", 0, "t")
    driver.beat("a", 0, "t")
    with pytest.raises(KafkaError, match="maximum capacity of 2 members") as caught:
        driver.beat("c", 0, "t")
    assert caught.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED


BOTH = {TOPIC: TopicStates("t", frozenset({0, 1}))}


@pytest.fixture
def left() -> ShareDriver:
    """A group that a member has left."""
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    driver.beat("m", -1)
    assert driver.group.initialized == BOTH
    return driver


def test_altering_is_for_empty_groups(left: ShareDriver) -> None:
    assert left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}})).reply == left.group.epoch
    assert left.group.initializing == {TOPIC: TopicStates("t", frozenset({1}))}
    left.ask(StatesInitialized("g", {TOPIC: [1]}))
    assert left.group.initializing == {}
    left.beat("m", 0, "t")
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}}))


def test_a_topic_that_is_altered_without_partitions_stays_in_its_record(left: ShareDriver) -> None:
    other = bytes(15) + b"\x07"
    left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}, other: {}}))
    left.ask(StatesInitialized("g", {TOPIC: [1]}))
    assert {topic_id: row.partitions for topic_id, row in left.group.initializing.items()} == {other: frozenset()}


def test_alter_share_group_offsets_makes_a_group() -> None:
    driver = ShareDriver()
    driver.ask(AlterShareOffsets("g", {TOPIC: {0: 5}}))
    assert driver.group.is_empty
    assert driver.group.initializing == {TOPIC: TopicStates("t", frozenset({0}))}


def test_deleting_goes_in_two_steps_and_can_be_tried_again(left: ShareDriver) -> None:
    assert left.ask(BeginDeleteOffsets("g", ["t", "nope"])).reply == ({TOPIC: [0, 1]}, ["nope"])
    assert (left.group.initialized, left.group.deleting) == ({}, {TOPIC: "t"})
    assert left.ask(BeginDeleteOffsets("g", ["t"])).reply == ({TOPIC: [0, 1]}, [])
    left.ask(EndDeleteOffsets("g", [TOPIC]))
    assert left.group.deleting == {}
    assert left.ask(BeginDeleteOffsets("g", ["t"])).reply == ({}, ["t"])


def test_requests_about_no_share_partition_store_nothing(left: ShareDriver) -> None:
    end = len(left.log)
    assert left.ask(AlterShareOffsets("g", {})).reply == left.group.epoch
    left.ask(StatesInitialized("g", {}))
    left.ask(StatesInitialized("g", {TOPIC: [0]}, failed=True))
    left.ask(ForgetDeletedTopics("nobody"))
    left.ask(EndDeleteOffsets("nobody", [TOPIC]))
    assert len(left.log) == end
    assert left.ask(BeginDeleteOffsets("g", [])).reply == ({}, [])
    fresh = ShareDriver()
    fresh.beat("m", 0, "nothing")
    fresh.beat("m", -1)
    assert fresh.ask(BeginDeleteOffsets("g", ["t"])).reply == ({}, [])
    fresh.ask(DeleteGroup("g"))  # nothing is stored for it
    assert fresh.machine.group("g") is None


def test_a_refusal_of_some_partitions_leaves_the_others(left: ShareDriver) -> None:
    left.ask(AlterShareOffsets("g", {TOPIC: {0: 5, 1: 5}}))
    left.ask(StatesInitialized("g", {TOPIC: [0]}, failed=True))
    assert left.group.initializing == {TOPIC: TopicStates("t", frozenset({1}))}
    assert left.group.initialized == BOTH


def test_partitions_that_are_stored_anew_are_deleted_no_more(left: ShareDriver) -> None:
    left.ask(BeginDeleteOffsets("g", ["t"]))
    assert left.group.deleting == {TOPIC: "t"}
    left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}}))
    assert left.group.deleting == {}
    left.ask(BeginDeleteOffsets("g", ["t"]))
    left.ask(StatesInitialized("g", {TOPIC: [1]}))
    left.ask(BeginDeleteOffsets("g", ["t"]))
    left.beat("m", 0, "t")
    assert (left.group.deleting, left.group.initialized) == ({}, BOTH)


def test_what_is_about_to_be_deleted_goes_with_its_group(left: ShareDriver) -> None:
    left.ask(BeginDeleteOffsets("g", ["t"]))
    left.topics.put("u", OTHER, 1)
    left.ask(AlterShareOffsets("g", {OTHER: {0: 5}}))
    outcome = left.machine.decide(DeleteGroup("g"), left.now_ms)
    (effect,) = outcome.effects
    assert isinstance(effect, DeleteStates)
    assert effect.places == {OTHER: [0], TOPIC: [0, 1]}


def test_groups_look_after_deleted_topics_of_which_they_store_something(left: ShareDriver) -> None:
    left.topics.put("u", OTHER, 1)
    assert list(left.ask(MetadataChanged(["u"])).effects) == []
    (effect,) = left.ask(MetadataChanged(["u", "t"])).effects
    assert isinstance(effect, Schedule)
    assert (effect.after_ms, type(effect.command)) == (0, ForgetDeletedTopics)
    left.ask(BeginDeleteOffsets("g", ["t"]))
    assert len(left.ask(MetadataChanged(["t"])).effects) == 1
    left.topics.facts.clear()
    left.ask(MetadataChanged(["t"]))
    left.ask(ForgetDeletedTopics("g"))
    assert left.group.deleting == {}


def test_deleting_of_nothing_and_of_nobody(left: ShareDriver) -> None:
    driver = ShareDriver()
    with pytest.raises(KafkaError, match="Group g not found"):
        driver.ask(BeginDeleteOffsets("g", ["t"]))
    left.beat("m", 0, "t")
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        left.ask(BeginDeleteOffsets("g", ["t"]))


def test_a_group_goes_after_what_is_stored_for_it(left: ShareDriver) -> None:
    outcome = left.machine.decide(DeleteGroup("g"), left.now_ms)
    (effect,) = outcome.effects
    assert isinstance(effect, DeleteStates)
    assert effect.places == {TOPIC: [0, 1]}
    left.ask(DeleteGroup("g"))
    assert left.machine.group("g") is None


def test_deleted_topics_are_struck_off(left: ShareDriver) -> None:
    left.ask(ForgetDeletedTopics("g"))
    assert left.group.initialized == BOTH
    left.topics.facts.clear()
    left.ask(MetadataChanged(["t"]))
    left.ask(ForgetDeletedTopics("g"))
    assert left.group.initialized == {}


TOPIC_ID = bytes(16)


class States:
    """A share coordinator that notes what it is asked."""

    def __init__(self, error: KafkaError | None = None) -> None:
        self.asked: list[Any] = []
        self._error = error

    def ask_about(self, command: Any) -> None:
        if self._error is not None:
            raise self._error
        self.asked.append(command)


class Shard:
    """The group's shard: notes what is submitted."""

    def __init__(self) -> None:
        self.submitted: list[Any] = []

    def post(self, command: Any) -> None:
        self.submitted.append(command)


def handle_effect(effect: Any, states: Any) -> list[Any]:
    shard: Any = Shard()
    effect_handlers(lambda: states, lambda: 0)[type(effect)](shard, effect)
    return list(shard.submitted)


def test_initialize_states_asks_the_share_coordinator() -> None:
    states = States()
    (told,) = handle_effect(InitializeStates("g", 3, {TOPIC_ID: [0, 2]}, set()), states)
    assert [(type(c), c.key, c.state_epoch, c.start_offset) for c in states.asked] == [
        (InitializeState, ("g", TOPIC_ID, 0), 3, -1),
        (InitializeState, ("g", TOPIC_ID, 2), 3, -1),
    ]
    assert isinstance(told, StatesInitialized)
    assert (told.group_id, told.places, told.failed) == ("g", {TOPIC_ID: [0, 2]}, False)


def test_partitions_that_a_topic_got_later_begin_where_the_release_says() -> None:
    states = States()
    handle_effect(InitializeStates("g", 3, {TOPIC_ID: [2], bytes([1] * 16): [0]}, {TOPIC_ID}), states)
    assert [(c.key.partition, c.start_offset) for c in states.asked] == [(2, 0), (0, -1)]


def test_initialize_states_that_is_refused_is_told() -> None:
    (told,) = handle_effect(
        InitializeStates("g", 3, {TOPIC_ID: [0]}, set()), States(KafkaError(ErrorCode.NOT_COORDINATOR))
    )
    assert told.failed


def test_a_group_goes_when_its_states_are_gone_and_not_before() -> None:
    states = States()
    (told,) = handle_effect(DeleteStates("g", {TOPIC_ID: [1]}), states)
    assert [(type(c), c.key) for c in states.asked] == [(DeleteState, ("g", TOPIC_ID, 1))]
    assert isinstance(told, EndDeleteGroup)
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        handle_effect(DeleteStates("g", {TOPIC_ID: [1]}), States(KafkaError(ErrorCode.NOT_COORDINATOR)))


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
