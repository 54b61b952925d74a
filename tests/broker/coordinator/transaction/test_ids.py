"""What the log says of transactional ids."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.transaction.ids import TransactionalIds, tombstones
from odradek.broker.coordinator.transaction.states import TransactionState as S
from odradek.broker.coordinator.transaction.transaction import Transaction
from odradek.broker.runtime.machine import LogRecord, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError

EMPTY = Transaction("t", 7, 0, 1000)
ONGOING = Transaction("t", 7, 0, 1000, S.ONGOING, frozenset({("a", 0)}), 5, 5)


def stored(record: NewRecord, *, decoded: bool = False) -> LogRecord:
    return LogRecord(record.key, record.value, 0, -1, -1, None if decoded else record.decoded)


@pytest.mark.parametrize("decoded", [False, True])
def test_an_id_is_what_its_last_record_says(decoded: bool) -> None:
    ids = TransactionalIds()
    for old, new, is_open in ((None, EMPTY, False), (EMPTY, ONGOING, True)):
        ids.replay(stored(ids.record(old, new, 2), decoded=decoded))
        assert ids.get("t") == new
        assert ("t" in ids.open) is is_open
    for tombstone in tombstones(["t"]):
        ids.replay(stored(tombstone))
    assert (ids.get("t"), len(ids), ids.open) == (None, 0, set())


def test_before_transaction_version_1_a_record_does_not_say_all() -> None:
    ids = TransactionalIds()
    assert ids.record(None, EMPTY, 0).decoded is None
    assert ids.record(None, EMPTY, 1).decoded is EMPTY


def test_a_way_that_the_table_does_not_have() -> None:
    complete = Transaction("t", 7, 0, 1000, S.COMPLETE_COMMIT)
    with pytest.raises(RuntimeError, match="t: no way from Ongoing to CompleteCommit"):
        TransactionalIds().record(ONGOING, complete, 2)


def test_an_id_whose_state_is_not_committed_waits() -> None:
    ids = TransactionalIds()
    ids.unsettled.add("t")
    ids.check_settled("other")
    with pytest.raises(KafkaError) as caught:
        ids.check_settled("t")
    assert caught.value.code is ErrorCode.CONCURRENT_TRANSACTIONS
