"""How the records of the group coordinator are framed, and whose they are."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.groups import GroupType
from odradek.broker.coordinator.group.records import (
    KIND_OF_RECORD,
    MemberKeys,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    known_key,
    record_type_of,
)
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from odradek.protocol.generated.stored.consumer_group_member_metadata import ConsumerGroupMemberMetadataKey
from odradek.protocol.generated.stored.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue
from odradek.protocol.generated.stored.index import RECORDS


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


MEMBER_KEYS = (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupCurrentMemberAssignmentKey,
)


@pytest.mark.parametrize("kind", MEMBER_KEYS)
def test_keys_of_members_are_those_of_the_general_encoder(kind: type[ConsumerGroupMemberMetadataKey]) -> None:
    keys = MemberKeys(kind)
    for group_id, member_id in (("g", "m"), ("g", "n"), ("", ""), ("Gruppe ü", "é" * 300), ("x" * 32767, "y" * 32767)):
        key = keys.of(group_id, member_id)
        assert key == encode_key(kind(group_id, member_id))
        assert keys.of(group_id, member_id) is key
        known = known_key(kind, key)
        assert (known.group_id, known.member_id) == (group_id, member_id)


@pytest.mark.parametrize("name", ["x" * 32768, "\ud800"])
def test_a_name_that_no_key_holds_is_a_protocol_error(name: str) -> None:
    keys = MemberKeys(ConsumerGroupMemberMetadataKey)
    for names in ((name, "m"), ("g", name)):
        with pytest.raises(ProtocolError):
            keys.of(*names)


def test_keys_of_members_are_forgotten_when_there_are_many() -> None:
    keys = MemberKeys(ConsumerGroupMemberMetadataKey)
    first = keys.of("g", "m")
    for number in range(5000):
        keys.of("g", str(number))
    assert keys.of("g", "m") == first


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
