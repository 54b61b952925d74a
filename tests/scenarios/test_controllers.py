"""Controllers as tools and clients see them: `--bootstrap-controller`, the quorum, failover (KIP-919, KIP-595)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import odradek
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_quorum import (
    DescribeQuorumRequest,
    PartitionData,
    ResponsePartitionData,
    TopicData,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import ConnectionClosed, WireConnection, WireError
from tests.conformance.real_kafka import CONFIG_COMMAND, RELEASE
from tests.conformance.real_quorum import RealQuorum
from tests.scenarios.java_host import JavaHost
from tests.scenarios.target import wait_until

BROKER = 1
CONTROLLERS = (3000, 3001, 3002)
TOOLS = "org.apache.kafka.tools"
NOT_CONTROLLER, NOT_LEADER, MISMATCHED_ENDPOINT_TYPE = 41, 6, 114


@dataclass(frozen=True, slots=True)
class QuorumTarget:
    """One broker and three controllers that are no brokers, with static voters.

    Ports by node id, and what takes a controller down and brings it back.
    """

    broker_port: int
    controller_ports: Mapping[int, int]
    stop: Callable[[int], None]
    start: Callable[[int], None]


@pytest.fixture(scope="module")
def quorum(side: str) -> Iterator[QuorumTarget]:
    if side == "kafka":
        with RealQuorum([BROKER], CONTROLLERS) as real:
            yield QuorumTarget(real.brokers[BROKER], real.controllers, real.stop, real.launch)
        return
    config = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(f"{number}@127.0.0.1:0" for number in CONTROLLERS),
    }
    with odradek.KafkaBroker(config=config) as broker:
        members = broker.cluster.members
        ports = {number: members[number].controllers["CONTROLLER"].port for number in CONTROLLERS}

        def stop(node_id: int) -> None:
            broker.stop_node(node_id)

        yield QuorumTarget(members[BROKER].port, ports, stop, broker.start_node)
        assert not broker.bugs


def ask(port: int, request: Any, version: int) -> Any:
    with WireConnection("127.0.0.1", port) as client:
        return client.receive(request, version, client.send(request, version))


def quorum_at(port: int) -> ResponsePartitionData:
    request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    [topic] = ask(port, request, 2).topics
    [partition] = topic.partitions
    assert isinstance(partition, ResponsePartitionData)
    return partition


def leader_of(quorum: QuorumTarget) -> int:
    """The id of the controller that leads, as soon as one says so."""

    def found() -> int | None:
        for node_id, port in quorum.controller_ports.items():
            try:
                partition = quorum_at(port)
            except WireError:
                continue
            if partition.error_code == 0 and partition.leader_id == node_id and partition.high_watermark > 0:
                return node_id
        return None

    leader = wait_until("a leader of the quorum", found)
    assert leader is not None
    return leader


def controllers_text(quorum: QuorumTarget) -> str:
    return ",".join(f"127.0.0.1:{port}" for port in quorum.controller_ports.values())


def test_what_controllers_answer(quorum: QuorumTarget) -> None:
    leader = leader_of(quorum)
    follower = next(each for each in CONTROLLERS if each != leader)
    told = ask(quorum.controller_ports[follower], DescribeClusterRequest(endpoint_type=2), 1)
    assert (told.error_code, told.controller_id) == (0, leader)
    assert {each.broker_id: each.port for each in told.brokers} == dict(quorum.controller_ports)
    for port, endpoint_type in ((quorum.controller_ports[leader], 1), (quorum.broker_port, 2)):
        refused = ask(port, DescribeClusterRequest(endpoint_type=endpoint_type), 1)
        assert refused.error_code == MISMATCHED_ENDPOINT_TYPE
    assert ask(quorum.broker_port, DescribeClusterRequest(), 1).controller_id == BROKER
    with pytest.raises(ConnectionClosed):
        ask(quorum.controller_ports[leader], MetadataRequest(None), 12)
    [topic] = ask(quorum.controller_ports[follower], CreateTopicsRequest([CreatableTopic("never", 1, 1)]), 7).topics
    assert topic.error_code == NOT_CONTROLLER
    assert topic.error_message == f"The active controller appears to be node {leader}."
    assert quorum_at(quorum.controller_ports[follower]).error_code == NOT_LEADER


def test_the_quorum_at_rest(quorum: QuorumTarget) -> None:
    leader = leader_of(quorum)

    def caught_up() -> ResponsePartitionData | None:
        told = quorum_at(quorum.broker_port)
        ends = {each.log_end_offset for each in (*told.current_voters, *told.observers)}
        return told if ends == {told.high_watermark} else None

    told = wait_until("all nodes to have the log", caught_up)
    assert told is not None
    assert told.leader_id == leader
    assert sorted(each.replica_id for each in told.current_voters) == list(CONTROLLERS)
    assert [each.replica_id for each in told.observers] == [BROKER]
    assert {each.replica_directory_id for each in told.current_voters} == {bytes(16)}, "of static voters none is known"
    assert told.observers[0].replica_directory_id != bytes(16)
    assert all(each.last_caught_up_timestamp > 0 for each in told.current_voters)


@pytest.mark.jdk
def test_kafka_metadata_quorum(quorum: QuorumTarget, java: JavaHost) -> None:
    leader = leader_of(quorum)
    where = ("--bootstrap-controller", controllers_text(quorum))
    status = java.tool(f"{TOOLS}.MetadataQuorumCommand", *where, "describe", "--status")
    assert status.status == 0, status
    lines = dict(re.split(r":\s+", line, maxsplit=1) for line in status.stdout.splitlines() if ":" in line)
    assert lines["LeaderId"] == str(leader)
    assert lines["MaxFollowerLag"] == "0" or int(lines["MaxFollowerLag"]) > 0
    voters = [
        f'{{"id": {number}, "endpoints": ["CONTROLLER://127.0.0.1:{port}"]}}'
        for number, port in quorum.controller_ports.items()
    ]
    assert lines["CurrentVoters"] == f"[{', '.join(voters)}]"
    assert re.fullmatch(rf'\[\{{"id": {BROKER}, "directoryId": "[\w-]{{22}}"\}}\]', lines["CurrentObservers"])
    table = java.tool(f"{TOOLS}.MetadataQuorumCommand", *where, "describe", "--replication")
    assert table.status == 0, table
    header, *rows = [line.split() for line in table.stdout.splitlines() if line.strip()]
    assert header == [
        "NodeId",
        "DirectoryId",
        "LogEndOffset",
        "Lag",
        "LastFetchTimestamp",
        "LastCaughtUpTimestamp",
        "Status",
    ]
    assert {(int(row[0]), row[-1]) for row in rows} == {
        *((number, "Leader" if number == leader else "Follower") for number in CONTROLLERS),
        (BROKER, "Observer"),
    }


@pytest.mark.jdk
def test_kafka_features(quorum: QuorumTarget, java: JavaHost) -> None:
    told = java.tool(f"{TOOLS}.FeatureCommand", "--bootstrap-controller", controllers_text(quorum), "describe")
    assert told.status == 0, told
    newest, share = {"4.3": ("4.3-IV0", 1), "4.4": ("4.4-IV2", 2)}[RELEASE]
    lines = (re.sub(r"Epoch: \d+$", "", line) for line in told.stdout.splitlines() if line.strip())
    assert [" ".join(line.split()) for line in lines] == [
        "Feature: eligible.leader.replicas.version SupportedMinVersion: 0 SupportedMaxVersion: 1 "
        "FinalizedVersionLevel: 1",
        "Feature: group.version SupportedMinVersion: 0 SupportedMaxVersion: 1 FinalizedVersionLevel: 1",
        "Feature: kraft.version SupportedMinVersion: 0 SupportedMaxVersion: 1 FinalizedVersionLevel: 0",
        f"Feature: metadata.version SupportedMinVersion: 3.3-IV3 SupportedMaxVersion: {newest} "
        f"FinalizedVersionLevel: {newest}",
        f"Feature: share.version SupportedMinVersion: 0 SupportedMaxVersion: {share} FinalizedVersionLevel: {share}",
        "Feature: streams.version SupportedMinVersion: 0 SupportedMaxVersion: 1 FinalizedVersionLevel: 1",
        "Feature: transaction.version SupportedMinVersion: 0 SupportedMaxVersion: 2 FinalizedVersionLevel: 2",
    ]


@pytest.mark.jdk
def test_kafka_configs(quorum: QuorumTarget, java: JavaHost) -> None:
    where = ("--bootstrap-controller", controllers_text(quorum), "--entity-type", "brokers")
    node = ("--entity-name", str(BROKER))
    added = java.tool(CONFIG_COMMAND, *where, *node, "--alter", "--add-config", "log.cleaner.threads=2")
    assert (added.status, added.stdout) == (0, f"Completed updating config for broker {BROKER}.\n"), added
    gone = java.tool(CONFIG_COMMAND, *where, *node, "--alter", "--delete-config", "log.cleaner.threads")
    assert (gone.status, gone.stdout) == (0, f"Completed updating config for broker {BROKER}.\n"), gone
    own = ("--entity-name", str(leader_of(quorum)))
    shown = java.tool(CONFIG_COMMAND, *where, *own, "--describe", "--all")
    assert shown.status == 0, shown
    assert "  process.roles=controller sensitive=false" in shown.stdout


def test_a_controller_that_stops_is_followed_by_another(quorum: QuorumTarget) -> None:
    """The last test: the controllers change places."""
    before = leader_of(quorum)
    epoch = quorum_at(quorum.controller_ports[before]).leader_epoch
    quorum.stop(before)
    after = leader_of(quorum)
    told = wait_until("the broker to follow", lambda: _led_by(quorum, after))
    assert told is not None
    assert told.leader_epoch > epoch
    gone = next(each for each in told.current_voters if each.replica_id == before)
    assert (gone.log_end_offset, gone.last_fetch_timestamp, gone.last_caught_up_timestamp) == (-1, -1, -1)
    known = ask(quorum.controller_ports[after], DescribeClusterRequest(endpoint_type=2), 1)
    assert (known.controller_id, sorted(each.broker_id for each in known.brokers)) == (after, list(CONTROLLERS))
    quorum.start(before)

    def has_all() -> bool:
        partition = quorum_at(quorum.controller_ports[after])
        return all(each.log_end_offset == partition.high_watermark for each in partition.current_voters)

    wait_until("the controller to have the log again", has_all)
    assert leader_of(quorum) == after


def _led_by(quorum: QuorumTarget, leader: int) -> ResponsePartitionData | None:
    partition = quorum_at(quorum.broker_port)
    return partition if partition.error_code == 0 and partition.leader_id == leader else None
