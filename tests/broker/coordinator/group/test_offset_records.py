"""Records of committed offsets: what a real broker wrote, and the hand-written codec against the generated one."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.offset_records import (
    CommittedOffset,
    decode_offset_key,
    decode_offset_value,
    encode_offset_key,
    encode_offset_value,
)
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.message_codec import codec
from odradek.protocol.primitives import ZERO_UUID

VECTORS = Path(__file__).parents[3] / "vectors" / "coordinator_records.jsonl.gz"


def vectors(record_type: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["family"] == "group" and row["key"]["type"] == record_type]


def test_offset_commits_of_a_real_broker() -> None:
    rows = vectors("1")
    assert len(rows) > 20
    for row in rows:
        key = bytes.fromhex(row["key_hex"])
        data = row["key"]["data"]
        assert decode_offset_key(key) == (data["group"], data["topic"], data["partition"])
        assert encode_offset_key(data["group"], data["topic"], data["partition"]) == key
        if row["value_hex"] is None:
            continue
        value = bytes.fromhex(row["value_hex"])
        data = row["value"]["data"]
        decoded = decode_offset_value(value, 7)
        topic_id = base64.urlsafe_b64decode(data["topicId"] + "==") if "topicId" in data else ZERO_UUID
        assert decoded == CommittedOffset(
            data["offset"],
            data.get("leaderEpoch", -1),
            data["metadata"],
            data["commitTimestamp"],
            data.get("expireTimestamp", -1),
            topic_id,
            7,
        )
        assert encode_offset_value(*decoded[:-1]) == value


int64 = st.integers(-(1 << 63), (1 << 63) - 1)
int32 = st.integers(-(1 << 31), (1 << 31) - 1)
text = st.one_of(st.text(max_size=40), st.text(alphabet="äx", min_size=60, max_size=300))


@given(st.text(max_size=50), st.text(max_size=50), int32)
def test_offset_keys_equal_the_generated_codec(group: str, topic: str, partition: int) -> None:
    expected = b"\0\1" + codec(OffsetCommitKey, 0).encode(OffsetCommitKey(group, topic, partition))
    assert encode_offset_key(group, topic, partition) == expected
    assert decode_offset_key(expected) == (group, topic, partition)


@given(
    int64, int32, text, int64, st.one_of(st.just(-1), st.integers(0, 1 << 60)), st.sampled_from([ZERO_UUID, b"i" * 16])
)
def test_offset_values_equal_the_generated_codec(
    offset: int, epoch: int, metadata: str, committed: int, expires: int, topic_id: bytes
) -> None:
    message = OffsetCommitValue(offset, epoch, metadata, committed, expires, topic_id)
    version = 4 if expires < 0 else 1
    expected = version.to_bytes(2, "big") + codec(OffsetCommitValue, version).encode(message)
    encoded = encode_offset_value(offset, epoch, metadata, committed, expires, topic_id)
    assert encoded == expected
    decoded = decode_offset_value(encoded, 3)
    if version == 4:
        assert decoded == (offset, epoch, metadata, committed, -1, topic_id, 3)
    else:
        assert decoded == (offset, -1, metadata, committed, expires, ZERO_UUID, 3)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_offset_values_of_all_versions(version: int) -> None:
    message = OffsetCommitValue(5, 1 if version >= 3 else -1, "m", 77, 99 if version == 1 else -1)
    decoded = decode_offset_value(version.to_bytes(2, "big") + codec(OffsetCommitValue, version).encode(message), 0)
    assert decoded == (5, message.leader_epoch, "m", 77, message.expire_timestamp, ZERO_UUID, 0)


def test_a_tagged_field_of_the_future_is_skipped() -> None:
    message = OffsetCommitValue(5, 1, "m", 77, topic_id=b"i" * 16, unknown_tagged_fields=((9, b"xyz"),))
    decoded = decode_offset_value(b"\0\4" + codec(OffsetCommitValue, 4).encode(message), 0)
    assert decoded == (5, 1, "m", 77, -1, b"i" * 16, 0)


@given(st.binary(max_size=60))
def test_bad_bytes_are_a_protocol_error(junk: bytes) -> None:
    for read in (
        lambda: decode_offset_value(junk, 0),
        lambda: decode_offset_key(b"\0\1" + junk),
    ):
        try:
            read()
        except ProtocolError:
            pass
