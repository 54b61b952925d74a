"""Index files: those that a running Kafka has preallocated, and damaged ones."""

from __future__ import annotations

import struct

import pytest

from odradek.storage.formats.indexes import (
    AbortedTxn,
    IndexEntry,
    IndexFormatError,
    TimeEntry,
    parse_offset_index,
    parse_time_index,
    parse_txn_index,
)


@pytest.mark.parametrize("rest", [b"", bytes(8), bytes(10_485_744), b"\1\2\3"])
def test_an_offset_index_ends_where_entries_stop_ascending(rest: bytes) -> None:
    data = struct.pack(">iiii", 10, 4200, 19, 8400) + rest
    assert parse_offset_index(data, 1000) == [IndexEntry(1010, 4200), IndexEntry(1019, 8400)]


@pytest.mark.parametrize("rest", [b"", bytes(12), bytes(10_485_732), b"\1\2\3"])
def test_a_time_index_ends_where_entries_stop_ascending(rest: bytes) -> None:
    data = struct.pack(">qiqi", 1_700_000_000_000, 10, 1_700_000_000_009, 19) + rest
    assert parse_time_index(data, 1000) == [TimeEntry(1_700_000_000_000, 1010), TimeEntry(1_700_000_000_009, 1019)]


def test_an_unused_index() -> None:
    assert parse_offset_index(bytes(10_485_760), 0) == []
    assert parse_time_index(bytes(10_485_756), 0) == []
    assert parse_txn_index(b"") == []


def test_a_transaction_index() -> None:
    data = struct.pack(">hqqqq", 0, 29, 6, 11, 12)
    later = struct.pack(">hqqqq", 0, 29, 13, 14, 15)
    assert parse_txn_index(data + later) == [AbortedTxn(29, 6, 11, 12), AbortedTxn(29, 13, 14, 15)]
    with pytest.raises(IndexFormatError, match="entry 1 ends at offset 11, as the one before it or earlier"):
        parse_txn_index(data * 2)
    with pytest.raises(IndexFormatError, match="33 bytes are not a whole number of entries"):
        parse_txn_index(data[:-1])
    with pytest.raises(IndexFormatError, match="entry 0 has version 7"):
        parse_txn_index(b"\0\7" + data[2:])
