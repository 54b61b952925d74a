"""Batches that are looked at before they are appended."""

from __future__ import annotations

import gc

import pytest

from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.long_work import LargeBatch, LongWork
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.checked_records import CheckedRecords
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from odradek.storage.validation import RecordsRefused, check_large

_SIZE = 600_000


def large(key: bytes | None = b"k") -> bytes:
    return build_batch([Record(0, 5, key, bytes(_SIZE))], codec=Codec.ZSTD)


def log(config: LogConfig) -> PartitionLog:
    return PartitionLog("t", 0, config, MemoryBackend())


def test_the_log_takes_them_in_place_of_the_clients_batch() -> None:
    config, sent = LogConfig(), large()
    taken = log(config)
    with pytest.raises(LargeBatch):
        taken.append_plainly(sent, 0, 0, AppendOrigin.CLIENT)
    assert taken.log_end_offset == 0
    checked = check_large(sent, config, 0, "t-0", LongWork())
    assert checked == sent
    assert taken.append_plainly(checked, 0, 0, AppendOrigin.CLIENT)[:2] == (0, 0)
    assert list(taken.append(sent, now_ms=0))[:2] == [1, 1]  # who may take his time has both in one


def test_what_is_wrong_with_them_is_raised_by_the_append() -> None:
    config = LogConfig(cleanup_policy=frozenset({"compact"}))
    checked = check_large(large(key=None), config, 0, "t-0", LongWork())
    with pytest.raises(RecordsRefused) as refused:
        log(config).append_plainly(checked, 0, 0, AppendOrigin.CLIENT)
    assert refused.value.code == ErrorCode.INVALID_RECORD
    assert refused.value.log_start_offset == 0


def test_an_error_that_waits_to_be_raised_keeps_nothing_that_was_inflated() -> None:
    config = LogConfig(max_decompressed_message_bytes=_SIZE)
    checked = check_large(large(), config, 0, "t-0", LongWork())
    assert checked.error is not None
    assert checked.error.__traceback__ is None
    assert checked.error.__context__ is None
    assert not [each for each in gc.get_referrers(checked.error) if isinstance(each, BaseException)]


def test_checked_records_are_the_bytes_that_were_sent() -> None:
    checked = CheckedRecords(memoryview(b"sent"), b"stored")
    assert checked == b"sent"
    assert checked.stored == b"stored"
    assert checked.error is None
