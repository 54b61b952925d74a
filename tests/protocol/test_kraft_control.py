"""Control records of KRaft, as a real controller wrote them."""

from __future__ import annotations

import pytest

from odradek.protocol.control import ControlRecordType
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.snapshot_footer_record import SnapshotFooterRecord
from odradek.protocol.generated.stored.snapshot_header_record import SnapshotHeaderRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.kraft_control import (
    KRaftControl,
    build_kraft_control_batch,
    kraft_control_record,
    parse_kraft_control_record,
)
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.records import InvalidRecordError, Record
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, dumped_records, metadata_file

DUMP_NAMES: dict[type[KRaftControl], str] = {
    LeaderChangeMessage: "LeaderChange",
    SnapshotHeaderRecord: "SnapshotHeader",
    SnapshotFooterRecord: "SnapshotFooter",
    KRaftVersionRecord: "KRaftVersion",
    VotersRecord: "KRaftVoters",
}


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_recorded_control_records(name: str) -> None:
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
def test_damaged_values(kind: ControlRecordType, value: bytes | None) -> None:
    with pytest.raises(InvalidRecordError):
        parse_kraft_control_record(Record(0, 0, b"\0\0" + int(kind).to_bytes(2, "big"), value))


def test_a_damaged_key() -> None:
    with pytest.raises(InvalidRecordError):
        parse_kraft_control_record(Record(0, 0, b"\0\0\0", b"\0\0\0"))
