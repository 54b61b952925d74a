"""How rows are made of passes in turns, without a load: brokers and their answers are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import turns as module
from tests.bench.brokers import Side
from tests.bench.cases import Case
from tests.bench.load_program import LoadFailed, Measured
from tests.bench.turns import LEAD_S, Turns, in_turn

CASE = Case("produce-1", "produce")
Answers = Callable[[str, int], Measured]


class Told(Side):
    """A broker that serves nothing; the answers come from the test."""

    def __init__(self, name: str) -> None:
        self.name = name

    def apis(self) -> frozenset[int]:
        return frozenset({1})


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answers], list[tuple[str, float]]]:
    """Give the answers by broker and count of its runs; the list of runs (broker, warm-up in seconds) fills."""

    def answer_with(answers: Answers) -> list[tuple[str, float]]:
        runs: list[tuple[str, float]] = []

        def run_case(program: Path, case: str, side: Side, span: float, warm: float) -> Measured:
            runs.append((side.name, warm))
            return answers(side.name, sum(name == side.name for name, _ in runs))

        monkeypatch.setattr(module, "run_case", run_case)
        return runs

    return answer_with


def measured(rate: float, cpu_us: float = 10) -> Measured:
    return Measured(rate, 0, 0, 0, 1, cpu_us)


def turns(passes: int = 3, windows: int = 3) -> Turns:
    return Turns(Path("load"), 1, passes, windows)


def test_bench_begins_each_turn_with_another_broker() -> None:
    assert [in_turn("abc", turn) for turn in range(4)] == [[*"abc"], [*"bca"], [*"cab"], [*"abc"]]


def test_brokers_are_warmed_and_then_measured_in_turns(load: Callable[[Answers], list[tuple[str, float]]]) -> None:
    runs = load(lambda name, count: measured(100))
    turns().row(CASE, [Told("odradek"), Told("Kafka")])
    warm = [name for name, lead in runs if lead == 0]
    assert warm == ["odradek"] * 3 + ["Kafka"] * 3
    passes = [name for name, lead in runs if lead == LEAD_S]
    assert passes == ["odradek", "Kafka", "Kafka", "odradek", "odradek", "Kafka"]


def test_the_median_of_the_passes_counts(load: Callable[[Answers], list[tuple[str, float]]]) -> None:
    passes = {4: measured(100, 10), 5: measured(900, 1), 6: measured(200, 5)}
    load(lambda name, count: passes.get(count, measured(1, 1)))
    row = turns().row(CASE, [Told("odradek")])
    assert (row.values, row.cpu_us) == ({"odradek": 200}, {"odradek": 5})


def test_a_broker_that_does_not_serve_the_api_is_not_asked(load: Callable[[Answers], list[tuple[str, float]]]) -> None:
    runs = load(lambda name, count: measured(100))
    row = turns().row(Case("streams-hold", "streams", apis=frozenset({88})), [Told("kfake")])
    assert (row.notes, runs) == ({"kfake": "not served"}, [])


def test_a_load_that_fails_spoils_its_cell_alone(load: Callable[[Answers], list[tuple[str, float]]]) -> None:
    def answers(name: str, count: int) -> Measured:
        if name == "kfake" and count == 5:
            raise LoadFailed("produce-1 on kfake: EOF")
        return measured(100)

    load(answers)
    maker = turns()
    row = maker.row(CASE, [Told("odradek"), Told("kfake")])
    assert row.values == {"odradek": 100}
    assert row.notes == {"kfake": "failed"}
    assert maker.remarks == ["produce-1 on kfake: EOF"]
    assert maker.has_failed


def test_a_broker_that_is_not_warm_is_told(load: Callable[[Answers], list[tuple[str, float]]]) -> None:
    load(lambda name, count: measured(2.0**count, 2.0**-count))
    maker = turns()
    maker.row(CASE, [Told("Kafka")])
    assert maker.remarks == ["Kafka, produce: not settled after 3 windows"]
    assert not maker.has_failed
