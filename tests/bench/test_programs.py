"""The brokers beside odradek can be had, or a line says why not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench import brokers, compiled_form, go_program
from tests.bench.__main__ import parse
from tests.bench.brokers import Kfake
from tests.bench.cases import CASES, SHARE, STREAMS
from tests.bench.load_program import run_case
from tests.conformance.real_kafka import Unavailable, free_ports


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)


@pytest.mark.usefixtures("no_programs")
def test_without_go_a_line_says_so() -> None:
    with pytest.raises(Unavailable, match="no `go` on the PATH"):
        go_program.go_program("kfake")


@pytest.mark.usefixtures("no_programs")
def test_without_a_compiler_a_line_says_so() -> None:
    assert "C compiler" in (compiled_form.what_is_missing() or "")


def test_the_compiled_form_is_made_anew_for_changed_sources(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "setup.py"):
        (tmp_path / name).write_text("")
    module = tmp_path / "broker" / "net" / "poller.py"
    module.parent.mkdir(parents=True)
    module.write_text("one")
    first = compiled_form.sources_digest(tmp_path)
    assert compiled_form.sources_digest(tmp_path) == first
    module.write_text("two")
    assert compiled_form.sources_digest(tmp_path) != first


def test_a_broker_that_never_answers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "PATIENCE_S", 0)
    (port,) = free_ports(1)
    silent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with pytest.raises(RuntimeError, match="did not answer"):
        brokers.wait_for(silent, port, 0)
    assert silent.poll() is not None


@pytest.mark.parametrize("arguments", [["--only", "produce-1,nonsense"], ["--without", "nonsense"]])
def test_a_row_or_broker_that_is_not_known_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(arguments)
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.clients
class TestKfake:
    """Built from its module, which Go fetches the first time."""

    @pytest.fixture
    def kfake(self) -> Iterator[Kfake]:
        try:
            broker = Kfake()
        except Unavailable as missing:
            pytest.skip(str(missing))
        yield broker
        broker.stop()

    def test_the_load_runs_on_it_and_its_cpu_time_is_counted(self, kfake: Kfake) -> None:
        program = go_program.go_program("load")
        for case in CASES:
            if case.name in ("produce-1", "fetch-50", "commit", "api-versions"):
                measured = run_case(program, case.name, kfake, 0.05, 0)
                assert case.figure(measured) > 0
                assert measured.broker_us > 0
        assert kfake.memory_mb() > 0

    def test_kfake_tells_what_it_does_not_serve(self, kfake: Kfake) -> None:
        served = kfake.apis()
        assert served >= SHARE
        assert not served & STREAMS
