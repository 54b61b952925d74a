"""Control batches: as a real broker wrote them."""

from __future__ import annotations

import pytest

from odradek.protocol.control import (
    AbortedTransactions,
    ControlRecordType,
    EndTxnMarker,
    build_end_txn_batch,
    committed_batches,
    control_record_type,
    is_abort_marker,
    parse_control_record,
)
from odradek.protocol.record_batch import RecordBatch, build_batch, parse_batch
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


# -- The filter of a read_committed reader.


def data(offset: int, producer: int = -1, *, transactional: bool = True, count: int = 1) -> RecordBatch:
    records = [Record(0, 0, None, b"v")] * count
    epoch = 0 if producer >= 0 else -1
    return parse_batch(
        build_batch(
            records,
            base_offset=offset,
            producer_id=producer,
            producer_epoch=epoch,
            base_sequence=epoch,
            transactional=transactional and producer >= 0,
        )
    )


def marker(offset: int, producer: int, *, commit: bool) -> RecordBatch:
    return parse_batch(
        build_end_txn_batch(
            EndTxnMarker(commit, 0), producer_id=producer, producer_epoch=0, timestamp=0, base_offset=offset
        )
    )


def kept(batches: list[RecordBatch], aborted: list[tuple[int, int]]) -> list[int]:
    return [batch.base_offset for batch in committed_batches(batches, aborted)]


def test_data_between_the_first_offset_and_the_abort_marker_goes() -> None:
    log = [
        data(0, 1),
        marker(1, 1, commit=True),
        data(2, 1),
        data(3, 2),
        data(4),
        data(5, 1, transactional=False),
        data(6, 1),
        marker(7, 1, commit=False),
        data(8, 1),
        marker(9, 1, commit=True),
        marker(10, 2, commit=True),
    ]
    assert kept(log, [(1, 2)]) == [0, 1, 3, 4, 5, 7, 8, 9, 10]
    assert kept(log, []) == [batch.base_offset for batch in log]


def test_only_an_abort_marker_ends_an_aborted_transaction() -> None:
    log = [data(0, 1), marker(1, 1, commit=True), data(2, 1), marker(3, 1, commit=False), data(4, 1)]
    assert kept(log, [(1, 0)]) == [1, 3, 4]


def test_a_transaction_that_began_before_the_first_batch() -> None:
    assert kept([data(7, 3), marker(8, 3, commit=False), data(9, 3)], [(3, 2)]) == [8, 9]


def test_a_transaction_that_begins_inside_a_batch() -> None:
    assert kept([data(0, 3, count=5)], [(3, 4)]) == []
    assert kept([data(0, 3, count=5)], [(3, 5)]) == [0]


def test_two_transactions_of_one_producer_and_of_two_at_once() -> None:
    log = [
        data(0, 1),
        data(1, 2),
        marker(2, 1, commit=False),
        data(3, 1),
        marker(4, 2, commit=False),
        marker(5, 1, commit=False),
        data(6, 2),
    ]
    assert kept(log, [(2, 1), (1, 3), (1, 0)]) == [2, 4, 5, 6]


def test_aborted_transactions_carry_more_fields() -> None:
    transactions = AbortedTransactions([(1, 5, "later"), (2, 0, "now")])
    transactions.begin_up_to(3)
    assert transactions.on == {2: (2, 0, "now")}


def test_is_abort_marker_tells_aborts_from_commits() -> None:
    assert is_abort_marker(marker(0, 1, commit=False))
    assert not is_abort_marker(marker(0, 1, commit=True))
