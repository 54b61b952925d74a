"""Committed offsets: storing, reading, deleting, expiring, and waiting for a transaction."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.groups import (
    CommittedOffset,
    DeleteGroup,
    DeleteOffsets,
    ExpireOffsets,
    ForgetPartitions,
    OffsetToCommit,
)
from odradek.broker.coordinator.group.offsets import (
    StoredOffsets,
    decode_offset_key,
    decode_offset_value,
    encode_offset_key,
    encode_offset_value,
)
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import LogRecord, Producer
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.message_codec import codec
from odradek.protocol.primitives import ZERO_UUID
from tests.fakes.group_driver import START_MS, GroupDriver, commit_offsets, hard_state, rebuilt, txn_offset_commit

E = ErrorCode
DAY_MS = 86_400_000


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def fetch(driver: GroupDriver, *, topic: str = "t", partition: int = 0, stable: bool = False, **options: Any) -> Any:
    book = driver.machine.offsets
    group_id, topic_id = options.get("group_id", "g"), options.get("topic_id", ZERO_UUID)
    return book.fetch(group_id, topic, topic_id, [partition], stable)[0]


def in_transaction(driver: GroupDriver, offset: int, *, producer_id: int = 1, **options: Any) -> Any:
    topic = options.pop("topic", "t")
    return driver.now(
        txn_offset_commit(
            options.pop("group_id", "g"),
            [OffsetToCommit(topic, ZERO_UUID, 0, offset, -1, None)],
            producer_id=producer_id,
            producer_epoch=0,
            **options,
        )
    )


# -- committing and reading


def test_anybody_may_commit_while_there_are_no_members(driver: GroupDriver) -> None:
    assert driver.commit(5, metadata="m") == [E.NONE]
    assert fetch(driver) == (5, -1, "m", E.NONE)
    assert driver.state() == "Empty"
    assert driver.machine.groups.find("g", ClassicGroup).protocol_type is None  # type: ignore[union-attr]


def test_members_commit_with_their_generation(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    assert driver.commit(5, member_id=leader, generation_id=1) == [E.NONE]
    refusals: list[tuple[dict[str, Any], ErrorCode]] = [
        ({"member_id": leader, "generation_id": 2}, E.ILLEGAL_GENERATION),
        ({"member_id": "nobody", "generation_id": 1}, E.UNKNOWN_MEMBER_ID),
        ({}, E.UNKNOWN_MEMBER_ID),
    ]
    for options, error in refusals:
        assert driver.error(driver.commit_command(6, **options)) == error
    assert fetch(driver).offset == 5


def test_offset_commit_during_a_rebalance_is_taken_until_the_sync_phase(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    driver.join()
    assert driver.commit(6, member_id=leader, generation_id=1) == [E.NONE]
    driver.join(leader)
    assert driver.error(driver.commit_command(7, member_id=leader, generation_id=2)) == E.REBALANCE_IN_PROGRESS


def test_a_commit_keeps_the_session(driver: GroupDriver) -> None:
    (leader,) = driver.stable(session_timeout_ms=10_000)
    for offset in range(4):
        driver.wait(seconds=8)
        driver.commit(offset, member_id=leader, generation_id=1)
    assert driver.beat(leader, 1) == E.NONE


def test_an_offset_of_a_topic_of_the_same_name_is_not_this_topics(driver: GroupDriver) -> None:
    driver.now(commit_offsets("g", [OffsetToCommit("t", b"a" * 16, 0, 1, -1, "")]))
    assert fetch(driver, topic_id=b"a" * 16).offset == 1
    assert fetch(driver, topic_id=b"b" * 16).offset == -1
    assert fetch(driver).offset == 1


def test_offset_commit_that_the_log_refuses_is_not_committed(driver: GroupDriver) -> None:
    driver.commit(1)
    for refusal, error in (
        (E.MESSAGE_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
    ):
        driver.journal.refuse = KafkaError(refusal)
        assert driver.error(driver.commit_command(2)) == error
    assert fetch(driver).offset == 1


# -- transactions


def test_pending_offsets_become_visible_with_the_commit(driver: GroupDriver) -> None:
    driver.commit(1)
    assert in_transaction(driver, 9) == [E.NONE]
    assert fetch(driver).offset == 1
    assert fetch(driver, stable=True).error == E.UNSTABLE_OFFSET_COMMIT
    assert driver.machine.offsets.fetch_all("g", True)["t"][0].error == E.UNSTABLE_OFFSET_COMMIT
    driver.shard.complete_transaction(Producer(1, 0), True, 0)
    assert fetch(driver, stable=True).offset == 9


def test_txn_offset_commit_is_dropped_by_an_abort(driver: GroupDriver) -> None:
    in_transaction(driver, 9)
    assert driver.state() == "Empty"
    driver.shard.complete_transaction(Producer(1, 0), False, 0)
    assert fetch(driver, stable=True) == (-1, -1, "", E.NONE)


def test_the_later_commit_wins_whatever_its_kind(driver: GroupDriver) -> None:
    in_transaction(driver, 9)
    driver.commit(5)
    driver.shard.complete_transaction(Producer(1, 0), True, 0)
    assert fetch(driver).offset == 5


def test_deleting_an_offset_deletes_it_in_open_transactions_too(driver: GroupDriver) -> None:
    driver.commit(5)
    in_transaction(driver, 9)
    assert driver.now(DeleteOffsets("g", [("t", 0)])) == [E.NONE]
    driver.shard.complete_transaction(Producer(1, 0), True, 0)
    assert fetch(driver).offset == -1
    assert hard_state(rebuilt(driver.journal)) == hard_state(driver.machine)


def test_transactional_commits_are_held_to_the_member_they_name(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    assert in_transaction(driver, 1) == [E.NONE], "older producers name none"
    assert in_transaction(driver, 1, member_id=leader, generation_id=1) == [E.NONE]
    refusals: list[tuple[dict[str, Any], ErrorCode]] = [
        ({"member_id": leader, "generation_id": 2}, E.ILLEGAL_GENERATION),
        ({"member_id": "nobody", "generation_id": 1}, E.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody"}, E.UNKNOWN_MEMBER_ID),
        ({"member_id": leader}, E.ILLEGAL_GENERATION),
        ({"generation_id": 0}, E.UNKNOWN_MEMBER_ID),
        ({"member_id": leader, "generation_id": 1, "instance_id": "i"}, E.UNKNOWN_MEMBER_ID),
    ]
    for options, error in refusals:
        with pytest.raises(KafkaError) as caught:
            in_transaction(driver, 2, **options)
        assert caught.value.code is error
    with pytest.raises(KafkaError) as caught:
        in_transaction(driver, 2, group_id="other", member_id="m", generation_id=9)
    assert caught.value.code is E.ILLEGAL_GENERATION


# -- deleting


def test_a_group_without_members_can_be_deleted(driver: GroupDriver) -> None:
    driver.commit(1)
    in_transaction(driver, 2, topic="u")
    driver.now(DeleteGroup("g"))
    assert driver.state() == "none"
    assert driver.error(DeleteGroup("g")) == E.GROUP_ID_NOT_FOUND
    driver.shard.complete_transaction(Producer(1, 0), True, 0)
    assert driver.state() == "none"
    assert hard_state(rebuilt(driver.journal)) == ({}, {}, {})


def test_delete_group_with_members_is_refused(driver: GroupDriver) -> None:
    driver.stable()
    assert driver.error(DeleteGroup("g")) == E.NON_EMPTY_GROUP


def test_offsets_of_subscribed_topics_stay(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    driver.commit(1, member_id=leader, generation_id=1)
    driver.commit(2, topic="u", member_id=leader, generation_id=1)
    codes = driver.now(DeleteOffsets("g", [("t", 0), ("u", 0), ("u", 7)]))
    assert codes == [E.GROUP_SUBSCRIBED_TO_TOPIC, E.NONE, E.NONE]
    assert (fetch(driver).offset, fetch(driver, topic="u").offset) == (1, -1)
    assert driver.error(DeleteOffsets("other", [])) == E.GROUP_ID_NOT_FOUND


def test_offsets_of_another_kind_of_group_stay_while_it_has_members(driver: GroupDriver) -> None:
    driver.stable(protocol_type="connect")
    assert driver.error(DeleteOffsets("g", [("t", 0)])) == E.NON_EMPTY_GROUP


def test_deleted_partitions_take_their_offsets_along(driver: GroupDriver) -> None:
    driver.commit(1)
    driver.commit(2, topic="u", group_id="h")
    driver.commit(3, topic="t", group_id="h")
    driver.now(ForgetPartitions([("t", 0), ("t", 1)]))
    assert fetch(driver).offset == -1
    assert fetch(driver, topic="u", group_id="h").offset == 2
    assert fetch(driver, topic="t", group_id="h").offset == -1


# -- expiring


def test_offsets_of_nobodys_group_expire_after_their_commit(driver: GroupDriver) -> None:
    driver.commit(1)
    driver.wait(days=6)
    driver.commit(2, partition=1)
    driver.wait(days=1, minutes=11)
    assert (fetch(driver).offset, fetch(driver, partition=1).offset) == (-1, 2)
    assert driver.state() == "Empty"
    driver.wait(days=6)
    assert driver.state() == "none"
    assert hard_state(rebuilt(driver.journal)) == ({}, {}, {})


@pytest.mark.parametrize(("retention_ms", "expires_after_ms"), [(-1, 7 * DAY_MS), (90_000, 90_000), (-2, -2)])
def test_an_offset_expires_with_the_millisecond(retention_ms: int, expires_after_ms: int) -> None:
    driver = GroupDriver()
    driver.commit(1, retention_ms=retention_ms)
    due_ms = START_MS + expires_after_ms
    assert [len(driver.machine.decide(ExpireOffsets(), now_ms).records) for now_ms in (due_ms - 1, due_ms)] == [0, 2]


def test_offsets_of_a_group_expire_after_it_became_empty(driver: GroupDriver) -> None:
    (leader,) = driver.stable(session_timeout_ms=1_000_000)
    driver.commit(1, member_id=leader, generation_id=1)
    for _ in range(8 * 24 * 6):
        driver.wait(minutes=10)
        driver.beat(leader, 1)
    assert fetch(driver).offset == 1, "the topic is subscribed to"
    driver.leave(leader)
    driver.wait(days=6.9)
    assert fetch(driver).offset == 1
    driver.wait(days=0.2)
    assert driver.state() == "none"


def test_offsets_of_topics_that_nobody_subscribes_to_any_more_expire(driver: GroupDriver) -> None:
    (leader,) = driver.stable(session_timeout_ms=1_800_000)
    for topic in ("t", "u"):
        driver.commit(1, topic=topic, member_id=leader, generation_id=1)
    for _ in range(8 * 48):
        driver.wait(minutes=29)
        driver.beat(leader, 1)
    assert (fetch(driver).offset, fetch(driver, topic="u").offset) == (1, -1)


def test_a_retention_time_asked_for_is_kept_to(driver: GroupDriver) -> None:
    driver.commit(1, retention_ms=60_000)
    driver.commit(2, partition=1, retention_ms=30 * DAY_MS)
    driver.wait(minutes=11)
    assert (fetch(driver).offset, fetch(driver, partition=1).offset) == (-1, 2)
    driver.wait(days=29)
    assert fetch(driver, partition=1).offset == 2
    driver.wait(days=2)
    assert driver.state() == "none"


def test_offsets_do_not_expire_under_an_open_transaction() -> None:
    driver = GroupDriver(GroupSettings(offsets_retention_ms=60_000, offsets_check_interval_ms=60_000))
    driver.commit(1)
    in_transaction(driver, 2)
    driver.wait(minutes=10)
    assert fetch(driver).offset == 1
    driver.shard.complete_transaction(Producer(1, 0), False, 0)
    driver.wait(minutes=1)
    assert driver.state() == "none"


def test_an_empty_group_without_offsets_goes_at_the_next_look(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    driver.leave(leader)
    assert driver.state() == "Empty"
    driver.wait(minutes=11)
    assert driver.state() == "none"


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


@given(int64, int32, text, int64, st.one_of(st.just(-1), int64), st.sampled_from([ZERO_UUID, b"i" * 16]))
def test_offset_values_equal_the_generated_codec(
    offset: int, epoch: int, metadata: str, committed: int, expires: int, topic_id: bytes
) -> None:
    message = OffsetCommitValue(offset, epoch, metadata, committed, expires, topic_id)
    version = 4 if expires == -1 else 1
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


def test_stored_offsets_have_the_last_commit() -> None:
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
