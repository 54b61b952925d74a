"""The turns in which `make test-all` runs Kafka's tests."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tests.conformance.kafka_suite import table
from tests.conformance.kafka_suite.runner import AT_ONCE, Result


def entries(seconds: list[int]) -> dict[str, table.Entry]:
    return {f"Test{number}": {"seconds": of} for number, of in enumerate(seconds)}


def test_each_class_has_one_turn_and_no_turn_is_too_long() -> None:
    known = entries([table.TURN_SECONDS, 170, 170, 170, 20, 1, 0] * 3)
    found = table.turns(known)
    assert sorted(name for names in found for name in names) == sorted(known)
    assert max(sum(known[name]["seconds"] for name in names) for names in found) <= table.TURN_SECONDS * AT_ONCE


def test_a_class_that_takes_longer_than_a_turn_has_none() -> None:
    assert table.turns(entries([table.TURN_SECONDS + 1, 5])) == [["Test1"]]


def test_the_days_go_round_all_turns() -> None:
    known = entries([table.TURN_SECONDS] * 6)
    first = datetime.date(2026, 11, 28)
    days = [table.turn(known, first + datetime.timedelta(days=number)) for number in range(4)]
    assert sorted(name for day in days[:3] for name in day) == sorted(known)
    assert days[3] == days[0]


def test_a_test_that_is_alone_counts_neither_as_a_test_nor_as_passed() -> None:
    results = [
        Result(name, outcome, "", "", 0.0, "") for name, outcome in [("a", "passed"), ("b", "alone"), ("c", "alone")]
    ]
    found = table.entry("org.example.SomeTest", "kafka-tools", results, 1.0)
    assert (found["tests"], found["passed"], found["alone"]) == (1, 1, 2)
    assert table.worse("org.example.SomeTest", found, {"tests": 3, "passed": 3}) == [
        "SomeTest.*: 1 tests, 3 in the table"
    ]


def test_a_test_that_fails_on_kafka_too_is_not_worse_and_any_other_is() -> None:
    before = {"tests": 2, "passed": 2}
    now = {"tests": 2, "passed": 0, "wrong": {"a": "on a busy machine"}, "fails": {"b": "expected: <1> but was: <2>"}}
    assert table.worse("org.example.SomeTest", now, before) == ["SomeTest.b: expected: <1> but was: <2>"]


def test_a_class_has_a_row_if_kafka_has_disabled_all_its_tests() -> None:
    disabled = [Result(name, "disabled", "", "", 0.0, "") for name in "ab"]
    found = table.entry("org.example.SomeTest", "kafka-tools", disabled, 1.0)
    assert table.is_disabled(found)
    assert "has disabled all tests of org.example.SomeTest (2)." in table.page({"org.example.SomeTest": found})
    passed = Result("c", "passed", "", "", 0.0, "")
    assert not table.is_disabled(table.entry("org.example.SomeTest", "kafka-tools", [*disabled, passed], 1.0))


def test_a_run_that_finds_the_same_does_not_raise_the_seconds() -> None:
    before = {"jar": "kafka-tools", "seconds": 20, "tests": 2, "passed": 2}
    assert table.with_shorter_time({**before, "seconds": 90}, before)["seconds"] == 20
    assert table.with_shorter_time({**before, "seconds": 10}, before)["seconds"] == 10
    assert table.with_shorter_time({**before, "seconds": 90, "passed": 1}, before)["seconds"] == 90
    assert table.with_shorter_time({**before, "seconds": 90}, None)["seconds"] == 90


def test_what_a_run_found_takes_the_place_of_the_line_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "STORE", tmp_path / "table.json")
    monkeypatch.setattr(table, "PAGE", tmp_path / "page.md")
    line = {"jar": "kafka-tools", "seconds": 20, "tests": 2, "passed": 1, "fails": {"a": "why"}}
    table.take("org.example.SomeTest", line)
    table.take("org.example.OtherTest", line)
    table.take("org.example.SomeTest", mended := {"jar": "kafka-tools", "seconds": 30, "tests": 2, "passed": 2})
    assert table.read() == {"org.example.SomeTest": mended, "org.example.OtherTest": line}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md", "table.json"]
