"""How long the slowest requests take, with produce and with a consumer that waits: median, 99th and 99.9th percentile.

All brokers have one rate: half of what the slowest of them can do.

    python -m tests.bench.bench_tails [--seconds 3] [--rounds 5] [--without kafka,kfake]

The brokers run side by side, idle but for the one under load, in turns. Medians of the rounds count. A unit that begins
late, because the one before it took long, has waited since it was due.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.brokers import Compiled, Kafka, Kfake, Side
from tests.bench.cases import CASES
from tests.bench.go_program import go_program
from tests.bench.load_program import Measured, run_case
from tests.bench.machine import OtherWork, machine
from tests.bench.table import KAFKA, KFAKE, number
from tests.bench.turns import in_turn
from tests.bench.warm_up import warm_up

NAMES = ("produce-1", "produce-50", "latency")
KINDS = {KAFKA: Kafka, KFAKE: Kfake}
_WINDOWS = 12


def line(title: str, name: str, rate: float, found: Sequence[Measured]) -> str:
    """A line of the table, in microseconds."""
    percentiles = [[each.p50_us, each.p99_us, each.p999_us] for each in found]
    columns = "".join(f"{number(statistics.median(column)):>10}" for column in zip(*percentiles, strict=True))
    return f"{title:<40}{name:<10}{number(rate):>10}{columns}"


def fastest(program: Path, name: str, side: Side) -> float:
    """Units a second of a warm broker."""
    windows: list[Measured] = []

    def window() -> Measured:
        windows.append(run_case(program, name, side, 1, 0))
        return windows[-1]

    warm_up(window, _WINDOWS)
    return statistics.median(each.per_second for each in windows[-3:])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_tails", description="the slowest requests")
    parser.add_argument("--seconds", type=float, default=3, help="how long each pass is")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--without", type=lambda text: text.split(","), default=[], help="kafka, kfake")
    options = parser.parse_args(arguments)
    program = go_program("load")
    other_work = OtherWork()
    sides: list[Side] = [Compiled()]
    try:
        sides += [kind() for name, kind in KINDS.items() if name.lower() not in options.without]
        print(f"{machine()}; microseconds", flush=True)
        print(f"{'':<50}{'a second':>10}{'median':>10}{'99 %':>10}{'99.9 %':>10}", flush=True)
        for case in (case for case in CASES if case.name in NAMES):
            rate = min(fastest(program, case.name, side) for side in sides) / 2
            found: dict[str, list[Measured]] = {side.name: [] for side in sides}
            for turn in range(options.rounds):
                for side in in_turn(sides, turn):
                    found[side.name].append(run_case(program, case.name, side, options.seconds, 0.3, rate=rate))
            for side in sides:
                print(line(case.title, side.name, rate, found[side.name]), flush=True)
    finally:
        for side in sides:
            side.stop()
    print(f"other work took {other_work.share():.0%} of the machine", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
