"""A suite of a hundred whole tests with each client, by default and with `client_config(fast=True)`.

A test creates a topic, produces ten records, reads them in a fresh group, commits, and closes its clients. All
brokers run side by side and are up before a suite begins. ``python -m tests.bench.bench_whole_test`` prints the
seconds of each suite beside kfake and a real Kafka; ``--record`` keeps them in whole_test.json and writes the table of
docs/testing.md; ``--alone`` prints what each setting does alone, on odradek.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.facade.client_configs import Access, client_config
from tests.bench import history
from tests.bench.brokers import Kafka, Kfake, Odradek, Side
from tests.bench.machine import machine
from tests.bench.table import KAFKA, KFAKE, ODRADEK, number
from tests.conformance.real_kafka import Unavailable
from tests.scenarios.whole_test import CLIENTS, run

FIGURES = Path(__file__).with_name("whole_test.json")
PAGE = history.ROOT / "docs" / "testing.md"
TESTS = 100
FEW = 10
"""Tests of a suite that would take minutes; its seconds are these tests' tenfold."""
BROKERS = {ODRADEK: Odradek, KFAKE: Kfake, KAFKA: Kafka}


@dataclass(frozen=True, slots=True)
class Suite:
    """What a suite of `TESTS` took. ``note``: why there are no figures."""

    client: str
    broker: str
    fast: bool
    seconds: float | None
    median_ms: float | None
    load: float
    note: str = ""

    def shown(self) -> str:
        return self.note or number(self.seconds)


def measured(client: str, side: Side, *, fast: bool) -> Suite:
    """Run a suite, or say why it cannot run."""
    config = client_config(Access(side.address), client, fast=fast)
    tests = FEW if client == "kafkajs" and not fast else TESTS
    load = os.getloadavg()[0]
    try:
        totals = totals_s(client, config, tests)
    except RuntimeError as failure:
        print(f"{client} on {side.name}: {failure}", flush=True)
        return Suite(client, side.name, fast, None, None, load, "fails")
    seconds = sum(totals) * TESTS / tests
    return Suite(client, side.name, fast, round(seconds, 2), round(statistics.median(totals) * 1000, 1), load)


def totals_s(client: str, config: Mapping[str, Any], tests: int) -> list[float]:
    return [sum(steps.values()) for steps in run(client, config, tests)]


def table(suites: Iterable[Suite]) -> str:
    """The table of docs/testing.md."""
    found = {(suite.client, suite.broker, suite.fast): suite for suite in suites}
    heads = ["", "one test on odradek, ms", "`fast`"]
    for broker in BROKERS:
        heads += [f"100 tests on {broker}, s", "`fast`"]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for client in CLIENTS:
        ours = [found.get((client, ODRADEK, fast)) for fast in (False, True)]
        if any(ours):
            columns = [found.get((client, broker, fast)) for broker in BROKERS for fast in (False, True)]
            medians = [number(each.median_ms if each else None) for each in ours]
            lines.append([f"`{client}`", *medians, *(each.shown() if each else "-" for each in columns)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def read(figures: Path = FIGURES) -> list[Suite]:
    return [Suite(**suite) for suite in json.loads(figures.read_text())["suites"]]


def write(suites: Sequence[Suite], figures: Path = FIGURES, page: Path = PAGE) -> None:
    """Keep the suites, beside those of other clients and brokers that are on record, and write the table anew."""
    kept = {(suite.client, suite.broker, suite.fast): suite for suite in [*read(figures), *suites]}
    rows = ",\n  ".join(json.dumps(asdict(suite)) for suite in kept.values())
    figures.write_text(f'{{"machine": {json.dumps(machine())}, "suites": [\n  {rows}\n]}}\n')
    shown = table(kept.values())
    text = page.read_text()
    page.write_text(re.sub(r"(?s)(?<=<!-- suites -->\n).*(?=<!-- end of suites -->)", lambda _: shown, text))


@contextlib.contextmanager
def running(names: Sequence[str]) -> Iterator[list[Side]]:
    """The brokers, without those that cannot be had."""
    with contextlib.ExitStack() as stack:
        sides = []
        for name in names:
            try:
                side: Side = BROKERS[name]()
            except Unavailable as missing:
                print(f"without {name}: {missing}", flush=True)
                continue
            stack.callback(side.stop)
            sides.append(side)
        yield sides


def print_each_setting(clients: Sequence[str], side: Side, tests: int = 12) -> None:
    """The median of a client's whole test without settings, with each one alone, and with all."""
    for client in clients:
        plain, fast = (client_config(Access(side.address), client, fast=fast) for fast in (False, True))
        more = {name: value for name, value in fast.items() if name not in plain}
        alone: list[dict[str, Any]] = [{name: value} for name, value in more.items()] if len(more) > 1 else []
        for settings in [{}, *alone, more] if more else [{}]:
            totals = totals_s(client, {**plain, **settings}, tests)
            words = ", ".join(f"{name}={value}" for name, value in settings.items()) or "no settings"
            print(f"{client:14}{words:72}{statistics.median(totals) * 1000:8.1f} ms", flush=True)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_whole_test")
    parser.add_argument("--clients", type=lambda text: text.split(","), default=list(CLIENTS), help=",".join(CLIENTS))
    parser.add_argument("--brokers", type=lambda text: text.split(","), default=list(BROKERS), help=",".join(BROKERS))
    parser.add_argument("--alone", action="store_true", help="print what each setting does alone, on odradek")
    parser.add_argument(
        "--record", action="store_true", help="keep the figures, and write the table of docs/testing.md"
    )
    options = parser.parse_args(arguments)
    print(f"{machine()}; load {os.getloadavg()[0]:.1f} before the run", flush=True)
    suites = []
    with running([ODRADEK] if options.alone else options.brokers) as sides:
        if options.alone:
            print_each_setting(options.clients, sides[0])
            return
        for client in options.clients:
            for side in sides:
                for fast in (False, True):
                    try:
                        suite = measured(client, side, fast=fast)
                    except (Unavailable, pytest.skip.Exception) as missing:
                        print(f"without {client}: {missing}", flush=True)
                        continue
                    suites.append(suite)
                    how = "fast" if fast else "default"
                    figures = (
                        f"{number(suite.median_ms):>8} ms a test, {suite.shown():>6} s in all, load {suite.load:.1f}"
                    )
                    print(f"{client:14}{side.name:9}{how:9}{figures}", flush=True)
    if options.record:
        write(suites)


if __name__ == "__main__":
    main(sys.argv[1:])
