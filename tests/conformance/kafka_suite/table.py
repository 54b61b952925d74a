"""What is known of Kafka's tests on odradek: `table.json`, which a run compares with, and docs/kafka-suite.md.

`reasons.toml` is written by hand: why a test that fails may fail. A failed test without a reason is a fault of odradek
or of the stand-ins that has to be mended.
"""

from __future__ import annotations

import datetime
import fnmatch
import functools
import json
import math
import re
import threading
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from odradek.storage.file_system import FileSystem
from tests.conformance.kafka_suite.jars import KAFKA_VERSION
from tests.conformance.kafka_suite.runner import AT_ONCE, Result

HERE = Path(__file__).resolve().parent
STORE = HERE / "table.json"
REASONS = HERE / "reasons.toml"
PAGE = HERE.parents[2] / "docs" / "kafka-suite.md"

KINDS = ("inside", "differs", "wrong", "fails")
"""What a test can be that does not pass; the table has the tests of each kind by name, with a word why."""

TURN_SECONDS = 300
"""What a turn may take, of which `make test-all` runs one each day."""

INTRODUCTION = """\
Kafka {version} starts a cluster for each of its integration tests. Here odradek is that cluster: `make kafka-suite`
runs the tests unchanged, from the jars on Maven Central. Stand-ins of our own replace the classes that start a broker
in the JVM of the test. They answer what a client can see. A test that asks for more ends there: it needs the inside of
a broker. All {classes} classes that start a cluster are in the table.
A principal builder of a test's own, and its check of passwords, run in the JVM of the test, which the broker asks. If
an authorizer of a test's own only watches how entries change, its parent decides. Of a broker's metrics a test finds
throttle times, which are those of the answers, and that no session ended and no log-in failed.
Maven has no test jars of 4.4.0: odradek behaves as 4.3 here. Classes that log in with Kerberos are left out where the
package gssapi is not installed.

`make kafka-suite WRITE=1` writes this page. A run that does less well than the page fails. The nightly run takes all
classes. `make test-all` takes {minutes} minutes' worth of them, others each day: {turns} days for all.
{left}"""
EXPLANATION = """\
{alone} other tests of these classes pass while no cluster runs. They say nothing about a broker, so no number here
counts them. {disabled}

"Differ": a line of [DIFFERENCES.md](../DIFFERENCES.md) says so. "Wrong on Kafka too": the test fails in Kafka's own
harness on the same machine. "To be mended": not explained yet."""

Entry = dict[str, Any]
_WRITING = threading.Lock()


@functools.cache
def _reasons() -> list[dict[str, str]]:
    found: list[dict[str, str]] = tomllib.loads(REASONS.read_text())["reason"]
    for reason in found:
        assert reason["kind"] in KINDS, reason
    return found


def reason(name: str, result: Result) -> tuple[str, str]:
    """The kind of a test that did not pass, and why."""
    if result.outcome == "inside":
        return "inside", result.why.removeprefix("needs the inside of a broker: ")
    for known in _reasons():
        of_test = fnmatch.fnmatchcase(f"{name.rpartition('.')[2]}.{result.test}", known["test"])
        if of_test and re.search(known.get("says", ""), result.why, re.DOTALL):
            return known["kind"], known["why"]
    return "fails", _line(result.why)


def is_explained(name: str, result: Result) -> bool:
    """Whether `reasons.toml` says why a test that did not pass cannot."""
    return reason(name, result)[0] != "fails"


def _line(text: str) -> str:
    """The first line of an error, without what is another in each run: ports, ids, folders."""
    line = re.sub(r"\b\d{5,}\b|/tmp/\S+", "…", text.strip().partition("\n")[0])
    return line[:160]


def entry(name: str, jar: str, results: Sequence[Result], seconds: float) -> Entry:
    """The table's line of a class. `disabled` is in that of a class without any other test."""
    found: Entry = {"jar": jar, "seconds": round(seconds), "tests": 0, "passed": 0}
    for result in results:
        if result.outcome == "alone":
            found["alone"] = found.get("alone", 0) + 1
        if result.outcome == "disabled":
            found["disabled"] = found.get("disabled", 0) + 1
        if result.outcome in ("skipped", "disabled", "alone"):
            continue
        found["tests"] += 1
        if result.outcome == "passed":
            found["passed"] += 1
        else:
            kind, why = reason(name, result)
            found.setdefault(kind, {})[result.test or "(class)"] = why
    if found["tests"]:
        found.pop("disabled", None)
    return found


