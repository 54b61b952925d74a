"""Many seeds: ``python -m tests.chaos --seeds 1000 [--first 0]``.

One of them, told in full: ``--seed 7``; and with the faults alone that it needs to fail: ``--seed 7 --shrink``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import Any

from odradek.broker.facade.chaos.chaos import shrunk
from tests.chaos.world import BELOW, SECONDS, Outcome, run_as_promised


def report(outcome: Outcome) -> str:
    """A run in full."""
    lines = [
        f"seed {outcome.seed}",
        *map(str, outcome.schedule),
        *outcome.log,
        *(f"WRONG {each}" for each in outcome.wrong),
    ]
    return "\n".join([*lines, str(outcome.counts)])


def summary(wrong: str) -> str:
    """The first line, and of a traceback the last."""
    lines = wrong.partition("\n\nlast requests")[0].strip().splitlines()
    return lines[0] if len(lines) == 1 else f"{lines[0]} ... {lines[-1]}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--below", action="store_true", help="with faults below the API, too")
    arguments = parser.parse_args()
    how: dict[str, Any] = {"seconds": arguments.seconds, "also": BELOW if arguments.below else {}}
    if arguments.seed is not None:
        outcome = run_as_promised(arguments.seed, **how, only=arguments.only)
        if arguments.shrink and outcome.wrong:
            numbers = [fault.number for fault in outcome.schedule]
            kept = shrunk(numbers, lambda some: bool(run_as_promised(arguments.seed, **how, only=some).wrong))
            outcome = run_as_promised(arguments.seed, **how, only=kept)
        print(report(outcome))
        return 1 if outcome.wrong else 0
    begin = time.monotonic()
    failed, repeated = [], []
    counts: Counter[str] = Counter()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        outcome = run_as_promised(seed, **how)
        counts.update(outcome.counts)
        counts.update({"markers that were left out": len(outcome.unmarked)})
        counts.update(faults=len(outcome.schedule), virtual_s=round(outcome.virtual_s))
        if outcome.repeated:
            repeated.append(seed)
        if outcome.wrong:
            failed.append(seed)
            print(f"seed {seed}: {summary(outcome.wrong[0])}", flush=True)
        if seed % 100 == 99:
            print(f"... {seed + 1} in {time.monotonic() - begin:.0f} s", flush=True)
    passed = time.monotonic() - begin
    print(f"{arguments.seeds} seeds in {passed:.0f} s, failed: {failed}")
    print(f"repeated, as Kafka leaves markers out there: {repeated}")
    print(dict(sorted(counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
