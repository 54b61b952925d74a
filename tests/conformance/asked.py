"""Which answers of a real Kafka stand: those to tests that have not changed since it was asked.

What a real Kafka says depends on the question alone: the test module, what it imports from `tests`, the recordings and
programs that it names, the versions of Kafka and of the client libraries. Where a test module has Kafka judge what
odradek writes, it depends on odradek's packages too. A digest of all of it stands in ``asked.json`` beside the names
of the tests that passed. They are not run again while the digest is the same, unless ``ASK_AGAIN=1`` asks for it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TESTS = ROOT / "tests"
SCENARIOS = TESTS / "scenarios"
STORE = HERE / ("asked.json" if KAFKA_VERSION == DEFINITION else f"asked-{KAFKA_VERSION}.json")
VECTORS = ROOT / "tests" / "vectors"
_OF_A_RELEASE = re.compile(r"-\d+\.\d+(?=\.)")
"""What the name of a recording has where it is that of another release."""
ALWAYS = (HERE / "pom.xml",)
PROGRAMS = {
    "tests.scenarios.java_host": ("tests/scenarios/java",),
    "tests.scenarios.test_other_clients": ("tests/scenarios/go", "tests/scenarios/js"),
}
"""Module to the folders with the sources that it builds."""
JUDGED = {
    "odradek": ("broker", "storage", "protocol"),
    "odradek.broker": ("broker", "storage", "protocol"),
    "odradek.storage": ("storage", "protocol"),
    "odradek.protocol": ("protocol",),
}
"""What a test module imports to the folders of what it shows to Kafka."""
ONLY_LOOKS = ("broker/facade", "broker/schemas", "broker/telemetry", "broker/transcript")
"""What of these folders no log directory and no answer comes from."""
ASKS_WITH = ("odradek.protocol.generated.messages", "odradek.protocol.errors", "odradek.protocol.uuids")
"""What a request is written with: nothing that Kafka judges."""
LIBRARIES = {"confluent_kafka": "confluent-kafka", "kafka": "kafka-python", "aiokafka": "aiokafka"}


def digest(module: Path) -> str:
    """Sixteen hexadecimal digits over all that the answers to this test module depend on."""
    files, names = _reached(module)
    files.update(ALWAYS)
    for name in names:
        for folder in PROGRAMS.get(name, ()):
            files.update(path for path in (ROOT / folder).rglob("*") if path.is_file())
    for folder in _judged(module):
        found_there = (ROOT / folder).rglob("*.py")
        files.update(path for path in found_there if not path.relative_to(ROOT).as_posix().startswith(ONLY_LOOKS))
    files.update(vector for path in list(files) if path.suffix == ".py" for vector in _vectors(path))
    found = hashlib.sha256(KAFKA_VERSION.encode())
    for library in sorted(LIBRARIES[name] for name in names if name in LIBRARIES):
        found.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    for path in sorted(files):
        found.update(f"{path.relative_to(ROOT)} {_hash_of_file(path)}\n".encode())
    return found.hexdigest()[:16]


def _reached(module: Path) -> tuple[set[Path], set[str]]:
    """The files of `tests` that a module is made of, and the names of all that these import."""
    files, names, open_ = {module}, set[str](), [module]
    while open_:
        for name in _imports(open_.pop()):
            names.add(name)
            path = ROOT / f"{name.replace('.', '/')}.py"
            if name.startswith("tests.") and path.exists() and path not in files:
                files.add(path)
                open_.append(path)
    return files, names | {name.partition(".")[0] for name in names}


@functools.cache
def _imports(path: Path) -> frozenset[str]:
    """All modules that a module may import; of `from a import b` both `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def _judged(module: Path) -> set[str]:
    if module.parent == SCENARIOS:  # where odradek's packages serve the other side, or are the client
        return set()
    shown = {name for name in _imports(module) if name.startswith("odradek") and not name.startswith(ASKS_WITH)}
    shown -= {"odradek.wire_client"}
    whole = {name if name.count(".") == 0 else ".".join(name.split(".")[:2]) for name in shown}
    return {folder for name in whole for folder in JUDGED.get(name, ())}


@functools.cache
def _vectors(path: Path) -> frozenset[Path]:
    """The recordings that a module names."""
    text = path.read_text()
    names = {vector: _OF_A_RELEASE.sub("", vector.name).partition(".")[0] for vector in VECTORS.iterdir()}
    return frozenset(vector for vector, name in names.items() if name in text)


def _key(module: Path) -> str:
    return module.relative_to(TESTS).as_posix()


@functools.cache
def _hash_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Asked:
    """What `asked.json` says, and what is asked now. A module is known by its path below `tests`."""

    known: dict[str, dict[str, Any]]
    outcomes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Test module to test to how it ended."""
    standing: int = 0
    """How many tests were not run because their answers stand."""

    @classmethod
    def read(cls, store: Path = STORE) -> Asked:
        return cls(json.loads(store.read_text()) if store.exists() else {})

    def stands(self, module: Path, test: str) -> bool:
        """Whether Kafka's answer to a test is known, and nothing has changed since."""
        entry = self.known.get(_key(module))
        if entry is None or os.environ.get("ASK_AGAIN") == "1":
            return False
        return bool(test in entry["passed"] and entry["digest"] == digest(module))

    def told(self, module: str, test: str, outcome: str) -> None:
        """Note how a test ended. The last try counts; of the phases of one, a failure."""
        tests = self.outcomes.setdefault(module, {})
        if outcome != "passed" or tests.get(test) != "failed":
            tests[test] = outcome

    def write(self, store: Path = STORE) -> None:
        """Keep what passed under the digests of now; forget what failed, and modules that are gone."""
        for module, tests in self.outcomes.items():
            now = digest(TESTS / module)
            entry = self.known.get(module)
            before = set(entry["passed"]) if entry and entry["digest"] == now else set()
            passed = {test for test, outcome in tests.items() if outcome == "passed"}
            self.known[module] = {"digest": now, "passed": sorted(before - tests.keys() | passed)}
        kept = {
            module: entry
            for module, entry in sorted(self.known.items())
            if entry["passed"] and (TESTS / module).exists()
        }
        store.write_text(json.dumps(kept, indent=0) + "\n")

    def summary(self) -> str:
        stand = f"{self.standing} answers of Kafka {KAFKA_VERSION} stand"
        return f"{stand}: nothing has changed since it was asked (ASK_AGAIN=1 asks again)"


class Asking:
    """Asks only what has changed since Kafka was asked, and twice more where it answers another way.

    Its threads race, so it does not tell a story the same way each time: a recording holds while it still tells it so.
    The tests of odradek itself are never repeated.
    """

    def __init__(self) -> None:
        self._asked = Asked.read()

    @pytest.hookimpl(trylast=True)  # when marks have left out what they do
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        ours = [item for item in items if item.path.parent in (HERE, SCENARIOS) and "conformance" in item.keywords]
        standing = {item for item in ours if self._asked.stands(item.path, item.name)}
        if config.pluginmanager.hasplugin("rerunfailures"):
            for item in ours:
                item.add_marker(pytest.mark.flaky(reruns=2))
        if standing:
            self._asked.standing = len(standing)
            config.hook.pytest_deselected(items=list(standing))
            items[:] = [item for item in items if item not in standing]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path, _, test = report.nodeid.partition("::")
        module = ROOT / path
        is_ours = module.parent in (HERE, SCENARIOS) and "conformance" in report.keywords
        if is_ours and (report.when == "call" or report.outcome != "passed"):
            self._asked.told(_key(module), test, report.outcome)

    def pytest_sessionfinish(self) -> None:
        if self._asked.outcomes:
            self._asked.write()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._asked.standing:
            terminalreporter.write_line(self._asked.summary())


def register(config: pytest.Config) -> None:
    """Let a run ask so."""
    if not config.pluginmanager.hasplugin("asking"):
        config.pluginmanager.register(Asking(), "asking")
