"""Streams groups: heartbeats, descriptions, loads, topics that change, and a model of members that come and go."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.coordinator.group.groups import DeleteGroup, ExpireRevocation, FenceMember
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.records import encode_key
from odradek.broker.coordinator.group.settings import fixed_configs
from odradek.broker.coordinator.group.streams.group import Held, Member, Owned, StreamsGroup
from odradek.broker.coordinator.group.streams.kind import make
from odradek.broker.coordinator.group.streams.progress import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import TopicStatus, Topology
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.streams_group_heartbeat import Endpoint
from odradek.protocol.generated.stored.streams_group_metadata import StreamsGroupMetadataKey
from odradek.protocol.generated.stored.streams_group_topology import Subtopology, TopicInfo
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver, durable, heartbeat, owned
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.group_driver import leave_group, left
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import (
    CONFIG,
    CONVERSATIONS,
    PLUGIN,
    DescribingConversation,
    config_of,
    transcribe,
)


@pytest.mark.long("expired")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_topology_descriptions_are_answered_as_by_kafka(name: str) -> None:
    with KafkaBroker(config=config_of(name), clock=PatientClock(), kafka_version="4.4") as broker:
        told, expected = transcribe(name, broker.bootstrap_servers), recorded("topology_descriptions")[name]
        if name == "given_up":  # Kafka stores in a batch of its own that the description is being deleted
            told, expected = without_batches(told), without_batches(expected)
        assert told == expected
        assert broker.bugs == []


def without_batches(transcript: list[Any]) -> list[Any]:
    """The transcript, with only what the records say."""
    return [[what, [row[1:] for row in said] if what.startswith("log of ") else said] for what, said in transcript]


def talk_to(broker: KafkaBroker) -> DescribingConversation:
    host, port = broker.bootstrap_servers.split(":")
    return DescribingConversation(host, int(port))


def wanted(conversation: DescribingConversation) -> bool:
    """Whether the newest heartbeat was answered with the wish for a description."""
    answer: dict[str, bool] = conversation.transcript[-1][1]
    return answer["topologyDescriptionRequired"]


def test_asked_again_after_pauses_that_double() -> None:
    configs = {**CONFIG, "group.streams.max.session.timeout.ms": "90000000", "connections.max.idle.ms": "-1"}
    with KafkaBroker(config=configs) as broker, closing(talk_to(broker)) as c:
        c.configure(streams_session_timeout_ms="80000000")
        broker.clock.freeze()
        c.describing_start("m-a")
        assert wanted(c)
        for pause_s in (30, 60, 120, 240, 480, 960, 1920, 3600, 3600):
            broker.clock.advance(pause_s - 1)
            c.describing_beat("m-a", 2)
            assert not wanted(c)
            broker.clock.advance(1)
            c.describing_beat("m-a", 2)
            assert wanted(c)
        c.update()
        broker.clock.advance(7200)
        c.describing_beat("m-a", 2)
        assert not wanted(c)


def test_a_restart_loses_the_description_and_asks_nobody(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        group = c.group
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.group = group
        c.describing_beat("m-a", 2)
        assert not wanted(c)
        c.show_description()
        described = c.transcript[-1][1]["groups"][0]
        assert (described["topologyDescriptionStatus"], described["topologyDescription"]) == (1, None)


def test_a_member_with_an_older_topology_is_not_asked() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.start("m-a", c.plain(epoch=3))
        c.describing_start("m-b", topology=c.plain(epoch=2))
        assert [status["statusCode"] for status in c.transcript[-1][1]["status"]] == [0]
        assert not wanted(c)
        c.describing_start("m-c", topology=c.plain(epoch=3))
        assert wanted(c)


def test_a_copy_has_the_description() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        with broker.fork() as fork, closing(talk_to(fork)) as other:
            other.group = c.group
            other.show_description()
            assert other.transcript[-1][1]["groups"][0]["topologyDescriptionStatus"] == 3


def test_topology_description_plugins_of_others_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^plugin 'com\.example\.Mine' is not supported by odradek: .* or nothing$"):
        BrokerConfig({"group.streams.topology.description.plugin.class": "com.example.Mine"})


def test_older_releases_have_no_plugin() -> None:
    with pytest.raises(ConfigError, match=r"topology\.description\.plugin\.class"):
        BrokerConfig({"odradek.kafka.version": "4.3", "group.streams.topology.description.plugin.class": PLUGIN})
    with KafkaBroker(kafka_version="4.3") as broker, closing(talk_to(broker)) as c:
        c.start("m-a")
        assert c.transcript[-1][1]["errorCode"] == 0


def test_a_heartbeat_of_a_settled_member_writes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    before = driver.journal.end_offset
    for _ in range(5):
        reply = driver.beat("a", 2)
        assert (reply.assigned, list(reply.statuses)) == (None, [])
    assert driver.journal.end_offset == before


def test_a_settled_member_hears_of_what_has_changed_since() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6
    driver.ask(heartbeat("g", "a", 3, host="/elsewhere"))
    assert driver.group.members["a"].metadata.client_host == "/elsewhere"
    driver.settle()
    epoch = driver.group.epoch
    end = driver.beat("a", epoch, shutdown=True)
    assert [status.code for status in end.statuses] == [TopicStatus.SHUTDOWN_APPLICATION]
    assert [status.code for status in driver.beat("a", epoch).statuses] == [TopicStatus.SHUTDOWN_APPLICATION]


def test_internal_topics_come_with_the_next_heartbeat() -> None:
    driver = StreamsDriver()
    first = driver.join("a", COUNTING)
    assert [status.code for status in first.statuses] == [TopicStatus.MISSING_INTERNAL_TOPICS]
    assert [type(effect) for effect in driver.effects].count(CreateInternalTopics) == 1
    second = driver.beat("a", 2)
    assert (list(second.statuses), second.member_epoch) == ([], 3)
    assert second.assigned is not None
    assert sorted(second.assigned.active["0"]) == [0, 1, 2, 3]


def test_a_refused_append_changes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    beat = heartbeat("g", "a", 2, host="/h")
    assert driver.error(beat)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert driver.error(heartbeat("g", "b", 0, topology=PLAIN))[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.group.epoch == 2
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6


def test_a_new_group_that_could_not_be_stored_does_not_wait() -> None:
    driver = StreamsDriver({"group.streams.initial.rebalance.delay.ms": "1000"})
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    joining = heartbeat("g", "a", 0, topology=PLAIN, owned=Owned({}, {}, {}), rebalance_timeout_ms=1)
    assert driver.error(joining)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.shard.timers.next_due_ms() is None or driver.machine.group("g") is None
    reply = driver.ask(joining)
    assert [status.code for status in reply.statuses] == [TopicStatus.ASSIGNMENT_DELAYED]


def test_end_points_are_numbered_anew_after_a_load() -> None:
    driver = StreamsDriver()
    driver.join("a", endpoint=Endpoint("h", 1))
    driver.join("b", endpoint=Endpoint("h", 2))
    driver.settle()
    known = driver.group.soft.endpoint_epoch
    assert driver.beat("a", 3, endpoint_epoch=known).endpoints is None
    driver.reload()
    told = driver.beat("a", 3, endpoint_epoch=known)
    assert told.endpoint_epoch == 0
    assert told.endpoints is not None
    assert {each.user_endpoint.port for each in told.endpoints} == {1, 2}


def test_streams_heartbeat_to_a_group_of_another_kind_is_refused() -> None:
    driver = StreamsDriver()
    unknown = driver.error(heartbeat("g", "a", 3))
    assert unknown == (ErrorCode.GROUP_ID_NOT_FOUND, "Streams group g not found.")
    driver.join("a")
    reply = driver.ask(leave_group("g", [("a", None)]))
    assert left(reply) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_streams_heartbeat_of_a_leaving_member_frees_its_tasks() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.join("b")
    reply = driver.leave("a")
    assert (reply.member_id, reply.member_epoch, list(reply.statuses)) == ("a", -1, [])
    assert list(driver.group.members) == ["b"]
    assert driver.group.epoch == 4
    driver.settle()
    assert driver.tasks()["b"][0] == [("0", task) for task in range(4)]


def test_leaving_what_is_not_there() -> None:
    driver = StreamsDriver()
    leaving = heartbeat("g", "x", -1)
    assert driver.error(leaving) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    driver.join("a")
    assert driver.error(leaving) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member x is not a member of group g.")


def test_silence_ends_a_session_and_heartbeats_keep_it() -> None:
    driver = StreamsDriver({"group.streams.session.timeout.ms": "50000"})
    driver.join("a")
    driver.join("b")
    for _ in range(3):
        driver.wait(20_000)
        driver.honest_beat("b")
    assert list(driver.group.members) == ["b"]
    driver.wait(60_000)
    assert driver.group.state_name == "Empty"


def test_tasks_are_given_up_in_time_or_the_member_is_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(900)
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(200)
    assert list(driver.group.members) == ["b"]


def test_a_member_that_got_on_is_not_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.beat("a", 2, active=(0, 1))
    driver.wait(2000)
    assert set(driver.group.members) == {"a", "b"}


def test_streams_timers_of_members_that_are_gone_do_nothing() -> None:
    driver = StreamsDriver()
    assert driver.ask(FenceMember("g", "a")) is None
    driver.join("a")
    driver.ask(FenceMember("g", "x"))
    driver.ask(ExpireRevocation("g", "a", 1))
    driver.ask(ExpireRevocation("g", "x", 2))
    assert list(driver.group.members) == ["a"]


TWO = Topology(
    0,
    {
        "0": Subtopology("0", ["t"], repartition_sink_topics=["r"]),
        "1": Subtopology("1", repartition_source_topics=[TopicInfo("r")], state_changelog_topics=[TopicInfo("s")]),
    },
)


def test_a_load_makes_the_same_group_and_gives_members_time() -> None:
    driver = StreamsDriver({"group.streams.session.timeout.ms": "45000", "group.streams.num.standby.replicas": "1"})
    driver.join("a", COUNTING)
    driver.join("b", COUNTING, rebalance_timeout_ms=500)
    driver.settle()
    before = durable(driver.group)
    driver.reload()
    assert durable(driver.group) == before
    driver.wait(44_000)
    assert set(driver.group.members) == {"a", "b"}
    driver.wait(2_000)
    assert driver.group.is_empty


def test_a_load_goes_on_waiting_for_tasks_to_be_given_up() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.reload()
    driver.wait(1100)
    assert list(driver.group.members) == ["b"]


def test_a_load_of_superseded_records_keeps_a_task_with_the_next_member_of_the_process() -> None:
    """The load passes over the record in which `a` gave a task up: it reads that `c` has it before `a` is gone."""
    driver = StreamsDriver({"group.streams.assignment.interval.ms": "900"}, t=3)
    for member in ("b", "a", "c"):
        driver.join(member, TWO, process_id="p")
        if member != "a":
            for _ in range(4):
                driver.settle()
                driver.wait(1_000)
    driver.leave("a")
    assert durable(StreamsDriver(journal=driver.journal, t=3).group) == durable(driver.group)
    for subtopology, tasks in driver.group.members["c"].assigned.active.items():
        assert tasks
        assert {driver.group.holders.active(subtopology, task) for task in tasks} == {"p"}


def test_topics_that_change_are_seen_with_the_next_heartbeat() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.change_topic("t", 5)
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 5
    driver.change_topic("other", 1)
    assert driver.beat("a", 3).member_epoch == 3
    driver.delete_topic("t")
    reply = driver.beat("a", 3)
    assert [status.detail for status in reply.statuses] == ["Source topics t are missing."]
    assert driver.group.state_name == "NotReady"


def test_a_deleted_group_is_gone_and_its_topics_with_it() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.leave("a")
    driver.ask(DeleteGroup("g"))
    assert driver.machine.group("g") is None
    driver.change_topic("t", 9)
    driver.reload()
    assert driver.machine.group("g") is None


def test_tombstones_of_groups_that_nobody_knows() -> None:
    driver = StreamsDriver()
    driver.join("a")
    for key in (encode_key(StreamsGroupMetadataKey("other")), b"\0\x12\0\1g"):
        driver.machine.replay(LogRecord(key, None, 99, -1, -1))
    assert driver.machine.group("other") is None


# -- the model

MEMBERS = ("a", "b", "c", "d")
GONE = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND)
members = st.sampled_from(MEMBERS)


class Client:
    """A member as its client knows it: what it has taken up, and what it was last told to have."""

    def __init__(self, process: str) -> None:
        self.process = process
        self.epoch = 0
        self.active: dict[str, set[int]] = {}
        self.standby: dict[str, set[int]] = {}

    def hear(self, reply: Any) -> None:
        self.epoch = reply.member_epoch
        if reply.assigned is not None:
            self.active = {name: set(tasks) for name, tasks in reply.assigned.active.items()}
            self.standby = {name: set(tasks) for name, tasks in reply.assigned.standby.items()}


class Members(RuleBasedStateMachine):
    """Members join, beat, lose answers, die and leave; time passes; topics grow; the coordinator moves."""

    @initialize(standbys=st.integers(0, 2), delay=st.sampled_from([0, 700]), interval=st.sampled_from([0, 900]))
    def begin(self, standbys: int, delay: int, interval: int) -> None:
        self.driver = StreamsDriver(
            {
                "group.streams.num.standby.replicas": str(standbys),
                "group.streams.initial.rebalance.delay.ms": str(delay),
                "group.streams.assignment.interval.ms": str(interval),
                "group.streams.max.size": "3",
            },
            t=3,
        )
        self.clients: dict[str, Client] = {}

    @rule(member=members, process=st.sampled_from(["p", "q", "r"]), heard=st.booleans())
    def join(self, member: str, process: str, heard: bool) -> None:
        joining = self.driver.joining(member, TWO, process_id=process, rebalance_timeout_ms=2_000)
        reply = self.driver.attempt(joining, ErrorCode.GROUP_MAX_SIZE_REACHED)
        if reply is None:
            return
        client = self.clients[member] = Client(process)
        if heard:
            client.hear(reply)

    @rule(member=members, heard=st.booleans(), gives_up=st.booleans(), tells=st.booleans())
    def beat(self, member: str, heard: bool, gives_up: bool, tells: bool) -> None:
        client = self.clients.get(member)
        if client is None or client.epoch < 1:
            return
        active: dict[str, list[int]] | None = None
        if tells:
            active = {name: sorted(tasks) for name, tasks in client.active.items()} if not gives_up else {}
        standby: dict[str, list[int]] = {} if gives_up else {n: sorted(t) for n, t in client.standby.items()}
        owned = None if active is None else Owned(active, standby, {})
        beat = heartbeat("g", member, client.epoch, owned=owned, host="/h")
        reply = self.driver.attempt(beat, ErrorCode.FENCED_MEMBER_EPOCH, *GONE)
        if reply is None:
            del self.clients[member]
        elif heard:
            client.hear(reply)

    @rule(member=members)
    def leave(self, member: str) -> None:
        if self.clients.pop(member, None) is not None:
            self.driver.attempt(heartbeat("g", member, -1), *GONE)

    @rule(ms=st.sampled_from([300, 1_000, 2_500, 46_000]))
    def wait(self, ms: int) -> None:
        self.driver.wait(ms)

    @rule()
    def move(self) -> None:
        self.driver.reload()

    @rule(more=st.integers(1, 2))
    def grow(self, more: int) -> None:
        known = self.driver.topics.named("t")
        assert known is not None
        if known.partitions < 8:
            self.driver.change_topic("t", known.partitions + more)
            for internal in ("r", "s"):
                if self.driver.topics.named(internal) is not None:
                    self.driver.change_topic(internal, known.partitions + more)

    @rule()
    def settles(self) -> None:
        """Members that say what they own and wait come to have every task once."""
        group = self.driver.machine.group("g")
        if not isinstance(group, StreamsGroup) or group.is_empty:
            return
        for _ in range(4):
            self.driver.settle()
            self.driver.wait(1_000)
        assert self.driver.group.state_name == "Stable"
        held = [task for active, _ in self.driver.tasks().values() for task in active]
        topic = self.driver.topics.named("t")
        assert topic is not None
        assert sorted(held) == sorted((name, task) for name in ("0", "1") for task in range(topic.partitions))
        for member_id, client in self.clients.items():
            member = self.driver.group.members.get(member_id)
            if member is not None:
                client.epoch = member.epoch
                client.active = {name: set(tasks) for name, tasks in member.assigned.active.items()}
                client.standby = {name: set(tasks) for name, tasks in member.assigned.standby.items()}

    @invariant()
    def no_task_is_active_twice(self) -> None:
        group = self.driver.machine.group("g")
        if not isinstance(group, StreamsGroup):
            return
        holders: dict[tuple[str, int], str] = {}
        for member in group.members.values():
            for held in (member.assigned, member.revoking):
                for name, tasks in held.active.items():
                    for task in tasks:
                        assert holders.setdefault((name, task), member.member_id) == member.member_id

    @invariant()
    def the_log_says_the_same(self) -> None:
        group = self.driver.machine.group("g")
        if isinstance(group, StreamsGroup):
            other = StreamsDriver(journal=self.driver.journal, t=3)
            assert durable(other.group) == durable(group)


TestMembers = Members.TestCase
TestMembers.settings = settings(stateful_step_count=25)


def test_members_of_a_plain_topology_share_its_tasks() -> None:
    driver = StreamsDriver(t=7)
    for member in MEMBERS:
        driver.join(member, PLAIN)
    driver.settle()
    assert sorted(len(active) for active, _ in driver.tasks().values()) == [1, 2, 2, 2]


MEMBER = Member("m", 5, 4, assigned=Held({"0": {0: 5, 1: 3}}))
FULL_WITH_ONE = make(GroupMachine(configs=fixed_configs({"group.streams.max.size": "1"})).context)


@pytest.mark.parametrize(("epoch", "has"), [(0, None), (5, None), (4, ()), (4, (0, 1))])
def test_a_heartbeat_in_the_present_epoch_or_with_what_the_last_one_gave_is_accepted(
    epoch: int, has: tuple[int, ...] | None
) -> None:
    FULL_WITH_ONE.check_epoch(MEMBER, epoch, owned(has))


@pytest.mark.parametrize(
    ("epoch", "has", "how"), [(6, (), "greater"), (3, (), "smaller"), (4, None, "smaller"), (4, (0, 2), "smaller")]
)
def test_a_heartbeat_in_another_epoch_is_fenced(epoch: int, has: tuple[int, ...] | None, how: str) -> None:
    with pytest.raises(KafkaError, match=f"has a {how} member epoch") as error:
        FULL_WITH_ONE.check_epoch(MEMBER, epoch, owned(has))
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_full_group_takes_no_other_member() -> None:
    group = StreamsGroup("g")
    FULL_WITH_ONE.check_room(group, "m")
    group.put_member(Member("m"))
    FULL_WITH_ONE.check_room(group, "m")
    with pytest.raises(KafkaError, match=r"The streams group has reached its maximum capacity of 1 members\.") as error:
        FULL_WITH_ONE.check_room(group, "n")
    assert error.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
