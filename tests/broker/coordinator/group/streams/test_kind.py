"""Streams groups as a kind: loads, topics that change, and a model of members that come, go and are slow."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from odradek.broker.coordinator.group.commands import DeleteGroup
from odradek.broker.coordinator.group.records import encode_key
from odradek.broker.coordinator.group.streams.group import StreamsGroup, StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.records import Owned
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.stored.streams_group_metadata import StreamsGroupMetadataKey
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver, durable

TWO = Topology(
    0,
    {
        "0": Subtopology("0", ("t",), repartition_sinks=("r",)),
        "1": Subtopology("1", repartition_sources=(TopicInfo("r"),), changelogs=(TopicInfo("s"),)),
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
        beat = StreamsGroupHeartbeat("g", member, client.epoch, owned=owned, host="/h")
        reply = self.driver.attempt(beat, ErrorCode.FENCED_MEMBER_EPOCH, *GONE)
        if reply is None:
            del self.clients[member]
        elif heard:
            client.hear(reply)

    @rule(member=members)
    def leave(self, member: str) -> None:
        if self.clients.pop(member, None) is not None:
            self.driver.attempt(StreamsGroupHeartbeat("g", member, -1), *GONE)

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
