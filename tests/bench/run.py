"""One run of the benchmark: starts the brokers, makes the rows asked for, prints them as they come."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.bench.brokers import Compiled, Kafka, Kfake, Odradek, Side
from tests.bench.cases import CASES, HOLD, LOGINS, SECURE
from tests.bench.go_program import go_program
from tests.bench.load_program import run_case
from tests.bench.secured_brokers import (
    SaslCompiled,
    SaslKafka,
    SaslKfake,
    SaslOdradek,
    SecureCompiled,
    SecureKafka,
    SecureKfake,
    SecureOdradek,
)
from tests.bench.table import COMPILED, KAFKA, KFAKE, ODRADEK, Row, heading
from tests.bench.turns import Turns
from tests.conformance.real_kafka import Unavailable, classpath

Start = Callable[[], Side]
STARTS = 6  # of a broker that starts quickly; the first one compiles the modules


class Run:
    """The rows so far, and whether a load failed in one."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._missing: set[str] = {KAFKA if name == "kafka" else name for name in options.without}
        self.rows: list[Row] = []
        self.has_failed = False

    def all(self) -> None:
        program = self._program()
        self._look_for_kafka()
        with self._brokers(Odradek, Compiled, Kafka, Kfake) as sides:
            print(heading(), flush=True)
            if self._wants("start"):
                self._start_and_memory(sides)
            if program is not None:
                self._plain(program, sides)
            if self._wants("in-process"):
                self._in_process(program, sides)
            if self._wants("topics"):
                self._topics()
        if program is not None:
            self._secured(program)

    def _wants(self, name: str) -> bool:
        return name in self._options.only

    def _program(self) -> Path | None:
        try:
            return go_program("load")
        except Unavailable as missing:
            print(f"no rows that need load: {missing}", flush=True)
            return None

    def _look_for_kafka(self) -> None:
        if KAFKA not in self._missing:
            try:
                classpath()
            except Unavailable as missing:
                self._leave_out(KAFKA, missing)

    def _leave_out(self, name: str, why: Unavailable) -> None:
        self._missing.add(name)
        print(f"no column {name}: {why}", flush=True)

    @contextmanager
    def _brokers(self, odradek: Start, compiled: Start, kafka: Start, kfake: Start) -> Iterator[list[Side]]:
        """Those that this machine can run."""
        sides: list[Side] = []
        try:
            for name, start in ((ODRADEK, odradek), (COMPILED, compiled), (KAFKA, kafka), (KFAKE, kfake)):
                if name not in self._missing:
                    try:
                        sides.append(start())
                    except Unavailable as missing:
                        self._leave_out(name, missing)
            yield sides
        finally:
            for side in sides:
                side.stop()

    def _show(self, row: Row) -> None:
        self.rows.append(row)
        print(row.line(), flush=True)

    @contextmanager
    def _turns(self, program: Path) -> Iterator[Turns]:
        """A row maker whose remarks follow its rows."""
        options = self._options
        turns = Turns(program, options.seconds, options.passes, options.windows)
        yield turns
        for remark in turns.remarks:
            print(remark, flush=True)
        self.has_failed = self.has_failed or turns.has_failed

    def _plain(self, program: Path, sides: Sequence[Side]) -> None:
        with self._turns(program) as turns:
            for case in CASES:
                if self._wants(case.name):
                    self._show(turns.row(case, sides))
            if self._wants("hold"):
                self._show(self._held(program, sides))
                self._show(turns.row(HOLD, sides))

    def _secured(self, program: Path) -> None:
        with self._turns(program) as turns:
            if self._wants("tls"):
                with tempfile.TemporaryDirectory(prefix="odradek-bench-") as name:
                    folder = Path(name)
                    kinds = (SecureOdradek, SecureCompiled, SecureKafka, SecureKfake)
                    odradek, compiled, kafka, kfake = ((lambda kind=kind: kind(folder)) for kind in kinds)
                    with self._brokers(odradek, compiled, kafka, kfake) as sides:
                        for case in CASES:
                            if case.name in SECURE:
                                self._show(turns.row(replace(case, title=f"TLS: {case.title}"), sides))
            if self._wants("sasl"):
                with self._brokers(SaslOdradek, SaslCompiled, SaslKafka, SaslKfake) as sides:
                    for case in LOGINS:
                        self._show(turns.row(case, sides))

    def _start_and_memory(self, sides: Sequence[Side]) -> None:
        start = Row("start of the process to the first answer", "s", lower_is_better=True)
        memory = Row("idle memory", "MB", lower_is_better=True)
        for side in sides:
            seconds = side.start_seconds if isinstance(side, Kafka) else usual_start(type(side))
            start.put(side.name, seconds)
            memory.put(side.name, side.memory_mb())
        self._show(start)
        self._show(memory)

    def _held(self, program: Path, sides: Sequence[Side]) -> Row:
        memory = Row("1,000 groups held, memory more", "MB", lower_is_better=True)
        for side in sides:
            before = side.memory_mb()
            held: list[float] = []

            def on_event(_: str, held: list[float] = held, side: Side = side) -> None:
                held.append(side.memory_mb())

            run_case(program, HOLD.name, side, self._options.seconds, 0, on_event)
            memory.put(side.name, max(held[0] - before, 0.01))
        return memory

    def _in_process(self, program: Path | None, sides: Sequence[Side]) -> None:
        found = measured_by("tests.bench.in_process")
        further = Row("a further broker in a running process", "ms", lower_is_better=True)
        further.put(ODRADEK, found["further_broker_ms"])
        self._show(further)
        if program is None:
            return
        loading = Row("reload of 100,000 commits", "s", lower_is_better=True)
        compacted = Row("the same after compaction", "s", lower_is_better=True)
        loading.put(ODRADEK, found["reload_seconds"])
        compacted.put(ODRADEK, found["reload_compacted_seconds"])
        for side in sides:
            if isinstance(side, Kafka):
                run_case(program, "fill", side, 1, 0)
                loading.put(KAFKA, side.reload_seconds())
                side.compact_offsets("reload-group", "reload")
                compacted.put(KAFKA, side.reload_seconds())
        self._show(loading)
        self._show(compacted)

    def _topics(self) -> None:
        """Kafka's figures would be those of its client: it has no such call in the process."""
        found = measured_by("tests.bench.bench_metadata")
        for title, unit, name in (
            ("one more topic, first 100, memory", "us", "topic_us"),
            ("one more topic at 10,000, memory", "us", "topic_us_at_10000"),
            ("one more topic, first 100, disk", "us", "disk_topic_us"),
            ("one more topic at 10,000, disk", "us", "disk_topic_us_at_10000"),
            ("restart with 10,000 topics", "s", "restart_seconds_with_10000"),
        ):
            row = Row(title, unit, lower_is_better=True)
            row.put(ODRADEK, found[name])
            self._show(row)


def usual_start(kind: Start) -> float:
    """Median seconds of a few starts, without the first."""
    seconds = []
    for _ in range(STARTS):
        probe = kind()
        seconds.append(probe.start_seconds)
        probe.stop()
    return statistics.median(seconds[1:])


def measured_by(module: str) -> dict[str, Any]:
    """What a module prints that measures in a process of its own."""
    command = [sys.executable, "-m", module]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found
