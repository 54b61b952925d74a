"""Topologies and topics, internal topics that are asked for, and a member's way to its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from odradek.broker.coordinator.group.streams.group import (
    NO_METADATA,
    NO_TARGET,
    Held,
    Holders,
    Member,
    MemberState,
    Owned,
    StreamsGroup,
    Target,
    TopicsRefused,
)
from odradek.broker.coordinator.group.streams.progress import (
    CreateInternalTopics,
    check_tasks,
    compute_targets,
    effect_handlers,
    endpoints,
    reconcile,
)
from odradek.broker.coordinator.group.streams.topology import ConfiguredSubtopology, TopicStatus, Topology, configure
from odradek.broker.releases.release import release_of
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.stored.streams_group_member_metadata import Endpoint
from odradek.protocol.generated.stored.streams_group_topology import Subtopology, TopicInfo
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import (
    COUNTING,
    PLAIN,
    StreamsDriver,
    Topics,
    heartbeat,
    in_process,
    owned,
)


def test_tasks_that_there_are_not() -> None:
    shape = {"0": ConfiguredSubtopology(Subtopology("0", ["t"]), 2)}
    check_tasks(owned((0, 1), (1,)), shape)
    check_tasks(None, shape)
    with pytest.raises(KafkaError, match=r"Subtopology 7 does not exist in the topology\."):
        check_tasks(owned({"7": (0,)}), shape)
    for task in (2, -1):
        text = f"Task {task} for subtopology 0 is invalid. Number of tasks for this subtopology: 2"
        with pytest.raises(KafkaError, match=text):
            check_tasks(owned((), (task,)), shape)


def test_the_first_member_declares_it() -> None:
    driver = StreamsDriver()
    driver.join("a", PLAIN._replace(epoch=2))
    with pytest.raises(KafkaError, match=r"Topology updates are not supported yet\.") as error:
        driver.join("b", PLAIN._replace(epoch=3))
    assert error.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(KafkaError):
        driver.join("b", Topology(2, {"0": Subtopology("0", ["t", "u"])}))
    told = driver.join("b", PLAIN._replace(epoch=1))
    text = "The member's topology epoch 1 is behind the group's topology epoch 2."
    assert [(status.code, status.detail) for status in told.statuses] == [(0, text)]
    assert driver.error(heartbeat("h", "a", 0))[0] is ErrorCode.UNKNOWN_SERVER_ERROR


def test_refused_topics_are_tried_again_after_a_while() -> None:
    driver = StreamsDriver({"group.streams.heartbeat.interval.ms": "5000"})
    driver.creates = False
    driver.join("a", COUNTING)
    (asked,) = [effect for effect in driver.effects if isinstance(effect, CreateInternalTopics)]
    assert asked.topics == [TopicInfo("counts-changelog", 4)]
    assert asked.retry_ms == 10_000
    driver.ask(TopicsRefused("g", {"counts-changelog": "no room"}, asked.retry_ms))
    driver.effects.clear()
    (status,) = driver.beat("a", 2).statuses
    text = "Internal topics are missing: counts-changelog; Creation failed: counts-changelog (no room)."
    assert status.detail == text
    assert driver.effects == []
    driver.wait(10_000)
    driver.beat("a", 2)
    assert [type(effect) for effect in driver.effects] == [CreateInternalTopics]


def test_a_refusal_outlives_later_ones() -> None:
    driver = StreamsDriver()
    driver.creates = False
    topology = Topology(
        0, {"0": Subtopology("0", ["t"], state_changelog_topics=[TopicInfo("early"), TopicInfo("late")])}
    )
    driver.join("a", topology)
    driver.ask(TopicsRefused("g", {"early": "no"}, 1_000))
    driver.wait(500)
    driver.ask(TopicsRefused("g", {"late": "no"}, 1_000))
    assert set(driver.group.soft.refused_at(driver.clock.now_ms())) == {"early", "late"}
    driver.wait(600)
    driver.effects.clear()
    driver.beat("a", 2)
    (again,) = [effect for effect in driver.effects if isinstance(effect, CreateInternalTopics)]
    assert [topic.name for topic in again.topics] == ["early"]


def test_other_groups_ask_for_a_refused_topic_themselves() -> None:
    driver = StreamsDriver()
    driver.creates = False
    driver.join("a", COUNTING)
    driver.ask(TopicsRefused("g", {"counts-changelog": "no"}, 1_000))
    driver.effects.clear()
    driver.ask(heartbeat("other", "a", 0, topology=COUNTING))
    assert [effect.group_id for effect in driver.effects if isinstance(effect, CreateInternalTopics)] == ["other"]


def test_internal_topic_errors_name_three_reasons_at_most() -> None:
    names = [f"s{number}" for number in range(5)]
    topology = Topology(0, {"0": Subtopology("0", ["t"], state_changelog_topics=[TopicInfo(name) for name in names])})
    driver = StreamsDriver()
    driver.creates = False
    driver.join("a", topology)
    driver.ask(TopicsRefused("g", dict.fromkeys(names, "no"), 100))
    (status,) = driver.beat("a", 2).statuses
    assert status.detail.count("(no)") == 3
    assert status.detail.endswith(" and 2 more.")


TOPICS = [TopicInfo("a", 3), TopicInfo("b", 2, 9), TopicInfo("c", 1)]


class Shard:
    """The group's shard: notes what follows."""

    def __init__(self) -> None:
        self.followed: list[Any] = []

    def post(self, command: Any) -> None:
        self.followed.append(command)


