"""Pairs two revisions: what a request costs here, and what it cost at REV, in turns, so that a slow-down is seen.

Both brokers run side by side, idle but for the one under load. Each round measures each case once on either side, in
changing order. A ratio below 1 is a gain. CPU time a unit moves less than the rate when the machine has other work.

    python -m tests.bench.compare REV [--only produce-1,fetch-50] [--rounds 5] [--seconds 1] [--warm 0.5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.brokers import Odradek
from tests.bench.cases import CASES, Case
from tests.bench.load_program import Measured, load_program, run_case
from tests.bench.table import number

HERE = Path(__file__).resolve().parents[2]
USUAL = ("produce-1", "produce-50", "fetch-50", "latency", "commit", "transaction")


@contextmanager
def working_tree(revision: str) -> Iterator[Path]:
    """The files of a revision, in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="odradek-bench-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(
            ["git", "-C", str(HERE), "worktree", "add", "--quiet", "--detach", str(tree), revision], check=True
        )
        try:
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(tree / "src")], check=True)
            yield tree
        finally:
            subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(tree)], check=True)


def ratios(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Here to there, the median of the pairs' ratios and the quartiles around it."""
    found = sorted(here / there for here, there in pairs if there)
    if len(found) < 2:
        only = found[0] if found else float("nan")
        return only, only, only
    low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
    return middle, low, high


def line(case: Case, there: Sequence[Measured], here: Sequence[Measured]) -> str:
    """A line of the table."""
    cpu = ratios([(new.broker_us, old.broker_us) for new, old in zip(here, there, strict=True)])
    figures = ratios([(case.figure(new), case.figure(old)) for new, old in zip(here, there, strict=True)])
    medians = [statistics.median(each.broker_us for each in side) for side in (there, here)]
    return (
        f"{case.title:<44}{number(medians[0]):>8}{number(medians[1]):>8}  "
        f"{cpu[0]:.2f} ({cpu[1]:.2f} to {cpu[2]:.2f})   {figures[0]:.2f} {case.unit}"
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compare", description="this revision beside another")
    parser.add_argument("revision", help="what to compare with: a commit, a tag, a branch")
    parser.add_argument("--only", default=",".join(USUAL), help=f"cases by name (default: {','.join(USUAL)})")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each case is measured")
    parser.add_argument("--warm", type=float, default=0.5, help="how long each case warms up")
    options = parser.parse_args(arguments)
    program = load_program()
    if program is None:
        print("the load program needs Go to be built")
        return 1
    cases = [case for case in CASES if case.name in options.only.split(",")]
    with working_tree(options.revision) as tree:
        sides = [Odradek(package=each / "src") for each in (tree, HERE)]
        try:
            print(
                f"{'CPU us a unit':<44}{options.revision[:8]:>8}{'here':>8}  ratio (quartiles)     figure", flush=True
            )
            for case in cases:
                found: tuple[list[Measured], list[Measured]] = [], []
                for turn in range(options.rounds):
                    for index in (0, 1) if turn % 2 == 0 else (1, 0):
                        found[index].append(run_case(program, case.name, sides[index], options.seconds, options.warm))
                print(line(case, *found), flush=True)
        finally:
            for side in sides:
                side.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
