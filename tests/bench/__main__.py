"""Prints a table: figures of odradek, pure and compiled, of a real Kafka and of kfake, ratios, and CPU time a unit.

A ratio above 1 is in odradek's favour, in every row. All brokers run side by side, idle but for the one under load.
Each is warmed up for each row until two windows in a row are alike, within 5 %. Then come passes in turns, whose
medians count.
Real Kafka runs with a 1 GiB heap and all of its compilers, kfake with as many threads as there are cores.

    python -m tests.bench [--seconds 1] [--passes 3] [--windows 12] [--only ROW,ROW] [--without kafka,kfake,compiled]
                          [--json FILE] [--record]
"""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench import history
from tests.bench.cases import CASES
from tests.bench.machine import OtherWork, is_real_time, machine
from tests.bench.run import Run
from tests.bench.table import Row

SECTIONS = ("start", "hold", "in-process", "topics", "tls", "sasl")
"""Rows that are not of one case alone."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    names = [*(case.name for case in CASES), *SECTIONS]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="odradek beside other brokers")
    parser.add_argument("--seconds", type=float, default=1, help="how long each window and each pass is")
    parser.add_argument("--passes", type=int, default=3, help="passes of each row, in turns; medians count")
    parser.add_argument("--windows", type=int, default=12, help="most windows of warm-up before a row")
    parser.add_argument("--only", type=lambda text: text.split(","), default=names, help=f"rows: {','.join(names)}")
    parser.add_argument("--without", type=lambda text: text.split(","), default=[], help="kafka, kfake, compiled")
    parser.add_argument("--json", type=Path, help="write the rows to a file, too")
    parser.add_argument("--record", action="store_true", help="add the rows to figures.json and docs/speed.md")
    options = parser.parse_args(arguments)
    for name in options.only:
        if name not in names:
            parser.error(f"no row is called {name!r}; there are {', '.join(names)}")
    for name in options.without:
        if name not in ("kafka", "kfake", "compiled"):
            parser.error(f"--without {name}: it is one of kafka, kfake, compiled")
    return options


def record(
    rows: Sequence[Row], other_work: OtherWork, figures: Path = history.FIGURES, page: Path = history.PAGE
) -> None:
    """Add what was measured to the figures, and write the page anew."""
    day = datetime.datetime.now(datetime.UTC).date()
    of = history.Circumstances(
        history.revision(), day, machine(), other_work.load_before, other_work.share(), is_real_time()
    )
    runs = [*history.read(figures), history.Recorded(of, rows)]
    history.write(runs, figures)
    history.write_page(runs, page)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the brokers end with this
    other_work = OtherWork()
    print(f"{machine()}, shared by broker and load; load {other_work.load_before:.1f} before the run", flush=True)
    run = Run(options)
    run.all()
    print(f"other work took {other_work.share():.0%} of the machine", flush=True)
    for line in history.fallen(run.rows, history.read()):
        print(f"below the record: {line}", flush=True)
    if options.json:
        options.json.write_text(json.dumps([row.as_json() for row in run.rows], indent=1))
    if options.record:
        record(run.rows, other_work)
    return 1 if run.has_failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
