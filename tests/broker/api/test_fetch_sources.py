"""Who may read which replica, and what followers are answered; the answers were asked of a cluster of Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.api.fetch import fetch as handler
from odradek.broker.cluster import Cluster
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.ask import ask

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@pytest.fixture
def cluster() -> Cluster:
    """Node 1 leads t-0 with five records, 2 and 3 follow, 4 has no replica; racks a, b, c, a."""
    made = Cluster(nodes=4, config={"broker.rack": "a,b,c,a", "replica.selector.class": RACK_AWARE})
    made.create_topic("t", assignments={0: [1, 2, 3]})
    put(made, 5)
    return made


def partition_of(cluster: Cluster) -> Partition:
    return cluster.topics.by_name("t").partitions[0]


def put(cluster: Cluster, count: int) -> None:
    partition_of(cluster).append(build_batch([Record(i, 1, None, b"v") for i in range(count)]), now_ms=1)


def request(
    cluster: Cluster,
    offset: int,
    *,
    version: int = 12,
    rack: str = "",
    replica: int = -1,
    broker_epoch: int = -1,
    epoch: int = -1,
    last: int = -1,
    wait: int = 0,
) -> FetchRequest:
    by_id = version >= 13
    topic_id = partition_of(cluster).topic.topic_id
    asked = FetchPartition(0, epoch, offset, last, -1, 1 << 20)
    topic = FetchTopic("" if by_id else "t", topic_id if by_id else bytes(16), [asked])
    made = FetchRequest(max_wait_ms=wait, min_bytes=1, session_epoch=-1, topics=[topic], rack_id=rack)
    if version >= 15:
        made.replica_state = ReplicaState(replica, broker_epoch)
    else:
        made.replica_id = replica
    return made


def fetch(cluster: Cluster, node: int, offset: int, **how: Any) -> Any:
    asked = request(cluster, offset, **how)
    [topic] = ask(cluster, asked, how.get("version", 12), node_id=node).responses
    return topic.partitions[0]


def error(data: Any) -> str:
    return ErrorCode(data.error_code).name


# -- consumers


@pytest.mark.parametrize("version", [11, 12, 13, 17])
def test_the_leader_names_the_replica_in_the_consumers_rack(cluster: Cluster, version: int) -> None:
    data = fetch(cluster, 1, 0, rack="b", version=version)
    assert (error(data), data.preferred_read_replica, bytes(data.records)) == ("NONE", 2, b"")
    assert (data.high_watermark, data.last_stable_offset, data.log_start_offset) == (5, 5, 0)


@pytest.mark.parametrize("rack", ["a", "zz", ""])
def test_without_a_closer_replica_the_leader_serves(cluster: Cluster, rack: str) -> None:
    data = fetch(cluster, 1, 0, rack=rack)
    assert (data.preferred_read_replica, len(data.records) > 0) == (-1, True)


def test_a_consumer_that_waits_is_sent_on_at_once(cluster: Cluster) -> None:
    assert fetch(cluster, 1, 5, rack="b", wait=60_000).preferred_read_replica == 2


def test_what_the_leader_checks_before_it_sends_a_consumer_on(cluster: Cluster) -> None:
    assert error(fetch(cluster, 1, 99, rack="b")) == "OFFSET_OUT_OF_RANGE"
    assert error(fetch(cluster, 1, 0, rack="b", epoch=9)) == "UNKNOWN_LEADER_EPOCH"
    assert fetch(cluster, 1, 0, rack="b", last=7).preferred_read_replica == 2


def test_followers_serve_and_name_nobody(cluster: Cluster) -> None:
    data = fetch(cluster, 2, 0, rack="c")
    assert (error(data), data.preferred_read_replica, data.high_watermark) == ("NONE", -1, 5)
    assert len(data.records) > 0
    assert error(fetch(cluster, 2, 99)) == "OFFSET_OUT_OF_RANGE"
    assert error(fetch(cluster, 2, 0, version=10)) == "NOT_LEADER_OR_FOLLOWER"


@pytest.mark.parametrize("epoch", [-1, 0, 9])
def test_a_node_without_a_replica_knows_nothing(cluster: Cluster, epoch: int) -> None:
    assert error(fetch(cluster, 4, 0, epoch=epoch)) == "NOT_LEADER_OR_FOLLOWER"


def test_without_a_selector_nobody_is_sent_on() -> None:
    plain = Cluster(nodes=3, config={"broker.rack": "a,b,c"})
    plain.create_topic("t", assignments={0: [1, 2, 3]})
    assert fetch(plain, 1, 0, rack="b").preferred_read_replica == -1


def test_an_incremental_fetch_is_sent_on_when_a_replica_comes_close(cluster: Cluster) -> None:
    cluster.replicator.hold(partition_of(cluster), 2, NOTHING)
    put(cluster, 1)
    first = request(cluster, 6, rack="b")
    first.session_epoch = 0
    opened = ask(cluster, first, 12)
    assert opened.responses[0].partitions[0].preferred_read_replica == -1
    cluster.replicator.hold(partition_of(cluster), 2, None)
    again = request(cluster, 6, rack="b")
    again.topics, again.session_id, again.session_epoch = [], opened.session_id, 1
    assert ask(cluster, again, 12).responses[0].partitions[0].preferred_read_replica == 2


def test_without_a_leader_a_follower_serves_what_it_has(cluster: Cluster) -> None:
    partition = partition_of(cluster)
    for node in (2, 3):
        cluster.replicator.hold(partition, node, NOTHING)
        cluster.membership.lose(node)
    put(cluster, 1)
    cluster.replicator.node_lost(1)
    cluster.membership.lose(1)
    cluster.membership.rejoin(2)
    assert partition.leader_id == -1
    data = fetch(cluster, 2, 0)
    assert (error(data), data.high_watermark) == ("NONE", 5)
    assert error(fetch(cluster, 2, 0, epoch=partition.leader_epoch)) == "NONE"
    assert error(fetch(cluster, 2, 0, epoch=0)) == "FENCED_LEADER_EPOCH"
    assert error(fetch(cluster, 2, 9)) == "OFFSET_OUT_OF_RANGE"
    assert error(fetch(cluster, 2, 0, version=10)) == "NOT_LEADER_OR_FOLLOWER"
    refused = fetch(cluster, 2, 0, version=16, replica=4)
    assert (error(refused), refused.current_leader.leader_id) == ("NOT_LEADER_OR_FOLLOWER", -1)
    assert refused.current_leader.leader_epoch == partition.leader_epoch


def test_a_follower_compares_epochs_with_its_own_end(cluster: Cluster) -> None:
    cluster.replicator.hold(partition_of(cluster), 2, NOTHING)
    put(cluster, 3)
    data = fetch(cluster, 2, 5, last=0)
    assert (error(data), data.diverging_epoch.epoch) == ("NONE", -1)
    assert error(fetch(cluster, 2, 8, last=0)) == "OFFSET_OUT_OF_RANGE"


def test_a_follower_without_records_knows_no_epoch(cluster: Cluster) -> None:
    cluster.create_topic("empty", assignments={0: [1, 2, 3]})
    asked = request(cluster, 0, last=0)
    asked.topics[0].topic = "empty"
    errors = {}
    for node in (1, 2):
        [topic] = ask(cluster, asked, 12, node_id=node).responses
        errors[node] = error(topic.partitions[0])
    assert errors == {1: "NONE", 2: "OFFSET_OUT_OF_RANGE"}


def test_before_the_log_there_is_nothing_to_compare(cluster: Cluster) -> None:
    partition_of(cluster).delete_records(3)
    assert error(fetch(cluster, 1, 2, last=0)) == "OFFSET_OUT_OF_RANGE"


# -- followers


def test_a_follower_is_served(cluster: Cluster) -> None:
    assert len(fetch(cluster, 1, 0, replica=2, rack="b").records) > 0
    assert error(fetch(cluster, 1, 5, replica=2)) == "NONE"
    assert error(fetch(cluster, 1, 6, replica=2)) == "OFFSET_OUT_OF_RANGE"


@pytest.mark.parametrize(
    ("node", "replica", "epoch", "code"),
    [
        (1, 4, -1, "NOT_LEADER_OR_FOLLOWER"),
        (1, 4, 0, "UNKNOWN_LEADER_EPOCH"),
        (1, 1, -1, "NOT_LEADER_OR_FOLLOWER"),
        (1, 77, -1, "NOT_LEADER_OR_FOLLOWER"),
        (2, 3, -1, "NOT_LEADER_OR_FOLLOWER"),
        (2, 2, -1, "NOT_LEADER_OR_FOLLOWER"),
    ],
)
def test_who_is_no_follower_is_refused(cluster: Cluster, node: int, replica: int, epoch: int, code: str) -> None:
    assert error(fetch(cluster, node, 0, replica=replica, epoch=epoch)) == code


@pytest.mark.parametrize(("epoch", "code"), [(-1, "NONE"), (0, "NOT_LEADER_OR_FOLLOWER"), (10**9, "NONE")])
def test_an_older_epoch_of_the_followers_broker_is_refused(cluster: Cluster, epoch: int, code: str) -> None:
    assert error(fetch(cluster, 1, 0, version=15, replica=2, broker_epoch=epoch)) == code


def test_a_follower_reads_what_is_not_committed_and_its_place_counts(cluster: Cluster) -> None:
    """Kafka's leader cannot tell a client from the follower that it names."""
    partition = partition_of(cluster)
    cluster.replicator.hold(partition, 3, NOTHING)
    put(cluster, 3)
    assert len(fetch(cluster, 1, 5).records) == 0
    data = fetch(cluster, 1, 5, replica=3)
    assert (data.high_watermark, len(data.records) > 0) == (5, True)
    assert partition.log.high_watermark == 5
    assert fetch(cluster, 1, 8, replica=3).high_watermark == 5
    assert partition.log.high_watermark == 8
    put(cluster, 2)
    fetch(cluster, 1, 6, replica=3)
    assert partition.log.high_watermark == 8
    cluster.replicator.hold(partition, 3, None)
    assert partition.log.high_watermark == 10


def test_a_follower_that_waits_is_told_of_records_that_are_not_committed(cluster: Cluster) -> None:
    partition = partition_of(cluster)
    cluster.replicator.hold(partition, 3, NOTHING)
    node = cluster.nodes[1]
    connection = ConnectionInfo(id="c1", host="127.0.0.1", port=node.port)
    waits = []
    for replica in (3, -1):
        asked = request(cluster, 5, replica=replica, wait=60_000)
        waiting = handler(RequestContext(cluster.services, node, connection, 1, 12, 1, "test"), asked)
        assert isinstance(waiting, Parked)
        waits.append(waiting)
    follower, consumer = waits
    assert follower.resume() is None
    put(cluster, 1)
    assert follower.resume() is not None
    assert consumer.resume() is None
    consumer.abandon()
