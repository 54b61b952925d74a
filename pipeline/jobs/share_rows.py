"""Records of `__share_group_state` as rows: what a share partition has delivered, as its snapshots and updates say."""

from __future__ import annotations

from typing import Any

from odradek.protocol.errors import ProtocolError
from odradek.protocol.stored import UnknownRecordTypeError, decode_share_record
from odradek.protocol.uuids import uuid_to_text

Row = dict[str, Any]

_BATCH = "struct<first_offset: bigint, last_offset: bigint, delivery_state: string, delivery_count: int>"
SHARE_SCHEMA = (
    "log_partition int, log_offset bigint, time_ms bigint, kind string, tombstone boolean, group_id string,"
    " topic_id string, partition int, snapshot_epoch int, state_epoch int, leader_epoch int, start_offset bigint,"
    f" delivery_complete_count int, batches array<{_BATCH}>, create_time_ms bigint, write_time_ms bigint,"
    " problem string"
)
"""``kind``: ``ShareSnapshot`` (the whole state), ``ShareUpdate`` (what changed since; -1: unchanged), ``unknown`` or
``malformed``."""

DELIVERY_STATES = {0: "AVAILABLE", 1: "ACQUIRED", 2: "ACKNOWLEDGED", 3: "ARCHIVING", 4: "ARCHIVED"}


def share_row(key: bytes, value: bytes | None) -> Row:
    """One record of `__share_group_state`."""
    try:
        decoded_key, decoded = decode_share_record(key, value)
    except UnknownRecordTypeError:
        return {"kind": "unknown", "tombstone": value is None}
    except ProtocolError as error:
        return {"kind": "malformed", "tombstone": value is None, "problem": str(error)}
    place: Any = decoded_key
    row: Row = {"kind": type(decoded_key).__name__.removesuffix("Key"), "tombstone": value is None}
    row |= {"group_id": place.group_id, "topic_id": uuid_to_text(place.topic_id), "partition": place.partition}
    return row | _state(decoded) if decoded is not None else row


def _state(value: Any) -> Row:
    """A snapshot has epochs and times that an update has not."""
    return {
        "snapshot_epoch": value.snapshot_epoch,
        "state_epoch": getattr(value, "state_epoch", None),
        "leader_epoch": value.leader_epoch,
        "start_offset": value.start_offset,
        "delivery_complete_count": value.delivery_complete_count,
        "batches": [_batch(batch) for batch in value.state_batches],
        "create_time_ms": getattr(value, "create_timestamp", None),
        "write_time_ms": getattr(value, "write_timestamp", None),
    }


def _batch(batch: Any) -> Row:
    return {
        "first_offset": batch.first_offset,
        "last_offset": batch.last_offset,
        "delivery_state": DELIVERY_STATES.get(batch.delivery_state, str(batch.delivery_state)),
        "delivery_count": batch.delivery_count,
    }
