"""Two machines that replay the same records: one takes what they say, the other one has to decode them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from odradek.broker.runtime.machine import LogRecord, NewRecord, Producer
from tests.fakes.journal import FakeJournal


class ReplayTwins:
    """``told`` counts the records that said something."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.holding, self.decoding = make(), make()
        self.told = 0

    def replay(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            self.told += record.decoded is not None
            self.holding.replay(record)
            named = record.key, record.value, record.offset, record.producer_id, record.producer_epoch
            self.decoding.replay(LogRecord(*named))
        self.check()

    def replay_marker(self, producer: Producer, commit: bool) -> None:
        self.holding.replay_marker(producer.id, producer.epoch, commit)
        self.decoding.replay_marker(producer.id, producer.epoch, commit)
        self.check()

    def check(self) -> None:
        assert plain(self.holding.snapshot()) == plain(self.decoding.snapshot())


class TwinJournal(FakeJournal):
    """A journal whose records the twins replay too."""

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self.twins = ReplayTwins(make)

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> list[LogRecord]:
        stored = super().append(records, now_ms, producer)
        self.twins.replay(stored)
        return stored

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        offset = super().append_marker(producer, coordinator_epoch, commit, now_ms)
        self.twins.replay_marker(producer, commit)
        return offset


def plain(value: Any) -> Any:
    """A value with all that it is made of: classes, fields, and the order of dictionaries and sequences."""
    kind = type(value).__name__
    if isinstance(value, Mapping):
        return kind, [(plain(key), plain(each)) for key, each in value.items()]
    if isinstance(value, set | frozenset):
        return kind, sorted(map(repr, map(plain, value)))
    if isinstance(value, list | tuple):
        return kind, [plain(each) for each in value]
    fields = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        for name in getattr(base, "__mypyc_attrs__", getattr(base, "__slots__", ())):
            if hasattr(value, name):
                fields[name] = getattr(value, name)
    if isinstance(value, str | bytes | int | float | type(None)) or callable(value) or not fields:
        return kind, repr(value)
    return kind, [(name, plain(each)) for name, each in fields.items()]
