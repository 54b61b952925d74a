"""Batches of the metadata log, rebuilt to the byte of a real controller's."""

from __future__ import annotations

import pytest

from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.metadata_batch import build_metadata_batch, build_value_batch, control_messages, metadata_records
from odradek.protocol.metadata_records import MetadataRecordError, encode_metadata_record
from odradek.protocol.record_batch import iter_batches, parse_batch
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, metadata_file


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_recorded_batches_are_built_to_the_byte(name: str) -> None:
    rebuilt = 0
    for batch in iter_batches(metadata_file(name)):
        if not batch.is_control:
            built = build_metadata_batch(
                metadata_records(batch),
                timestamp=batch.base_timestamp,
                base_offset=batch.base_offset,
                leader_epoch=batch.partition_leader_epoch,
            )
            assert built == batch.data
            rebuilt += 1
    assert rebuilt or name == SNAPSHOTS[1]


def test_a_lower_level_writes_older_versions() -> None:
    batch = parse_batch(build_metadata_batch([PartitionRecord(partition_id=1)], timestamp=5, metadata_version=7))
    (record,) = batch.records()
    assert record.value == encode_metadata_record(PartitionRecord(partition_id=1), 0)
    assert (record.timestamp, batch.producer_id, batch.base_sequence) == (5, -1, -1)


def test_damage_is_told_with_its_offset() -> None:
    values = [encode_metadata_record(NoOpRecord()), b"\x01\x63\x00"]
    batch = parse_batch(build_value_batch(values, timestamp=5, base_offset=7))
    with pytest.raises(MetadataRecordError, match="offset 8: 99 is not a type of metadata record"):
        list(metadata_records(batch))


def test_control_messages_of_the_first_batch() -> None:
    first = next(iter_batches(metadata_file(SNAPSHOTS[1])))
    names = [type(message).__name__ for message in control_messages(first)]
    assert names == ["SnapshotHeaderRecord", "KRaftVersionRecord", "VotersRecord"]
