"""Groups in a log directory that goes from odradek to a real Kafka and back: their members just go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

import odradek
from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    assigned_partitions,
    encode_assignment,
    encode_subscription,
)
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    Topology,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.generated.stored.consumer_protocol_subscription import TopicPartition
from odradek.protocol.json_form import to_json
from tests.conformance.foreign_kafka import ForeignKafka, static_voters
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

GROUP, SOURCE = "both-ways", "source"
CONFIG = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.assignment.interval.ms": "0",
}


class Members:
    """Members of the group, by heartbeats of their own making."""

    ASKED: ClassVar[tuple[Any, int]]
    """The request that describes the group, and its version."""

    def __init__(self, bootstrap: str) -> None:
        self.client = WireClient.at(bootstrap, client_id="app", timeout_s=60)
        find = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
        wait_until("a coordinator", lambda: self.client.request(find, 4).coordinators[0].error_code == 0)
        wait_until("its groups", lambda: self.describe()["errorCode"] in (0, 69))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.close()

    def describe(self) -> Any:
        request, version = self.ASKED
        described = to_json(self.client.request(request, version), version)["groups"][0]
        described["members"].sort(key=lambda member: member["memberId"])
        return described


class Consumers(Members):
    """Members of a consumer group."""

    ASKED = ConsumerGroupDescribeRequest([GROUP]), 1
    topic_id = bytes(16)

    def join(self, member: str, **more: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(
            GROUP, member, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=[SOURCE], topic_partitions=[], **more
        )
        return self.client.request(request, 1)

    def beat(self, member: str, epoch: int, *owned: int, **more: Any) -> Any:
        request = ConsumerGroupHeartbeatRequest(GROUP, member, epoch, **more)
        if owned:
            request.topic_partitions = [TopicPartitions(self.topic_id, list(owned))]
        return self.client.request(request, 1)


class Application(Members):
    """Members of a streams group."""

    ASKED = StreamsGroupDescribeRequest([GROUP]), 0

    def join(self, member: str) -> Any:
        request = StreamsGroupHeartbeatRequest(
            GROUP, member, 0, rebalance_timeout_ms=60_000, active_tasks=[], standby_tasks=[], warmup_tasks=[]
        )
        request.topology = Topology(0, [Subtopology("0", [SOURCE])])
        request.process_id = f"process of {member}"
        return self.client.request(request, 0)

    def beat(self, member: str, epoch: int, *owned: int) -> Any:
        request = StreamsGroupHeartbeatRequest(GROUP, member, epoch, active_tasks=[], standby_tasks=[], warmup_tasks=[])
        if owned:
            request.active_tasks = [TaskIds("0", list(owned))]
        return self.client.request(request, 0)


def given(reply: Any) -> list[int]:
    assert reply.error_code == 0, reply.error_message
    Consumers.topic_id = next((row.topic_id for row in reply.assignment.topic_partitions), Consumers.topic_id)
    return [partition for row in reply.assignment.topic_partitions for partition in row.partitions]


def tasks(reply: Any) -> list[int]:
    assert reply.error_code == 0, reply.error_message
    return [partition for row in reply.active_tasks for partition in row.partitions]


@pytest.fixture
def kafka(tmp_path: Path) -> ForeignKafka:
    """It is started on what odradek has left."""
    node = ForeignKafka(1, tmp_path)
    node.quorum = {**static_voters([node]), **CONFIG}
    return node


def test_members_of_a_consumer_group_go_on_with_the_other_broker(kafka: ForeignKafka) -> None:
    topics = {SOURCE: {"partitions": 4}}
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, topics=topics, config=CONFIG) as broker,
        Consumers(broker.bootstrap_servers) as ours,
    ):
        assert given(ours.join("a", instance_id="i", subscribed_topic_regex="sour.*")) == [0, 1, 2, 3]
        wait_until("topics of the pattern", lambda: ours.describe()["groupEpoch"] == 3)
        assert ours.beat("a", 2, 0, 1, 2, 3, instance_id="i").member_epoch == 3
        left = ours.describe()
    with kafka.running(), Consumers(kafka.bootstrap_servers) as theirs:
        assert theirs.describe() == left
        epoch = theirs.beat("a", left["groupEpoch"], 0, 1, 2, 3, instance_id="i").member_epoch
        assert given(theirs.join("b")) == []
        assert sorted(given(theirs.beat("a", epoch, 0, 1, 2, 3, instance_id="i"))) == [0, 1]
        left = theirs.describe()
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker,
        Consumers(broker.bootstrap_servers) as ours,
    ):
        assert ours.describe() == left
        assert ours.beat("a", epoch, 0, 1, instance_id="i").member_epoch == left["groupEpoch"]
        assert given(ours.beat("b", left["groupEpoch"])) == [2, 3]
        assert ours.describe()["groupState"] == "Stable"


def test_members_of_a_streams_group_go_on_with_the_other_broker(kafka: ForeignKafka) -> None:
    topics = {SOURCE: {"partitions": 4}}
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, topics=topics, config=CONFIG) as broker,
        Application(broker.bootstrap_servers) as ours,
    ):
        assert tasks(ours.join("a")) == [0, 1, 2, 3]
        ours.beat("a", 2, 0, 1, 2, 3)
        left = ours.describe()
    with kafka.running(), Application(kafka.bootstrap_servers) as theirs:
        assert theirs.describe() == left
        assert theirs.beat("a", 2, 0, 1, 2, 3).error_code == 0
        assert tasks(theirs.join("b")) == []
        assert tasks(theirs.beat("a", 2, 0, 1, 2, 3)) == [0, 1]
        left = theirs.describe()
    with (
        odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker,
        Application(broker.bootstrap_servers) as ours,
    ):
        assert ours.describe() == left
        assert ours.beat("a", 2, 0, 1).member_epoch == 3
        assert tasks(ours.beat("b", 3)) == [2, 3]
        assert ours.describe()["groupState"] == "Stable"


# -- a group of both protocols

TIMEOUT_MS = 600_000


class Mixed(Consumers):
    """The consumer member "a", and a classic member."""

    classic = ""
    generation = 0

    def join_classic(self, *owned: int) -> int:
        """The classic member joins, in the end as who it is; tells its generation."""
        rows = [TopicPartition(SOURCE, list(owned))] if owned else []
        metadata = encode_subscription(ConsumerProtocolSubscription([SOURCE], owned_partitions=rows), 1)
        request = JoinGroupRequest(
            GROUP,
            session_timeout_ms=TIMEOUT_MS,
            rebalance_timeout_ms=TIMEOUT_MS,
            member_id=Mixed.classic,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", metadata)],
        )
        reply = self.client.request(request, 6)
        if reply.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            Mixed.classic = reply.member_id
            return self.join_classic(*owned)
        assert reply.error_code == 0
        Mixed.generation = reply.generation_id
        return int(reply.generation_id)

    def sync_classic(self, *assigned: int) -> list[int]:
        """What the classic member gets; ``assigned``: what it assigns as a leader."""
        rows = ConsumerProtocolAssignment([AssignedPartitions(SOURCE, list(assigned))])
        assignments = [SyncGroupRequestAssignment(Mixed.classic, encode_assignment(rows))] if assigned else []
        request = SyncGroupRequest(GROUP, Mixed.generation, Mixed.classic, assignments=assignments)
        reply = self.client.request(request, 4)
        assert reply.error_code == 0
        return sorted(assigned_partitions(bytes(reply.assignment)).get(SOURCE, ()))

    def beat_classic(self) -> ErrorCode:
        request = HeartbeatRequest(GROUP, Mixed.generation, Mixed.classic)
        return ErrorCode(self.client.request(request, 4).error_code)

    def leave(self, member: str) -> None:
        assert self.client.request(LeaveGroupRequest(GROUP, members=[MemberIdentity(member)]), 4).error_code == 0


def _make_topic(members: Consumers) -> None:
    request = CreateTopicsRequest([CreatableTopic(SOURCE, 4, 1)], timeout_ms=10_000)
    assert members.client.request(request, 5).topics[0].error_code in (0, ErrorCode.TOPIC_ALREADY_EXISTS)


def _upgrade(bootstrap: str) -> Any:
    """A classic member that has everything; a consumer member joins and waits for its half."""
    with Mixed(bootstrap) as group:
        _make_topic(group)
        Mixed.classic = ""
        group.join_classic()
        assert group.sync_classic(0, 1, 2, 3) == [0, 1, 2, 3]
        assert given(group.join("a")) == []
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        return group.describe()


def _go_on(bootstrap: str, left: Any) -> Any:
    """The other broker: the classic member gives up half, the consumer member takes it."""
    with Mixed(bootstrap) as group:
        assert group.describe() == left
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        group.join_classic(0, 1, 2, 3)
        kept = group.sync_classic()
        assert len(kept) == 2
        group.join_classic(*kept)
        assert group.sync_classic() == kept
        epoch = left["groupEpoch"]
        assert sorted([*given(group.beat("a", epoch)), *kept]) == [0, 1, 2, 3]
        assert group.beat_classic() is ErrorCode.NONE
        wait_until("a stable group", lambda: group.describe()["groupState"] == "Stable")
        return group.describe()


def _downgrade(bootstrap: str, left: Any) -> None:
    """The first broker again: the consumer member leaves, what is left is a classic group."""
    with Mixed(bootstrap) as group:
        assert group.describe() == left
        assert group.beat_classic() is ErrorCode.NONE
        group.leave("a")
        assert group.beat_classic() is ErrorCode.REBALANCE_IN_PROGRESS
        group.join_classic()
        assert group.sync_classic(0, 1, 2, 3) == [0, 1, 2, 3]


@pytest.mark.parametrize("first", ["odradek", "kafka"])
def test_a_mixed_group_goes_on_with_the_other_broker(kafka: ForeignKafka, first: str) -> None:
    @contextmanager
    def ours() -> Iterator[str]:
        with odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker:
            yield broker.bootstrap_servers

    start, other = (ours, kafka.running) if first == "odradek" else (kafka.running, ours)
    with start() as bootstrap:
        left = _upgrade(bootstrap)
    with other() as bootstrap:
        left = _go_on(bootstrap, left)
    with start() as bootstrap:
        _downgrade(bootstrap, left)
