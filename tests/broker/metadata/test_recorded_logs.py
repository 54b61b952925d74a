"""Logs and snapshots that Kafka 4.3.1 wrote: replayed record for record, both say the same of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.metadata.image import MetadataImage
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.metadata_batch import metadata_records
from odradek.protocol.record_batch import iter_batches
from odradek.storage.metadata_snapshot import parse_metadata_snapshot, parse_snapshot_name
from tests.fakes.images import picture
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, metadata_file

WITH_LOG = [name for name in SNAPSHOTS if not name.endswith("00000000000000000000-0000000000.checkpoint")]


def replayed(log: str, end_offset: int | None = None) -> MetadataImage:
    writer = ImageWriter()
    for batch in iter_batches(metadata_file(log)):
        if not batch.is_control:
            for offset, record in enumerate(metadata_records(batch), batch.base_offset):
                if end_offset is None or offset < end_offset:
                    writer.replay(record, offset, batch.partition_leader_epoch)
    return writer.image


def restored(snapshot: str) -> MetadataImage:
    writer = ImageWriter()
    for record in parse_metadata_snapshot(metadata_file(snapshot)).records:
        writer.replay(record, 0, 1)
    return writer.image


def comparable(image: MetadataImage) -> dict[str, Any]:
    shown = picture(image)
    # Kafka's own image keeps the configs of deleted topics.
    shown["configs"] = {key: value for key, value in shown["configs"].items() if key[0] != 2 or key[1] in image.topics}
    for kind in ("acls", "scram", "tokens"):
        shown[kind] = {key: repr(record) for key, record in shown[kind].items()}
    return shown


@pytest.mark.parametrize("log", LOGS)
def test_recorded_metadata_logs_are_replayed_whole(log: str) -> None:
    image = replayed(log)
    assert image.feature("metadata.version") == 30
    assert image.brokers
    for topic in image.topics.values():
        assert all(partition.replicas for partition in topic.partitions)


@pytest.mark.parametrize("snapshot", WITH_LOG)
def test_a_snapshot_says_what_the_log_before_it_says(snapshot: str) -> None:
    folder, name = snapshot.split("/")
    snapshot_id = parse_snapshot_name(name)
    assert snapshot_id is not None
    from_log = comparable(replayed(f"{folder}/00000000000000000000.log", snapshot_id.end_offset))
    assert from_log == comparable(restored(snapshot))
