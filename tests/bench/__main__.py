"""Prints a table: each row's figure for odradek and for a real Kafka, their ratio, and CPU time of the broker a unit.

A ratio above 1 is in odradek's favour, in every row. Both brokers run side by side, idle but for the one under load;
each case warms up first. Real Kafka runs with a 1 GiB heap and all of its compilers.

    python -m tests.bench [--seconds 3] [--warm 2] [--only ROW,ROW] [--json FILE] [--without-kafka]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.bench.brokers import Kafka, Odradek, SaslKafka, SaslOdradek, SecureKafka, SecureOdradek, Side
from tests.bench.load_program import Measured, load_program, run_case
from tests.conformance.real_kafka import Unavailable, classpath


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the load program and which of its figures the row shows."""

    name: str
    title: str
    unit: str
    figure: Callable[[Measured], float]
    lower_is_better: bool = False


def rate(measured: Measured) -> float:
    return measured.per_second


def megabytes(measured: Measured) -> float:
    return measured.megabytes_per_second


def median_ms(measured: Measured) -> float:
    return measured.p50_us / 1000


CASES = (
    Case("produce-1", "produce one record, 1 connection", "requests/s", rate),
    Case("produce-50", "produce one record, 50 connections", "requests/s", rate),
    Case("fetch-50", "fetch one record, 50 connections", "requests/s", rate),
    Case("bulk-in", "produce 900 KB batches, 4 connections", "MB/s", megabytes),
    Case("bulk-out", "fetch 4 MB, 4 connections", "MB/s", megabytes),
    Case("latency", "produce to waiting consumer, median", "ms", median_ms, lower_is_better=True),
    Case("metadata", "metadata of 1,000 partitions", "requests/s", rate),
    Case("commit", "offset commits, 1 connection", "commits/s", rate),
    Case("share-1", "share fetch and accept, one record of ten", "requests/s", rate),
    Case("share-batch", "share fetch and accept, batches of 100", "requests/s", rate),
    Case("transaction", "transactions of one record", "commits/s", rate),
    Case("join-1", "join to assigned, group of 1, median", "ms", median_ms, lower_is_better=True),
    Case("join-10", "join to assigned, group of 10, median", "ms", median_ms, lower_is_better=True),
    Case("join-100", "join to assigned, group of 100, median", "ms", median_ms, lower_is_better=True),
    Case("modern-join-1", "the same, consumer group of 1", "ms", median_ms, lower_is_better=True),
    Case("modern-join-10", "the same, consumer group of 10", "ms", median_ms, lower_is_better=True),
    Case("modern-join-100", "the same, consumer group of 100", "ms", median_ms, lower_is_better=True),
    Case("modern-hold", "heartbeats of 1,000 consumer groups", "requests/s", rate),
    Case("streams-hold", "heartbeats of 1,000 streams groups", "requests/s", rate),
)

SECURE = ("produce-1", "produce-50", "fetch-50", "bulk-in", "bulk-out")
"""Cases that are also measured over TLS; `--only tls` chooses them."""
LOGINS = (
    Case("login-plain", "log-ins by PLAIN, 8 at a time", "log-ins/s", rate),
    Case("login-scram", "log-ins by SCRAM-SHA-256, 8 at a time", "log-ins/s", rate),
    Case("produce-1", "1,000 ACLs: produce one record, 1 connection", "requests/s", rate),
    Case("produce-50", "1,000 ACLs: produce one record, 50 connections", "requests/s", rate),
)
"""Cases of brokers with log-ins and an authorizer; `--only sasl` chooses them."""


