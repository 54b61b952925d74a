"""Records of the coordinators' topics as rows, the odd ones too."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.partitions.share.states import RecordState
from odradek.pipeline.jobs.coordinator_rows import DELIVERY_STATES, group_row, share_row, transaction_row
from odradek.protocol.generated.stored import share_snapshot as snapshot
from odradek.protocol.generated.stored import share_update as update
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from odradek.protocol.stored import TRANSACTION_STATES, encode_record_key, encode_record_value

COMMIT = encode_record_key(OffsetCommitKey("g", "t", 2))


def test_a_committed_offset_is_a_row() -> None:
    value = OffsetCommitValue(offset=7, leader_epoch=3, metadata="note", commit_timestamp=1000)
    assert group_row(COMMIT, encode_record_value(value, 3)) == {
        "kind": "OffsetCommit",
        "tombstone": False,
        "group_id": "g",
        "member_id": None,
        "group_type": None,
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


def test_a_transaction_is_a_row() -> None:
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


# --- the newer types of groups: records of a real Kafka, with what its own formatter prints of them

RECORDED = Path(__file__).parents[2] / "vectors" / "coordinator_records.jsonl.gz"


def recorded(*types: str) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """The rows of some record types, with key and value as Kafka prints them."""
    for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines():
        record = json.loads(line)
        if record["family"] == "group" and record["key"]["type"] in types and isinstance(record["value"], dict):
            row = group_row(bytes.fromhex(record["key_hex"]), bytes.fromhex(record["value_hex"]))
            yield row, record["key"]["data"], record["value"]["data"]


def parts(topics: list[dict[str, Any]]) -> list[str]:
    return sorted(f"{topic['topicId']}-{index}" for topic in topics for index in topic["partitions"])


def tasks(subtopologies: list[dict[str, Any]]) -> list[str]:
    return sorted(f"{each['subtopologyId']}_{index}" for each in subtopologies for index in each["partitions"])


@pytest.mark.parametrize(("record_type", "group_type"), [("3", "consumer"), ("11", "share"), ("17", "streams")])
def test_epochs_of_groups_are_rows(record_type: str, group_type: str) -> None:
    rows = list(recorded(record_type))
    assert rows
    for row, key, value in rows:
        assert (row["group_type"], row["group_id"], row["generation"]) == (group_type, key["groupId"], value["epoch"])


@pytest.mark.parametrize("record_type", ["5", "10", "19"])
def test_members_of_groups_are_rows(record_type: str) -> None:
    rows = list(recorded(record_type))
    assert rows
    for row, key, value in rows:
        assert (row["group_id"], row["member_id"]) == (key["groupId"], key["memberId"])
        assert (row["client_id"], row["client_host"]) == (value["clientId"], value["clientHost"])
        assert row["instance_id"] == value.get("instanceId")
        assert row["rack_id"] == value["rackId"]
        assert row["subscription"] == sorted(value.get("subscribedTopicNames", []))
        assert row["pattern"] == (value.get("subscribedTopicRegex") or None)


def test_patterns_of_subscriptions_are_rows() -> None:
    for row, key, value in recorded("16"):
        assert (row["pattern"], row["subscription"]) == (key["regularExpression"], sorted(value["topics"]))


def test_group_rows_have_assignments_by_topic_id() -> None:
    for row, _, value in recorded("7", "13"):
        assert row["assignment"] == parts(value["topicPartitions"])
    for row, _, value in recorded("8", "14"):
        assert (row["generation"], row["assignment"]) == (value["memberEpoch"], parts(value["assignedPartitions"]))
    assert {row["state"] for row, _, _ in recorded("8")} == {"Stable"}


def test_group_rows_have_tasks_of_streams_groups() -> None:
    assert list(recorded("21"))
    for row, _, value in recorded("21", "22"):
        assert row["assignment"] == tasks(value["activeTasks"])
        assert row["standby"] == tasks(value["standbyTasks"])


def test_topologies_of_streams_groups_are_rows() -> None:
    rows = [(row["group_type"], row["generation"], row["subscription"]) for row, _, _ in recorded("23")]
    assert ("streams", 0, ["g-nope-src"]) in rows
    assert any("g-stin" in subscription for _, _, subscription in rows)


def test_partitions_with_a_share_state() -> None:
    rows = list(recorded("15"))
    assert rows
    for row, key, value in rows:
        assert (row["group_type"], row["group_id"]) == ("share", key["groupId"])
        assert row["assignment"] == parts(value["initializedTopics"])
        assert row["pending"] == parts(value["initializingTopics"])


def test_the_names_of_the_members_states_are_the_brokers() -> None:
    from odradek.broker.coordinator.group.consumer.group import MemberState as OfConsumer
    from odradek.broker.coordinator.group.streams.group import MemberState as OfStreams
    from odradek.pipeline.jobs.coordinator_rows import CONSUMER_STATES, STREAMS_STATES

    for states, names in ((OfConsumer, CONSUMER_STATES), (OfStreams, STREAMS_STATES)):
        assert {state.value: state.name.title().replace("_", "") for state in states} == names


TOPIC_ID = bytes(15) + b"\1"
KEY = encode_record_key(snapshot.ShareSnapshotKey("g", TOPIC_ID, 3))


def test_a_snapshot_of_share_state_is_a_row() -> None:
    value = snapshot.ShareSnapshotValue(4, 2, 1, 100, 5, 1000, 2000, [snapshot.StateBatch(100, 109, 2, 1)])
    assert share_row(KEY, encode_record_value(value, 0)) == {
        "kind": "ShareSnapshot",
        "tombstone": False,
        "group_id": "g",
        "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ",
        "partition": 3,
        "snapshot_epoch": 4,
        "state_epoch": 2,
        "leader_epoch": 1,
        "start_offset": 100,
        "delivery_complete_count": 5,
        "batches": [{"first_offset": 100, "last_offset": 109, "delivery_state": "ACKNOWLEDGED", "delivery_count": 1}],
        "create_time_ms": 1000,
        "write_time_ms": 2000,
    }


def test_an_update_of_share_state_is_a_row() -> None:
    key = encode_record_key(update.ShareUpdateKey("g", TOPIC_ID, 3))
    row = share_row(key, encode_record_value(update.ShareUpdateValue(4, 1, -1, state_batches=[]), 0))
    assert (row["kind"], row["snapshot_epoch"], row["state_epoch"], row["start_offset"]) == ("ShareUpdate", 4, None, -1)


def test_a_tombstone_of_a_share_state_keeps_the_key() -> None:
    row = share_row(KEY, None)
    assert (row["kind"], row["tombstone"], row["group_id"], row["partition"]) == ("ShareSnapshot", True, "g", 3)


@pytest.mark.parametrize(("key", "kind"), [(b"\x7f\x00", "unknown"), (b"\0", "malformed"), (KEY[:-1], "malformed")])
def test_share_states_that_cannot_be_read_are_rows_too(key: bytes, kind: str) -> None:
    row = share_row(key, b"\0\0")
    assert (row["kind"], bool(row.get("problem"))) == (kind, kind == "malformed")


def test_the_names_of_delivery_states_are_the_brokers() -> None:
    assert {state.value: state.name for state in RecordState} == DELIVERY_STATES
