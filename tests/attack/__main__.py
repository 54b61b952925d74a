"""Attack a broker for some minutes: `python -m tests.attack --minutes 30`, `--only frames`, `--seed 7`.

Each attack has the broker for its share of the time. Meanwhile a canary produces and fetches on connections of its own.
The table has the canary's slowest answer, the broker's memory after each attack and the most that it was, and what
the attack saw. The run fails if an answer took longer than a second, memory rose above a gigabyte, or the broker's log
tells of a bug.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from tests.attack import http, surroundings
from tests.attack import schemas as schema_questions
from tests.attack.canary import Canary
from tests.attack.frames import Fuzzer, Outcome
from tests.attack.victim import Victim

SLOWEST_S = 1.0
MOST_BYTES = 1 << 30
_SHOWN = 20
_SENDERS = 4
"""Threads that send frames: while one waits whether a frame is answered at all, the others go on."""

Attack = Callable[[Victim, int, float, int], str]
"""(the broker, seed, `time.monotonic` at which to end, the most blows or 0) -> what was seen."""


class Row(NamedTuple):
    """What one attack did. Memory in bytes."""

    name: str
    seconds: float
    slowest_s: float
    memory: int
    most: int
    seen: str

    @property
    def holds(self) -> bool:
        """Whether the broker stayed within the bounds."""
        return self.slowest_s < SLOWEST_S and self.most < MOST_BYTES


def frames(victim: Victim, seed: int, until: float, count: int) -> str:
    """Mutated frames through all doors."""
    fuzzers = [Fuzzer(victim.ports, seed + number) for number in range(_SENDERS)]

    def send(fuzzer: Fuzzer) -> None:
        while time.monotonic() < until and not 0 < count <= fuzzer.outcome.sent * _SENDERS:
            fuzzer.turn()

    with ThreadPoolExecutor(_SENDERS) as senders:
        list(senders.map(send, fuzzers))
    outcome = sum((fuzzer.outcome for fuzzer in fuzzers), Outcome())
    refused = sum(outcome.refused.values())
    told = f"{outcome.sent:,} frames: {outcome.answered:,} answered, {outcome.closed:,} cut, {outcome.silent:,} silent"
    return f"{told}; {refused:,} not let in; {victim.open_files()} files open"


def control(victim: Victim, seed: int, until: float, count: int) -> str:
    """Odd calls of the control API."""
    calls, rng = http.control_calls(), random.Random(seed)
    return http.call_until(until, count, http.Caller(victim.control, rng), lambda: http.odd_control_call(calls, rng))


def registry(victim: Victim, seed: int, until: float, count: int) -> str:
    """Odd calls of the schema registry."""
    rng = random.Random(seed)
    return http.call_until(until, count, http.Caller(victim.registry, rng), lambda: http.odd_registry_call(rng))


def schemas(victim: Victim, seed: int, until: float, count: int) -> str:
    """Expensive and random schemas."""
    return schema_questions.ask_until(victim.registry, seed, until, count)


ATTACKS: Mapping[str, Attack] = {
    "frames": frames,
    "control": control,
    "registry": registry,
    "schemas": schemas,
    "directories": surroundings.directories,
    "descriptors": surroundings.descriptors,
    "disk": surroundings.disk,
    "kills": surroundings.kills,
}


def attack(minutes: float, seed: int, names: Sequence[str], count: int = 0) -> tuple[list[Row], list[str]]:
    """Run the attacks; the rows of the table, and the faults in the broker's log."""
    rows = []
    with Victim() as victim, Canary(victim.ports["PLAIN"]) as canary:
        for name in names:
            began = time.monotonic()
            seen = ATTACKS[name](victim, seed, began + minutes * 60 / len(names), count)
            took = time.monotonic() - began
            rows.append(Row(name, took, canary.slowest_s(), victim.memory(), victim.memory("VmHWM"), seen))
        return rows, victim.faults()


def table(rows: Sequence[Row]) -> str:
    """The rows for a terminal."""
    lines = ["attack        seconds  slowest answer  memory  at most  seen"]
    for row in rows:
        sizes = f"{row.memory >> 20:4} MB  {row.most >> 20:4} MB"
        lines.append(f"{row.name:12} {row.seconds:8.0f} {row.slowest_s * 1000:12.0f} ms {sizes}  {row.seen}")
    return "\n".join(lines)


def main() -> int:
    """Attack as the command line says; 1 if the broker did not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--only", choices=ATTACKS, action="append")
    parser.add_argument("--count", type=int, default=0, help="end an attack after so many frames or requests")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    rows, faults = attack(arguments.minutes, arguments.seed, arguments.only or list(ATTACKS), arguments.count)
    print(table(rows))
    for line in faults[:_SHOWN]:
        print(line, file=sys.stderr)
    return 0 if all(row.holds for row in rows) and not faults else 1


if __name__ == "__main__":
    raise SystemExit(main())
