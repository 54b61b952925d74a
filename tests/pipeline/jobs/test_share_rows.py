"""Records of `__share_group_state` as rows."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.share.states import RecordState
from odradek.pipeline.jobs.share_rows import DELIVERY_STATES, share_row
from odradek.protocol.generated.stored import share_snapshot as snapshot
from odradek.protocol.generated.stored import share_update as update
from odradek.protocol.stored import encode_record_key, encode_record_value

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


def test_a_tombstone_keeps_the_key() -> None:
    row = share_row(KEY, None)
    assert (row["kind"], row["tombstone"], row["group_id"], row["partition"]) == ("ShareSnapshot", True, "g", 3)


@pytest.mark.parametrize(("key", "kind"), [(b"\x7f\x00", "unknown"), (b"\0", "malformed"), (KEY[:-1], "malformed")])
def test_records_that_cannot_be_read_are_rows_too(key: bytes, kind: str) -> None:
    row = share_row(key, b"\0\0")
    assert (row["kind"], bool(row.get("problem"))) == (kind, kind == "malformed")


def test_the_names_of_the_states_are_the_brokers() -> None:
    assert {state.value: state.name for state in RecordState} == DELIVERY_STATES
