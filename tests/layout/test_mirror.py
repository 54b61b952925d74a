"""Each module has a test module of its name at the same place under ``tests``, or says here why not."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS_OF = {
    "broker": "tests/broker",
    "protocol": "tests/protocol",
    "storage": "tests/storage",
    "pipeline": "tests/pipeline",
    "src/odradek": "tests/frontdoor",
    "generators": "tests/generators",
}

TESTED_ELSEWHERE: dict[str, str] = {
    "generators/api_index.py": "its index is what a broker serves by: tests/broker/api/test_served.py",
    **dict.fromkeys(
        [f"src/odradek/commands/{name}.py" for name in ("pipeline", "pipeline_jobs")],
        "need Spark, so they are tested with the jobs: tests/pipeline/test_command.py",
    ),
    **dict.fromkeys(
        [f"broker/facade/remote/{name}.py" for name in ("transport",)],
        "parts of a broker over HTTP, tested as one: tests/broker/facade/remote/test_broker.py",
    ),
    "src/odradek/control/child.py": "the child of tests/broker/facade/test_process.py",
    "broker/coordinator/transaction/decisions.py": "through the machine, and in stories recorded from Kafka: "
    "tests/broker/coordinator/transaction/test_machine.py",
    "broker/api/transaction_admin.py": "in stories recorded from Kafka, with the other APIs of transactions: "
    "tests/broker/api/test_transactions.py",
    **dict.fromkeys(
        ["pipeline/project/try_it.py", "pipeline/project/transformations/kafka.py"],
        "written into a project, which runs in tests/pipeline/test_flows.py",
    ),
    "pipeline/rows.py": "its columns are compared with the codec in tests/pipeline/test_record_columns.py",
}
"""Module to the reason why it has no test module of its own."""

TESTED_AS_ONE = {
    "broker/facade/verbs": "through both flavours, with the facade modules whose functions they call",
    "broker/coordinator/group/consumer": "through the group machine: in conversations recorded from Kafka",
}
"""Package whose modules are parts of one thing, to how that is tested. Its test folder must not be empty."""


@functools.cache
def modules() -> Sequence[tuple[str, str]]:
    """Every hand-written module and the test module that belongs to it, as paths from the root."""
    return tuple(_modules())


def _modules() -> Iterator[tuple[str, str]]:
    for folder, tests in TESTS_OF.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder)
            if path.name.startswith("_") or _is_link(folder, inner) or not _has_something_to_test(path):
                continue
            yield f"{folder}/{inner.as_posix()}", f"{tests}/{(inner.parent / f'test_{inner.name}').as_posix()}"


def _is_link(folder: str, inner: Path) -> bool:
    """``src/odradek/broker`` and its like show the packages again."""
    return folder == "src/odradek" and inner.parts[0] in TESTS_OF


def _has_something_to_test(path: Path) -> bool:
    """A generated module has not: its generator is tested. Nor has one that declares only: values, protocols."""
    source = path.read_text()
    if "do not edit" in source.partition('"""')[2].partition('"""')[0]:
        return False
    module = ast.parse(source)
    functions = [node for node in ast.walk(module) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(node.name != "__init__" and not _is_declaration(node) for node in functions)


def _is_declaration(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether nothing but a docstring (or ``...``) is in the body, as in a protocol's methods."""
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in function.body)


def test_each_module_has_its_test_module() -> None:
    missing = [
        f"{module}: no {test}"
        for module, test in modules()
        if module not in TESTED_ELSEWHERE
        and module.rpartition("/")[0] not in TESTED_AS_ONE
        and not (ROOT / test).exists()
    ]
    assert not missing, "\n" + "\n".join(missing)


def test_the_list_of_exceptions_is_current() -> None:
    known = dict(modules())
    stale = [module for module in TESTED_ELSEWHERE if module not in known or (ROOT / known[module]).exists()]
    assert not stale, "these are gone or have their test module: take them off the list"
    empty = [package for package in TESTED_AS_ONE if not list((ROOT / "tests" / package).glob("test_*.py"))]
    assert not empty, "no tests at all"
