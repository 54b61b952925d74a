"""Names of segment files."""

from __future__ import annotations

import struct

import pytest

from odradek.protocol.record_batch import CorruptBatchError
from odradek.storage.formats.segment_files import (
    DELETED,
    LOG,
    SNAPSHOT,
    TIME_INDEX,
    AbortedTxn,
    IndexEntry,
    IndexFormatError,
    OldFormatError,
    TimeEntry,
    file_name,
    parse_file_name,
    parse_offset_index,
    parse_time_index,
    parse_txn_index,
    stored_batch_at,
    stored_batches,
)
from tests.scenarios.log_tails import TAILS, batch


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("00000000000000000042.log", (42, LOG, "")),
        ("00000000000000000042.timeindex.deleted", (42, TIME_INDEX, DELETED)),
        ("09223372036854775807.snapshot", (2**63 - 1, SNAPSHOT, "")),
    ],
)
def test_segment_file_names_are_written_and_read(name: str, parts: tuple[int, str, str]) -> None:
    assert file_name(*parts) == name
    assert parse_file_name(name) == parts


@pytest.mark.parametrize("name", ["42.log", "00000000000000000042.txt", "00000000000000000042", "partition.metadata"])
def test_segment_file_name_of_another_file_is_none(name: str) -> None:
    assert parse_file_name(name) is None


# -- Batches of `.log` files, read by the rules of Kafka's file reader.


def test_batches_are_read_by_position() -> None:
    data = batch(0) + batch(5)
    assert [(at, found.base_offset) for at, found in stored_batches(data)] == [(0, 0), (len(data) // 2, 5)]
    assert [at for at, _ in stored_batches(data, len(data) // 2)] == [len(data) // 2]
    assert stored_batch_at(data, len(data)) is None


@pytest.mark.parametrize("name", ["zeros-1", "zeros-17", "half-header", "header-only", "cut-batch", "huge-length"])
def test_stored_batch_of_a_cut_tail_is_none(name: str) -> None:
    assert stored_batch_at(TAILS[name], 0) is None


@pytest.mark.parametrize("name", ["zeros-18", "length-0", "length-minus-1", "length-48", "magic-255", "magic-1"])
def test_stored_batch_with_impossible_fields_is_none(name: str) -> None:
    with pytest.raises(CorruptBatchError, match="batch at position 0"):
        stored_batch_at(TAILS[name], 0)


def test_a_magic_above_2_is_read_as_format_2() -> None:
    found = stored_batch_at(TAILS["magic-127"], 0)
    assert found is not None
    assert (found.magic, found.base_offset, found.is_crc_valid) == (127, 30, True)
    assert len(list(found.records())) == 5


@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_told_from_damage(magic: int) -> None:
    with pytest.raises(OldFormatError, match=f"position 0 is of message format {magic}"):
        stored_batch_at(TAILS[f"old-format-{magic}"], 0)
    with pytest.raises(CorruptBatchError, match="wrong checksum"):
        stored_batch_at(TAILS["old-format-wrong-crc"], 0)


# -- Index files: those that a running Kafka has preallocated, and damaged ones.


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        bytes(8),
        bytes(10_485_744),
        b"\1\2\3",
        struct.pack(">iiii", 18, 9000, 30, 9999),
        struct.pack(">iiii", 20, 8400, 30, 9999),
    ],
)
def test_an_offset_index_ends_where_entries_stop_ascending(rest: bytes) -> None:
    data = struct.pack(">iiii", 10, 4200, 19, 8400) + rest
    assert parse_offset_index(data, 1000) == [IndexEntry(1010, 4200), IndexEntry(1019, 8400)]


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        bytes(12),
        bytes(10_485_732),
        b"\1\2\3",
        struct.pack(">qiqi", 1_700_000_000_008, 20, 1_700_000_000_020, 21),
        struct.pack(">qiqi", 1_700_000_000_020, -1, 1_700_000_000_020, 21),
        struct.pack(">qi", 1_700_000_000_009, 20),
    ],
)
def test_a_time_index_ends_where_entries_stop_ascending(rest: bytes) -> None:
    data = struct.pack(">qiqi", 1_700_000_000_000, 10, 1_700_000_000_009, 19) + rest
    assert parse_time_index(data, 1000) == [TimeEntry(1_700_000_000_000, 1010), TimeEntry(1_700_000_000_009, 1019)]


def test_an_index_may_begin_with_the_first_batch_of_its_segment() -> None:
    assert parse_offset_index(struct.pack(">iiii", 3, 0, 5, 100), 10) == [IndexEntry(13, 0), IndexEntry(15, 100)]


def test_index_file_that_is_unused_has_no_entries() -> None:
    assert parse_offset_index(bytes(10_485_760), 0) == []
    assert parse_time_index(bytes(10_485_756), 0) == []
    assert parse_txn_index(b"") == []


def test_transaction_index_is_written_and_read() -> None:
    data = struct.pack(">hqqqq", 0, 29, 6, 11, 12)
    later = struct.pack(">hqqqq", 0, 29, 13, 14, 15)
    assert parse_txn_index(data + later) == [AbortedTxn(29, 6, 11, 12), AbortedTxn(29, 13, 14, 15)]
    with pytest.raises(IndexFormatError, match="entry 1 ends at offset 11, as the one before it or earlier"):
        parse_txn_index(data * 2)
    with pytest.raises(IndexFormatError, match="33 bytes are not a whole number of entries"):
        parse_txn_index(data[:-1])
    with pytest.raises(IndexFormatError, match="entry 0 has version 7"):
        parse_txn_index(b"\0\7" + data[2:])