def read() -> dict[str, Entry]:
    """The table by class."""
    if not STORE.exists():
        return {}
    table: dict[str, Entry] = json.loads(STORE.read_text())["classes"]
    return table


def reclassified(table: dict[str, Entry]) -> dict[str, Entry]:
    """The table with the reasons of now for what failed without one."""
    for name, of in table.items():
        for test, why in of.pop("fails", {}).items():
            kind, because = reason(name, Result(test, "failed", why, "", 0.0, ""))
            of.setdefault(kind, {})[test] = because
    return table


def write(table: dict[str, Entry]) -> None:
    """Replace `table.json` and the page, each at once: a run that is killed leaves none half written."""
    data = {"kafka": KAFKA_VERSION, "classes": dict(sorted(table.items()))}
    for file, text in ((STORE, json.dumps(data, indent=1, sort_keys=True) + "\n"), (PAGE, page(table))):
        FileSystem().write_atomically(file, text.encode())


def take(name: str, now: Entry) -> None:
    """Write what a run found of a class into the table. Threads may call it side by side."""
    with _WRITING:
        known = read()
        write({**known, name: with_shorter_time(now, known.get(name))})


def with_shorter_time(now: Entry, before: Entry | None) -> Entry:
    """The line of a run that found the same as the one before, with the shorter time of both.

    The turns share out what the classes take, and a busy machine says nothing about that.
    """
    seconds = now["seconds"]
    if before is not None and before == {**now, "seconds": before["seconds"]}:
        seconds = min(seconds, before["seconds"])
    return {**now, "seconds": seconds}


def worse(name: str, now: Entry, before: Entry | None) -> list[str]:
    """What a run of a class did less well than the table says: tests by name, or their number.

    Of a class that is not in the table nothing is said yet. A test that is wrong on Kafka too may fail now and then.
    """
    short = name.rpartition(".")[2]
    if before is None:
        return []
    known = {test for kind in KINDS for test in before.get(kind, {})}
    kinds = [kind for kind in KINDS if kind != "wrong"]
    found = [f"{short}.{test}: {why}" for kind in kinds for test, why in now.get(kind, {}).items() if test not in known]
    if now["tests"] < before["tests"]:
        found.append(f"{short}.*: {now['tests']} tests, {before['tests']} in the table")
    return found


def better(now: Entry, before: Entry | None) -> list[str]:
    """Tests that the table has under what does not pass, and that passed."""
    failed = {test for kind in KINDS for test in now.get(kind, {})}
    return [test for kind in KINDS for test in (before or {}).get(kind, {}) if test not in failed]


def turns(table: dict[str, Entry]) -> list[list[str]]:
    """The classes in turns of about the same length, one for each day. Without classes longer than a turn."""
    names = [name for name in longest_first(table, table) if table[name]["seconds"] <= TURN_SECONDS]
    budget = TURN_SECONDS * AT_ONCE
    count = max(1, math.ceil(sum(table[name]["seconds"] for name in names) / budget))
    while True:
        found: list[list[str]] = [[] for _ in range(count)]
        seconds = [0] * count
        for name in names:
            shortest = seconds.index(min(seconds))
            found[shortest].append(name)
            seconds[shortest] += table[name]["seconds"]
        if max(seconds) <= budget:
            return found
        count += 1


def turn(table: dict[str, Entry], day: datetime.date) -> list[str]:
    """The classes whose turn it is."""
    found = turns(table)
    return found[day.toordinal() % len(found)]


def longest_first(table: dict[str, Entry], names: Iterable[str]) -> list[str]:
    """So that no process waits for the last class."""
    return sorted(names, key=lambda name: (-table.get(name, {"seconds": 0})["seconds"], name))


