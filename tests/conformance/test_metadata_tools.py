"""Kafka's own tools read the metadata logs and snapshots that are written here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.index import RECORDS
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.metadata_records.unregister_controller_record import UnregisterControllerRecord
from odradek.protocol.generated.stored.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_batch import build_value_batch
from odradek.protocol.metadata_records import encode_metadata_record, metadata_record_class
from odradek.protocol.uuids import uuid_to_text
from odradek.storage.dump import dump, render_text, type_name
from odradek.storage.file_system import FileSystem
from odradek.storage.metadata_snapshot import MetadataSnapshot, SnapshotId, write_metadata_snapshot
from tests.conformance.real_kafka import HERE, Unavailable, classpath, run_tool
from tests.protocol.message_strategies import instances, versions

pytestmark = pytest.mark.jdk

NOW = 1_795_000_000_000
SHELL_VERSION = "4.3.1"
"""The newest release whose metadata shell Maven has."""
TOPIC_ID, DIRECTORY_ID = bytes(range(16)), bytes(range(64, 80))
VERSIONED = [
    (metadata_record_class(kind), version)
    for kind, _, _ in RECORDS
    if kind != UnregisterControllerRecord.RECORD_TYPE  # the tool of 4.3.1 does not know it
    for version in versions(metadata_record_class(kind))
]


def kafkas_dump(path: Path) -> list[str]:
    """The batches and records as the dump tool prints them."""
    tool = "org.apache.kafka.tools.DumpLogSegments"
    done = run_tool(tool, "--cluster-metadata-decoder", "--files", str(path))
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(("baseOffset:", "| offset:"))]


def payloads(lines: Sequence[str]) -> Iterator[Any]:
    for line in lines:
        _, found, payload = line.partition("payload: ")
        if found:
            yield json.loads(payload)


@settings(
    max_examples=3,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],  # each example starts a JVM: nothing is made smaller
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.tuples(*(instances(record, version, for_kio=True) for record, version in VERSIONED)))
def test_the_dump_tool_reads_every_record(
    tmp_path_factory: pytest.TempPathFactory, records: tuple[MetadataRecord, ...]
) -> None:
    """All types in all versions, filled at random; without unknown tagged fields, which the tool leaves out."""
    folder = tmp_path_factory.mktemp("records") / "__cluster_metadata-0"
    folder.mkdir()
    path = folder / "00000000000000000000.log"
    pairs = [(record, version) for record, (_, version) in zip(records, VERSIONED, strict=True)]
    values = [encode_metadata_record(record, version) for record, version in pairs]
    path.write_bytes(build_value_batch(values, timestamp=NOW, leader_epoch=1))
    shown = list(payloads(kafkas_dump(path)))
    for (record, version), found in zip(pairs, shown, strict=True):
        name = type_name(type(record).__name__)
        assert found == {"type": name, "version": version, "data": to_json(record, version)}


@pytest.fixture
def snapshot_file(tmp_path: Path) -> Path:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    records: list[MetadataRecord] = [
        FeatureLevelRecord("metadata.version", 30),
        TopicRecord("orders", TOPIC_ID),
        PartitionRecord(0, TOPIC_ID, [0], [0], leader=0, leader_epoch=7, partition_epoch=9, directories=[DIRECTORY_ID]),
        ConfigRecord(2, "orders", "retention.ms", "77"),
    ]
    endpoints = [Endpoint("CONTROLLER", "localhost", 9093)]
    voters = VotersRecord(voters=[Voter(0, DIRECTORY_ID, endpoints, KRaftVersionFeature(0, 1))])
    snapshot = MetadataSnapshot(records, NOW, 1, voters)
    return write_metadata_snapshot(FileSystem(), folder, SnapshotId(50, 4), snapshot, now_ms=NOW)


def test_the_dump_tool_prints_of_a_snapshot_what_odradek_dump_prints(snapshot_file: Path) -> None:
    ours = [render_text(item) for item in dump(snapshot_file) if item["kind"] in ("batch", "record")]
    assert kafkas_dump(snapshot_file) == ours
    assert len(ours) == 3 + 8


def test_the_metadata_shell_reads_a_snapshot(snapshot_file: Path) -> None:
    assert shell(snapshot_file, "ls", "/image/topics/byName") == ["orders"]
    (partition,) = shell(snapshot_file, "cat", "/image/topics/byName/orders/0")
    for part in (f"directories=[{uuid_to_text(DIRECTORY_ID)}]", "isr=[0]", "leaderEpoch=7", "partitionEpoch=9"):
        assert part in partition
    assert shell(snapshot_file, "cat", "/image/configs/TOPIC:orders/retention.ms") == ["77"]


def shell(snapshot: Path, *command: str) -> list[str]:
    try:
        jars = classpath(SHELL_VERSION, HERE / "shell.xml")
        done = run_tool("org.apache.kafka.shell.MetadataShell", "-s", str(snapshot), *command, jars=jars)
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines() if line.strip() and "ERROR" not in line]
