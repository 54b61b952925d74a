"""How far a batch of a stream goes under a limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.pipeline import read_limits
from odradek.pipeline.read_limits import check_limit, limited
from odradek.pipeline.source_options import OptionError

KEYS = [("t", 0), ("t", 1), ("u", 0)]
OFFSETS = st.fixed_dictionaries({key: st.integers(0, 1000) for key in KEYS})


@pytest.mark.parametrize("most", [10, 11])
def test_what_a_limit_allows_is_read_whole(most: int) -> None:
    assert limited({("t", 0): 5}, {("t", 0): 15}, most) == {("t", 0): 15}


def test_each_partition_gets_its_part() -> None:
    start = {("t", 0): 0, ("t", 1): 100, ("u", 0): 7}
    assert limited(start, {("t", 0): 90, ("t", 1): 110, ("u", 0): 7}, 10) == {("t", 0): 9, ("t", 1): 101, ("u", 0): 7}


@given(OFFSETS, OFFSETS, st.integers(1, 100))
def test_a_limit_is_used_up_and_never_passed(start: dict, behind: dict, most: int) -> None:  # type: ignore[type-arg]
    end = {key: start[key] + behind[key] for key in KEYS}
    found = limited(start, end, most)
    assert all(start[key] <= found[key] <= end[key] for key in KEYS)
    assert sum(found[key] - start[key] for key in KEYS) == min(most, sum(behind.values()))


def test_a_limit_that_spark_cannot_keep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_limits, "LIMITS_KNOWN", False)
    check_limit(None)
    with pytest.raises(OptionError, match=r"maxOffsetsPerTrigger: needs Spark 4\.2"):
        check_limit(5)
    monkeypatch.setattr(read_limits, "LIMITS_KNOWN", True)
    check_limit(5)
