"""`make kafka-suite`: Kafka's own integration tests with odradek as their cluster."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time

from tests.conformance.kafka_suite import jars, runner, table
from tests.conformance.kafka_suite.runner import Result
from tests.conformance.real_kafka import Unavailable

BUILD = table.HERE.parents[2] / "build" / "kafka-suite"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make kafka-suite", description=__doc__)
    parser.add_argument("--only", default="", metavar="CLASS,...", help="these classes, by full or simple name")
    parser.add_argument("--of", default="", metavar="JAR", help="the classes of one artifact")
    parser.add_argument(
        "--write", action="store_true", help="write what was found into table.json and docs/kafka-suite.md"
    )
    parser.add_argument(
        "--page", action="store_true", help="run nothing: write docs/kafka-suite.md by table.json and reasons.toml"
    )
    parser.add_argument("--list", action="store_true", help="name the classes and run nothing")
    parser.add_argument(
        "--at-once", type=int, default=runner.AT_ONCE, metavar="N", help="JVMs side by side (default %(default)s)"
    )
    parser.add_argument("--minutes", type=float, default=0, metavar="N", help="begin no class after so long")
    parser.add_argument("--missing", action="store_true", help="only classes that are not in the table")
    options = parser.parse_args()
    if options.page:
        table.write(table.reclassified(table.read()))
        return 0
    known = table.read()
    all_classes = jars.test_classes()
    chosen = table.longest_first(known, _chosen(all_classes, options.only, options.of))
    if options.missing:
        chosen = [name for name in chosen if name not in known]
    if options.list:
        print("\n".join(f"{all_classes[name]} {name}" for name in sorted(chosen)))
        return 0
    if without := [name.rpartition(".")[2] for name in chosen if not jars.can_run(name)]:
        print(f"left out, because the package gssapi is not installed: {', '.join(without)}")
        chosen = [name for name in chosen if jars.can_run(name)]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    BUILD.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    now: dict[str, table.Entry] = {}

    def told(name: str, results: list[Result], seconds: float) -> None:
        now[name] = of = table.entry(name, all_classes[name], results, seconds)
        _keep(name, results)
        counts = " ".join(f"{len(of[kind])} {kind}" for kind in table.KINDS if kind in of)
        counts += f" ({of['alone']} without a cluster)" if "alone" in of else ""
        print(f"{seconds:6.1f} s  {of['passed']:4}/{of['tests']:<4} {name.rpartition('.')[2]}  {counts}", flush=True)
        if options.write and (of["tests"] or table.is_disabled(of)):
            table.take(name, of)

    runner.run(chosen, table.is_explained, told, options.at_once, options.minutes * 60)
    return _report(now, known, time.monotonic() - began)


def _end(number: int, frame: object) -> None:
    runner.stop_all()
    os._exit(128 + number)


def _chosen(all_classes: dict[str, str], only: str, jar: str) -> list[str]:
    wanted = {name.strip() for name in only.split(",") if name.strip()}
    short = {name: name.rpartition(".")[2] for name in all_classes}
    unknown = wanted - set(all_classes) - set(short.values())
    if unknown:
        sys.exit(f"no test class of Kafka's that starts a cluster: {', '.join(sorted(unknown))}")
    found = [name for name in all_classes if not wanted or name in wanted or short[name] in wanted]
    return [name for name in found if not jar or all_classes[name] == jar]


def _keep(name: str, results: list[Result]) -> None:
    """The stack traces of what did not pass."""
    failed = [result for result in results if result.outcome not in ("passed", "skipped", "disabled", "alone")]
    file = BUILD / f"{name.rpartition('.')[2]}.txt"
    file.unlink(missing_ok=True)
    if failed:
        file.write_text(
            "\n\n".join(f"== {result.test}: {result.outcome}\n{result.trace or result.why}" for result in failed)
        )


def _report(now: dict[str, table.Entry], known: dict[str, table.Entry], seconds: float) -> int:
    """First what got worse and how to repeat it, then what got better, then the totals."""
    found = [line for name, of in now.items() if of["tests"] for line in table.worse(name, of, known.get(name))]
    if found:
        names = sorted({line.partition(".")[0] for line in found})
        print("\nWorse than the table:", *found, sep="\n  ")
        print(f"stack traces: {BUILD}\nrepeat with: make kafka-suite ONLY={','.join(names)}")
    for name, of in now.items():
        if passed := table.better(of, known.get(name)):
            print(f"better than the table: {name.rpartition('.')[2]}: {', '.join(passed)}")
    print(f"\n{len(now)} classes in {seconds:.0f} s", *table.summary(now), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unavailable as missing:
        sys.exit(str(missing))
