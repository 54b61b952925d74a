"""Assertions about the contents of a broker; their messages show the difference, and likely causes.

`from odradek import matchers`. Each takes a `KafkaBroker` or `TrioBroker`, looks once, and raises AssertionError.
They do not wait; `broker.topic(...).wait()` and `broker.group("g").wait(...)` do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from odradek.broker.mistakes import checked
from odradek.protocol.shown import counted, place_name, printable

if TYPE_CHECKING:
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.records.record import Isolation, StoredRecord

_SHOWN = 10
_ANY: Any = object()


@checked
def assert_records(
    broker: Broker,
    topic: str,
    values: Sequence[Any] = _ANY,
    *,
    keys: Sequence[Any] = _ANY,
    headers: Sequence[Any] = _ANY,
    partition: int | None = None,
    in_order: bool = True,
    isolation: Isolation = "read_committed",
) -> None:
    """The topic holds exactly these records, as a consumer that reads committed records sees them.

    Values and keys are bytes, text (compared as UTF-8) or None; dicts and lists are compared with the record's JSON.
    Headers are those of each record: ``{"source": "web"}``. Order counts within a partition; `in_order=False` where
    several partitions may have shared them. No records at all: ``assert_records(broker, "orders", [])``.
    """
    from odradek.broker.facade.records.record import header_pairs

    found = list(broker.records(topic, partition, isolation=isolation))
    for name, wanted, have in (
        ("values", values, [record.value for record in found]),
        ("keys", keys, [record.key for record in found]),
        ("headers", headers, [record.headers for record in found]),
    ):
        if wanted is _ANY:
            continue
        expected: list[Any]
        if name == "headers":
            expected = [tuple(header_pairs(each)) for each in wanted]
        elif any(isinstance(each, dict | list) for each in wanted):
            expected, have = [_json(each) for each in wanted], [_json_in(each) for each in have]
        else:
            expected = [_bytes(each) for each in wanted]
        if (expected == have) if in_order else (Counter(expected) == Counter(have)):
            continue
        if Counter(expected) == Counter(have):
            _fail(f"{place_name(topic, partition)} holds these {name} in another order", _both(expected, have))
        missing = list((Counter(expected) - Counter(have)).elements())
        surplus = list((Counter(have) - Counter(expected)).elements())
        lines = [f"missing: {_few(missing)}"] if missing else []
        lines += [f"not expected: {_few(surplus, partial(_where, found, have))}"] if surplus else []
        held = f"{place_name(topic, partition)} holds {counted(len(have), 'record')} ({isolation})"
        _fail(f"{held}, not these {len(expected)} {name}", [*lines, *_both(expected, have)])


@checked
def assert_count(
    broker: Broker,
    topic: str,
    count: int,
    *,
    partition: int | None = None,
    isolation: Isolation = "read_committed",
) -> None:
    """The topic holds so many records."""
    have = sum(1 for _ in broker.records(topic, partition, isolation=isolation))
    if have != count:
        _fail(f"{place_name(topic, partition)} holds {counted(have, 'record')} ({isolation}), not {count}", [])


@checked
def assert_committed(broker: Broker, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
    """The group has committed exactly these offsets: ``{("orders", 0): 5}``."""
    from odradek.broker.facade.groups.info import check_places

    check_places(offsets)
    info = broker.groups.get(group)
    if info is None:
        known = ", ".join(sorted(broker.groups)) or "there is none"
        _fail(f"group {group!r} does not exist; the groups: {known}", [])
    have = {place: offset.offset for place, offset in info.offsets.items()}
    if have == dict(offsets):
        return
    lines = []
    for topic, index in sorted({*have, *offsets}):
        place = (topic, index)
        if have.get(place) != offsets.get(place):
            lines.append(
                f"{topic}-{index}: committed {have.get(place, 'nothing')}, expected {offsets.get(place, 'nothing')}"
            )
    _fail(f"group {group!r} has committed other offsets", lines)


@checked
def assert_all_read(broker: Broker, group: str) -> None:
    """The group has committed to the end of each partition that it is about: its lag is known, and 0."""
    info = broker.groups.get(group)
    if info is None or info.lag != 0:
        lag = "does not exist" if info is None else f"has lag {info.lag}"
        _fail(f"group {group!r} {lag}", [line for line in broker.why(group).splitlines() if line.startswith("- ")])


@checked
def assert_no_open_transactions(broker: Broker, *transactional_ids: str) -> None:
    """No transaction is open or ending; of these ids only, if some are given."""
    left = [
        each
        for each in broker.transactions.values()
        if each.age_ms is not None and (not transactional_ids or each.transactional_id in transactional_ids)
    ]
    if left:
        lines = [
            f"{each.transactional_id}: {each.state} for {(each.age_ms or 0) / 1000:g} s, "
            + (", ".join(f"{topic}-{index}" for topic, index in each.partitions) or "no partition")
            for each in left
        ]
        _fail(f"{len(left)} transactions are open", lines)


@checked
def assert_transaction(broker: Broker, transactional_id: str, state: str) -> None:
    """The transactional id is in this state of Kafka: ``Ongoing``, ``CompleteCommit``, ``CompleteAbort``, ..."""
    known = broker.transactions
    info = known.get(transactional_id)
    if info is None:
        ids = ", ".join(known) or "there is none"
        _fail(f"transactional id {transactional_id!r} is not known; the ids: {ids}", [])
    if info.state != state:
        _fail(f"transaction {transactional_id!r} is in state {info.state}, not {state}", [])


@checked
def assert_exactly_once(
    broker: Broker, topic: str, values: Iterable[Any], *, isolation: Isolation = "read_committed"
) -> None:
    """Each of the values is in the topic once, in any order and partition: nothing was lost, nothing came twice."""
    found = list(broker.records(topic, isolation=isolation))
    have = Counter(record.value for record in found)
    expected = Counter(_bytes(each) for each in values)
    if have == expected:
        return
    lost = list((expected - have).elements())
    twice = [value for value, count in have.items() if count > max(1, expected[value])]
    other = [value for value in have if value not in expected]
    lines = [f"lost: {_few(lost)}"] if lost else []
    for value in twice[:_SHOWN]:
        if value in expected:
            places = _where(found, [each.value for each in found], value)
            lines.append(f"{have[value]} times: {value!r} at {places}")
    lines += [f"not expected: {_few(other)}"] if other else []
    _fail(f"topic {topic!r} ({isolation}) has not each of {expected.total()} values exactly once", lines)


def _fail(sentence: str, lines: list[str]) -> NoReturn:
    __tracebackhide__ = True
    raise AssertionError(printable("\n  ".join([sentence, *lines])))


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"a value is bytes, text or None, not {value!r}: serialize it first")


def _few(values: Sequence[object], where: Callable[[object], str] | None = None) -> str:
    shown = ", ".join(f"{value!r} at {where(value)}" if where else repr(value) for value in values[:_SHOWN])
    return f"{shown}, and {len(values) - _SHOWN} more" if len(values) > _SHOWN else shown


def _both(expected: Sequence[object], have: Sequence[object]) -> list[str]:
    return [f"expected: {_few(expected)}", f"found:    {_few(have) or 'nothing'}"]


def _where(found: Sequence[StoredRecord], have: Sequence[Any], value: Any) -> str:
    """Topic, partition and offset of the records that have it."""
    records = [record for record, each in zip(found, have, strict=True) if each == value]
    return ", ".join(f"{each.topic}-{each.partition}@{each.offset}" for each in records)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _json_in(value: Any) -> Any:
    """A record's JSON in one form; the bytes if it has none."""
    try:
        return value if value is None else _json(json.loads(value))
    except ValueError:
        return value