def followed(*refusals: KafkaError | None) -> list[Any]:
    """What follows when the topics are refused like this."""
    asked: list[Sequence[TopicInfo]] = []

    def create(topics: Sequence[TopicInfo]) -> Sequence[KafkaError | None]:
        asked.append(topics)
        return refusals

    shard: Any = Shard()
    effect_handlers(create)[CreateInternalTopics](shard, CreateInternalTopics("g", TOPICS, 500))
    assert asked == [TOPICS]
    return list(shard.followed)


def test_internal_topics_that_are_refused_are_told_to_the_group() -> None:
    too_many = KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "too many")
    (told,) = followed(None, too_many, KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS))
    assert isinstance(told, TopicsRefused)
    assert (told.group_id, told.retry_ms) == ("g", 500)
    assert told.reasons == {"b": "too many", "c": "TOPIC_ALREADY_EXISTS"}


def test_internal_topics_that_were_created_are_not_told() -> None:
    assert followed(None, None, None) == []


BEFORE = release_of("4.3")


def tasks(*partitions: int) -> dict[str, frozenset[int]]:
    return {"0": frozenset(partitions)} if partitions else {}


def holders(*members: Member) -> Holders:
    made = Holders()
    for member in members:
        made.add(member)
    return made


NEW = Member("m", metadata=in_process("p"))
HAS = Member("m", 4, metadata=in_process("p"), assigned=Held({"0": {0: 4, 1: 4}}))


def test_streams_member_takes_tasks_that_are_free() -> None:
    after = reconcile(NEW, 3, Target(tasks(0, 1), tasks(2)), None, holders())
    assert (after.state, after.epoch, after.previous_epoch) == (MemberState.STABLE, 3, 0)
    assert after.assigned == Held({"0": {0: 3, 1: 3}}, tasks(2))


def test_streams_member_waits_for_tasks_of_another_process() -> None:
    other = Member("n", metadata=in_process("q"), assigned=Held({"0": {0: 2}}))
    after = reconcile(NEW, 3, Target(tasks(0, 1)), None, holders(other))
    assert (after.state, after.epoch) == (MemberState.UNRELEASED_TASKS, 3)
    assert after.assigned == Held({"0": {1: 3}})
    done = reconcile(after, 3, Target(tasks(0, 1)), None, holders(after))
    assert (done.state, done.assigned.active) == (MemberState.STABLE, {"0": {0: 3, 1: 3}})


