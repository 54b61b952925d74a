"""A classic group and its members, each on its own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    Member,
    Protocols,
    decode_group_key,
    decode_group_value,
    encode_group_key,
    group_record,
    join_refused,
    session_key,
    sync_refused,
)
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue, MemberMetadata
from odradek.protocol.message_codec import codec
from tests.fakes.group_driver import SUBSCRIPTION, GroupDriver

E = ErrorCode


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


def test_a_refused_join_names_no_generation_and_no_protocol() -> None:
    reply = join_refused("m", ErrorCode.UNKNOWN_MEMBER_ID)
    assert (reply.error_code, reply.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "m")
    assert (reply.generation_id, reply.protocol_type, reply.protocol_name, reply.leader) == (-1, None, None, "")
    assert reply.members == []
    assert not reply.skip_assignment


def test_a_refused_sync_has_no_assignment() -> None:
    reply = sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)
    assert (reply.error_code, reply.assignment) == (ErrorCode.REBALANCE_IN_PROGRESS, b"")
    assert (reply.protocol_type, reply.protocol_name) == (None, None)


def one_member() -> Member:
    return Member("g", "m", "i", "c", "/h", 20, 10, (("range", b"r"), ("rr", b"q")), b"a")


def test_a_member_is_stored_with_the_metadata_of_the_groups_protocol() -> None:
    assert one_member().to_stored("rr") == MemberMetadata("m", "i", "c", "/h", 20, 10, b"q", b"a")
    assert one_member().to_stored(None).subscription == b""


def test_a_stored_member_comes_back_with_that_protocol_alone() -> None:
    again = Member.from_stored("g", "rr", one_member().to_stored("rr"))
    assert again.protocols == (("rr", b"q"),)
    assert again.to_stored("rr") == one_member().to_stored("rr")
    assert again.session_key == session_key("g", "m")


def test_a_renamed_member_waits_for_nothing() -> None:
    old = one_member()
    old.join_ticket = 4
    new = old.renamed("g", "n")
    assert (new.member_id, new.join_ticket, new.session_key) == ("n", None, session_key("g", "n"))
    assert new.to_stored("range") == old.to_stored("range").replace(member_id="n")


def test_metadata_of_a_protocol_it_does_not_have() -> None:
    with pytest.raises(KeyError):
        one_member().metadata("sticky")


@pytest.mark.parametrize(("is_new", "ticket", "keeps"), [(False, 1, True), (False, None, False), (True, 1, False)])
def test_who_waits_for_the_others_need_not_send_heartbeats(is_new: bool, ticket: int | None, keeps: bool) -> None:
    waiting = one_member()
    waiting.is_new = is_new
    waiting.sync_ticket = ticket
    assert waiting.keeps_session is keeps


RANGE, STICKY, RR = ("range", b""), ("sticky", b""), ("rr", b"")


def member(member_id: str, *protocols: tuple[str, bytes], instance_id: str | None = None) -> Member:
    return Member("g", member_id, instance_id, "client", "/host", 60_000, 10_000, protocols or (RANGE,))


def roster(*members: Member) -> ClassicGroup:
    made = ClassicGroup("g", 0)
    for each in members:
        made.add(each)
    return made


def test_the_first_member_leads_and_the_next_one_follows_it() -> None:
    group = roster(member("a"), member("b"), member("c"))
    assert group.leader == "a"
    group.remove("a")
    assert group.leader == "b"
    group.remove("b")
    group.remove("c")
    assert group.leader is None


def test_what_all_members_offer_is_shared() -> None:
    group = roster(member("a", RANGE, STICKY), member("b", STICKY, RR))
    assert group.shares_any((RANGE, STICKY))
    assert not group.shares_any((RANGE, RR))
    group.update(group.members["b"], (RANGE, RR), 10_000, 60_000)
    assert group.shares_any((RANGE,))
    assert not group.shares_any((STICKY,))
    group.remove("a")
    assert group.shares_any((RR,))


def test_among_shared_protocols_the_preferred_one_wins() -> None:
    group = roster(member("a", RR, STICKY), member("b", RR, STICKY), member("c", STICKY, RR, RANGE))
    assert group.select_protocol() == "rr"
    only_sticky: Protocols = (STICKY,)
    assert group.select_protocol(group.members["a"], only_sticky) == "sticky"


def test_all_have_joined_when_nobody_is_missing() -> None:
    group = roster(member("a"), member("b"))
    group.pending_join["c"] = None
    for ticket, member_id in enumerate(("a", "b")):
        assert group.await_join(group.members[member_id], ticket) is None
    assert not group.all_joined, "an id was given out, and its client has not come back"
    group.remove("c")
    assert group.all_joined
    assert group.await_join(group.members["a"], 7) == 0
    assert group.stop_awaiting_join(group.members["a"]) == 7
    assert not group.all_joined


def test_the_leader_is_one_of_those_who_have_joined() -> None:
    group = roster(member("a"), member("b"))
    assert not group.elect_joined_leader()
    group.await_join(group.members["b"], 1)
    assert group.elect_joined_leader()
    assert group.leader == "b"


def test_a_static_member_takes_its_old_place() -> None:
    group = roster(member("a", instance_id="i"), member("b"))
    group.pending_sync = {"a", "b"}
    group.replace_static(group.members["a"], "new")
    assert list(group.members) == ["new", "b"]
    assert group.leader == "new"
    assert group.pending_sync == {"new", "b"}
    assert group.validate_member("new", "i") is group.members["new"]


@pytest.mark.parametrize(
    ("member_id", "instance_id", "code"),
    [
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("b", "i", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_who_does_not_belong_is_refused(member_id: str, instance_id: str | None, code: ErrorCode) -> None:
    group = roster(member("a", instance_id="i"), member("b"))
    with pytest.raises(KafkaError) as refused:
        group.validate_member(member_id, instance_id)
    assert refused.value.code == code


def test_topics_are_known_while_all_subscriptions_are_readable() -> None:
    subscription = pack(">hih1si", 0, 1, 1, b"t", -1)
    group = roster(member("a", ("range", subscription)))
    assert group.find_topics("range") == frozenset({"t"})
    assert group.find_topics(None) is None
    group.add(member("b", ("range", subscription[:4])))
    assert group.find_topics("range") is None
    assert ClassicGroup("g", 0).find_topics(None) == frozenset()


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
