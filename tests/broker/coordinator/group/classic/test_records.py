"""The record of a classic group: what a real broker wrote, and old versions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.classic.records import (
    StoredGroup,
    StoredMember,
    decode_group_key,
    decode_group_value,
    encode_group_key,
    encode_group_value,
)
from odradek.protocol.errors import ProtocolError
from odradek.protocol.message_codec import codec

VECTORS = Path(__file__).parents[4] / "vectors" / "coordinator_records.jsonl.gz"


def vectors(record_type: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [row for row in rows if row["family"] == "group" and row["key"]["type"] == record_type]


def test_groups_of_a_real_broker() -> None:
    rows = vectors("2")
    assert len(rows) > 20
    for row in rows:
        key = bytes.fromhex(row["key_hex"])
        assert decode_group_key(key) == row["key"]["data"]["group"]
        assert encode_group_key(row["key"]["data"]["group"]) == key
        if row["value_hex"] is None:
            continue
        value = bytes.fromhex(row["value_hex"])
        data = row["value"]["data"]
        decoded = decode_group_value(value)
        assert decoded[:5] == (
            data["protocolType"],
            data["generation"],
            data["protocol"],
            data["leader"],
            data["currentStateTimestamp"],
        )
        assert [m.member_id for m in decoded.members] == [m["memberId"] for m in data["members"]]
        assert encode_group_value(decoded) == value


@given(st.binary(max_size=60))
def test_bad_bytes_are_a_protocol_error(junk: bytes) -> None:
    try:
        decode_group_value(junk)
    except ProtocolError:
        pass


def test_a_group_without_a_rebalance_timeout_has_its_session_timeout() -> None:
    member = StoredMember("m", None, "c", "/h", 5, 5, b"s", b"a")
    group = StoredGroup("consumer", 3, "range", "m", -1, (member,))
    from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue, MemberMetadata

    old = GroupMetadataValue(
        "consumer", 3, "range", "m", members=[MemberMetadata("m", None, "c", "/h", -1, 5, b"s", b"a")]
    )
    assert decode_group_value(b"\0\0" + codec(GroupMetadataValue, 0).encode(old)) == group
