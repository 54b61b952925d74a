"""Control batches: as a real broker wrote them."""

from __future__ import annotations

import pytest

from odradek.protocol.control import (
    ControlRecordType,
    EndTxnMarker,
    build_end_txn_batch,
    control_record_type,
    parse_control_record,
)
from odradek.protocol.record_batch import parse_batch
from odradek.protocol.records import InvalidRecordError, Record

# The first marker of a real partition: producer 28, epoch 3, committed by coordinator epoch 0.
REAL_COMMIT = bytes.fromhex(
    "0000000000000005000000420000000002582a8e9b003000000000000001a1fd78ec21000001a1fd78ec21"
    "000000000000001c0003ffffffff000000012000000008000000010c00000000000000"
)


def test_a_marker_is_built_as_a_real_broker_writes_it() -> None:
    built = build_end_txn_batch(
        EndTxnMarker(commit=True, coordinator_epoch=0),
        producer_id=28,
        producer_epoch=3,
        timestamp=0x1A1FD78EC21,
        base_offset=5,
    )
    assert built == REAL_COMMIT


@pytest.mark.parametrize("commit", [True, False])
def test_markers_round_trip(commit: bool) -> None:
    marker = EndTxnMarker(commit, 17)
    batch = parse_batch(build_end_txn_batch(marker, producer_id=1, producer_epoch=0, timestamp=5))
    (record,) = batch.records()
    assert (batch.is_control, batch.is_transactional, batch.base_sequence) == (True, True, -1)
    assert parse_control_record(record) == marker
    assert control_record_type(record) == (ControlRecordType.COMMIT if commit else ControlRecordType.ABORT)


def test_other_control_records_are_no_markers() -> None:
    assert parse_control_record(Record(0, 0, b"\0\0\0\x02", b"")) is None


@pytest.mark.parametrize(("key", "value"), [(None, b""), (b"\0\0", b""), (b"\0\0\0\1", None), (b"\0\0\0\1", b"\0\0")])
def test_malformed_control_records_are_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(InvalidRecordError):
        parse_control_record(Record(0, 0, key, value))