def totals(entries: Iterable[Entry]) -> Counter[str]:
    """Tests, passed, and the number of each kind."""
    found: Counter[str] = Counter()
    for entry in entries:
        found.update(classes=1, tests=entry["tests"], passed=entry["passed"], alone=entry.get("alone", 0))
        found.update({kind: len(entry.get(kind, {})) for kind in KINDS})
    return found


def share(of: Counter[str]) -> str:
    """Of the tests that need no inside of a broker and are right in the real harness, how many pass."""
    asked = of["tests"] - of["inside"] - of["wrong"]
    return f"{100 * of['passed'] / asked:.1f} %" if asked else "-"


def _row(name: str, of: Counter[str]) -> str:
    numbers = (of["tests"], of["passed"], of["inside"], of["differs"], of["wrong"], of["fails"])
    return f"| {name} | " + " | ".join(map(str, numbers)) + f" | {share(of)} |"


COLUMNS = (
    "| {} | tests | passed | need the inside of a broker | differ | wrong on Kafka too | to be mended "
    "| passed of the rest |"
)
RULE = "| --- |" + " ---: |" * 7


def summary(table: dict[str, Entry]) -> list[str]:
    """The totals by jar, as a table in Markdown."""
    lines = [COLUMNS.format("jar"), RULE]
    for jar in sorted({entry["jar"] for entry in table.values()}):
        lines.append(_row(jar, totals(entry for entry in table.values() if entry["jar"] == jar)))
    lines.append(_row("all", totals(table.values())))
    return lines


def _introduction(table: dict[str, Entry]) -> str:
    planned = turns(table)
    inside = {name for names in planned for name in names}
    left = sorted(name.rpartition(".")[2] for name in table if name not in inside)
    return INTRODUCTION.format(
        version=KAFKA_VERSION,
        classes=len(table),
        minutes=TURN_SECONDS // 60,
        turns=len(planned),
        left=f"The nightly run alone takes {', '.join(left)}." if left else "",
    ).rstrip()


def _disabled(table: dict[str, Entry]) -> str:
    """What the page says of the classes whose tests Kafka itself has disabled."""
    found = ", ".join(f"{name} ({of['disabled']})" for name, of in sorted(table.items()) if is_disabled(of))
    return f"Kafka itself has disabled all tests of {found}." if found else ""


def is_disabled(of: Entry) -> bool:
    """Whether Kafka itself has disabled all tests of a class."""
    return "disabled" in of


def page(table: dict[str, Entry]) -> str:
    """docs/kafka-suite.md."""
    lines = ["# Kafka's own integration tests", ""]
    lines += [
        *_introduction(table).splitlines(),
        "",
        *summary(table),
        "",
        *EXPLANATION.format(alone=totals(table.values())["alone"], disabled=_disabled(table)).rstrip().splitlines(),
    ]
    for kind, title in (("fails", "To be mended"), ("differs", "Differ"), ("wrong", "Wrong on Kafka too")):
        found = [
            (name.rpartition(".")[2], test, why)
            for name, of in sorted(table.items())
            for test, why in sorted(of.get(kind, {}).items())
        ]
        if found:
            lines += ["", f"## {title}", "", "| class | tests | why |", "| --- | --- | --- |"]
            by_why: dict[tuple[str, str], list[str]] = {}
            for short, test, why in found:
                by_why.setdefault((short, why), []).append(test)
            lines += [f"| {short} | {_names(tests)} | {_cell(why)} |" for (short, why), tests in by_why.items()]
    inside: Counter[str] = Counter(why for of in table.values() for why in of.get("inside", {}).values())
    lines += ["", "## The inside of a broker", "", "| what the test asks for first | tests |", "| --- | ---: |"]
    lines += [
        f"| {_cell(what)} | {count} |" for what, count in sorted(inside.items(), key=lambda item: (-item[1], item[0]))
    ]
    lines += ["", "## Classes", "", COLUMNS.format("class"), RULE]
    lines += [_row(name.rpartition(".")[2], totals([of])) for name, of in sorted(table.items())]
    return "\n".join(lines) + "\n"


def _names(tests: Sequence[str]) -> str:
    methods = Counter(test.partition(" ")[0] for test in tests)
    return ", ".join(f"{method} ({count})" if count > 1 else method for method, count in methods.items())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*")
