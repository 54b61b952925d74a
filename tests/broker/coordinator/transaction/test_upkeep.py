"""Timers of a transaction coordinator: set while they are needed, and what they find."""

from __future__ import annotations

from odradek.broker.coordinator.transaction.commands import AbortTransaction
from odradek.broker.coordinator.transaction.states import TransactionState as S
from odradek.broker.coordinator.transaction.transaction import Transaction, TransactionalIds
from odradek.broker.coordinator.transaction.upkeep import Upkeep
from odradek.broker.runtime.machine import Effect, LogRecord, Schedule
from tests.fakes.transactions import FakeSettings

WEEK_MS = 7 * 24 * 3600 * 1000


class Scene:
    def __init__(self) -> None:
        self.ids = TransactionalIds()
        self.upkeep = Upkeep(FakeSettings(), self.ids)

    def know(self, transaction: Transaction) -> Transaction:
        record = self.ids.record(None, transaction, 2)
        self.ids.replay(LogRecord(record.key, record.value, 0, -1, -1, record.decoded))
        return transaction


def keys(effects: list[Effect]) -> list[object]:
    assert all(isinstance(effect, Schedule) for effect in effects)
    return [effect.key for effect in effects if isinstance(effect, Schedule)]


def test_timers_are_set_once_while_there_is_something_to_look_after() -> None:
    scene = Scene()
    assert scene.upkeep.set_timers() == []
    scene.know(Transaction("a", 1, 0, 1000))
    assert keys(scene.upkeep.set_timers()) == ["expire"]
    assert not scene.upkeep.watches_open
    scene.know(Transaction("b", 2, 0, 1000, S.ONGOING, start_ms=0))
    assert keys(scene.upkeep.set_timers()) == ["abort"]
    assert scene.upkeep.watches_open
    assert scene.upkeep.set_timers() == []


def test_what_was_open_for_too_long() -> None:
    scene = Scene()
    late = scene.know(Transaction("late", 1, 0, 1000, S.ONGOING, start_ms=0))
    for other in (
        Transaction("in time", 2, 0, 5000, S.ONGOING, start_ms=0),
        Transaction("unsettled", 3, 0, 1000, S.ONGOING, start_ms=0),
        Transaction("at rest", 4, 0, 1000),
    ):
        scene.know(other)
    scene.ids.unsettled.add("unsettled")
    abort, expire, found = scene.upkeep.abort_timed_out(1001)
    assert keys([abort, expire, found]) == ["abort", "expire", ("abort", "late")]
    assert isinstance(found, Schedule)
    assert isinstance(found.command, AbortTransaction)
    assert scene.upkeep.still_open(found.command.expected) is late
    again = scene.know(Transaction("late", 1, 0, 1000, S.ONGOING, start_ms=900))
    assert scene.upkeep.still_open(late) is None, f"that is over, this is another one: {again}"


def test_ids_expire_where_nothing_is_open() -> None:
    scene = Scene()
    for transaction in (
        Transaction("old", 1, 0, 1000, last_update_ms=0),
        Transaction("used", 2, 0, 1000, last_update_ms=1),
        Transaction("open", 3, 0, 1000, S.ONGOING, start_ms=0, last_update_ms=0),
        Transaction("unsettled", 4, 0, 1000, last_update_ms=0),
    ):
        scene.know(transaction)
    scene.ids.unsettled.add("unsettled")
    assert scene.upkeep.expired(WEEK_MS) == ["old"]
