"""What is told of the machine, and how other work on it is told from our own."""

from __future__ import annotations

import pytest

from tests.bench import machine
from tests.bench.brokers import TICKS
from tests.bench.machine import OtherWork, busy_seconds, cpu_model


def test_the_cpu_is_named_by_its_model_alone() -> None:
    assert cpu_model("processor\t: 0\nmodel name\t: Some CPU 3.0\nflags\t: fpu\n") == "Some CPU 3.0"
    assert cpu_model("Hardware\t: none\n") == "unknown CPU"


def test_idle_and_waiting_time_is_not_busy() -> None:
    #          user nice system idle iowait irq softirq steal guest guest_nice
    stat = f"cpu {TICKS} 0 {2 * TICKS} 900 800 0 {TICKS} {TICKS} 7 7\ncpu0 1 2 3\n"
    assert busy_seconds(stat) == 5


def test_bench_measures_what_others_kept_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"time": 100.0, "busy": 50.0, "own": 10.0}
    monkeypatch.setattr("tests.bench.machine.time.monotonic", lambda: now["time"])
    monkeypatch.setattr(machine, "busy_seconds", lambda stat: now["busy"])
    monkeypatch.setattr(machine, "own_seconds", lambda: now["own"])
    monkeypatch.setattr("tests.bench.machine.os.cpu_count", lambda: 2)
    other = OtherWork()
    now.update(time=110.0, busy=65.0, own=20.0)  # 20 seconds of two cores: we took 10, others 5
    assert other.share() == 0.25
