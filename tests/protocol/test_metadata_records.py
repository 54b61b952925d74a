"""Records of the cluster's metadata: recorded ones against what Kafka's own dump tool says of them."""

from __future__ import annotations

import re

import pytest

from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.metadata_records.broker_registration_change_record import BrokerRegistrationChangeRecord
from odradek.protocol.generated.metadata_records.index import RECORDS
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.register_broker_record import RegisterBrokerRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.metadata_records import (
    MetadataRecordError,
    decode_metadata_record,
    encode_metadata_record,
    metadata_record_class,
    record_version,
)
from odradek.protocol.record_batch import iter_batches
from odradek.protocol.records import Record
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, dumped_records, metadata_file

ID = bytes(range(16))


def data_records(name: str) -> list[Record]:
    batches = iter_batches(metadata_file(name))
    return [record for batch in batches if not batch.is_control for record in batch.records()]


def dump_name(class_name: str) -> str:
    """`NoOpRecord` -> `NO_OP_RECORD`, as the dump tool names types."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_metadata_records_are_read_and_written_as_recorded(name: str) -> None:
    expected = {offset: payload for offset, payload in dumped_records(name) if "type" in payload}
    records = data_records(name)
    assert [record.offset for record in records] == list(expected)
    for record in records:
        assert record.key is None
        assert record.value is not None
        decoded, version = decode_metadata_record(record.value)
        shown = {"type": dump_name(type(decoded).__name__), "version": version, "data": to_json(decoded, version)}
        assert shown == expected[record.offset]
        assert encode_metadata_record(decoded, version) == record.value
        assert record_version(decoded) == version


def test_the_recordings_hold_most_types() -> None:
    types = {decode_metadata_record(record.value)[0].RECORD_TYPE for name in LOGS for record in data_records(name)}
    assert len(types) >= 19


def test_metadata_record_has_known_bytes() -> None:
    assert encode_metadata_record(NoOpRecord()).hex() == "01" + "14" + "00" + "00"
    topic = TopicRecord(name="t", topic_id=ID)
    assert encode_metadata_record(topic).hex() == "010200" + "0274" + ID.hex() + "00"
    assert decode_metadata_record(memoryview(encode_metadata_record(topic))) == (topic, 0)


def test_every_type_has_its_class() -> None:
    for record_type, _, name in RECORDS:
        record_class = metadata_record_class(record_type)
        assert (record_class.__name__, record_class.RECORD_TYPE) == (name, record_type)
        record = record_class()
        assert decode_metadata_record(encode_metadata_record(record)) == (record, record_version(record))


@pytest.mark.parametrize(
    ("level", "register", "partition", "partition_change"),
    [
        (7, 1, 0, 0),
        (8, 2, 0, 0),
        (16, 2, 0, 0),
        (17, 3, 1, 1),
        (22, 3, 1, 1),
        (23, 3, 2, 2),
        (29, 3, 2, 2),
        (30, 4, 2, 2),
    ],
)
def test_versions_at_a_level_of_metadata_version(
    level: int, register: int, partition: int, partition_change: int
) -> None:
    assert record_version(RegisterBrokerRecord(), level) == register
    assert record_version(PartitionRecord(), level) == partition
    assert record_version(PartitionChangeRecord(), level) == partition_change
    assert record_version(TopicRecord(), level) == 0


def test_a_registration_change_has_the_lowest_version_with_its_field() -> None:
    """Observed: unfenced is version 0, controlled shutdown 1, cordoned directories 3, all at level 30."""
    change = BrokerRegistrationChangeRecord
    assert record_version(change(fenced=-1), 30) == 0
    assert record_version(change(in_controlled_shutdown=1), 30) == 1
    assert record_version(change(log_dirs=[ID]), 30) == 2
    assert record_version(change(cordoned_log_dirs=[]), 30) == 3


def test_levels_before_kraft_are_refused() -> None:
    with pytest.raises(ProtocolError, match=r"metadata\.version 6 is lower than 7"):
        record_version(TopicRecord(), 6)


def test_a_version_that_lacks_a_field_refuses_it() -> None:
    with pytest.raises(ProtocolError, match="no directories"):
        encode_metadata_record(PartitionRecord(directories=[ID]), 0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "has no value"),
        (b"", "0 bytes ends within its frame version"),
        (b"\x01", "ends within its record type"),
        (b"\x01\x14", "ends within its record version"),
        (b"\x00\x14\x00\x00", "frame version 0 is not 1"),
        (b"\x02\x14\x00\x00", "frame version 2 is not 1"),
        (b"\x01\x06\x00\x00", "6 is not a type of metadata record"),
        (b"\x01\x14\x01\x00", "NoOpRecord has the versions 0 to 0, not 1"),
        (b"\x01\x02\x00\x05t", "type 2"),
        (b"\x01\x14\x00\x00\x00", "1 bytes follow a NoOpRecord"),
        (b"\x80\x80\x02\x14\x00\x00", "frame version 32768 of a metadata record is larger than 32767"),
        (b"\xff\xff\xff\xff\xff\xff", "frame version of a metadata record: variable-length integer"),
    ],
)
def test_metadata_record_that_is_damaged_is_refused(value: bytes | None, message: str) -> None:
    with pytest.raises(MetadataRecordError, match=message):
        decode_metadata_record(value)
