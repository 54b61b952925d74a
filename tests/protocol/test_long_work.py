"""Work that may take its time."""

from __future__ import annotations

import pytest

from odradek.protocol.compression import DEFAULT_MAX_INFLATED, Codec, InflatesTooFarError
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.long_work import BriefConversion, LargeBatch, LongStep, LongWork, OverBudgetError, look_into
from odradek.protocol.record_batch import RecordBatch, build_batch, read_batch
from odradek.protocol.records import InvalidRecordError, Record


def batch(size: int, count: int = 1) -> RecordBatch:
    return read_batch(build_batch([Record(0, 0, b"k", bytes(size))] * count, codec=Codec.ZSTD))


def test_a_request_may_inflate_several_of_the_largest_batches() -> None:
    work = LongWork()
    work.give_way()
    assert work.left >= 2 * DEFAULT_MAX_INFLATED


def test_long_work_gives_way_between_records() -> None:
    class Counted(LongWork):
        times = 0

        def give_way(self) -> None:
            Counted.times += 1

    assert sum(1 for _ in Counted().records(batch(1, 3500))) == 3500
    assert Counted.times == 3


def sizes(found: RecordBatch, work: LongWork) -> list[int]:
    return [len(record.value or b"") for record in work.records(found)]


def test_a_small_batch_is_looked_into_at_once() -> None:
    with pytest.raises(StopIteration) as stop:
        next(look_into(batch(10), sizes))
    assert stop.value.value == [10]


@pytest.mark.parametrize("large", [batch(600_000), batch(0, 20_001)], ids=["bytes", "records"])
def test_a_large_batch_is_looked_into_by_whoever_does_the_step(large: RecordBatch) -> None:
    looking = look_into(large, sizes)
    step = next(looking)
    step.do(LongWork())
    with pytest.raises(StopIteration) as stop:
        next(looking)
    assert stop.value.value == sizes(large, LongWork())


def test_what_a_step_met_is_raised_where_its_outcome_is_asked_for() -> None:
    def fails(work: LongWork) -> None:
        raise InvalidRecordError("no")

    step = LongStep(fails)
    step.do(LongWork())
    with pytest.raises(CorruptDataError, match="no"):
        step.outcome()
    with pytest.raises(CorruptDataError, match="no"):
        LongStep(fails).outcome()


def test_batches_inflate_together_to_no_more_than_is_left() -> None:
    work = LongWork(1000)
    assert len(work.inflated(batch(600).body)) > 600
    with pytest.raises(OverBudgetError):
        work.inflated(batch(600).body)
    assert work.left == 0


def test_a_batch_that_inflates_beyond_its_own_limit_costs_that_limit() -> None:
    work = LongWork(1000)
    with pytest.raises(InflatesTooFarError):
        work.inflated(batch(600).body, 500)
    assert work.left == 500


def test_a_brief_conversion_leaves_large_batches_to_others() -> None:
    brief = BriefConversion()
    for large in (batch(200_000), read_batch(build_batch([Record(0, 0, None, bytes(200_000))]))):
        with pytest.raises(LargeBatch):
            brief.inflated(large.body)
    brief.inflated(batch(100_000).body)
    with pytest.raises(LargeBatch):
        brief.inflated(batch(100_000).body)
