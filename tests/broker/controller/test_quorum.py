"""Who votes, who leads, how far each has the metadata log: what a real Kafka tells of nodes that go and come."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.config.node_config import AUTO_JOIN
from odradek.broker.controller.quorum import UNKNOWN, Progress
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest
from odradek.protocol.message import ZERO_UUID
from tests.fakes.brokers import broker_fixture
from tests.fakes.clocks import clock_at
from tests.fakes.nodes import set_node_up
from tests.fakes.wire_client import WireClient

SEPARATE = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0,3002@127.0.0.1:0",
}


def voters(cluster: Cluster) -> dict[int, Progress]:
    return {each.node_id: each for each in cluster.quorum.progress()[0]}


def observers(cluster: Cluster) -> dict[int, Progress]:
    return {each.node_id: each for each in cluster.quorum.progress()[1]}


def test_a_voter_that_is_up_has_the_whole_log() -> None:
    cluster = Cluster(nodes=3, config={"controller.quorum.bootstrap.servers": "localhost:9093"})
    cluster.create_topic("t")
    end = cluster.controller.next_offset
    assert {each.end_offset for each in voters(cluster).values()} == {end}
    assert observers(cluster) == {}
    ids = {node_id: each.directory_id for node_id, each in voters(cluster).items()}
    assert ids == {node.id: node.metadata_directory for node in cluster.nodes.values()}
    assert ZERO_UUID not in ids.values()


def test_quorum_of_static_voters_has_no_directory_ids() -> None:
    cluster = Cluster(nodes=2)
    assert cluster.controller.kraft_version == 0
    assert {each.directory_id for each in voters(cluster).values()} == {ZERO_UUID}


def test_a_follower_that_goes_stays_where_it_was() -> None:
    cluster = Cluster(nodes=3)
    set_node_up(cluster, 3, False)
    gone = voters(cluster)[3]
    cluster.create_topic("t")
    assert voters(cluster)[3] == gone
    assert gone.end_offset < cluster.controller.next_offset
    set_node_up(cluster, 3, True)
    assert voters(cluster)[3].end_offset == cluster.controller.next_offset


def test_a_new_leader_knows_nothing_of_the_one_before() -> None:
    cluster = Cluster(nodes=3)
    epoch = cluster.quorum.leader_epoch
    set_node_up(cluster, 1, False)
    assert (cluster.controller_id, cluster.quorum.leader_epoch) == (2, epoch + 1)
    assert voters(cluster)[1][2:] == (UNKNOWN, UNKNOWN, UNKNOWN)
    set_node_up(cluster, 1, True)
    assert cluster.controller_id == 2
    assert voters(cluster)[1].end_offset == cluster.controller.next_offset


def test_separate_controllers_lead_and_brokers_observe() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    assert list(voters(cluster)) == [3000, 3001, 3002]
    assert list(observers(cluster)) == [1, 2]
    assert cluster.controller_id == 3000
    assert cluster.controller.kraft_version == 0
    assert {each.directory_id for each in voters(cluster).values()} == {ZERO_UUID}
    assert observers(cluster)[1].directory_id == cluster.nodes[1].metadata_directory
    assert sorted(cluster.image.controllers) == [3000, 3001, 3002]
    assert sorted(cluster.image.brokers) == [1, 2]
    cluster.membership.lose_controller(3000)
    assert cluster.controller_id == 3001
    cluster.membership.join_controllers([3000])
    assert cluster.controller_id == 3001


def test_a_new_leader_knows_no_observer_that_is_gone() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    set_node_up(cluster, 2, False)
    assert list(observers(cluster)) == [1, 2]
    cluster.membership.lose_controller(3000)
    assert list(observers(cluster)) == [1]


def test_an_observer_that_is_silent_for_five_minutes_is_forgotten() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE, clock=clock_at(1_000_000))
    set_node_up(cluster, 2, False)
    for seconds, known in ((299.999, [1, 2]), (0.001, [1]), (100, [1])):
        cluster.clock.advance(seconds)
        assert list(observers(cluster)) == known
    set_node_up(cluster, 2, True)
    assert list(observers(cluster)) == [1, 2]
    assert cluster.quorum.size == 5


def test_quorum_knows_its_last_controller() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    for node_id in (3000, 3001):
        assert not cluster.quorum.is_last(node_id)
        cluster.membership.lose_controller(node_id)
    assert cluster.quorum.is_last(3002)
    assert not Cluster(nodes=1).quorum.is_last(1)


# -- Controllers that become voters by themselves. The times are those of `KafkaRaftClient` and `FollowerState`.

PERIOD = "controller.quorum.fetch.timeout.ms"
COMBINED = {
    "controller.quorum.bootstrap.servers": "127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}
broker = broker_fixture(frozen=True, nodes=2, config={**COMBINED, AUTO_JOIN: True, PERIOD: 5000})


def voting(broker: KafkaBroker) -> list[int]:
    return [node.id for node in broker.cluster.quorum.voters]


def remove(broker: KafkaBroker, voter: int) -> None:
    node = broker.nodes[1]
    directory = broker.cluster.members[voter].metadata_directory
    with WireClient(node.host, node.port) as client:
        assert client.request(RemoveRaftVoterRequest(None, voter, directory)).error_code == 0
    assert voter not in voting(broker)


def test_a_node_that_joins_votes_after_the_fetch_timeout(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.clock.advance(seconds=4.9)
    assert voting(broker) == [1, 2]
    offset = broker.cluster.controller.next_offset
    broker.clock.advance(seconds=0.1)
    assert voting(broker) == [1, 2, new]
    assert broker.cluster.controller.next_offset == offset + 1  # the log names the voters


def test_a_voter_that_is_removed_while_it_is_up_comes_back(broker: KafkaBroker) -> None:
    remove(broker, 2)
    broker.clock.advance(seconds=5)
    assert voting(broker) == [1, 2]


def test_one_that_is_stopped_before_comes_back_when_it_starts(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    remove(broker, 2)
    broker.clock.advance(seconds=60)
    assert voting(broker) == [1]
    broker.start_node(2)
    broker.clock.advance(seconds=5)
    assert voting(broker) == [1, 2]


def test_one_that_does_not_reach_the_leader_tries_again(broker: KafkaBroker) -> None:
    with broker.cut(1, 2):
        remove(broker, 2)
        broker.clock.advance(seconds=60)
        assert voting(broker) == [1]
    broker.clock.advance(seconds=5)
    assert voting(broker) == [1, 2]


def test_a_node_with_a_value_of_its_own(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    broker.start_node(2, config={AUTO_JOIN: False})
    remove(broker, 2)
    broker.clock.advance(seconds=60)
    assert voting(broker) == [1]
    broker.stop_node(2)
    broker.start_node(2, config={})
    broker.clock.advance(seconds=5)
    assert voting(broker) == [1, 2]


def test_quorum_gets_no_voters_by_default() -> None:
    with KafkaBroker(config=COMBINED) as broker:
        broker.add_node()
        broker.clock.advance(seconds=60)
        assert voting(broker) == [1]


def test_a_broker_alone_cannot_join() -> None:
    config = {"process.roles": "broker", "controller.listener.names": "C", "controller.quorum.bootstrap.servers": "a:1"}
    with pytest.raises(ValueError, match=f"{AUTO_JOIN} is only supported when process.roles contains the 'controller'"):
        KafkaBroker(config={**config, AUTO_JOIN: True})
