"""Commands, outcomes and records are values, and can be copied with a broker's state."""

from __future__ import annotations

import pickle

import pytest

from odradek.broker.coordinator.group.groups import ExpireRevocation
from odradek.broker.runtime.machine import (
    Cancel,
    LogRecord,
    NewRecord,
    Outcome,
    Producer,
    coordinator_error,
    make_outcome,
)
from odradek.protocol.errors import ErrorCode as E


def test_an_outcome_without_a_word_does_nothing() -> None:
    outcome: Outcome[None] = make_outcome()
    assert (outcome.records, outcome.effects) == ((), ())
    assert (outcome.reply, outcome.park, outcome.then, outcome.producer) == (None, None, None, None)
    assert outcome.atomic
    assert outcome.waits


def test_an_outcome_has_what_was_decided() -> None:
    record, effect = NewRecord(b"k"), Cancel("timer")
    outcome = make_outcome(
        [record], reply=7, park="t", effects=[effect], producer=Producer(5, 2), atomic=False, waits=False
    )
    assert (outcome.records, outcome.effects) == ([record], [effect])
    assert (outcome.reply, outcome.park, outcome.producer) == (7, "t", (5, 2))
    assert not outcome.atomic
    assert not outcome.waits


def test_new_records_are_equal_that_say_the_same() -> None:
    record = NewRecord(b"k", b"v", {"v": 1})
    assert record == NewRecord(b"k", b"v", {"v": 1})
    others = [NewRecord(b"", b"v", {"v": 1}), NewRecord(b"k", None, {"v": 1}), NewRecord(b"k", b"v"), (b"k", b"v")]
    assert all(record != other for other in others)
    assert repr(record) == "NewRecord(b'k', b'v', {'v': 1})"


def test_a_stored_record_with_and_without_what_it_says() -> None:
    record = LogRecord(b"k", b"v", 7, 5, 2, "v")
    assert (record.key, record.value, record.offset, record.decoded) == (b"k", b"v", 7, "v")
    assert (record.producer_id, record.producer_epoch) == (5, 2)
    assert LogRecord(b"k", b"v", 7, 5, 2).decoded is None
    assert repr(record) == "LogRecord(b'k', b'v', offset=7)"


def test_commands_of_timers_can_be_copied() -> None:
    copied = pickle.loads(pickle.dumps(ExpireRevocation("g", "m", 3)))
    assert (copied.group_id, copied.member_id, copied.member_epoch) == ("g", "m", 3)


@pytest.mark.parametrize(
    ("log", "client"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.CORRUPT_MESSAGE, E.CORRUPT_MESSAGE),
    ],
)
def test_an_error_of_the_log_becomes_the_one_that_kafkas_coordinators_answer(log: E, client: E) -> None:
    assert coordinator_error(log) is client
