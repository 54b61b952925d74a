"""Batches of the metadata log, rebuilt to the byte of a real controller's."""

from __future__ import annotations

import pytest

from odradek.protocol.control import ControlRecordType
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.snapshot_footer_record import SnapshotFooterRecord
from odradek.protocol.generated.stored.snapshot_header_record import SnapshotHeaderRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.metadata_batch import (
    KRaftControl,
    build_kraft_control_batch,
    build_metadata_batch,
    build_value_batch,
    control_messages,
    kraft_control_record,
    metadata_records,
    parse_kraft_control_record,
)
from odradek.protocol.metadata_records import MetadataRecordError, encode_metadata_record
from odradek.protocol.record_batch import iter_batches, parse_batch
from odradek.protocol.records import InvalidRecordError, Record
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, dumped_records, metadata_file


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


# -- Control records of the quorum.


DUMP_NAMES: dict[type[KRaftControl], str] = {
    LeaderChangeMessage: "LeaderChange",
    SnapshotHeaderRecord: "SnapshotHeader",
    SnapshotFooterRecord: "SnapshotFooter",
    KRaftVersionRecord: "KRaftVersion",
    VotersRecord: "KRaftVoters",
}


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_kraft_control_records_are_read_as_recorded(name: str) -> None:
    expected = {offset: payload for offset, payload in dumped_records(name) if "type" not in payload}
    seen = 0
    for batch in iter_batches(metadata_file(name)):
        if not batch.is_control:
            continue
        for record in batch.records():
            message = parse_kraft_control_record(record)
            assert message is not None
            shown = {DUMP_NAMES[type(message)]: to_json(message, message.version)}
            assert shown == expected[record.offset]
            assert kraft_control_record(message, record.timestamp)._replace(offset=record.offset) == record
            seen += 1
    assert seen == len(expected)


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_recorded_control_batches_are_built_to_the_byte(name: str) -> None:
    for batch in iter_batches(metadata_file(name)):
        if batch.is_control:
            messages = [message for record in batch.records() if (message := parse_kraft_control_record(record))]
            built = build_kraft_control_batch(
                messages,
                timestamp=batch.base_timestamp,
                base_offset=batch.base_offset,
                leader_epoch=batch.partition_leader_epoch,
            )
            assert built == batch.data


def test_the_end_of_a_transaction_is_none_of_them() -> None:
    assert parse_kraft_control_record(Record(0, 0, b"\0\0\0\1", b"\0\0\0\0\0\0")) is None


@pytest.mark.parametrize("value", [None, b"", b"\0", b"\0\x09", b"\0\0\0"])
@pytest.mark.parametrize("kind", [ControlRecordType.LEADER_CHANGE, ControlRecordType.KRAFT_VOTERS])
def test_kraft_control_record_with_a_damaged_value_is_refused(kind: ControlRecordType, value: bytes | None) -> None:
    with pytest.raises(InvalidRecordError):
        parse_kraft_control_record(Record(0, 0, b"\0\0" + int(kind).to_bytes(2, "big"), value))


def test_kraft_control_record_with_a_damaged_key_is_refused() -> None:
    with pytest.raises(InvalidRecordError):
        parse_kraft_control_record(Record(0, 0, b"\0\0\0", b"\0\0\0"))
