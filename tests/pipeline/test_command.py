"""`odradek pipeline`: what it says without Spark, and its jobs from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.__main__ import main
from tests.pipeline.test_session import produce


def test_without_pyspark_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(["pipeline", "audit", "t", "--log-dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "odradek pipeline: audit: needs pyspark: pip install 'odradek[spark]'\n"


def test_without_a_jdk_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["pipeline", "jars"]) == 2
    assert capsys.readouterr().err == "odradek pipeline: jars: needs a JDK 17 or 21: no `java` on the PATH\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--handler", "nothing"], "a handler is module:function"),
        (["--handler", "json:loads", "--delays", "5 parsecs"], "a delay is"),
        (["--handler", "json:loads", "--topic", "5m"], "is not NAME=VALUE"),
    ],
)
def test_wrong_words_for_retry(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["pipeline", "retry", "--bootstrap-servers", "127.0.0.1:1", "--checkpoint", "/nowhere"]
    assert main([*common, *words]) == 2
    assert message in capsys.readouterr().err


def test_a_wrong_master_is_told_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["pipeline", "audit", "t", "--log-dir", str(tmp_path), "--master", "there"]) == 2
    assert capsys.readouterr().err == (
        "odradek pipeline: audit: a master is local[N], spark://HOST:PORT, yarn or k8s://..., not 'there'\n"
    )


@pytest.mark.kafka(topics={"in": 1, "main_topic": 1, "retry_1m_topic": 1, "failed_topic": 1})
def test_jobs_from_the_command_line(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session is the test's own: `retry` alone would end it, and is called with a handler in a file."""
    servers = ["--bootstrap-servers", kafka_broker.bootstrap_servers]
    produce(kafka_broker, "in", ["a", "b"], **{"enable.idempotence": True})
    assert main(["pipeline", "audit", "in", "--by", "key", *servers]) == 0
    assert capsys.readouterr().out.splitlines() == ["in records: 2", "in committed: 2", "passed"]
    produce(kafka_broker, "in", ["a"], **{"enable.idempotence": True})
    assert main(["pipeline", "audit", "in", "--by", "key", *servers]) == 1
    assert "duplicate id: in-0 offset 2: k0" in capsys.readouterr().out
    assert main(["pipeline", "archive", str(tmp_path / "a"), "--topic", "in", *servers]) == 0
    assert capsys.readouterr().out == f"3 records in {tmp_path / 'a'}\n"
    assert main(["pipeline", "replay", str(tmp_path / "a"), "--rename", "in=again", *servers]) == 0
    assert capsys.readouterr().out == "again-0: 3 records in 1 batches from offset 0\n"
    assert main(["pipeline", "audit", "absent", *servers]) == 2
    assert "no topic absent" in capsys.readouterr().err
