"""What a row says of its brokers, in a terminal and for programs."""

from __future__ import annotations

import pytest

from tests.bench.table import COMPILED, KAFKA, KFAKE, NOT_SERVED, ODRADEK, Row, heading, number


def rates() -> Row:
    row = Row("produce", "requests/s")
    for broker, value, cpu_us in ((ODRADEK, 3000.0, 40.0), (COMPILED, 6000.0, 20.0), (KAFKA, 2000.0, 60.0)):
        row.put(broker, value, cpu_us)
    row.notes[KFAKE] = NOT_SERVED
    return row


def times() -> Row:
    row = Row("start", "s", lower_is_better=True)
    row.put(ODRADEK, 0.125)
    row.put(KAFKA, 4.0)
    return row


def test_a_ratio_above_one_is_the_better_one_s() -> None:
    assert rates().ratio(COMPILED, KAFKA) == 3
    assert times().ratio(ODRADEK, KAFKA) == 32


@pytest.mark.parametrize("pair", [(ODRADEK, KFAKE), (KFAKE, ODRADEK)])
def test_bench_table_has_no_ratio_without_both_values(pair: tuple[str, str]) -> None:
    assert rates().ratio(*pair) is None


def test_a_broker_without_a_value_says_why() -> None:
    assert rates().shown(KFAKE) == "not served"
    assert times().shown(KFAKE) == "-"


def test_a_line_stands_under_its_heading() -> None:
    top, columns = heading().splitlines()
    line = rates().line()
    for name, cell in (("odradek", "3,000"), ("compiled", "6,000"), ("Kafka", "2,000"), ("kfake", "not served")):
        assert columns.index(name) + len(name) == line.index(cell) + len(cell)
    assert len(top) == len(columns) == len(line)


def test_numbers_have_three_digits_or_are_whole() -> None:
    assert [number(value) for value in (None, 0.12345, 12.345, 1234.5)] == ["-", "0.123", "12.3", "1,234"]


def test_a_row_for_programs_has_the_ratios_that_there_are() -> None:
    assert rates().as_json()["ratios"] == {"odradek:Kafka": 1.5, "compiled:Kafka": 3.0}
