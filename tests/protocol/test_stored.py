"""Records of the internal topics: recorded ones against what Kafka's own dump tool says of them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from odradek.protocol.consumer_protocol import decode_assignment, decode_subscription
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey, ShareSnapshotValue, StateBatch
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from odradek.protocol.json_form import to_json
from odradek.protocol.stored import (
    UnknownRecordTypeError,
    decode_group_record,
    decode_record,
    decode_share_record,
    decode_transaction_record,
    encode_record_key,
    encode_record_value,
)
from tests.protocol.recordings import recorded


def test_stored_records_are_read_and_written_as_recorded() -> None:
    types = set()
    for record in recorded("coordinator_records"):
        key_bytes = bytes.fromhex(record["key_hex"])
        value_bytes = None if record["value_hex"] is None else bytes.fromhex(record["value_hex"])
        key, value = decode_record(record["family"], key_bytes, value_bytes)
        assert {"type": str(key.RECORD_TYPE), "data": to_json(key, 0)} == record["key"]
        assert encode_record_key(key) == key_bytes
        types.add((record["family"], key.RECORD_TYPE, value is None))
        if value_bytes is None:
            assert (value, record["value"]) == (None, "<DELETE>")
        else:
            assert value is not None
            version = int.from_bytes(value_bytes[:2], "big")
            assert {"version": str(version), "data": dumped(to_json(value, version))} == record["value"]
            assert encode_record_value(value, version) == value_bytes
    assert len(types) > 30


def dumped(form: dict[str, Any]) -> dict[str, Any]:
    """Kafka's dump shows the embedded subscriptions and assignments decoded."""
    members = form.get("members", []) if "currentStateTimestamp" in form else []
    for member in members:
        subscription, version = decode_subscription(base64.b64decode(member["subscription"]))
        member["subscription"] = to_json(subscription, version)
        assignment, version = decode_assignment(base64.b64decode(member["assignment"]))
        member["assignment"] = to_json(assignment, version)
    return form


def test_stored_record_has_known_bytes() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=2)
    assert encode_record_key(key).hex() == "0001" + "000167" + "000174" + "00000002"
    value = OffsetCommitValue(offset=5, metadata="m", commit_timestamp=7)
    encoded = encode_record_value(value, 3)
    assert encoded.hex() == "0003" + "0000000000000005" + "ffffffff" + "00016d" + "0000000000000007"
    assert decode_group_record(encode_record_key(key), encoded) == (key, value)
    assert decode_group_record(memoryview(encode_record_key(key)), None) == (key, None)


def test_a_tagged_struct_that_may_be_null() -> None:
    """Bytes as Kafka writes a ConsumerGroupMemberMetadataValue: an empty struct is the default, null is sent."""
    start = "0000" + "010101010101" + "ffffffff" + "01"
    for metadata, tagged in (
        (ClassicMemberMetadata(), "00"),
        (None, "01000100"),
        (ClassicMemberMetadata(session_timeout_ms=7), "010007" + "01000000070100"),
    ):
        value = ConsumerGroupMemberMetadataValue(rebalance_timeout_ms=-1, classic_member_metadata=metadata)
        assert encode_record_value(value, 0).hex() == start + tagged
        key = ConsumerGroupMemberMetadataKey()
        assert decode_group_record(encode_record_key(key), bytes.fromhex(start + tagged)) == (key, value)
    assert ConsumerGroupMemberMetadataValue().classic_member_metadata == ClassicMemberMetadata()


def test_transaction_and_share_records() -> None:
    key = TransactionLogKey(transactional_id="tx")
    value = TransactionLogValue(
        producer_id=4,
        next_producer_id=9,
        transaction_partitions=[PartitionsSchema(topic="t", partition_ids=[0, 1])],
    )
    assert decode_transaction_record(encode_record_key(key), encode_record_value(value, 1)) == (key, value)
    with pytest.raises(ProtocolError, match="no next_producer_id"):
        encode_record_value(value, 0)
    share_key = ShareSnapshotKey(group_id="g", topic_id=bytes(range(16)), partition=1)
    share_value = ShareSnapshotValue(state_batches=[StateBatch(first_offset=0, last_offset=3, delivery_state=2)])
    assert decode_share_record(encode_record_key(share_key), encode_record_value(share_value, 0)) == (
        share_key,
        share_value,
    )


def test_stored_record_that_is_damaged_is_refused() -> None:
    with pytest.raises(UnknownRecordTypeError, match="99 is not a record type of the group coordinator"):
        decode_group_record(b"\x00\x63", None)
    for key, value in ((b"", None), (b"\x00", None), (b"\x00\x01\x00", None)):
        with pytest.raises(ProtocolError):
            decode_group_record(key, value)
    key = encode_record_key(OffsetCommitKey())
    for value in (b"", b"\x00\x09", b"\x00\x03\x00"):
        with pytest.raises(ProtocolError):
            decode_group_record(key, value)
