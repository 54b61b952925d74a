"""DescribeCluster, DescribeLogDirs, UpdateFeatures and DescribeQuorum with several nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.metadata.image import directory_of
from odradek.broker.metadata.node import Node
from odradek.broker.partitions.replicas import NOTHING
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_raft_voter import AddRaftVoterRequest, Listener
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.remove_raft_voter import RemoveRaftVoterRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.acls import SECURED
from tests.fakes.ask import ask
from tests.fakes.nodes import set_node_up


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(nodes=3, config={"controller.quorum.bootstrap.servers": "localhost:9093"})
    made.create_topic("a", assignments={0: [1, 2], 1: [2, 3]})
    return made


def test_nodes_that_are_down_are_shown_on_request(cluster: Cluster) -> None:
    cluster.nodes[3].rack = "r"
    set_node_up(cluster, 2, False)
    up = ask(cluster, DescribeClusterRequest())
    assert [(b.broker_id, b.rack, b.is_fenced) for b in up.brokers] == [(1, None, False), (3, "r", False)]
    every = ask(cluster, DescribeClusterRequest(include_fenced_brokers=True))
    assert [(b.broker_id, b.is_fenced) for b in every.brokers] == [(1, False), (2, True), (3, False)]
    assert (every.cluster_id, every.controller_id) == (cluster.cluster_id, 1)
    ask(cluster, UnregisterBrokerRequest(2))
    left = ask(cluster, DescribeClusterRequest(include_fenced_brokers=True))
    assert [each.broker_id for each in left.brokers] == [1, 3]
    assert ask(cluster, MetadataRequest(None), 12).topics[0].partitions[0].replica_nodes == [1, 2]


def test_log_sizes_are_those_of_the_batches(cluster: Cluster) -> None:
    topic = cluster.topics.get("a")
    assert topic is not None
    batch = build_batch([Record(0, 0, None, b"value", ())])
    topic.partitions[0].append(batch, now_ms=0)
    [result] = ask(cluster, DescribeLogDirsRequest(None)).results
    sizes = {(t.name, p.partition_index): p.partition_size for t in result.topics for p in t.partitions}
    assert sizes == {("a", 0): len(batch)}
    assert (result.log_dir, result.total_bytes, result.usable_bytes) == ("memory", -1, -1)
    assert not topic.partitions[1].opened
    [second] = ask(cluster, DescribeLogDirsRequest(None), node_id=2).results
    assert [p.partition_index for p in second.topics[0].partitions] == [0, 1]
    asked = [DescribableLogDirTopic("a", [0]), DescribableLogDirTopic("a", [0, 9]), DescribableLogDirTopic("x", [0])]
    [some] = ask(cluster, DescribeLogDirsRequest(asked)).results
    assert [(t.name, [p.partition_index for p in t.partitions]) for t in some.topics] == [("a", [0])]


def test_only_the_size_tells_that_a_follower_is_behind(cluster: Cluster) -> None:
    partition = cluster.topics.by_name("a").partitions[0]
    batch = build_batch([Record(0, 1, None, b"v")])
    partition.append(batch, now_ms=1)
    cluster.replicator.hold(partition, 2, NOTHING)
    partition.append(batch, now_ms=1)
    asked = DescribeLogDirsRequest([DescribableLogDirTopic("a", [0])])
    sizes = {}
    for node in (1, 2):
        [seen] = ask(cluster, asked, node_id=node).results[0].topics[0].partitions
        sizes[node] = (seen.partition_size, seen.offset_lag)
    assert sizes == {1: (2 * len(batch), 0), 2: (len(batch), 0)}


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_log_directory_on_disk_has_a_size(tmp_path: Path, version: int) -> None:
    [result] = ask(Cluster(data_dir=tmp_path), DescribeLogDirsRequest(None), version).results
    assert result.log_dir == str(tmp_path)
    if version >= 4:
        assert result.total_bytes >= result.usable_bytes > 0


# -- features

FAILED = "The update failed for all features since the following feature had an error: "


def test_the_transaction_version_can_be_lowered_and_raised(cluster: Cluster) -> None:
    down = [FeatureUpdateKey("transaction.version", 1, upgrade_type=2)]
    assert ask(cluster, UpdateFeaturesRequest(feature_updates=down, validate_only=True)).error_code == 0
    assert cluster.image.feature("transaction.version") == 2
    assert ask(cluster, UpdateFeaturesRequest(feature_updates=down)).error_code == 0
    assert cluster.image.feature("transaction.version") == 1
    up = [FeatureUpdateKey("transaction.version", 2, upgrade_type=1)]
    assert ask(cluster, UpdateFeaturesRequest(feature_updates=up)).error_code == 0
    assert cluster.image.feature("transaction.version") == 2


def test_a_feature_that_is_switched_off_is_not_finalized(cluster: Cluster) -> None:
    off = [FeatureUpdateKey("group.version", 0, upgrade_type=2)]
    assert ask(cluster, UpdateFeaturesRequest(feature_updates=off)).error_code == 0
    assert "group.version" not in cluster.image.features


@pytest.mark.parametrize(
    ("feature", "level", "upgrade_type", "why"),
    [
        (
            "transaction.version",
            1,
            1,
            "Invalid update version 1 for feature transaction.version. Can't downgrade the version of this feature "
            "without setting the upgrade type to either safe or unsafe downgrade.",
        ),
        (
            "transaction.version",
            2,
            9,
            "Invalid update version 2 for feature transaction.version. The controller does not support the given "
            "upgrade type.",
        ),
        (
            "transaction.version",
            -1,
            4,
            "Invalid update version -1 for feature transaction.version. The controller does not support the given "
            "upgrade type.",
        ),
        (
            "metadata.version",
            1,
            1,
            "Invalid update version 1 for feature metadata.version. Local controller 1 only supports versions 7-33",
        ),
        (
            "metadata.version",
            29,
            2,
            "Unsupported metadata.version downgrade from 33 to 29. Refusing to perform the requested downgrade because "
            "it might delete metadata information.",
        ),
        (
            "metadata.version",
            29,
            3,
            "Unsupported metadata.version downgrade from 33 to 29. Unsafe metadata downgrade is not supported in this "
            "version.",
        ),
        (
            "kraft.version",
            0,
            2,
            "Invalid update version 0 for feature kraft.version. Can't downgrade the version of this feature.",
        ),
    ],
)
def test_features_that_cannot_be_set(cluster: Cluster, feature: str, level: int, upgrade_type: int, why: str) -> None:
    updates = [
        FeatureUpdateKey("transaction.version", 0, upgrade_type=3),
        FeatureUpdateKey(feature, level, upgrade_type=upgrade_type),
    ]
    response = ask(cluster, UpdateFeaturesRequest(feature_updates=updates))
    assert (response.error_code, response.error_message) == (95, FAILED + why)
    assert cluster.image.feature("transaction.version") == 2


def test_of_several_wrong_features_the_first_in_a_hash_map_is_named(cluster: Cluster) -> None:
    updates = [FeatureUpdateKey(name, 1, upgrade_type=1) for name in ("b", "a")]
    response = ask(cluster, UpdateFeaturesRequest(feature_updates=updates))
    assert (response.error_message or "").startswith(f"{FAILED}Invalid update version 1 for feature a.")


# -- the quorum


def test_all_nodes_vote_and_the_controller_leads(cluster: Cluster) -> None:
    request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    response = ask(cluster, request)
    [partition] = response.topics[0].partitions
    assert (partition.error_code, partition.leader_id) == (0, 1)
    assert [voter.replica_id for voter in partition.current_voters] == [1, 2, 3]
    assert {voter.log_end_offset for voter in partition.current_voters} == {partition.high_watermark}
    assert partition.observers == []
    assert [node.node_id for node in response.nodes] == [1, 2, 3]
    other = ask(cluster, DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(1)])]))
    assert other.topics[0].partitions[0].error_code == 3


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_replica_that_was_lost_with_its_disk_is_a_failed_directory(tmp_path: Path, on_disk: bool) -> None:
    """What Kafka shows of a failed directory: its name and the error, no sizes and no replicas."""
    path = tmp_path / "node-1" if on_disk else Path("memory")
    cluster = Cluster(nodes=3, data_dir=tmp_path if on_disk else None)
    if on_disk:
        cluster.open_directory()
    for partition in cluster.create_topic("a", partitions=2, replication_factor=3).partitions:
        partition.append(build_batch([Record(0, 0, None, b"x")]), now_ms=0)
    lost = cluster.topics.by_name("a").partitions[0]
    cluster.replicator.disk_lost(lost, 1)
    for request, left in ((DescribeLogDirsRequest(None), [1]), (DescribeLogDirsRequest([]), [])):
        whole, failed = ask(cluster, request).results
        assert (whole.error_code, whole.log_dir) == (0, str(path))
        assert [p.partition_index for topic in whole.topics for p in topic.partitions] == left
        assert (failed.error_code, failed.log_dir) == (ErrorCode.KAFKA_STORAGE_ERROR, f"{path}/a-0")
        assert (failed.topics, failed.total_bytes, failed.usable_bytes) == ([], -1, -1)
    assert len(ask(cluster, DescribeLogDirsRequest(None), node_id=2).results) == 1
    cluster.replicator.disk_back(lost, 1)
    assert len(ask(cluster, DescribeLogDirsRequest(None)).results) == 1
    cluster.close_logs()


# -- UnregisterBroker, AddRaftVoter and RemoveRaftVoter. The texts are those of a real Kafka 4.3.1.


OTHER = b"\1" * 16
CONTROLLER = [Listener("CONTROLLER", "localhost", 1234)]
KRAFT_0 = "Cluster doesn't support {} voter because the kraft.version feature is 0"


@pytest.mark.parametrize("broker_id", [99, -1])
def test_unregister_broker_of_an_unknown_broker_is_refused(broker_id: int) -> None:
    answer = ask(Cluster(), UnregisterBrokerRequest(broker_id))
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert answer.error_message == f"Broker ID {broker_id} is not currently registered"


def test_a_broker_that_is_up_is_in_no_list_any_more_and_leads_nothing() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("t", assignments={0: [1, 2]})
    cluster.create_topic("alone", assignments={0: [1]})
    answer = ask(cluster, UnregisterBrokerRequest(1))
    assert (answer.error_code, answer.error_message) == (0, "")
    assert ask(cluster, UnregisterBrokerRequest(1)).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
    assert [each.broker_id for each in ask(cluster, DescribeClusterRequest(), 1).brokers] == [2]
    told = ask(cluster, MetadataRequest(None), 12)
    assert [each.node_id for each in told.brokers] == [2]
    leaders = {topic.name: topic.partitions[0].leader_id for topic in told.topics}
    assert leaders == {"t": 2, "alone": -1}
    assert list(cluster.image.brokers) == [2]


def test_without_brokers_no_topic_can_be_made() -> None:
    cluster = Cluster()
    ask(cluster, UnregisterBrokerRequest(1))
    (topic,) = ask(cluster, CreateTopicsRequest([CreatableTopic("v", 1, 1)]), 7).topics
    assert topic.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert topic.error_message.startswith(
        "Unable to replicate the partition 1 time(s): All brokers are currently fenced"
    )


def test_an_unregistered_node_stops_cleanly_and_returns_when_it_starts() -> None:
    with KafkaBroker(nodes=2) as broker:
        cluster = broker._cluster
        ask(cluster, UnregisterBrokerRequest(2))
        assert not cluster.nodes[2].up
        broker.start_node(2)
        assert cluster.nodes[2].up
        ask(cluster, UnregisterBrokerRequest(2))
    assert not broker.bugs


def refusal(request: object, version: int = 0, *, kraft_version: int = 1) -> tuple[str, str]:
    cluster = Cluster(cluster_id="ours")
    cluster.controller.state.kraft_version = kraft_version
    answer = ask(cluster, request, version)
    ours = uuid_to_text(directory_of(cluster.image, 1))
    return ErrorCode(answer.error_code).name, answer.error_message.replace(ours, "OURS")


WRONG_CLUSTER = ("INCONSISTENT_CLUSTER_ID", 'The given id "wrong" doesn\'t match the cluster id "ours"')


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("kraft_version", [0, 1])
def test_add_raft_voter_is_refused_with_kafkas_texts(version: int, kraft_version: int) -> None:
    def told(cluster_id: str | None, voter: int, directory: bytes, listeners: list[Listener]) -> tuple[str, str]:
        request = AddRaftVoterRequest(cluster_id, 1000, voter, directory, listeners)
        return refusal(request, version, kraft_version=kraft_version)

    missing = "Add voter request didn't include the endpoint (Endpoints(endpoints={{{}}})) for the default listener "
    missing += "ListenerName(CONTROLLER)"
    assert told("wrong", 5, OTHER, CONTROLLER) == WRONG_CLUSTER
    for voter, directory in ((-1, OTHER), (5, bytes(16))):
        assert told("ours", voter, directory, CONTROLLER) == (
            "INVALID_REQUEST",
            "Add voter request didn't include a valid voter",
        )
    assert told("ours", 5, OTHER, []) == ("INVALID_REQUEST", missing.format(""))
    other = missing.format("ListenerName(OTHER)=h/<unresolved>:1")
    for names in (["OTHER"], ["other"], ["Other", "OTHER"]):
        listeners = [Listener(name, "h", 1) for name in names]
        assert told("ours", 5, OTHER, listeners) == ("INVALID_REQUEST", other)
    if kraft_version == 0:
        for cluster_id, voter in (("ours", 5), (None, 5), ("ours", 1)):
            refused = told(cluster_id, voter, OTHER, CONTROLLER)
            assert refused == ("UNSUPPORTED_VERSION", KRAFT_0.format("adding"))
        return
    key = "directoryId=AQEBAQEBAQEBAQEBAQEBAQ)"
    not_ready = ("REQUEST_TIMED_OUT", f"New voter ReplicaKey(id=5, {key} is not ready to receive requests")
    assert told(None, 5, OTHER, CONTROLLER) == not_ready
    assert told("ours", 1, OTHER, CONTROLLER) == (
        "DUPLICATE_VOTER",
        f"The voter id for ReplicaKey(id=1, {key} is already part of the set of voters "
        "[ReplicaKey(id=1, directoryId=OURS)].",
    )


def test_remove_raft_voter_is_refused_with_kafkas_texts() -> None:
    def told(cluster_id: str | None, voter: int, directory: bytes, *, kraft_version: int = 1) -> tuple[str, str]:
        return refusal(RemoveRaftVoterRequest(cluster_id, voter, directory), kraft_version=kraft_version)

    assert told("wrong", 5, OTHER) == WRONG_CLUSTER
    for voter, directory in ((-1, OTHER), (5, bytes(16))):
        assert told("ours", voter, directory) == (
            "INVALID_REQUEST",
            "Remove voter request didn't include a valid voter",
        )
    assert told(None, 5, OTHER, kraft_version=0) == ("UNSUPPORTED_VERSION", KRAFT_0.format("removing"))
    for voter in (1, 5):
        assert told("ours", voter, OTHER) == (
            "VOTER_NOT_FOUND",
            f"Cannot remove voter ReplicaKey(id={voter}, directoryId=AQEBAQEBAQEBAQEBAQEBAQ) from the set of voters "
            "[ReplicaKey(id=1, directoryId=OURS)]",
        )


def three_voters() -> Cluster:
    return Cluster(
        nodes=1,
        config={
            "process.roles": "broker",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": "localhost:19093,localhost:19094,localhost:19095",
        },
    )


def removal(cluster: Cluster, node_id: int) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(None, node_id, cluster.members[node_id].metadata_directory)


def addition(cluster: Cluster, node_id: int, directory: bytes | None = None) -> AddRaftVoterRequest:
    own = cluster.members[node_id].metadata_directory
    return AddRaftVoterRequest(None, 1000, node_id, directory or own, CONTROLLER)


def ids(nodes: list[Node]) -> list[int]:
    return [node.id for node in nodes]


def test_a_controller_that_is_removed_observes_until_it_is_added() -> None:
    cluster = three_voters()
    epoch, end = cluster.quorum.leader_epoch, cluster.controller.next_offset
    assert ask(cluster, removal(cluster, 3001)).error_code == 0
    voters, observers = cluster.quorum.progress()
    assert [each.node_id for each in voters] == [3000, 3002]
    assert [each.node_id for each in observers] == [1, 3001]
    assert (cluster.quorum.leader_epoch, cluster.controller.next_offset) == (epoch, end + 1)
    assert sorted(cluster.image.controllers) == [3000, 3001, 3002]
    assert ask(cluster, removal(cluster, 3001)).error_code == ErrorCode.VOTER_NOT_FOUND
    assert ask(cluster, addition(cluster, 3001)).error_code == 0
    assert ids(cluster.quorum.voters) == [3000, 3001, 3002]
    assert ask(cluster, addition(cluster, 3001)).error_code == ErrorCode.DUPLICATE_VOTER


def test_another_voter_leads_when_the_leader_is_removed() -> None:
    cluster = three_voters()
    epoch = cluster.quorum.leader_epoch
    assert ask(cluster, removal(cluster, 3000)).error_code == 0
    assert (cluster.controller_id, cluster.quorum.leader_epoch) == (3001, epoch + 1)
    cluster.membership.lose_controller(3001)
    assert cluster.controller_id == 3002
    assert ask(cluster, removal(cluster, 3001)).error_code == 0
    assert ask(cluster, removal(cluster, 3002)).error_code == ErrorCode.VOTER_NOT_FOUND
    assert ids(cluster.quorum.voters) == [3002]


def test_a_leader_whose_followers_are_down_is_not_removed() -> None:
    cluster = three_voters()
    cluster.membership.lose_controller(3001)
    cluster.membership.lose_controller(3002)
    assert ask(cluster, removal(cluster, 3000)).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert ids(cluster.quorum.voters) == [3000, 3001, 3002]


def test_a_controller_that_is_down_is_not_added() -> None:
    cluster = three_voters()
    ask(cluster, removal(cluster, 3001))
    cluster.membership.lose_controller(3001)
    answer = ask(cluster, addition(cluster, 3001))
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answer.error_message.endswith("is not ready to receive requests")
    assert ids(cluster.quorum.voters) == [3000, 3002]


def test_a_controller_is_added_with_its_own_directory() -> None:
    cluster = three_voters()
    ask(cluster, removal(cluster, 3001))
    answer = ask(cluster, addition(cluster, 3001, OTHER))
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert answer.error_message.endswith("since it is lagging behind")
    assert ids(cluster.quorum.voters) == [3000, 3002]


def test_a_snapshot_and_a_reset_bring_the_voters_back() -> None:
    with KafkaBroker(nodes=3, config={"controller.quorum.bootstrap.servers": "localhost:9093"}) as broker:
        cluster = broker._cluster
        ask(cluster, removal(cluster, 3))
        without = broker.snapshot()
        broker.reset()
        assert ids(cluster.quorum.voters) == [1, 2, 3]
        broker.restore(without)
        assert ids(cluster.quorum.voters) == [1, 2]
    assert not broker.bugs


@pytest.mark.parametrize("kind", [AddRaftVoterRequest, RemoveRaftVoterRequest])
def test_a_client_without_rights_is_told_no_more_than_that(kind: type[AddRaftVoterRequest]) -> None:
    """As a real 4.4.0 answers, which describes the request in other APIs."""
    cluster = Cluster(config=SECURED)
    answer = ask(cluster, kind(voter_id=97), principal=Principal("User", "alice"))
    assert (answer.error_code, answer.error_message) == (31, "Cluster authorization failed.")
