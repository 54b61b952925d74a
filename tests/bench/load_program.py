"""Builds and runs ``load`` (Go), which puts load on a broker over raw sockets."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.brokers import Side
from tests.bench.go_program import go_program
from tests.conformance.real_kafka import Unavailable


@dataclass(frozen=True, slots=True)
class Measured:
    """What a case of the load program measured, with the broker's CPU time a unit."""

    per_second: float
    megabytes_per_second: float
    p50_us: float
    p99_us: float
    seconds: float
    broker_us: float
    p999_us: float = 0.0


class LoadFailed(RuntimeError):
    """A case came to no end: what the load program said of it."""


def load_program() -> Path | None:
    """The built program, or None where it can't be built."""
    try:
        return go_program("load")
    except Unavailable:
        return None


def run_case(
    program: Path,
    case: str,
    side: Side,
    span: float,
    warm: float,
    on_event: Callable[[str], None] | None = None,
    rate: float = 0,
) -> Measured:
    """Run one case against a broker; CPU time is counted from each of its start lines to the next stop line.

    `rate`: units a second; 0 stands for as many as there can be.
    LoadFailed tells what the broker answered, or that it did not.
    """
    port = side.port if side.secure_port is None else side.secure_port
    command = [str(program), *side.load_options, "-b", f"127.0.0.1:{port}", "-t", f"{span}s", "-w", f"{warm}s"]
    command += ["-r", str(rate), case]
    start = side.cpu_seconds()
    used = 0.0
    result = None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            answer = json.loads(line)
            if answer.get("event") == "start":
                start = side.cpu_seconds()
            elif answer.get("event") == "stop":
                used += side.cpu_seconds() - start
            elif "event" in answer:
                if on_event is not None:
                    on_event(answer["event"])
            else:
                result = answer
        complaint = process.stderr.read()
    if result is None:
        raise LoadFailed(f"{case} on {side.name}: {complaint.strip()}")
    count, seconds = result["count"], result["seconds"]
    return Measured(
        per_second=count / seconds,
        megabytes_per_second=result["bytes"] / seconds / 1e6,
        p50_us=result["p50_us"],
        p99_us=result["p99_us"],
        seconds=seconds,
        broker_us=used / count * 1e6,
        p999_us=result["p999_us"],
    )
