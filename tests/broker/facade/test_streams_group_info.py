"""Streams groups (KIP-1071) seen from Python."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from odradek.broker.facade.group_info import GroupInfo
from odradek.broker.facade.streams_group_info import StreamsGroupInfo, StreamsMemberInfo
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    Endpoint,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.fakes.wire_client import WireClient

CONFIG = {"group.streams.assignment.interval.ms": "0", "group.streams.num.standby.replicas": "1"}


def client_of(broker: KafkaBroker) -> WireClient:
    host, port = broker.bootstrap_servers.split(":")
    client = WireClient(host, int(port), client_id="c")
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


def join(client: WireClient, member_id: str) -> int:
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
    with KafkaBroker(topics={"t": 2}, config=CONFIG) as broker, client_of(broker) as client:
        assert join(client, "a") == 2
        assert look(broker).state == "NotReady"
        assert beat(client, "a", 2) == 3
        assert join(client, "b") == 4
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
    with KafkaBroker(topics={"u": 2}, config=CONFIG) as broker, client_of(broker) as client:
        with pytest.raises(AssertionError):
            join(client, "a")  # as on Kafka: a member with an end point cannot be answered yet
        topology = Topology(0, [Subtopology("0", ["t"])])
        beat(client, "a", 0, rebalance_timeout_ms=40_000, topology=topology)
        beat(client, "a", 2)
        info = look(broker)
        assert (info.state, info.problem) == ("NotReady", "Source topics t are missing.")
        assert info.subtopologies[0].tasks is None


def test_sources_of_different_width() -> None:
    with KafkaBroker(topics={"t": 3, "u": 1}, config=CONFIG) as broker, client_of(broker) as client:
        topology = Topology(0, [Subtopology("0", ["t", "u"])])
        beat(client, "a", 0, rebalance_timeout_ms=40_000, topology=topology)
        (member,) = members_of(broker.group("g").wait_stable(members=1))
        assert member.active == {"0": (0, 1, 2)}
        assert member.assignment == member.target == {"t": (0, 1, 2), "u": (0,)}


def test_waiting_for_a_streams_group() -> None:
    with KafkaBroker(topics={"t": 2}, config=CONFIG) as broker, client_of(broker) as client:
        late = threading.Timer(0.05, lambda: (join(client, "a"), beat(client, "a", 2)))
        late.start()
        assert broker.group("g").wait_stable(members=1).assignments == {("t", 0): ["a"], ("t", 1): ["a"]}
        late.join()
