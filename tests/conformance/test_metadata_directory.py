"""A real Kafka starts on log directories whose metadata was written here, with nothing done by hand.

The directories hold what a clean stop leaves behind: each broker registered and fenced, partitions without leader whose
eligible leader replicas are the replicas, and clean-shutdown marks with the epochs of the registrations.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.generated.metadata_records.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.leader_change_message import Voter as ElectedVoter
from odradek.protocol.generated.stored.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_batch import build_kraft_control_batch, build_metadata_batch, metadata_records
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.protocol.uuids import uuid_to_text
from odradek.storage.checkpoint_files import (
    CLEAN_SHUTDOWN,
    HIGH_WATERMARKS,
    META_PROPERTIES,
    PARTITION_METADATA,
    MetaProperties,
    format_clean_shutdown,
    format_meta_properties,
    format_offsets,
    format_partition_metadata,
)
from odradek.storage.file_system import FileSystem
from odradek.storage.metadata_snapshot import NO_SNAPSHOT, MetadataSnapshot, SnapshotId, write_metadata_snapshot
from odradek.wire_client import WireClient
from tests.conformance.foreign_kafka import ForeignKafka, bootstrap_servers, static_voters
from tests.conformance.real_kafka import CLUSTER_ID, broker_answers
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

NOW = 1_795_000_000_000
TOPIC = "written-here"
TOPIC_ID = bytes(range(16))
RETENTION = "123456789000"
VALUES = [b"v%d" % number for number in range(3)]
LEADER_EPOCH = 3
BROKER_EPOCH = 10
"""Epoch of the registration of broker 0; the others follow."""
FEATURES = {
    "metadata.version": 30,
    "eligible.leader.replicas.version": 1,
    "group.version": 1,
    "share.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
}
METADATA_LOG = "__cluster_metadata-0"
FILES = FileSystem()


# --- what the directories hold ----------------------------------------------------------------------------------------


def cluster_records(nodes: Sequence[ForeignKafka]) -> list[MetadataRecord]:
    """The state after a clean stop of all nodes: a topic with one partition for each node, on all of them."""
    records: list[MetadataRecord] = [FeatureLevelRecord(name, level) for name, level in FEATURES.items()]
    records += [registration(node) for node in nodes]
    records += [TopicRecord(TOPIC, TOPIC_ID), ConfigRecord(2, TOPIC, "retention.ms", RETENTION)]
    records += [partition(index, nodes) for index in range(len(nodes))]
    records.append(ProducerIdsRecord(nodes[0].node_id, BROKER_EPOCH, 5000))
    return records


def registration(node: ForeignKafka) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=node.node_id,
        incarnation_id=bytes([0x60 + node.node_id]) * 16,
        broker_epoch=BROKER_EPOCH + node.node_id,
        end_points=[BrokerEndpoint("PLAINTEXT", "127.0.0.1", 1, 0)],
        features=[BrokerFeature(name, 0 if level < 30 else 7, level) for name, level in FEATURES.items()],
        fenced=True,
        in_controlled_shutdown=True,
        log_dirs=[node.directory_id],
        cordoned_log_dirs=[],
    )


def partition(index: int, nodes: Sequence[ForeignKafka]) -> PartitionRecord:
    ordered = [*nodes[index:], *nodes[:index]]
    replicas = [node.node_id for node in ordered]
    return PartitionRecord(
        partition_id=index,
        topic_id=TOPIC_ID,
        replicas=replicas,
        leader_epoch=LEADER_EPOCH,
        partition_epoch=LEADER_EPOCH,
        directories=[node.directory_id for node in ordered],
        eligible_leader_replicas=replicas,
        last_known_elr=replicas[:1],
    )


def write_directory(node: ForeignKafka, nodes: Sequence[ForeignKafka]) -> Path:
    """All but the metadata log; returns its empty folder."""
    folder = node.log_dir / METADATA_LOG
    folder.mkdir(parents=True)
    meta = MetaProperties(CLUSTER_ID, node.node_id, uuid_to_text(node.directory_id))
    (node.log_dir / META_PROPERTIES).write_bytes(format_meta_properties(meta))
    (node.log_dir / CLEAN_SHUTDOWN).write_bytes(format_clean_shutdown(BROKER_EPOCH + node.node_id))
    for index in range(len(nodes)):
        topic = node.log_dir / f"{TOPIC}-{index}"
        topic.mkdir()
        records = [Record(offset, NOW, None, value) for offset, value in enumerate(VALUES)]
        (topic / "00000000000000000000.log").write_bytes(build_batch(records, leader_epoch=LEADER_EPOCH))
        (topic / PARTITION_METADATA).write_bytes(format_partition_metadata(TOPIC_ID))
    high_watermarks = {(TOPIC, index): len(VALUES) for index in range(len(nodes))}
    (node.log_dir / HIGH_WATERMARKS).write_bytes(format_offsets(high_watermarks))
    return folder


def write_log(folder: Path, records: Sequence[MetadataRecord], nodes: Sequence[ForeignKafka]) -> None:
    voters = [ElectedVoter(node.node_id) for node in nodes]
    change = LeaderChangeMessage(leader_id=nodes[0].node_id, voters=voters, granting_voters=voters)
    elected = build_kraft_control_batch([change], timestamp=NOW, leader_epoch=1)
    data = build_metadata_batch(records, timestamp=NOW, base_offset=1, leader_epoch=1)
    (folder / "00000000000000000000.log").write_bytes(elected + data)


def voters_of(nodes: Sequence[ForeignKafka]) -> VotersRecord:
    """The voters of kraft.version 1. A lone node corrects its endpoint itself when it is elected."""
    return VotersRecord(
        voters=[
            Voter(
                node.node_id,
                node.directory_id,
                [Endpoint("CONTROLLER", "127.0.0.1", node.controller_port if len(nodes) > 1 else 1)],
                KRaftVersionFeature(0, 1),
            )
            for node in nodes
        ]
    )


def static_log(folder: Path, nodes: Sequence[ForeignKafka]) -> None:
    """kraft.version 0: nothing but the log."""
    write_log(folder, cluster_records(nodes), nodes)


def dynamic_log(folder: Path, nodes: Sequence[ForeignKafka]) -> None:
    """kraft.version 1: the voters in the snapshot at offset 0, all else in the log."""
    snapshot = MetadataSnapshot([], NOW, 1, voters_of(nodes))
    write_metadata_snapshot(FILES, folder, NO_SNAPSHOT, snapshot, now_ms=NOW)
    write_log(folder, cluster_records(nodes), nodes)


def dynamic_snapshot(folder: Path, nodes: Sequence[ForeignKafka]) -> None:
    """kraft.version 1: everything in a snapshot, no log at all."""
    snapshot = MetadataSnapshot(cluster_records(nodes), NOW, 1, voters_of(nodes))
    write_metadata_snapshot(FILES, folder, SnapshotId(50, 4), snapshot, now_ms=NOW)


Writer = Callable[[Path, Sequence[ForeignKafka]], None]
Quorum = Callable[[Sequence[ForeignKafka]], dict[str, str]]


# --- what Kafka serves ------------------------------------------------------------------------------------------------


def start_on(folder: Path, count: int, write: Writer, quorum: Quorum) -> list[ForeignKafka]:
    nodes = [ForeignKafka(number, folder / str(number)) for number in range(count)]
    for node in nodes:
        node.quorum = quorum(nodes)
        write(write_directory(node, nodes), nodes)
        node.prepare()
    for node in nodes:
        node.launch()
    return nodes


def await_brokers(nodes: Sequence[ForeignKafka]) -> None:
    for node in nodes:
        deadline = time.monotonic() + 180
        while not broker_answers(node.port):
            assert node.process is not None
            assert node.process.poll() is None, (node.folder / "output.txt").read_text()[-4000:]
            assert time.monotonic() < deadline, (node.folder / "output.txt").read_text()[-4000:]
            time.sleep(0.05)


def stop_all(nodes: Sequence[ForeignKafka]) -> None:
    for node in nodes:
        if node.process is not None:
            node.process.terminate()
    for node in nodes:
        node.halt()


def partitions(client: WireClient) -> dict[int, Any]:
    (topic,) = client.request(MetadataRequest([MetadataRequestTopic(name=TOPIC)])).topics
    assert topic.topic_id in (TOPIC_ID, bytes(16))
    return {each.partition_index: each for each in topic.partitions if each.error_code == 0}


def retention(client: WireClient) -> tuple[str, int]:
    resource = DescribeConfigsResource(2, TOPIC, ["retention.ms"])
    (result,) = client.request(DescribeConfigsRequest([resource])).results
    return result.configs[0].value, result.configs[0].config_source


def values(client: WireClient, index: int) -> list[bytes | None]:
    wanted = FetchTopic(topic_id=TOPIC_ID, partitions=[FetchPartition(index, partition_max_bytes=1 << 20)])
    answer = client.request(FetchRequest(max_wait_ms=100, min_bytes=1, max_bytes=1 << 20, topics=[wanted]))
    found = [data.records for topic in answer.responses for data in topic.partitions if data.error_code == 0]
    return [record.value for data in found for batch in iter_batches(data or b"") for record in batch.records()]


def next_producer_id(client: WireClient) -> int:
    """-1 until the broker has a block of ids."""
    answer = client.request(InitProducerIdRequest(None, 1000))
    return -1 if answer.error_code else int(answer.producer_id)


def check_served(nodes: Sequence[ForeignKafka]) -> None:
    everyone = sorted(node.node_id for node in nodes)
    for node in nodes:
        with WireClient("127.0.0.1", node.port) as client:
            check_topic(client, node.node_id, everyone)
    with WireClient("127.0.0.1", nodes[0].port) as client:
        wait_until("a producer id behind those that were given out", lambda: next_producer_id(client) >= 5000)


def check_topic(client: WireClient, node_id: int, everyone: Sequence[int]) -> None:
    def whole() -> bool:
        isrs = [sorted(found.isr_nodes) for found in partitions(client).values()]
        return isrs == [everyone] * len(everyone)

    wait_until("leaders and full ISRs", whole)
    assert retention(client) == (RETENTION, 1)
    for index, found in partitions(client).items():
        assert found.leader_epoch == LEADER_EPOCH + 1  # elected once: taken for cleanly stopped
        if found.leader_id == node_id:
            check_records(client, index)


def check_records(client: WireClient, index: int) -> None:
    wait_until(f"the records of partition {index}", lambda: values(client, index) == VALUES)


def check_what_kafka_wrote_on(node: ForeignKafka) -> None:
    """Kafka's own records behind ours: no partition was recovered from an unclean stop."""
    data = (node.log_dir / METADATA_LOG).glob("*.log")
    batches = [batch for path in sorted(data) for batch in iter_batches(path.read_bytes()) if not batch.is_control]
    records = [record for batch in batches for record in metadata_records(batch)]
    assert any(isinstance(record, RegisterBrokerRecord) and record.end_points[0].port > 1 for record in records)
    changes = [record for record in records if isinstance(record, PartitionChangeRecord)]
    assert changes
    assert all(change.leader_recovery_state == -1 for change in changes)


@pytest.mark.parametrize(
    ("count", "write", "quorum"),
    [
        (1, static_log, static_voters),
        (1, dynamic_log, bootstrap_servers),
        (1, dynamic_log, static_voters),
        (1, dynamic_snapshot, bootstrap_servers),
        (3, static_log, static_voters),
        (3, dynamic_log, bootstrap_servers),
    ],
)
def test_kafka_nodes_start_on_a_metadata_log_of_odradek(
    tmp_path: Path, count: int, write: Writer, quorum: Quorum
) -> None:
    nodes = start_on(tmp_path, count, write, quorum)
    try:
        await_brokers(nodes)
        check_served(nodes)
    finally:
        stop_all(nodes)
    for node in nodes:
        check_what_kafka_wrote_on(node)
