"""Records of coordinators are values, and commands and outcomes can be copied as a broker's state is."""

from __future__ import annotations

import pickle

from odradek.broker.coordinator.group.consumer.commands import ExpireRevocation
from odradek.broker.runtime.records import LogRecord, NewRecord


def test_new_records_are_equal_that_say_the_same() -> None:
    record = NewRecord(b"k", b"v", {"v": 1})
    assert record == NewRecord(b"k", b"v", {"v": 1})
    others = [NewRecord(b"", b"v", {"v": 1}), NewRecord(b"k", None, {"v": 1}), NewRecord(b"k", b"v"), (b"k", b"v")]
    assert all(record != other for other in others)
    assert repr(record) == "NewRecord(b'k', b'v', {'v': 1})"


def test_a_stored_record_with_and_without_what_it_says() -> None:
    record = LogRecord(b"k", b"v", 7, 5, 2).saying("v")
    assert (record.key, record.value, record.offset, record.said) == (b"k", b"v", 7, "v")
    assert (record.producer_id, record.producer_epoch) == (5, 2)
    assert record.saying(None).said is None
    assert repr(record) == "LogRecord(b'k', b'v', offset=7)"


def test_commands_of_timers_can_be_copied() -> None:
    copied = pickle.loads(pickle.dumps(ExpireRevocation("g", "m", 3)))
    assert (copied.group_id, copied.member_id, copied.member_epoch) == ("g", "m", 3)
