"""How the records of the group coordinator are framed, and whose they are."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.records import (
    KIND_OF_RECORD,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    record_type_of,
)
from odradek.protocol.errors import ProtocolError
from odradek.protocol.stored.consumer_group_metadata import ConsumerGroupMetadataKey, ConsumerGroupMetadataValue
from odradek.protocol.stored.group_metadata import GroupMetadataValue
from odradek.protocol.stored.index import RECORDS


def test_every_record_type_of_groups_has_its_kind() -> None:
    for coordinator, record_type, module, _, _ in RECORDS:
        if coordinator != "group" or record_type in (0, 1):
            continue
        word = "classic" if module == "group_metadata" else module.partition("_")[0]
        assert KIND_OF_RECORD[record_type] is GroupType(word), module


def test_keys_and_values_read_back() -> None:
    key = encode_key(ConsumerGroupMetadataKey("g"))
    assert key == b"\0\3\0\1g"
    assert record_type_of(key) == 3
    assert decode_key(ConsumerGroupMetadataKey, key).group_id == "g"
    assert decode_value(ConsumerGroupMetadataValue, encode_value(ConsumerGroupMetadataValue(7))).epoch == 7


def test_values_of_every_version_are_read() -> None:
    for version in range(GroupMetadataValue.MAX_VERSION + 1):
        value = encode_value(GroupMetadataValue("consumer", 4, "range", "m"), version)
        assert value[:2] == version.to_bytes(2, "big")
        assert decode_value(GroupMetadataValue, value).generation == 4


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\5rest", b"\xff\xff"])
def test_a_value_of_no_known_version_is_a_protocol_error(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_value(GroupMetadataValue, value)


@pytest.mark.parametrize("key", [b"", b"\0"])
def test_a_key_without_a_record_type_is_a_protocol_error(key: bytes) -> None:
    with pytest.raises(ProtocolError):
        record_type_of(key)
