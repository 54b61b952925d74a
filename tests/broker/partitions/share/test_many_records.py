"""A hundred thousand records in flight: what a member asks for costs what it is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.partitions.share import acknowledgement
from odradek.broker.partitions.share.states import ACCEPT, RELEASE, AcknowledgementBatch, ShareSettings
from tests.broker.partitions.share.logs import Group
from tests.fakes.steps import steps

LOCK_MS = 30_000


def acquired(records: int, first: int = 0) -> Group:
    """So many records, each a batch of its own, all acquired by one member in fetches of 500."""
    group = Group(settings=ShareSettings(lock_duration_ms=LOCK_MS, delivery_limit=5, max_locks=2 * records))
    for low in range(first, first + records, 500):
        group.spans = [(offset, offset) for offset in range(low, low + 500)]
        assert sum(found.size for found in group.fetch("member", 500)) == 500
    return group


def answer(group: Group, offset: int, kind: int) -> None:
    batch = AcknowledgementBatch(offset, offset, [kind])
    acknowledgement.acknowledge(group.partition, "member", [batch], now_ms=group.now_ms)


def accept_in_the_middle(group: Group, records: int) -> Callable[[], object]:
    return lambda: answer(group, records // 2, ACCEPT)


def accept_the_first(group: Group, records: int) -> Callable[[], object]:
    return lambda: answer(group, 0, ACCEPT)


def get_back_what_was_released(group: Group, records: int) -> Callable[[], object]:
    answer(group, 7, RELEASE)
    group.spans = [(7, 7)]
    return lambda: group.fetch("another", 500)


def get_what_is_new(group: Group, records: int) -> Callable[[], object]:
    group.spans = [(records, records)]
    return lambda: group.fetch("another", 500)


@pytest.mark.parametrize("work", [accept_in_the_middle, accept_the_first, get_back_what_was_released, get_what_is_new])
def test_the_cost_does_not_grow_with_what_is_in_flight(
    work: Callable[[Group, int], Callable[[], object]],
) -> None:
    few, many = (steps(work(acquired(records), records)) for records in (1_000, 100_000))
    assert many <= few * 1.2 + 10, f"{few} calls among 1,000 records, {many} among 100,000"


@pytest.mark.long
def test_all_of_them_come_back_when_their_locks_run_out() -> None:
    group = acquired(100_000)
    group.now_ms += LOCK_MS
    back, error = acknowledgement.expire_locks(group.partition, group.now_ms)
    assert error is None
    assert sum(batch.last_offset - batch.first_offset + 1 for _, batch in back) == 100_000
    assert group.partition.next_fetch_offset() == 0
