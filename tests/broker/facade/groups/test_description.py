"""Snapshots of consumer, share and streams groups (KIP-848, KIP-932, KIP-1071), and the gaps in them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer

from odradek.broker.facade.groups.description import with_gaps
from odradek.broker.facade.groups.info import (
    GroupInfo,
    MemberInfo,
    OffsetInfo,
    SharePartitionInfo,
    StreamsGroupInfo,
    StreamsMemberInfo,
)
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    Endpoint,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient
from tests.scenarios.share_conversations import ShareConversation

CONSUMER_CONFIG = {"group.consumer.assignment.interval.ms": "0"}


def consumer_client(broker: KafkaBroker) -> WireClient:
    client = WireClient.at(broker.bootstrap_servers, client_id="c")
    client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    return client


def join_consumer_group(client: WireClient, member_id: str, regex: str | None = None) -> int:
    answer = client.request(
        ConsumerGroupHeartbeatRequest(
            "g",
            member_id,
            0,
            rebalance_timeout_ms=40_000,
            subscribed_topic_names=["t"],
            subscribed_topic_regex=regex,
            topic_partitions=[],
        ),
        1,
    )
    assert answer.error_code == 0, answer
    return int(answer.member_epoch)


def test_all_about_a_consumer_group() -> None:
    with KafkaBroker(topics={"t": 2, "u": 1}, config=CONSUMER_CONFIG) as broker, consumer_client(broker) as client:
        assert join_consumer_group(client, "a") == 2
        assert join_consumer_group(client, "b") == 3
        info = broker.groups["g"]
        assert info == broker.group("g").info
        assert (info.type, info.state, info.protocol_type, info.protocol) == (
            "consumer",
            "Reconciling",
            "consumer",
            "uniform",
        )
        assert (info.generation, info.assignment_epoch, info.leader, info.coordinator) == (3, 3, None, 1)
        a, b = info.members
        assert (a.member_id, a.client_id, a.host, a.instance_id) == ("a", "c", "/127.0.0.1", None)
        assert (a.epoch, a.subscription, a.regex, a.protocol) == (2, ("t",), "", "consumer")
        assert (a.session_timeout_ms, a.rebalance_timeout_ms) == (45_000, 40_000)
        assert a.assignment == {"t": (0, 1)}
        assert len(a.target["t"]) == 1
        assert (b.epoch, b.subscription, b.assignment) == (3, ("t",), {})
        assert info.assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        join_consumer_group(client, "c", "u.*")
        assert broker.group("g").members[2].regex == "u.*"
        assert broker.bugs == []


def test_waiting_for_a_consumer_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=CONSUMER_CONFIG) as broker, consumer_client(broker) as client:
        late = threading.Timer(0.05, join_consumer_group, [client, "a"])
        late.start()
        assert broker.group("g").wait(members=1).assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        late.join()
        join_consumer_group(client, "b")
        topic_id = (
            client.request(ConsumerGroupHeartbeatRequest("g", "a", 2, topic_partitions=None), 1)
            .assignment.topic_partitions[0]
            .topic_id
        )
        kept = broker.group("g").members[0].target["t"]
        owned = [TopicPartitions(topic_id, list(kept))]
        client.request(ConsumerGroupHeartbeatRequest("g", "a", 2, topic_partitions=owned), 1)
        late = threading.Timer(0.05, client.request, [ConsumerGroupHeartbeatRequest("g", "b", 3), 1])
        late.start()
        info = broker.group("g").wait(members=2)
        assert all(len(member.assignment["t"]) == 1 and member.assignment == member.target for member in info.members)
        late.join()
        client.request(ConsumerGroupHeartbeatRequest("g", "a", -1), 1)
        client.request(ConsumerGroupHeartbeatRequest("g", "b", -1), 1)
        assert broker.group("g").wait(lambda group: group.state == "Empty").members == ()
        assert broker.bugs == []


SHARE_CONFIG = {"group.share.assignment.interval.ms": "0"}


def test_all_about_a_share_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=SHARE_CONFIG) as broker:
        with WireClient.at(broker.bootstrap_servers, client_id="c") as client:
            client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
            first = client.request(ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"]), 1)
            assert first.error_code == 0
            info = broker.group("g").wait(members=1)
            while not info.assignments:  # once the share coordinator stores the partitions
                epoch = info.members[0].epoch
                client.request(ShareGroupHeartbeatRequest("g", "m", epoch), 1)
                info = broker.group("g").info
        assert (info.type, info.protocol_type, info.protocol, info.leader) == ("share", "share", "simple", None)
        assert info.generation == info.assignment_epoch == info.members[0].epoch
        (member,) = info.members
        assert (member.member_id, member.client_id, member.host, member.instance_id) == ("m", "c", "/127.0.0.1", None)
        assert (member.subscription, member.assignment, member.target) == (("t",), {"t": (0, 1)}, {"t": (0, 1)})
        assert (member.session_timeout_ms, member.rebalance_timeout_ms, member.protocol) == (45_000, -1, "share")
        assert broker.bugs == []


broker = broker_fixture()


@pytest.fixture
def talk(broker: KafkaBroker) -> Iterator[ShareConversation]:
    host, port = broker.bootstrap_servers.split(":")
    conversation = ShareConversation(host, int(port))
    conversation.configured(share_auto_offset_reset="earliest")
    yield conversation
    conversation.close()


@pytest.mark.long
def test_records_by_state_and_deliveries(broker: KafkaBroker, talk: ShareConversation) -> None:
    group = broker.group(talk.group)
    assert group.share_partitions == {}
    talk.joined(early=False)
    talk.produce(10)
    talk.fetch_shared("m1", 0, {0: []})
    assert group.share_partitions == {
        (talk.topic, 0): SharePartitionInfo(0, 10, {"acquired": 10}, {"acquired": {1: 10}}, {"m1": 10})
    }
    talk.acknowledge("m1", 1, {0: [(0, 1, [1]), (4, 4, [3]), (7, 8, [2])]})
    talk.fetch_shared("m1", 2, max=1, mode=1)
    seen = group.share_partitions[talk.topic, 0]
    assert (seen.start_offset, seen.end_offset) == (2, 10)
    assert seen.records == {"acquired": 6, "archived": 1, "available": 1}
    assert seen.deliveries == {"acquired": {1: 5, 2: 1}, "archived": {1: 1}, "available": {1: 1}}
    assert seen.held == {"m1": 6}


def test_a_group_without_records_in_flight(broker: KafkaBroker, talk: ShareConversation) -> None:
    talk.joined(early=False)
    talk.fetch_shared("m1", 0, {0: []}, wait=10)
    assert broker.group(talk.group).share_partitions == {(talk.topic, 0): SharePartitionInfo(0, 0, {}, {}, {})}


STREAMS_CONFIG = {"group.streams.assignment.interval.ms": "0", "group.streams.num.standby.replicas": "1"}


def streams_client(broker: KafkaBroker) -> WireClient:
    client = WireClient.at(broker.bootstrap_servers, client_id="c")
    client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    return client


def beat(client: WireClient, member_id: str, epoch: int, *active: int, **options: Any) -> int:
    owned = [TaskIds("0", list(active))] if active else []
    answer = client.request(
        StreamsGroupHeartbeatRequest(
            "g", member_id, epoch, active_tasks=owned, standby_tasks=[], warmup_tasks=[], **options
        )
    )
    assert answer.error_code == 0, answer.error_message
    return int(answer.member_epoch)


def join_streams_group(client: WireClient, member_id: str) -> int:
    topology = Topology(0, [Subtopology("0", ["t"], state_changelog_topics=[TopicInfo("counts-changelog")])])
    options = {"rebalance_timeout_ms": 40_000, "topology": topology, "process_id": f"p-{member_id}"}
    return beat(client, member_id, 0, **options, user_endpoint=Endpoint("h", 9))


def look(broker: KafkaBroker) -> StreamsGroupInfo:
    info = broker.group("g").info
    assert isinstance(info, StreamsGroupInfo)
    return info


def members_of(info: GroupInfo) -> list[StreamsMemberInfo]:
    return [member for member in info.members if isinstance(member, StreamsMemberInfo)]


def test_all_about_a_streams_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=STREAMS_CONFIG) as broker, streams_client(broker) as client:
        assert join_streams_group(client, "a") == 2
        assert look(broker).state == "NotReady"
        assert beat(client, "a", 2) == 3
        assert join_streams_group(client, "b") == 4
        beat(client, "a", 3, 0, 1)
        info = look(broker)
        assert info == broker.groups["g"]
        assert (info.type, info.state, info.protocol_type, info.protocol) == (
            "streams",
            "Reconciling",
            "streams",
            "sticky",
        )
        assert (info.generation, info.assignment_epoch, info.leader, info.coordinator) == (4, 4, None, 1)
        assert (info.topology_epoch, info.problem) == (0, "")
        (part,) = info.subtopologies
        assert (part.subtopology_id, part.source_topics, part.repartition_topics) == ("0", ("t",), ())
        assert (part.changelog_topics, part.tasks) == (("counts-changelog",), 2)
        a, b = members_of(info)
        assert (a.member_id, a.client_id, a.host, a.process_id, a.endpoint) == ("a", "c", "/127.0.0.1", "p-a", ("h", 9))
        assert (a.epoch, a.subscription, a.session_timeout_ms, a.rebalance_timeout_ms) == (3, ("t",), 45_000, 40_000)
        assert (a.assignment, a.active, a.revoking) == ({"t": (0, 1)}, {"0": (0,)}, {"0": (1,)})
        assert (a.target, a.target_active, a.target_standby) == ({"t": (0,)}, {"0": (0,)}, {"0": (1,)})
        assert (b.epoch, b.active, b.standby, b.target_active) == (4, {}, {"0": (0,)}, {"0": (1,)})
        assert info.assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        assert broker.bugs == []


def test_a_group_whose_topics_are_missing() -> None:
    with KafkaBroker(topics={"u": 2}, config=STREAMS_CONFIG) as broker, streams_client(broker) as client:
        with pytest.raises(AssertionError):
            join_streams_group(client, "a")  # as on Kafka: a member with an end point cannot be answered yet
        topology = Topology(0, [Subtopology("0", ["t"])])
        beat(client, "a", 0, rebalance_timeout_ms=40_000, topology=topology)
        beat(client, "a", 2)
        info = look(broker)
        assert (info.state, info.problem) == ("NotReady", "Source topics t are missing.")
        assert info.subtopologies[0].tasks is None


def test_streams_group_description_of_sources_of_different_width() -> None:
    with KafkaBroker(topics={"t": 3, "u": 1}, config=STREAMS_CONFIG) as broker, streams_client(broker) as client:
        topology = Topology(0, [Subtopology("0", ["t", "u"])])
        beat(client, "a", 0, rebalance_timeout_ms=40_000, topology=topology)
        (member,) = members_of(broker.group("g").wait(members=1))
        assert member.active == {"0": (0, 1, 2)}
        assert member.assignment == member.target == {"t": (0, 1, 2), "u": (0,)}


def test_waiting_for_a_streams_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=STREAMS_CONFIG) as broker, streams_client(broker) as client:
        late = threading.Timer(0.05, lambda: (join_streams_group(client, "a"), beat(client, "a", 2)))
        late.start()
        assert broker.group("g").wait(members=1).assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        late.join()


BATCH = build_batch([Record(timestamp=1, value=b"v")])


def looked_at(info: GroupInfo) -> GroupInfo:
    """With the gaps as they are in a cluster with t of 3 and u of 2 partitions, and a record in t-1 and t-2."""
    with KafkaBroker(topics={"t": 3, "u": 2}) as broker:

        def look() -> GroupInfo:
            for index in (1, 2):
                broker.cluster.topics.by_name("t").partitions[index].append(BATCH, now_ms=1)
            return with_gaps(info, broker.cluster.topics)

        return broker._call(look)


def member(kind: type[MemberInfo], topics: tuple[str, ...], **more: Any) -> MemberInfo:
    return kind("m", None, "c", "/h", topics, session_timeout_ms=1, rebalance_timeout_ms=1, **more)


@pytest.mark.parametrize(
    ("group", "of", "protocol"),
    [
        (GroupInfo, MemberInfo, "consumer"),
        (GroupInfo, MemberInfo, "connect"),
        (StreamsGroupInfo, StreamsMemberInfo, "streams"),
    ],
)
def test_what_no_member_has_is_unassigned(group: type[GroupInfo], of: type[MemberInfo], protocol: str) -> None:
    first = member(of, ("t", "u", "later"), assignment={"t": (0, 2), "u": (0,)})
    second = member(of, ("t",), assignment={})
    info = looked_at(group("g", "Stable", 1, protocol, None, None, (first, second), {}, 1))
    assert isinstance(info, group)
    assert info.unassigned == (("t", 1), ("u", 1))


def test_topics_found_by_a_pattern_count_as_subscribed() -> None:
    only = member(MemberInfo, (), assignment={"u": (0,)}, target={"u": (0, 1)}, regex="u.*")
    assert looked_at(GroupInfo("g", "Stable", 1, "consumer", None, None, (only,), {}, 1)).unassigned == (("u", 1),)


def test_uncommitted_are_the_partitions_with_records() -> None:
    offsets = {("t", 1): OffsetInfo(0, 0, "", 0, 1)}
    empty = looked_at(GroupInfo("g", "Empty", 1, "consumer", None, None, (), offsets, 1))
    assert (empty.unassigned, empty.uncommitted, empty.lag) == ((), (("t", 2),), None)


def test_a_group_that_assigns_by_hand_reads_what_it_likes() -> None:
    offsets = {("t", 1): OffsetInfo(0, 0, "", 0, 1)}
    simple = looked_at(GroupInfo("g", "Empty", 1, "", None, None, (), offsets, 1))
    assert (simple.uncommitted, simple.lag) == ((), 1)


def test_members_of_a_share_group_need_not_have_everything() -> None:
    only = member(MemberInfo, ("t",), assignment={})
    share = GroupInfo("g", "Stable", 1, "share", None, None, (only,), {}, 1, "share")
    assert (looked_at(share).unassigned, looked_at(share).uncommitted) == ((), ())


def test_a_group_begins_where_it_was_set_and_cannot_be_set_while_it_has_members() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        broker.produce_all("t", ["a", "b", "c"])
        broker.group("g").set_offsets({("t", 0): 1})
        assert broker.group("g").lag == 2
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"})
        consumer.subscribe(["t"])
        assert [message.value() for message in consumer.consume(2, timeout=30)] == [b"b", b"c"]
        with pytest.raises(KafkaError, match="group 'g': offsets can be set only while the group has no members"):
            broker.group("g").set_offsets({("t", 0): 0})
        consumer.close()
        broker.group("g").set_offsets({("t", 0): 0})
        assert broker.group("g").lag == 3
        broker.reload_coordinator(broker.cluster.groups.partition_for("g"))
        assert broker.group("g").lag == 3
        assert broker.bugs == []


def test_offsets_that_make_no_sense_are_refused_together() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        for offset in (-1, True, "1", None):
            with pytest.raises(ValueError, match="the offset of t-0 must be a number from 0 on"):
                broker.group("g").set_offsets({("t", 0): offset})  # type: ignore[dict-item]
        for place in (("u", 0), ("t", 1)):
            with pytest.raises(KafkaError) as caught:
                broker.group("g").set_offsets({("t", 0): 0, place: 0})
            assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(TypeError, match=r"5: expected offsets such as {\(.orders., 0\): 5}"):
            broker.group("g").set_offsets(5)  # type: ignore[arg-type]
        for key in ("t", 0, ("t",), ("t", "0")):
            with pytest.raises(TypeError, match=r"a key is \(topic, partition\), such as \(\"(t|orders)\", 0\)"):
                broker.group("g").set_offsets({key: 5})  # type: ignore[dict-item]
        with pytest.raises(ValueError, match="a group id has 32767 bytes at most"):
            broker.group("é" * 16_384).set_offsets({("t", 0): 0})
        assert broker.groups == {}