def test_a_process_has_a_task_in_one_role_only() -> None:
    sibling = Member("n", metadata=in_process("p"), assigned=Held({"0": {0: 2}}, tasks(1)))
    after = reconcile(NEW, 3, Target(tasks(1), tasks(0)), None, holders(sibling))
    assert (after.state, after.assigned.is_empty) == (MemberState.UNRELEASED_TASKS, True)
    stranger = sibling._replace(metadata=in_process("q"))
    after = reconcile(NEW, 3, Target(tasks(1), tasks(0)), None, holders(stranger))
    assert after.assigned == Held({"0": {1: 3}}, tasks(0))


def test_tasks_are_given_up_before_the_epoch_moves() -> None:
    target = Target(tasks(1), tasks(0))
    after = reconcile(HAS, 6, target, None, holders(HAS))
    assert (after.state, after.epoch) == (MemberState.UNREVOKED_TASKS, 4)
    assert (after.assigned.active, after.revoking.active) == ({"0": {1: 4}}, {"0": {0: 4}})
    assert reconcile(after, 6, target, None, holders(after)) is after
    assert reconcile(after, 6, target, owned((0, 1)), holders(after)) is after
    freed = reconcile(after, 6, target, owned((1,)), holders(after._replace(revoking=Held())))
    assert (freed.state, freed.epoch, freed.previous_epoch) == (MemberState.STABLE, 6, 4)
    assert freed.assigned == Held({"0": {1: 4}}, tasks(0))


def test_streams_member_that_owns_less_need_not_revoke() -> None:
    after = reconcile(HAS, 6, Target(tasks(1)), owned((1,)), holders(HAS))
    assert (after.state, after.epoch, after.assigned.active) == (MemberState.STABLE, 6, {"0": {1: 4}})


def test_streams_member_at_its_target_does_not_change() -> None:
    member = HAS._replace(epoch=6)
    assert reconcile(member, 6, NO_TARGET, None, holders(member)) is member


def test_a_state_that_nobody_knows() -> None:
    member = HAS._replace(state=MemberState.UNKNOWN)
    with pytest.raises(KafkaError) as error:
        reconcile(member, 6, Target(tasks(1)), None, holders(member))
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    after = reconcile(member, 6, Target(tasks(1)), Owned({}, {}, {}), holders(member))
    assert (after.state, after.epoch) == (MemberState.STABLE, 6)


def test_streams_assignment_writes_only_changed_targets() -> None:
    group = StreamsGroup("g")
    group.put_member(Member("a", metadata=in_process("p")))
    group.targets["a"] = Target({"0": frozenset({0, 1})})
    ready = configure(PLAIN, Topics(t=2))
    targets, records = compute_targets(group, None, 4, ready, {}, 77, release=BEFORE)
    assert targets == {"a": Target({"0": frozenset({0, 1})})}
    epoch: Any
    (epoch,) = [decode_group_record(record.key, record.value)[1] for record in records]
    assert (epoch.assignment_epoch, epoch.assignment_timestamp) == (4, 77)
    targets, records = compute_targets(group, Member("b", metadata=in_process("q")), 5, ready, {}, 78, release=BEFORE)
    keys: list[Any] = [decode_group_record(record.key, record.value)[0] for record in records[:-1]]
    assert [key.member_id for key in keys] == ["a", "b"]
    assert sorted(len(target.active["0"]) for target in targets.values()) == [1, 1]


def test_standbys_as_the_group_is_configured() -> None:
    group = StreamsGroup("g")
    for name in ("a", "b"):
        group.put_member(Member(name, metadata=in_process(name)))
    ready = configure(COUNTING, Topics(t=2, **{"counts-changelog": 2}))
    targets, _ = compute_targets(group, None, 4, ready, {"num.standby.replicas": "1"}, 0, release=BEFORE)
    for target in targets.values():
        assert sorted((*target.active["0"], *target.standby["0"])) == [0, 1]


