"""How many faults the tests of a room would find: `python -m tests.mutants broker/coordinator --count 50`.

Each mutant is the house with one change in the room: a comparison turned, `and` for `or`, a truth or a number changed,
a `not` more or less, plus for minus. cosmic-ray makes the change in a copy of the repository. Then tests of
`make whole` run: first the daily ones of the module, then those of the room, then its long ones, then with `--wide` the
daily ones of all rooms. A test that fails kills the mutant. What lives is printed as a diff: the change has no meaning,
or a behaviour lacks its test.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[2]
ROOMS = (
    "broker/api",
    "broker/controller",
    "broker/coordinator",
    "broker/partitions",
    "broker/requests",
    "broker/security",
    "protocol",
    "storage",
)
"""Where a fault would be felt at once."""
_KINDS = (
    "ReplaceComparisonOperator",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceBreakWithContinue",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div",
    "ReplaceBinaryOperator_Div_Mul",
    "AddNot",
    "NumberReplacer",
)
_WITHOUT_MEANING = (
    "mypyc_attr",
    "strict=",
    "slots=",
    "frozen=",
    "TypeVar",
    "__all__",
    "TYPE_CHECKING",
    "_log.",
    "assert ",
)
"""In a line with one of these a change has no effect that a user meets."""
_KEYWORDS_ONLY = re.compile(r"(^\s*|[(,] ?)\*,")
"""The star of a signature."""
_THE_SAME = ("_Is_Eq", "_IsNot_NotEq", "_Eq_Is", "_NotEq_IsNot")
"""What is compared by `is` has no equal beside itself, and small values are one object."""
_COPIED = (
    "broker",
    "protocol",
    "storage",
    "pipeline",
    "src",
    "tests",
    "examples",
    "docs",
    "generators",
    "pyproject.toml",
)
_DAILY = "--daily"
_LONG = ("--hypothesis-profile=repeated", "-m", "long")
"""The other tests of `make whole`."""
_SLOWER = 5
"""A test run that takes so many times as long as without a mutant never ends."""
_SHORTEST_TIMEOUT_S = 60.0


class Mutant(NamedTuple):
    """One change: the `occurrence` of an operator of cosmic-ray in a file."""

    file: Path
    line: int
    operator: str
    occurrence: int

    def code(self) -> str | None:
        """The changed file; None if nothing changes."""
        changed: str | None = mutate_code(
            (ROOT / self.file).read_text(), get_operator(self.operator)(), self.occurrence
        )
        return changed

    def diff(self) -> str:
        """The change, to read."""
        before = (ROOT / self.file).read_text().splitlines()
        after = (self.code() or "").splitlines()
        lines = difflib.unified_diff(before, after, f"{self.file}:{self.line}", self.operator, lineterm="", n=1)
        return "\n".join(lines)


def draw(room: str, count: int, rng: random.Random) -> list[Mutant]:
    """So many mutants of a room, each in a place of its own; fewer if it has fewer places."""
    places: dict[tuple[Path, int, int], list[Mutant]] = {}
    for file in sorted((ROOT / room).rglob("*.py")):
        if "generated" not in file.parts:
            for column, mutant in _mutants_of(file.relative_to(ROOT)):
                places.setdefault((mutant.file, mutant.line, column), []).append(mutant)
    chosen = rng.sample(sorted(places), min(count, len(places)))
    return [rng.choice(places[place]) for place in chosen]


def _mutants_of(file: Path) -> Iterator[tuple[int, Mutant]]:
    source = (ROOT / file).read_text()
    lines = source.splitlines()
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if not name.removeprefix("core/").startswith(_KINDS) or name.endswith(_THE_SAME):
            continue
        operator = get_operator(name)()
        positions = (at for node in nodes for at, _ in operator.mutation_positions(node))
        for occurrence, (line, column) in enumerate(positions):
            without_meaning = any(word in lines[line - 1] for word in _WITHOUT_MEANING)
            if not without_meaning and not (name.endswith("_Mul_Div") and _KEYWORDS_ONLY.search(lines[line - 1])):
                yield column, Mutant(file, line, name, occurrence)


class Copy:
    """A copy of the repository in which mutants are made, one at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.timeout_s: float | None = None
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in _COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, folder / name)

    def killed(self, mutant: Mutant, suites: Sequence[Sequence[str]]) -> bool:
        """Whether a test fails, is never done or cannot be collected."""
        code = mutant.code()
        file = self._folder / mutant.file
        assert code is not None, mutant
        file.write_text(code)
        try:
            return any(self._fails(suite) for suite in suites)
        finally:
            shutil.copy2(ROOT / mutant.file, file)

    def passes(self, suite: Sequence[str]) -> bool:
        """Whether the tests pass as things are."""
        return not self._fails(suite)

    def _fails(self, suite: Sequence[str]) -> bool:
        options = ["-x", "-q", "-n", "0"]
        for plugin in ("schemathesis", "cacheprovider", "randomly"):
            options += ["-p", f"no:{plugin}"]
        environment = {**os.environ, "PYTHONPATH": f"{self._folder / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", *options, *suite]
        try:
            done = subprocess.run(
                command, cwd=self._folder, env=environment, capture_output=True, timeout=self.timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode not in (0, 5)  # 5: no test was chosen


def suites_for(mutant: Mutant, room: str, *, wide: bool) -> list[list[str]]:
    """The tests that may kill it, those that are likely to first."""
    module = Path("tests") / mutant.file.parent / f"test_{mutant.file.name}"
    suites = [[_DAILY, str(module)]] if (ROOT / module).exists() else []
    suites += [[_DAILY, f"tests/{room}"], [*_LONG, f"tests/{room}"]]
    if wide:
        suites += [[_DAILY, "tests/broker"], [_DAILY, "tests/storage", "tests/protocol", "tests/frontdoor"]]
    return suites


def run(room: str, count: int, seed: int, *, wide: bool, jobs: int = 2) -> list[Mutant]:
    """Try so many mutants of a room; prints each that lives, and returns them."""
    made = [Copy(ROOT / "build" / "mutants" / str(number)) for number in range(jobs)]
    began = time.monotonic()
    for suite in (_DAILY,), _LONG:
        assert made[0].passes([*suite, f"tests/{room}"]), f"tests/{room} fails without a mutant"
    copies: SimpleQueue[Copy] = SimpleQueue()
    for copy in made:
        copy.timeout_s = max(_SHORTEST_TIMEOUT_S, _SLOWER * (time.monotonic() - began))
        copies.put(copy)
    living = []

    def attempt(mutant: Mutant) -> None:
        copy = copies.get()
        try:
            if not copy.killed(mutant, suites_for(mutant, room, wide=wide)):
                living.append(mutant)
                print(f"lives:\n{mutant.diff()}\n", flush=True)
        finally:
            copies.put(copy)

    mutants = draw(room, count, random.Random(seed))
    with ThreadPoolExecutor(jobs) as workers:
        list(workers.map(attempt, mutants))
    killed = len(mutants) - len(living)
    print(f"{room}: {killed} of {len(mutants)} mutants killed ({killed / max(1, len(mutants)):.0%}), seed {seed}")
    return living


def main() -> None:
    """Print what lives; the number killed is for people to read, so a run does not fail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="ROOM", help="such as broker/coordinator")
    parser.add_argument("--count", type=int, default=25, help="mutants for each room (default %(default)s)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--wide", action="store_true", help="ask the tests of all rooms about what lives")
    arguments = parser.parse_args()
    for room in arguments.rooms:
        run(room, arguments.count, arguments.seed, wide=arguments.wide)


if __name__ == "__main__":
    main()
