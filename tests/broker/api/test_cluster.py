"""DescribeCluster, DescribeLogDirs, UpdateFeatures and DescribeQuorum with several nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
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