def test_streams_group_with_missing_topics_assigns_no_tasks() -> None:
    group = StreamsGroup("g")
    group.put_member(Member("a"))
    targets, records = compute_targets(group, None, 2, configure(PLAIN, Topics(u=1)), {}, 0, release=BEFORE)
    assert targets == {"a": NO_TARGET}
    assert len(records) == 2


DELAY = {"group.streams.initial.rebalance.delay.ms": "1000"}


def test_an_empty_group_waits_for_more_members() -> None:
    driver = StreamsDriver(DELAY)
    told = driver.join("a")
    assert (told.member_epoch, [status.code for status in told.statuses]) == (1, [TopicStatus.ASSIGNMENT_DELAYED])
    assert told.statuses[0].detail == "Assignment delayed due to the configured initial rebalance delay."
    driver.join("b")
    driver.wait(999)
    assert driver.group.state_name == "Assigning"
    driver.wait(1)
    driver.settle()
    assert {member_id: len(active) for member_id, (active, _) in driver.tasks().items()} == {"a": 2, "b": 2}


def test_later_members_do_not_wait() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.wait(1000)
    assert list(driver.join("b").statuses) == []


def test_a_group_that_is_empty_when_the_delay_ends_gets_nothing() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.leave("a")
    written = driver.journal.end_offset
    driver.wait(2000)
    assert driver.journal.end_offset == written
    assert driver.group.assignment_epoch == driver.group.epoch
    assert driver.join("a").statuses[0].code is TopicStatus.ASSIGNMENT_DELAYED


def test_a_coordinator_that_loads_the_group_does_not_go_on_waiting() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.reload()
    assert list(driver.beat("a", 1).statuses) == []
    assert driver.group.assignment_epoch == 2


def test_assignments_follow_one_another_at_intervals() -> None:
    driver = StreamsDriver({"group.streams.assignment.interval.ms": "500"})
    driver.join("a")
    told = driver.join("b")
    assert [status.detail for status in told.statuses] == [
        "Assignment delayed due to the configured assignment interval."
    ]
    driver.wait(499)
    driver.beat("b", 2)
    assert driver.group.assignment_epoch == 2
    driver.wait(1)
    assert list(driver.beat("b", 2).statuses) == []
    assert driver.group.assignment_epoch == 3


WIDE = Topology(0, {"0": Subtopology("0", ["t", "u"])})


def test_source_partitions_of_active_and_standby_tasks() -> None:
    topics = Topics(t=3, u=1)
    configured = configure(WIDE, topics)
    member = Member(
        "m",
        metadata=NO_METADATA.replace(user_endpoint=Endpoint("h", 1)),
        assigned=Held({"0": {0: 1, 2: 1}}, {"0": frozenset({1})}),
    )
    (told,) = endpoints([member, Member("n")], configured, topics)
    assert (told.user_endpoint.host, told.user_endpoint.port) == ("h", 1)
    roles = (told.active_partitions, told.standby_partitions)
    active, standby = (sorted((row.topic, row.partitions) for row in rows) for rows in roles)
    assert active == [("t", [0, 2]), ("u", [0])]
    assert standby == [("t", [1]), ("u", [1])]  # as Kafka: cut only where tasks outnumber partitions


def test_topics_that_do_not_allow_to_say() -> None:
    member = Member("m", metadata=NO_METADATA.replace(user_endpoint=Endpoint("h", 1)), assigned=Held({"0": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(u=1)), Topics(u=1))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(t=1)), Topics(u=1))
    strange = member._replace(assigned=Held({"9": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([strange], configure(PLAIN, Topics(t=1)), Topics(t=1))
