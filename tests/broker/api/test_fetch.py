"""A fetch that is answered at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.api.fetch import closest_replica
from odradek.broker.api.fetch import fetch as handler
from odradek.broker.cluster import Cluster
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING, Lag
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.parked_request import Parked as ParkedRequest
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Permission, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.partition_log import AppendOrigin
from tests.fakes.acls import allow
from tests.fakes.ask import ask
from tests.fakes.data_plane import START_MS, DataPlane, offsets_of, partitions_of, size_of
from tests.fakes.nodes import set_leader

# -- Which replica is closest to a consumer.

RACKS: dict[int, str | None] = {1: "a", 2: "b", 3: "b", 4: "b", 5: None}


@pytest.fixture
def five_nodes() -> Cluster:
    made = Cluster(nodes=5)
    partition = made.create_topic("t", assignments={0: [1, 2, 3, 5]}).partitions[0]
    for _ in range(4):
        partition.append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)
    return made


@pytest.fixture
def partition(five_nodes: Cluster) -> Partition:
    return five_nodes.topics.by_name("t").partitions[0]


def test_a_consumer_in_the_leaders_rack_or_in_none_stays(partition: Partition) -> None:
    assert closest_replica(partition, "a", 0, RACKS) is None
    assert closest_replica(partition, "z", 0, RACKS) is None


def test_closest_replica_of_equals_is_the_highest_number(partition: Partition) -> None:
    assert closest_replica(partition, "b", 0, RACKS) == 3


def test_a_replica_that_cannot_be_reached_is_left_out(partition: Partition) -> None:
    assert closest_replica(partition, "b", 0, {1: "a", 2: "b"}) == 2


def test_a_replica_has_to_have_the_offset(partition: Partition) -> None:
    assert closest_replica(partition, "b", 4, RACKS) == 3
    assert closest_replica(partition, "b", 5, RACKS) is None
    partition.delete_records(2)
    assert closest_replica(partition, "b", 1, RACKS) is None
    assert closest_replica(partition, "b", 2, RACKS) == 3


def test_closest_replica_is_in_sync_and_has_most_records(five_nodes: Cluster, partition: Partition) -> None:
    five_nodes.replicator.hold(partition, 3, Lag(records=2))
    for _ in range(3):
        partition.append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)
    assert closest_replica(partition, "b", 5, RACKS) == 2
    five_nodes.replicator.node_lost(2)
    five_nodes.membership.lose(2)
    assert closest_replica(partition, "b", 5, RACKS) == 3
    assert closest_replica(partition, "b", 6, RACKS) is None


# -- Who may read which replica, and what followers are answered; the answers were asked of a cluster of Kafka 4.3.1.


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
def test_fetch_is_served_by_the_leader_without_a_closer_replica(cluster: Cluster, rack: str) -> None:
    data = fetch(cluster, 1, 0, rack=rack)
    assert (data.preferred_read_replica, len(data.records) > 0) == (-1, True)


def test_a_consumer_that_waits_is_sent_on_at_once(cluster: Cluster) -> None:
    assert fetch(cluster, 1, 5, rack="b", wait=60_000).preferred_read_replica == 2


def test_fetch_is_checked_before_a_consumer_is_sent_to_a_follower(cluster: Cluster) -> None:
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


def test_fetch_names_no_preferred_replica_without_a_selector() -> None:
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


def test_fetch_from_a_follower_without_a_leader_is_served(cluster: Cluster) -> None:
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


def test_fetch_with_a_last_epoch_before_the_log_start_is_out_of_range(cluster: Cluster) -> None:
    partition_of(cluster).delete_records(3)
    assert error(fetch(cluster, 1, 2, last=0)) == "OFFSET_OUT_OF_RANGE"


# -- followers


def test_fetch_of_a_follower_is_served_up_to_the_log_end(cluster: Cluster) -> None:
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
def test_fetch_of_a_node_that_is_no_follower_is_refused(
    cluster: Cluster, node: int, replica: int, epoch: int, code: str
) -> None:
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


# -- What a fetch reads: partitions, limits, isolation, epochs, sessions and errors, as recorded from Kafka 4.3.1.


@pytest.fixture
def filled_plane() -> DataPlane:
    """`a-0` holds 4 batches of one record each, `a-1` two, `b-0` one; `empty-0` none."""
    filled_plane = DataPlane(topics={"a": 2, "b": 1, "empty": 1})
    for topic, partition, count in (("a", 0, 4), ("a", 1, 2), ("b", 0, 1)):
        for _ in range(count):
            filled_plane.produce(topic, filled_plane.batch(), partition=partition)
    return filled_plane


@pytest.fixture
def batch_size(filled_plane: DataPlane) -> int:
    return len(filled_plane.batch())


def one(response: FetchResponse) -> Any:
    (data,) = partitions_of(response)
    return data


def shape(data: Any) -> tuple[int, int, int, int]:
    """(error code, high watermark, last stable offset, log start offset)."""
    return data.error_code, data.high_watermark, data.last_stable_offset, data.log_start_offset


# -- reading


def test_records_are_views_of_the_log(filled_plane: DataPlane) -> None:
    assert all(isinstance(part, memoryview) for part in one(filled_plane.fetch({"a": 0})).records)


def test_fetch_of_an_unknown_topic_or_partition_is_refused(filled_plane: DataPlane) -> None:
    for wanted in ({"nope": 0}, {"a": [(77, 0)]}, {"a": [(-3, 0)]}):
        data = one(filled_plane.fetch(wanted))
        assert shape(data) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)
        assert (data.aborted_transactions, data.records) == ([], b"")
    assert one(filled_plane.fetch({"nope": 0}, version=13)).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert one(filled_plane.fetch({"a": [(77, 0)]}, version=13)).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_unknown_partitions_are_answered_behind_the_others(filled_plane: DataPlane) -> None:
    response = filled_plane.fetch({"nope": 0, "a": [(9, 0), (1, 0)], "b": 0})
    found = [(topic.topic, data.partition_index) for topic in response.responses for data in topic.partitions]
    assert found == [("a", 1), ("b", 0), ("nope", 0), ("a", 9)]


def test_fetch_with_a_negative_limit_takes_one_batch_of_the_second_partition(filled_plane: DataPlane) -> None:
    """The first partition alone has the negative limit, as in Kafka; it has nothing to read here."""
    first, second = partitions_of(filled_plane.fetch({"empty": 0, "a": 0}, max_bytes=-1))
    assert (shape(first), offsets_of(first)) == ((0, 0, 0, 0), [])
    assert (second.error_code, offsets_of(second)) == (0, [0])


def test_an_unknown_isolation_level_is_nothing_where_there_is_nothing_to_read(filled_plane: DataPlane) -> None:
    assert filled_plane.fetch({}, isolation_level=9).error_code == 0
    assert one(filled_plane.fetch({"nonesuch": 0}, isolation_level=9)).error_code == 3


# -- limits


def test_the_broker_has_a_limit_of_its_own(batch_size: int) -> None:
    filled_plane = DataPlane(topics={"a": 1}, config={"fetch.max.bytes": "1024"})
    for _ in range(20):
        filled_plane.produce("a", 1)
    assert size_of(one(filled_plane.fetch({"a": 0}))) <= 1024


# -- isolation


def transactions(filled_plane: DataPlane) -> None:
    """On `t-0`: producer 1 aborts 0-1 (marker 2), producer 2 commits 3 (marker 4), producer 3 has 5-6 open, then 7."""
    partition = filled_plane.topic("t").partitions[0]

    def data(producer_id: int, count: int, sequence: int = 0) -> None:
        batch = filled_plane.batch(
            count, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, transactional=True
        )
        partition.append(batch, now_ms=START_MS)

    def marker(producer_id: int, commit: bool) -> None:
        end = EndTxnMarker(commit, 0)
        batch = build_end_txn_batch(end, producer_id=producer_id, producer_epoch=0, timestamp=START_MS)
        partition.append(batch, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)

    data(1, 2)
    marker(1, False)
    data(2, 1)
    marker(2, True)
    data(3, 2)
    filled_plane.produce("t", 1)


def test_read_committed_ends_at_the_stable_offset_and_names_the_aborted(filled_plane: DataPlane) -> None:
    transactions(filled_plane)
    data = one(filled_plane.fetch({"t": 0}, isolation_level=1))
    assert shape(data) == (0, 8, 5, 0)
    assert max(offsets_of(data)) == 4
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions] == [(1, 0)]
    later = one(filled_plane.fetch({"t": 3}, isolation_level=1))
    assert later.aborted_transactions == []
    assert one(filled_plane.fetch({"t": 5}, isolation_level=1)).records == b""


def test_read_uncommitted_reads_all(filled_plane: DataPlane) -> None:
    transactions(filled_plane)
    data = one(filled_plane.fetch({"t": 0}))
    assert max(offsets_of(data)) == 7
    assert shape(data) == (0, 8, 5, 0)
    assert data.aborted_transactions is None


# -- leaders and epochs


def test_fetch_in_another_leader_epoch_is_refused(filled_plane: DataPlane) -> None:
    data = one(filled_plane.fetch({"a": 0}, current_leader_epoch=9))
    assert shape(data) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1, -1)
    assert offsets_of(one(filled_plane.fetch({"a": 0}, current_leader_epoch=0)))
    set_leader(filled_plane.cluster, "a", 0, 1)
    fenced = filled_plane.fetch({"a": 0}, current_leader_epoch=0, version=16)
    assert one(fenced).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (one(fenced).current_leader.leader_id, one(fenced).current_leader.leader_epoch) == (1, 1)
    assert [each.node_id for each in fenced.node_endpoints] == [1]
    assert one(filled_plane.fetch({"a": 0}, current_leader_epoch=0, version=15)).current_leader.leader_id == -1


def test_fetch_from_another_node_names_the_leader() -> None:
    filled_plane = DataPlane(nodes=3)
    filled_plane.cluster.create_topic("r", assignments={0: [3, 1]})
    filled_plane.cluster.nodes[3].first.port = 7777
    response = filled_plane.fetch({"r": 0}, version=16, node=2, max_wait_ms=5000)
    assert one(response).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert one(response).current_leader.leader_id == 3
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(3, "broker.test", 7777)]
    assert one(filled_plane.fetch({"r": 0}, version=16, node=3)).error_code == 0


def test_diverging_logs_are_told_where_they_part(filled_plane: DataPlane) -> None:
    for _ in range(5):
        set_leader(filled_plane.cluster, "a", 0, 1)
    filled_plane.produce("a", 2)
    agreed = one(filled_plane.fetch({"a": 4}, last_fetched_epoch=0))
    assert offsets_of(agreed) == [4, 5]
    parted = one(filled_plane.fetch({"a": 6}, last_fetched_epoch=0))
    assert (parted.error_code, parted.diverging_epoch.epoch, parted.diverging_epoch.end_offset) == (0, 0, 4)
    assert (parted.records, parted.high_watermark) == (b"", 6)
    assert one(filled_plane.fetch({"a": 5}, last_fetched_epoch=3)).diverging_epoch.epoch == 0
    assert one(filled_plane.fetch({"a": 5}, last_fetched_epoch=7)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_diverging_partition_takes_nothing_of_the_limit_of_a_fetch(filled_plane: DataPlane) -> None:
    """The first batch of a fetch comes whatever its limit; a partition that only says where logs part sends none."""
    for _ in range(5):
        set_leader(filled_plane.cluster, "a", 0, 1)
    filled_plane.produce("a", 2)
    request = filled_plane.fetch_request({"a": 6, "b": 0}, max_bytes=1)
    request.topics[0].partitions[0].last_fetched_epoch = 0
    parted, read = partitions_of(filled_plane.call(request, 12))
    assert (parted.diverging_epoch.end_offset, parted.records) == (4, b"")
    assert offsets_of(read) == [0]


def test_replicas_that_are_none_are_turned_away() -> None:
    filled_plane = DataPlane(nodes=2)
    filled_plane.cluster.create_topic("r", assignments={0: [1, 2]})
    filled_plane.produce("r", 1)
    codes = []
    for replica_id in (1, 2, 9):
        request = filled_plane.fetch_request({"r": 0})
        request.replica_id = replica_id
        codes.append(one(filled_plane.call(request, 12)).error_code)
        request.replica_id, request.replica_state.replica_id = -1, replica_id
        codes.append(one(filled_plane.call(request, 17)).error_code)
    wrong = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert codes == [wrong, wrong, 0, 0, wrong, wrong]


# -- sessions


class Client:
    """A consumer with a fetch session."""

    def __init__(self, filled_plane: DataPlane, version: int = 13) -> None:
        self.filled_plane = filled_plane
        self.version = version
        self.session = (0, 0)

    def fetch(
        self,
        wanted: dict[str, Any] | None = None,
        forget: list[tuple[str, list[int]]] | None = None,
        **options: Any,
    ) -> dict[tuple[str, int], list[int]]:
        """What the answer carries: (topic, partition) -> offsets."""
        request = self.filled_plane.fetch_request(wanted or {}, session=self.session, **options)
        topics = self.filled_plane.cluster.topics
        request.forgotten_topics_data = [
            ForgottenTopic(name, topics.get(name).topic_id, partitions)  # type: ignore[union-attr]
            for name, partitions in forget or []
        ]
        response = self.filled_plane.call(request, self.version)
        assert response.error_code == 0
        self.session = (response.session_id, self.session[1] + 1)
        found = {}
        for topic in response.responses:
            named = topics.by_id(topic.topic_id) if self.version >= 13 else topics.get(topic.topic)
            for data in topic.partitions:
                found[(named.name if named else "?", data.partition_index)] = offsets_of(data)
        return found


@pytest.mark.parametrize("version", [7, 11, 13, 18])
def test_a_session_is_answered_with_changes_only(filled_plane: DataPlane, version: int) -> None:
    client = Client(filled_plane, version)
    assert client.fetch({"a": [(0, 4), (1, 2)], "empty": 0}) == {("a", 0): [], ("a", 1): [], ("empty", 0): []}
    assert client.session[0] > 0
    assert client.fetch() == {}
    filled_plane.produce("a", 1, partition=1)
    assert client.fetch() == {("a", 1): [2]}
    assert client.fetch({"a": [(1, 3)]}) == {}
    filled_plane.produce("empty", 1)
    assert client.fetch({"b": 0}, forget=[("empty", [0])]) == {("b", 0): [0]}


@pytest.mark.parametrize(
    ("session", "code"),
    [((0, -1), 0), ((0, 0), 0), ((0, 1), 70), ((0, -2), 70), ((99, 1), 70), ((99, 0), 0), ((99, -1), 0)],
)
def test_fetch_goes_on_with_a_session_that_there_is(
    filled_plane: DataPlane, session: tuple[int, int], code: int
) -> None:
    assert filled_plane.fetch({"a": 4}, session=session).error_code == code


def test_final_epoch_closes_the_session(filled_plane: DataPlane) -> None:
    client = Client(filled_plane)
    client.fetch({"a": 4})
    response = filled_plane.call(filled_plane.fetch_request({}, session=(client.session[0], -1)), 13)
    assert response == FetchResponse()
    assert len(filled_plane.cluster.fetch_sessions[1]) == 0


def test_partitions_take_turns_under_a_small_limit(filled_plane: DataPlane, batch_size: int) -> None:
    client = Client(filled_plane)
    served = list(client.fetch({"a": [(0, 0), (1, 0)], "b": 0}, max_bytes=batch_size))
    assert served == [("a", 0), ("a", 1), ("b", 0)]
    turns = [[key for key, offsets in client.fetch(max_bytes=batch_size).items() if offsets] for _ in range(4)]
    assert turns == [[("a", 0)], [("a", 1)], [("b", 0)], [("a", 0)]]


def test_fetch_opens_no_session_without_slots() -> None:
    filled_plane = DataPlane(topics={"a": 1}, config={"max.incremental.fetch.session.cache.slots": "0"})
    filled_plane.produce("a", 1)
    response = filled_plane.fetch({"a": 0}, session=(0, 0))
    assert response.session_id == 0
    assert offsets_of(one(response)) == [0]


def test_every_answer_can_be_encoded_and_read_back(filled_plane: DataPlane) -> None:
    for version in range(4, 19):
        request = filled_plane.fetch_request({"a": [(0, 0), (9, 0)], "nope": 0, "empty": 0})
        response = filled_plane.call(request, version)
        form = codec(FetchResponse, version)
        again, _ = form.decode(form.encode(response))
        assert [each.error_code for each in partitions_of(again)] == [
            each.error_code for each in partitions_of(response)
        ]
        assert offsets_of(partitions_of(again)[0]) == [0, 1, 2, 3]


def test_a_topic_may_come_back_in_another_place() -> None:
    filled_plane = DataPlane(topics={"a": 2, "b": 1})
    asked = [FetchTopic("a", partitions=[FetchPartition(0, partition_max_bytes=99)])]
    asked += [FetchTopic("b", partitions=[FetchPartition(0)]), FetchTopic("a", partitions=[FetchPartition(1)])]
    request = FetchRequest(max_bytes=100, session_epoch=-1, topics=asked)
    response = filled_plane.call(request, 12)
    assert [(topic.topic, len(topic.partitions)) for topic in response.responses] == [("a", 1), ("b", 1), ("a", 1)]


def test_a_small_read_names_only_aborted_transactions_near_it(filled_plane: DataPlane) -> None:
    partition = filled_plane.topic("t").partitions[0]
    for i in range(200):
        batch = filled_plane.batch(
            1, size=500, producer_id=i, producer_epoch=0, base_sequence=0, transactional=True, timestamp=START_MS
        )
        partition.append(batch, now_ms=START_MS)
        marker = build_end_txn_batch(EndTxnMarker(False, 0), producer_id=i, producer_epoch=0, timestamp=START_MS)
        partition.append(marker, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)
    data = one(filled_plane.fetch({"t": 100}, isolation_level=1, partition_max_bytes=2000))
    named = {each.producer_id for each in data.aborted_transactions}
    assert {offset // 2 for offset in offsets_of(data)} <= named
    assert len(named) < 20
    whole = one(filled_plane.fetch({"t": 0}, isolation_level=1))
    assert [each.producer_id for each in whole.aborted_transactions] == list(range(200))


# -- A fetch that finds too little waits on the broker's clock and is woken by what concerns it.


class FetchWaitParked:
    """A fetch that must wait, running in a task; `answered_after_ms` and `response` once it is done."""

    def __init__(self, plane: DataPlane) -> None:
        self.plane = plane
        self.response: Any = None
        self.answered_after_ms = -1

    @property
    def done(self) -> bool:
        return self.response is not None

    async def run(self, waiting: Awaitable[Any]) -> None:
        began = self.plane.cluster.clock.now_ms()
        response = await waiting
        self.answered_after_ms = self.plane.cluster.clock.now_ms() - began
        self.response = response


async def parked(
    plane: DataPlane, nursery: trio.Nursery, wanted: Any = None, *, version: int = 12, **options: Any
) -> FetchWaitParked:
    request = plane.fetch_request(wanted or {"a": 0}, **{"max_wait_ms": 10_000, **options})
    waiting = plane.call(request, version)
    assert isinstance(waiting, ParkedRequest), "answered at once"
    fetch = FetchWaitParked(plane)
    nursery.start_soon(fetch.run, waiting.response(plane.cluster.clock))
    with trio.CancelScope(shield=True):
        await wait_all_tasks_blocked()
    return fetch


def waiters(plane: DataPlane) -> int:
    return sum(len(partition.waiters) for topic in plane.cluster.topics.all() for partition in topic.partitions)


@pytest.mark.trio
async def test_data_wakes_it_at_once(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, {"a": [(0, 0), (1, 0)], "b": 0})
        assert waiters(plane) == 3
        plane.produce("a", 2, partition=1)
    assert [offsets_of(data) for data in partitions_of(fetch.response)] == [[], [0, 1], []]
    assert fetch.answered_after_ms < 1000
    assert waiters(plane) == 0


@pytest.mark.trio
async def test_min_bytes_hold_it_until_enough_has_come(plane: DataPlane, autojump_clock: MockClock) -> None:
    size = len(plane.batch())
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=3 * size)
        for _ in range(2):
            plane.produce("a", 1)
            await trio.sleep(0.1)
            assert not fetch.done
        plane.produce("a", 1)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0, 1, 2]
    assert fetch.answered_after_ms < 1000


@pytest.mark.trio
async def test_more_than_the_limits_let_through_does_not_spin(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 1)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1000, partition_max_bytes=10)
        plane.produce("a", 50)
    assert fetch.answered_after_ms >= 10_000
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]


def roll(plane: DataPlane, topic: str = "a") -> None:
    """The next record begins a new segment."""
    plane.cluster.topics.by_name(topic).partitions[0].log.roll(START_MS)


@pytest.mark.trio
async def test_a_fetch_of_an_older_segment_is_answered_at_once(plane: DataPlane) -> None:
    plane.produce("a", 1)
    roll(plane)
    plane.produce("a", 1)
    options: dict[str, Any] = {"min_bytes": 1_000_000, "max_wait_ms": 10_000}
    assert offsets_of(partitions_of(plane.fetch({"a": 0}, **options))[0]) == [0]
    assert isinstance(plane.call(plane.fetch_request({"a": 1}, **options), 12), ParkedRequest)


@pytest.mark.trio
async def test_a_new_segment_ends_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 1)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1_000_000)
        at_the_end = await parked(plane, nursery, {"a": 1}, min_bytes=1_000_000)
        roll(plane)
        plane.produce("a", 1)
    assert fetch.answered_after_ms < 1000
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]
    assert at_the_end.answered_after_ms < 1000
    assert offsets_of(partitions_of(at_the_end.response)[0]) == [1]


@pytest.mark.trio
async def test_min_bytes_are_counted_over_all_partitions_whatever_max_bytes_let_through(plane: DataPlane) -> None:
    for topic, partition in (("a", 0), ("a", 1), ("b", 0)):
        plane.produce(topic, 5, partition=partition)
    asked = {"a": [(0, 0), (1, 0)], "b": 0}
    response = plane.fetch(asked, min_bytes=240, max_bytes=250, partition_max_bytes=80, max_wait_ms=10_000)
    assert [offsets_of(data) for data in partitions_of(response)] == [[0, 1, 2, 3, 4], [], []]
    above_max_bytes = plane.fetch({"a": 0}, min_bytes=10_000, max_bytes=100, max_wait_ms=10_000)
    assert offsets_of(partitions_of(above_max_bytes)[0]) == [0, 1, 2, 3, 4]


@pytest.mark.trio
async def test_deleted_records_do_not_end_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.produce("a", 3)
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, min_bytes=1_000_000)
        plane.cluster.topics.by_name("a").partitions[0].delete_records(2)
    assert fetch.answered_after_ms >= 10_000
    assert partitions_of(fetch.response)[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.trio
async def test_a_partition_that_is_created_does_not_end_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, {"a": 0, "later": 0})
        plane.topic("later")
        plane.produce("later", 1)
        plane.produce("a", 1)
    assert [data.error_code for data in partitions_of(fetch.response)] == [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


@pytest.mark.trio
async def test_a_committed_reader_beyond_the_last_stable_offset_does_not_wait(plane: DataPlane) -> None:
    partition = plane.cluster.topics.by_name("a").partitions[0]
    for sequence in (0, 2):
        producer: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0, "base_sequence": sequence}
        partition.append(plane.batch(2, transactional=True, **producer), now_ms=START_MS)
    waits = []
    for offset in range(5):
        request = plane.fetch_request({"a": offset}, isolation_level=1, max_wait_ms=10_000)
        waits.append(isinstance(plane.call(request, 12), ParkedRequest))
    # Kafka compares the base offset of the batch: offset 1 is in the batch at which the stable part ends
    assert waits == [True, True, False, False, False]


@pytest.mark.trio
async def test_a_committed_reader_wakes_with_the_marker(plane: DataPlane, autojump_clock: MockClock) -> None:
    partition = plane.cluster.topics.get("a").partitions[0]  # type: ignore[union-attr]
    producer: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0}
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, isolation_level=1)
        data = plane.batch(2, base_sequence=0, transactional=True, **producer)
        partition.append(data, now_ms=START_MS)
        await trio.sleep(1)
        assert not fetch.done
        marker = build_end_txn_batch(EndTxnMarker(True, 0), timestamp=START_MS, **producer)
        partition.append(marker, now_ms=START_MS, origin=AppendOrigin.COORDINATOR)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0, 1, 2]
    assert 1000 <= fetch.answered_after_ms < 2000


async def deleted(plane: DataPlane) -> None:
    plane.cluster.delete_topic("a")


async def led_elsewhere(plane: DataPlane) -> None:
    set_leader(plane.cluster, "a", 0, 2)


@pytest.mark.parametrize(
    ("change", "asked", "code"),
    [
        (deleted, {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (led_elsewhere, {"version": 10}, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (led_elsewhere, {"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
    ],
)
@pytest.mark.trio
async def test_a_partition_that_goes_away_ends_the_wait(
    plane: DataPlane,
    autojump_clock: MockClock,
    change: Callable[[DataPlane], Awaitable[None]],
    asked: dict[str, int],
    code: ErrorCode,
) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, **asked)
        await change(plane)
    assert [data.error_code for data in partitions_of(fetch.response)] == [code]
    assert fetch.answered_after_ms < 1000
    assert partitions_of(fetch.response)[0].aborted_transactions is None


@pytest.mark.trio
async def test_a_consumer_may_go_on_waiting_at_a_follower(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery)
        await led_elsewhere(plane)
        record = build_batch([Record(0, 1, None, b"v")])
        plane.cluster.topics.by_name("a").partitions[0].append(record, now_ms=1)
    assert offsets_of(partitions_of(fetch.response)[0]) == [0]


@pytest.mark.trio
async def test_a_fetch_that_is_cancelled_leaves_nothing_behind(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        await parked(plane, nursery, {"a": [(0, 0), (1, 0)]})
        assert waiters(plane) == 2
        nursery.cancel_scope.cancel()
    assert waiters(plane) == 0
    plane.produce("a", 1)


@pytest.mark.trio
async def test_advancing_the_clock_ends_the_wait(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetch = await parked(plane, nursery, max_wait_ms=3_600_000)
        plane.cluster.clock.advance(hours=1)
        with trio.fail_after(1):
            while not fetch.done:
                await trio.lowlevel.checkpoint()
    assert fetch.answered_after_ms >= 3_600_000


@pytest.mark.trio
async def test_many_readers_of_one_partition(plane: DataPlane, autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        fetches = [await parked(plane, nursery) for _ in range(20)]
        plane.produce("a", 1)
    assert all(offsets_of(partitions_of(fetch.response)[0]) == [0] for fetch in fetches)


@pytest.mark.parametrize("max_wait_ms", [0, -5])
@pytest.mark.trio
async def test_no_wait_is_no_wait(plane: DataPlane, autojump_clock: MockClock, max_wait_ms: int) -> None:
    response = plane.fetch({"a": 0}, max_wait_ms=max_wait_ms)
    assert offsets_of(partitions_of(response)[0]) == []


@pytest.mark.trio
async def test_damage_is_told_of_its_partition_alone(plane: DataPlane) -> None:
    for partition in (0, 1):
        for _ in range(3):
            plane.produce("a", 1, partition=partition)
    plane.damage("a", 8, (-12).to_bytes(4, "big", signed=True))  # the first batch's length
    damaged, sound = partitions_of(plane.fetch({"a": [(0, 1), (1, 1)]}))
    assert (damaged.error_code, damaged.records) == (ErrorCode.CORRUPT_MESSAGE, b"")
    assert offsets_of(sound) == [1, 2]


# -- A client reads what it may; the rest is answered without waiting for anything.


ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def guarded_request(*names: str, **fields: Any) -> FetchRequest:
    parts = {
        name: [FetchPartition(0, fetch_offset=0, partition_max_bytes=1000, current_leader_epoch=-1)] for name in names
    }
    return FetchRequest(
        **{"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1000, **fields},
        topics=[FetchTopic(name, partitions=partitions) for name, partitions in parts.items()],
    )


def codes(answer: Any) -> list[tuple[str, int]]:
    return [(topic.topic, part.error_code) for topic in answer.responses for part in topic.partitions]


def test_fetch_answers_denied_topics_behind_the_rest(guarded_cluster: Cluster) -> None:
    answer = ask(guarded_cluster, guarded_request("theirs", "none", "mine"), 12, principal=ALICE)
    assert codes(answer) == [("mine", 0), ("theirs", DENIED), ("none", DENIED)]
    (denied,) = answer.responses[1].partitions
    assert (denied.high_watermark, denied.log_start_offset, denied.aborted_transactions) == (-1, -1, [])


def test_an_empty_name_is_a_name_without_a_right(guarded_cluster: Cluster) -> None:
    assert codes(ask(guarded_cluster, guarded_request(""), 12, principal=ALICE)) == [("", DENIED)]


def test_unknown_ids_need_no_right(guarded_cluster: Cluster) -> None:
    wanted = guarded_request("theirs", "x")
    wanted.topics[0].topic_id, wanted.topics[1].topic_id = guarded_cluster.image.topics["theirs"].topic_id, b"1" * 16
    answer = ask(guarded_cluster, wanted, 13, principal=ALICE)
    assert [code for _, code in codes(answer)] == [ErrorCode.UNKNOWN_TOPIC_ID, DENIED]


def test_a_follower_needs_the_cluster_and_no_topic(guarded_cluster: Cluster) -> None:
    asked = guarded_request("mine", "theirs", "none", replica_id=7)
    assert codes(ask(guarded_cluster, asked, 12, principal=ALICE)) == [
        ("mine", DENIED),
        ("theirs", DENIED),
        ("none", DENIED),
    ]
    allow(guarded_cluster, "User:alice", Operation.CLUSTER_ACTION, Resource.CLUSTER, CLUSTER_NAME)
    told = codes(ask(guarded_cluster, asked, 12, principal=ALICE))
    assert sorted(told) == [
        ("mine", ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ("none", UNKNOWN),
        ("theirs", ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]


def test_a_right_that_is_taken_counts_in_a_session_and_so_does_one_that_is_given(guarded_cluster: Cluster) -> None:
    first = ask(guarded_cluster, guarded_request("mine", "theirs", session_epoch=0), 12, principal=ALICE)
    assert codes(first) == [("mine", 0), ("theirs", DENIED)]

    def go_on(epoch: int) -> list[tuple[str, int]]:
        return codes(
            ask(guarded_cluster, guarded_request(session_id=first.session_id, session_epoch=epoch), 12, principal=ALICE)
        )

    assert go_on(1) == [("theirs", DENIED)]
    allow(guarded_cluster, "User:alice", Operation.READ, Resource.TOPIC, "theirs")
    assert go_on(2) == [("theirs", 0)]
    assert go_on(3) == []
    allow(guarded_cluster, "User:alice", Operation.READ, Resource.TOPIC, "mine", permission=Permission.DENY)
    assert go_on(4) == [("mine", DENIED)]
