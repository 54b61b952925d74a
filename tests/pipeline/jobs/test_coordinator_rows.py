"""Records of the coordinators' topics as rows, the odd ones too."""

from __future__ import annotations

import pytest

from odradek.pipeline.jobs.coordinator_rows import TRANSACTION_STATES, group_row, transaction_row
from odradek.protocol.stored import encode_record_key, encode_record_value
from odradek.protocol.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue

COMMIT = encode_record_key(OffsetCommitKey("g", "t", 2))


def test_a_commit() -> None:
    value = OffsetCommitValue(offset=7, leader_epoch=3, metadata="note", commit_timestamp=1000)
    assert group_row(COMMIT, encode_record_value(value, 3)) == {
        "kind": "OffsetCommit",
        "tombstone": False,
        "group_id": "g",
        "member_id": None,
        "topic": "t",
        "partition": 2,
        "committed_offset": 7,
        "leader_epoch": 3,
        "metadata": "note",
        "commit_time_ms": 1000,
    }


def test_a_tombstone_keeps_the_key() -> None:
    row = group_row(COMMIT, None)
    assert (row["kind"], row["tombstone"], row["group_id"], row["partition"]) == ("OffsetCommit", True, "g", 2)
    assert "committed_offset" not in row


def test_members_whose_bytes_are_no_subscription_have_no_topics() -> None:
    members = [MemberMetadata(member_id="m", client_id="c", client_host="/h", subscription=b"?", assignment=b"")]
    value = GroupMetadataValue("consumer", 4, "range", "m", 0, members=members)
    row = group_row(encode_record_key(GroupMetadataKey("g")), encode_record_value(value, 3))
    assert (row["generation"], row["protocol"], row["leader"]) == (4, "range", "m")
    [member] = row["members"]
    assert (member["member_id"], member["subscription"], member["assignment"]) == ("m", [], [])


def test_an_assignment_by_topic_id() -> None:
    topics = [TopicPartition(topic_id=bytes(15) + b"\1", partitions=[1, 0])]
    key = ConsumerGroupTargetAssignmentMemberKey("g", "m")
    value = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics)
    row = group_row(encode_record_key(key), encode_record_value(value, 0))
    assert (row["group_id"], row["member_id"]) == ("g", "m")
    assert row["assignment"] == ["AAAAAAAAAAAAAAAAAAAAAQ-0", "AAAAAAAAAAAAAAAAAAAAAQ-1"]


@pytest.mark.parametrize(("key", "kind"), [(b"\x7f\x00", "unknown"), (b"\0", "malformed"), (COMMIT[:-1], "malformed")])
def test_records_that_cannot_be_read_are_rows_too(key: bytes, kind: str) -> None:
    row = group_row(key, b"\0\0")
    assert (row["kind"], row["tombstone"]) == (kind, False)
    assert bool(row.get("problem")) == (kind == "malformed")


def test_a_transaction() -> None:
    value = TransactionLogValue(
        producer_id=9,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema("t", [1, 0])],
        transaction_last_update_timestamp_ms=20,
        transaction_start_timestamp_ms=10,
    )
    assert transaction_row(encode_record_key(TransactionLogKey("tx")), encode_record_value(value, 0)) == {
        "transactional_id": "tx",
        "tombstone": False,
        "producer_id": 9,
        "producer_epoch": 2,
        "timeout_ms": 60_000,
        "state": "Ongoing",
        "partitions": ["t-0", "t-1"],
        "start_ms": 10,
        "update_ms": 20,
    }


def test_a_forgotten_transactional_id_and_a_damaged_record() -> None:
    key = encode_record_key(TransactionLogKey("tx"))
    assert transaction_row(key, None) == {"transactional_id": "tx", "tombstone": True}
    assert transaction_row(key[:-1], None)["problem"]


def test_the_names_of_the_states_are_the_brokers() -> None:
    from odradek.broker.coordinator.transaction.states import TransactionState

    assert {state.value: state.label for state in TransactionState} == TRANSACTION_STATES
