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

from odradek.broker.coordinator.group.stored_offsets import (
    CommittedOffset,
    StoredOffsets,
    decode_offset_key,
    decode_offset_value,
    encode_offset_key,
    encode_offset_value,
)
from odradek.broker.runtime.machine import LogRecord
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


def record(at: int, offset: int | None, *, group: str = "g", partition: int = 0, producer: int = -1) -> LogRecord:
    value = None if offset is None else encode_offset_value(offset, -1, "", 0, -1, ZERO_UUID)
    return LogRecord(encode_offset_key(group, "t", partition), value, at, producer, 0 if producer >= 0 else -1)


def offset_of(stored: StoredOffsets, partition: int = 0) -> int | None:
    found = stored.offset("g", "t", partition)
    return None if found is None else found.offset


def test_the_last_commit_counts() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay(record(1, 7))
    assert offset_of(stored) == 7
    assert offset_of(stored, 1) is None


def test_a_tombstone_forgets_committed_and_pending() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay(record(1, 6, producer=1))
    stored.replay(record(2, None))
    assert (stored.offsets, stored.pending, stored.group_ids()) == ({}, {}, [])


def test_pending_offsets_wait_for_the_marker() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5, producer=1))
    stored.replay(record(1, 6, partition=1, producer=2))
    assert stored.group_ids() == ["g"]
    assert stored.has_pending("g")
    assert stored.is_pending("g", "t", 0)
    assert list(stored.pending_places("g")) == [("t", 0), ("t", 1)]
    assert offset_of(stored) is None
    stored.replay_marker(1, True)
    stored.replay_marker(2, False)
    assert (offset_of(stored), offset_of(stored, 1)) == (5, None)
    assert not stored.has_pending("g")


def test_of_two_commits_of_one_offset_the_later_in_the_log_wins() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5, producer=1))
    stored.replay(record(1, 6))
    stored.replay_marker(1, True)
    assert offset_of(stored) == 6
    stored.replay(record(3, 7, producer=1))
    stored.replay_marker(1, True)
    assert offset_of(stored) == 7


def test_a_marker_of_nobody_changes_nothing() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay_marker(9, True)
    assert offset_of(stored) == 5
