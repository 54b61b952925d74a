"""A classic group and its members, each on its own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    Member,
    decode_group_key,
    decode_group_value,
    encode_group_key,
    group_record,
)
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue, MemberMetadata
from odradek.protocol.message_codec import codec
from tests.fakes.group_driver import SUBSCRIPTION, GroupDriver


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def test_the_protocol_most_members_prefer_wins(driver: GroupDriver) -> None:
    driver.settings = GroupSettings(initial_rebalance_delay_ms=100)
    driver.shard.reload()
    driver.load()
    slots = [driver.join(protocols=p) for p in (("range", "rr"), ("rr", "range"), ("rr", "range", "sticky"))]
    driver.wait(seconds=1)
    assert {slot.result().protocol_name for slot in slots} == {"rr"}


def test_subscriptions_are_read_as_far_as_they_are_readable(driver: GroupDriver) -> None:
    driver.stable()
    group = driver.machine.groups.find("g", ClassicGroup)
    assert group is not None
    assert group.is_subscribed_to("t")
    assert not group.is_subscribed_to("u")
    driver.join(group.leader or "", protocols_=(("range", SUBSCRIPTION[:8]),))
    assert group.is_subscribed_to("u"), "unreadable: it might be"


RANGE, STICKY, RR = ("range", b""), ("sticky", b""), ("rr", b"")


def member(member_id: str, *protocols: tuple[str, bytes], instance_id: str | None = None) -> Member:
    return Member("g", member_id, instance_id, "client", "/host", 60_000, 10_000, protocols or (RANGE,))


def roster(*members: Member) -> ClassicGroup:
    made = ClassicGroup("g", 0)
    for each in members:
        made.add(each)
    return made


def test_a_static_member_takes_its_old_place() -> None:
    group = roster(member("a", instance_id="i"), member("b"))
    group.pending_sync = {"a", "b"}
    group.replace_static(group.members["a"], "new")
    assert list(group.members) == ["new", "b"]
    assert group.leader == "new"
    assert group.pending_sync == {"new", "b"}
    assert group.validate_member("new", "i") is group.members["new"]


# -- the record: what a real broker wrote, and old versions


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
        assert (decoded.protocol_type, decoded.generation) == (data["protocolType"], data["generation"])
        assert (decoded.protocol, decoded.leader) == (data["protocol"], data["leader"])
        assert decoded.current_state_timestamp == data["currentStateTimestamp"]
        assert [m.member_id for m in decoded.members] == [m["memberId"] for m in data["members"]]
        assert group_record("g", decoded).value == value


@given(st.binary(max_size=60))
def test_bad_bytes_are_a_protocol_error(junk: bytes) -> None:
    try:
        decode_group_value(junk)
    except ProtocolError:
        pass


def test_a_group_without_a_rebalance_timeout_has_its_session_timeout() -> None:
    member = MemberMetadata("m", None, "c", "/h", 5, 5, b"s", b"a")
    group = GroupMetadataValue("consumer", 3, "range", "m", -1, [member])

    old = GroupMetadataValue(
        "consumer", 3, "range", "m", members=[MemberMetadata("m", None, "c", "/h", -1, 5, b"s", b"a")]
    )
    assert decode_group_value(b"\0\0" + codec(GroupMetadataValue, 0).encode(old)) == group
