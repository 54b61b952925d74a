"""For all tests: assertions of the shared scenarios explain themselves like those of test modules.

And no property fails because the machine was busy: hypothesis has neither a deadline nor a limit for making examples.
With `--hypothesis-profile=repeated`, as in `make test`, its examples are the same each time.
"""

import gc
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.register_assert_rewrite("tests.scenarios", "tests.broker.coordinator.group.story_group")
settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeated", settings.get_profile("patient"), derandomize=True)
settings.register_profile("daily", settings.get_profile("patient"), max_examples=10)
settings.load_profile("patient")

_ENOUGH_BYTES = 512 << 20


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--daily",
        action="store_true",
        help="the daily round of `make check`: a tenth of the examples, and nothing that is marked as long",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--daily"):
        settings.load_profile("daily")
        _keep_files_in_memory()


def _keep_files_in_memory() -> None:
    """Put temporary files where no disk is waited for: Linux has such a folder, in small containers too small a one."""
    memory = Path("/dev/shm")
    if "TMPDIR" not in os.environ and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ENOUGH_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(memory)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is long: `long` marks a test, `long("a", "b")` its cases with these names."""
    if config.getoption("--daily"):
        left_out = [item for item in items if _is_long(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _is_long(item)]


def _is_long(item: pytest.Item) -> bool:
    case = getattr(item, "callspec", None)
    parts = set(case.id.split("-")) if case else set()
    return any(not mark.args or parts.intersection(mark.args) for mark in item.iter_markers("long"))


def pytest_collection_finish() -> None:
    """Take what is there after the collection, some hundred megabytes, out of the garbage collector's rounds.

    One property runs before: with its first one hypothesis makes a generator of random numbers, and asks the collector
    who refers to it. The collector does not say what it has frozen, and hypothesis warns.
    """
    settings(max_examples=1, database=None)(given(st.none())(lambda _: None))()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collector_left_alone() -> Iterator[None]:
    """A command that runs in this process changes the collector as if the process were its own."""
    callbacks, thresholds = list(gc.callbacks), gc.get_threshold()
    yield
    gc.callbacks[:] = callbacks
    gc.set_threshold(*thresholds)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Write down the test that is under way, for whoever has to say where a crash was (``make heavy``)."""
    if place := os.environ.get("ODRADEK_UNDER_WAY"):
        Path(place).write_text(f"{nodeid}\n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Before all tracebacks: what failed, and the words that repeat it alone."""
    failed = sorted({each.nodeid for kind in ("failed", "error") for each in terminalreporter.stats.get(kind, [])})
    if failed:
        terminalreporter.section(f"{len(failed)} failed")
        for nodeid in failed[:10]:
            terminalreporter.write_line(nodeid)
        words = " ".join(shlex.quote(nodeid) for nodeid in failed[:10])
        terminalreporter.write_line(f"Repeat with: {os.path.relpath(sys.executable)} -m pytest {words}")
    yield