@dataclass(slots=True)
class Row:
    """A line of the table; ``cpu`` is the broker's CPU time a unit in microseconds, where it was counted."""

    title: str
    unit: str
    odradek: float | None = None
    kafka: float | None = None
    lower_is_better: bool = False
    odradek_cpu_us: float | None = None
    kafka_cpu_us: float | None = None

    def put(self, side: Side, value: float, cpu_us: float | None = None) -> None:
        if side.name == "odradek":
            self.odradek, self.odradek_cpu_us = value, cpu_us
        else:
            self.kafka, self.kafka_cpu_us = value, cpu_us

    @property
    def ratio(self) -> float | None:
        if not self.odradek or not self.kafka:
            return None
        return self.kafka / self.odradek if self.lower_is_better else self.odradek / self.kafka

    def line(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}x"
        cpu = f"{number(self.odradek_cpu_us):>9}{number(self.kafka_cpu_us):>9}"
        return f"{self.title:<48}{number(self.odradek):>11}{number(self.kafka):>11} {self.unit:<12}{ratio:>9}{cpu}"


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class Bench:
    """One run: two brokers, the rows asked for, printed as they come."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.wanted = set(options.only.split(",")) if options.only else None
        self.rows: list[Row] = []

    def wants(self, name: str) -> bool:
        return self.wanted is None or name in self.wanted

    def show(self, row: Row) -> None:
        self.rows.append(row)
        print(row.line(), flush=True)

    def run(self) -> None:
        program = load_program()
        print(f"{'':<48}{'odradek':>11}{'Kafka':>11} {'':<12}{'ratio':>9}{'CPU us':>9}{'CPU us':>9}", flush=True)
        odradek_starts = []
        for _ in range(6):  # the first one compiles the modules
            probe = Odradek()
            odradek_starts.append(probe.start_seconds)
            probe.stop()
        sides: list[Side] = [Odradek()]
        try:
            if not self.options.without_kafka:
                sides.append(Kafka())
            self._start_and_memory(sides, statistics.median(odradek_starts[1:]))
            if program is None:
                print("the other rows need Go to build the load program")
                return
            for case in CASES:
                if self.wants(case.name):
                    self._case(program, case, sides)
            if self.wants("hold"):
                self._hold(program, sides)
            if self.wants("in-process"):
                self._in_process(program, sides)
            if self.wants("metadata"):
                self._metadata()
        finally:
            for side in sides:
                side.stop()
        if self.wants("tls"):
            self._tls(program)
        if self.wants("sasl"):
            self._sasl(program)

    def _tls(self, program: Path) -> None:
        """Both brokers again, with a TLS listener (TLS 1.3, EC key)."""
        with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
            sides: list[Side] = [SecureOdradek(Path(folder))]
            try:
                if not self.options.without_kafka:
                    sides.append(SecureKafka(Path(folder)))
                for case in CASES:
                    if case.name in SECURE:
                        self._case(program, replace(case, title=f"TLS: {case.title}"), sides)
            finally:
                for side in sides:
                    side.stop()

    def _sasl(self, program: Path) -> None:
        """Both brokers again, with log-ins, an authorizer and 1,000 access control entries."""
        sides: list[Side] = [SaslOdradek()]
        try:
            if not self.options.without_kafka:
                sides.append(SaslKafka())
            for case in LOGINS:
                self._case(program, case, sides)
        finally:
            for side in sides:
                side.stop()

    def _start_and_memory(self, sides: Sequence[Side], odradek_start: float) -> None:
        start = Row("start of the process to the first answer", "s", odradek_start, lower_is_better=True)
        memory = Row("idle memory", "MB", lower_is_better=True)
        for side in sides:
            if side.name == "Kafka":
                start.kafka = side.start_seconds
            memory.put(side, side.memory_mb())
        self.show(start)
        self.show(memory)

    def _case(self, program: Path, case: Case, sides: Sequence[Side]) -> None:
        row = Row(case.title, case.unit, lower_is_better=case.lower_is_better)
        for side in sides:
            measured = run_case(program, case.name, side, self.options.seconds, self.options.warm)
            row.put(side, case.figure(measured), measured.broker_us or None)
        self.show(row)

    def _hold(self, program: Path, sides: Sequence[Side]) -> None:
        memory = Row("1,000 groups held, memory more", "MB", lower_is_better=True)
        beats = Row("heartbeats of 1,000 groups, 10 connections", "requests/s")
        for side in sides:
            before = side.memory_mb()
            held: list[float] = []

            def on_event(_: str, held: list[float] = held, side: Side = side) -> None:
                held.append(side.memory_mb())

            span, warm = self.options.seconds, self.options.warm
            measured = run_case(program, "hold", side, span, warm, on_event)
            memory.put(side, max(held[0] - before, 0.01))
            beats.put(side, measured.per_second, measured.broker_us)
        self.show(memory)
        self.show(beats)

    def _in_process(self, program: Path, sides: Sequence[Side]) -> None:
        command = [sys.executable, "-m", "tests.bench.in_process"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        further = Row("a further broker in a running process", "ms", found["further_broker_ms"], lower_is_better=True)
        self.show(further)
        loading = Row("reload of 100,000 commits", "s", found["reload_seconds"], lower_is_better=True)
        compacted = Row("the same after compaction", "s", found["reload_compacted_seconds"], lower_is_better=True)
        for side in sides:
            if isinstance(side, Kafka):
                run_case(program, "fill", side, 1, 0)
                loading.kafka = side.reload_seconds()
                side.compact_offsets("reload-group", "reload")
                compacted.kafka = side.reload_seconds()
        self.show(loading)
        self.show(compacted)

    def _metadata(self) -> None:
        """Kafka's figures would be those of its client: it has no such call in the process."""
        command = [sys.executable, "-m", "tests.bench.bench_metadata"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for title, unit, name in (
            ("one more topic, first 100, memory", "us", "topic_us"),
            ("one more topic at 10,000, memory", "us", "topic_us_at_10000"),
            ("one more topic, first 100, disk", "us", "disk_topic_us"),
            ("one more topic at 10,000, disk", "us", "disk_topic_us_at_10000"),
            ("restart with 10,000 topics", "s", "restart_seconds_with_10000"),
        ):
            self.show(Row(title, unit, found[name], lower_is_better=True))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="odradek beside a real Kafka")
    parser.add_argument("--seconds", type=float, default=3, help="how long each case is measured")
    parser.add_argument("--warm", type=float, default=2, help="how long each case warms up")
    parser.add_argument(
        "--only",
        help="rows by name: "
        + ",".join([case.name for case in CASES] + ["hold", "in-process", "metadata", "tls", "sasl"]),
    )
    parser.add_argument("--json", type=Path, help="write the rows to a file, too")
    parser.add_argument("--without-kafka", action="store_true")
    options = parser.parse_args(arguments)
    try:
        if not options.without_kafka:
            classpath()
    except Unavailable as missing:
        print(f"no real Kafka to compare with: {missing}", flush=True)
        options.without_kafka = True
    print(f"{os.cpu_count()} cores, shared by broker and load; CPU us: the broker's CPU time a unit, odradek and Kafka")
    bench = Bench(options)
    bench.run()
    if options.json:
        options.json.write_text(json.dumps([{**asdict(row), "ratio": row.ratio} for row in bench.rows], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
