"""The examples around Spark and polling run, and print what their READMEs promise."""

from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def output_of(*path: str) -> str:
    program = EXAMPLES.joinpath(*path)
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def spark_output(spark: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a program in this process: the session that it builds is the one that is there, and it does not stop it."""

    def run(*path: str) -> str:
        stops: list[bool] = []
        monkeypatch.setattr(spark, "stop", lambda: stops.append(True))
        runpy.run_path(str(EXAMPLES.joinpath(*path)), run_name="__main__")
        assert stops, "it ends its session"
        return capsys.readouterr().out

    return run


def check_journey(text: str, pattern: str, began: float) -> None:
    """The clock is moved by 2 h 40 min in all, and goes on by itself as long as the program runs."""
    (minutes,) = map(int, re.findall(pattern, text))
    assert 160 <= minutes <= 161 + (time.monotonic() - began) / 60


@pytest.mark.slow
def test_the_example_poll_pipeline_runs() -> None:
    pytest.importorskip("kafka")
    lines = output_of("poll_pipeline", "run.py").splitlines()
    assert lines[-1] == "40 records in 10 polls"
    requests = [re.findall(r"asked node (\d) for (.*)", line)[0] for line in lines if "asked" in line]
    assert len(requests) < 10  # most polls are served from the buffer
    asked = [
        (node, *each.split(" from ")) for node, wanted in requests for each in wanted.split(", ") if "from" in each
    ]
    # Each partition is asked for once, at its leader, and what is in the buffer never again: only what follows it
    # (the last of those requests may reach the broker when the last poll is over).
    first = [("1", "0", "0"), ("1", "2", "0"), ("2", "1", "0"), ("2", "3", "0")]
    assert sorted(each for each in asked if each[2] == "0") == first
    assert {each[2] for each in asked} <= {"0", "10"}


@pytest.mark.slow
def test_retry_in_a_plain_consumer() -> None:
    began = time.monotonic()
    text = output_of("retry_topics", "plain_consumer.py")
    assert "pears: attempt 2 failed, to retry_30m_topic\n" in text
    assert "plums: attempt 5 failed, to retry_1h_topic\n" in text
    assert "apples: attempt 0 succeeded\n" in text
    assert "pears: attempt 3 succeeded\n" in text
    check_journey(text, r"failed for good after (\d+) min: b'plums'", began)


@pytest.mark.slow
def test_example_of_retry_runs_on_spark(spark_output: Callable[..., str]) -> None:
    began = time.monotonic()
    text = spark_output("retry_topics", "spark_pipeline.py")
    assert "2 failed, to retry_5m_topic" in text
    check_journey(text, r"after (\d+) min: 1 failed, to failed_topic", began)
    assert "failed for good: b'plums'" in text


@pytest.mark.slow
def test_the_example_spark_stream_runs(spark_output: Callable[..., str]) -> None:
    lines = spark_output("spark_stream", "run.py").splitlines()
    assert lines[0] == "'to be or not to be': be 2, not 1, or 1, to 2"
    assert lines[1] == "'that is the question whether to be': be 3, is 1, question 1, that 1, the 1, to 3, whether 1"
    assert "batch_size" in lines[3]  # the table of the batches


def shown_by(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: its last line, if it is an expression, is what is shown."""
    *body, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        body.append(last)
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_the_example_notebook_runs() -> None:
    """Its cells in this process, whose Spark they find; Jupyter's kernel would start another one."""
    notebook = json.loads((EXAMPLES / "notebook" / "orders.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    try:
        _, batches, lag, chart, _ = [shown_by(cell, names) for cell in cells]
    finally:
        if "broker" in names:
            names["broker"].close()
    kinds = zip(batches["transactional"], batches["control"].fillna("record"), strict=True)
    found = dict(zip(kinds, batches["count"], strict=True))
    markers = found.pop((True, "abort"))
    assert found == {(False, "record"): 60, (True, "record"): 8}
    assert 1 <= markers <= 2, "one in each partition of the transaction"
    assert lag["lag"].sum() == 60 + 8 + markers - (10 + 20)
    sums = {f"customer-{which}": sum(n % 12 for n in range(which, 60, 5)) for which in range(5)}
    assert dict(zip(chart.data[0].x, chart.data[0].y, strict=True)) == sums
