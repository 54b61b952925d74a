"""`odradek pipeline`: what it says without Spark, and its jobs from the command line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import odradek
from odradek.__main__ import main
from odradek.commands import pipeline_jobs
from odradek.pipeline import session
from odradek.pipeline.installed_spark import PipelineUnavailable
from tests.pipeline.test_session import produce


@pytest.fixture
def log_dir(tmp_path: Path) -> str:
    """A log directory with a topic `t` without records."""
    (tmp_path / "logs" / "t-0").mkdir(parents=True)
    (tmp_path / "logs" / "t-0" / "00000000000000000000.log").touch()
    return str(tmp_path / "logs")


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "t"],
        ["report", "FOLDER/page.html"],
        ["archive", "FOLDER/archive"],
        ["groups"],
        ["transactions"],
        ["retries"],
    ],
)
def test_a_place_or_a_topic_that_is_not_there_is_told_before_spark_starts(
    words: list[str], log_dir: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline_jobs, "_spark", lambda *_, **__: pytest.fail("Spark was started"))
    job = ["pipeline", *(word.replace("FOLDER", str(tmp_path)) for word in words)]
    assert main([*job, "--log-dir", "/nowhere"]) == 2
    assert capsys.readouterr().err == f"odradek pipeline {words[0]}: /nowhere: no such folder\n"
    named = {"audit": ["lost"], "retries": ["--main-topic", "lost"], "groups": None}.get(words[0], ["--topic", "lost"])
    if named is not None:
        assert main([*job, *named, "--log-dir", log_dir]) == 2
        assert capsys.readouterr().err == f"odradek pipeline {words[0]}: no topic lost\n"


def test_without_pyspark_it_says_so_in_one_line(
    log_dir: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir]) == 2
    assert capsys.readouterr().err == "odradek pipeline audit: needs pyspark: pip install 'odradek[spark]'\n"


def test_without_a_jdk_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert main(["pipeline", "jars"]) == 2
    assert capsys.readouterr().err == "odradek pipeline jars: needs a JDK 17 or 21: no `java` on the PATH\n"


@pytest.mark.parametrize(
    ("text", "interval"), [("1s", "1000 milliseconds"), ("2m", "120000 milliseconds"), ("300 milliseconds",) * 2]
)
def test_pipeline_command_reads_the_interval_of_retry(text: str, interval: str) -> None:
    assert pipeline_jobs._interval(text) == interval


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--handler", "nothing"], "a handler is module:function"),
        (["--handler", "json:loads", "--delays", "5 parsecs"], "a delay is"),
        (["--handler", "json:loads", "--topic", "5m"], "is not NAME=VALUE"),
        (
            ["--handler", "json:loads", "--poll-interval", "often"],
            "a delay is a number with ms, s, m, h or d, not 'often'",
        ),
    ],
)
def test_pipeline_command_refuses_wrong_words_for_retry(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["pipeline", "retry", "--bootstrap-servers", "127.0.0.1:1", "--checkpoint", "/nowhere"]
    assert main([*common, *words]) == 2
    assert message in capsys.readouterr().err


def test_a_wrong_master_is_told_in_one_line(log_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir, "--master", "there"]) == 2
    assert capsys.readouterr().err == (
        "odradek pipeline audit: a master is local[N], spark://HOST:PORT, yarn or k8s://..., not 'there'\n"
    )


def test_an_archive_that_exists_is_told_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline_jobs, "_spark", lambda *_, **__: pytest.fail("Spark was started"))
    assert main(["pipeline", "archive", str(tmp_path), "--bootstrap-servers", "127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == f"odradek pipeline archive: {tmp_path} already exists\n"


def test_settings_for_spark_are_pairs(log_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir, "--conf", "spark.driver.host"]) == 2
    assert capsys.readouterr().err == ("odradek pipeline audit: --conf: 'spark.driver.host' is not NAME=VALUE\n")


def test_what_spark_says_of_pandas_is_not_shown(
    log_dir: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A warning that is not left out is an error in a test."""

    def build_session(*_: object, **__: object) -> None:
        said = "PySpark does not yet fully support pandas >= 3.0.0. Some features may not work correctly."
        warnings.warn(said, FutureWarning, stacklevel=2)
        raise ValueError("a session")

    monkeypatch.setattr(session, "build_session", build_session)
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir]) == 2
    assert capsys.readouterr().err == "odradek pipeline audit: a session\n"


@pytest.mark.kafka(topics={"main_topic": 2, "failed_topic": 1})
def test_retry_without_its_topics_is_told_in_one_line(
    kafka_broker: odradek.KafkaBroker, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--bootstrap-servers", kafka_broker.bootstrap_servers, "--checkpoint", str(tmp_path), "--delays", "1m,2m"]
    retry = ["pipeline", "retry", "--handler", "json:loads", *words]
    assert main([*retry, "--no-create-topics"]) == 2
    missing = "no topic retry_1m_topic, retry_2m_topic: create them, or let the job do it"
    assert capsys.readouterr().err == f"odradek pipeline retry: {missing}\n"
    assert main([*retry, "--main-topic", "absent"]) == 2
    assert capsys.readouterr().err == "odradek pipeline retry: no topic absent\n"
    assert main(["pipeline", "replay-failed", *words, "--failed-topic", "gone"]) == 2
    assert capsys.readouterr().err == "odradek pipeline replay-failed: no topic gone\n"


@pytest.mark.kafka(topics={"main_topic": 1})
def test_retry_creates_nothing_without_spark(
    kafka_broker: odradek.KafkaBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(session, "build_session", Mock(side_effect=PipelineUnavailable("needs pyspark")))
    words = ["--bootstrap-servers", kafka_broker.bootstrap_servers, "--checkpoint", str(tmp_path)]
    assert main(["pipeline", "retry", "--handler", "json:loads", *words]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "odradek pipeline retry: needs pyspark\n")
    assert list(kafka_broker.topics) == ["main_topic"]


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_pipeline_command_refuses_a_wrong_number_of_partitions(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["pipeline", "retry", "--bootstrap-servers", "127.0.0.1:1", "--checkpoint", "/nowhere"]
    with pytest.raises(SystemExit):
        main([*common, "--handler", "json:loads", "--partitions", count])
    assert f"a number from 1 on, not {count!r}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Job aborted\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'odradek'\n\tat org",
            "a worker's Python has no odradek: install odradek[spark] where the workers run, "
            "or name a Python that has it in PYSPARK_PYTHON",
        ),
        (
            "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.",
            "Java ended before Spark was up: the lines above are its own; Spark needs all modules of a JDK",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: 3.11.\n",
            "a worker's Python is of another version than the driver's: name one of the same in PYSPARK_PYTHON",
        ),
        (
            "Lost task 0.3 in stage 0.0 (TID 6) (127.0.0.1 executor 0): java.io.InvalidClassException: "
            "org.apache.spark.sql.execution.exchange.ShuffleExchangeExec$; local class incompatible: stream classdesc",
            "the workers run another version of Spark than the driver: install the driver's, or the cluster's here",
        ),
        (
            "Job aborted\n  raise error\nodradek.pipeline.source.DataLossError: in-0: offsets 0 to 3\n\tat org.x",
            "in-0: offsets 0 to 3",
        ),
        (
            'o86.count.\n: java.io.IOException: Cannot run program "/nonesuch/python": error=2, No such file\n\tat',
            "a worker has no program /nonesuch/python: name its Python in PYSPARK_PYTHON",
        ),
        (
            "Traceback (most recent call last):\nPermissionError: [Errno 13] Permission denied: '/logs/in-0'\n\tat org",
            "[Errno 13] Permission denied: '/logs/in-0'",
        ),
        (
            "Traceback (most recent call last):\n  sock.connect()\nTimeoutError: orders-0 gives nothing\n\tat org",
            "orders-0 gives nothing",
        ),
        (
            "o80.parquet.\n: org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: "
            "file:/a/file\n\tat org",
            "Parent path is not a directory: file:/a/file",
        ),
        (
            "[TASK_WRITE_FAILED] Task failed\nCaused by: org.apache.hadoop.fs.FSError: java.io.IOException: No space "
            "left on device\n\tat org\nCaused by: java.io.IOException: No space left on device\n\tat java",
            "No space left on device",
        ),
        (
            "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Failed to read log file "
            "file:/ck/query/offsets/0. Incomplete log file SQLSTATE: XXKST\n=== Streaming Query ===",
            "Failed to read log file file:/ck/query/offsets/0. Incomplete log file",
        ),
        (
            "[STREAM_FAILED] Query [id = 1] terminated with exception: [CONCURRENT_STREAM_LOG_UPDATE] Concurrent "
            "update to the log. Multiple streaming jobs detected for 24. SQLSTATE: 40000\n=== Streaming Query ===",
            "Concurrent update to the log. Multiple streaming jobs detected for 24.",
        ),
        (
            "[PATH_NOT_FOUND] Path does not exist: file:/archive. SQLSTATE: 42K03",
            "Path does not exist: file:/archive",
        ),
        (
            '[PATH_ALREADY_EXISTS] Path file:/archive already exists. Set mode as "overwrite" to overwrite the '
            "existing path. SQLSTATE: 42K04",
            "Path file:/archive already exists",
        ),
        (
            "odradek.pipeline.streaming.BatchFailedError: org.apache.spark.SparkException: Job aborted\ncaused by "
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  raise error\n"
            "odradek.protocol.errors.KafkaError: TRANSACTIONAL_ID_AUTHORIZATION_FAILED: InitProducerId of mine-0\n",
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED: InitProducerId of mine-0",
        ),
    ],
)
def test_the_cause_of_what_spark_wrapped_up_is_one_line(
    log_dir: str, said: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline_jobs, "_spark", Mock(side_effect=RuntimeError(said)))
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir]) == 2
    assert capsys.readouterr().err == f"odradek pipeline audit: {told}\n"


def test_a_folder_that_may_not_be_read_is_told_in_one_line(
    log_dir: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline_jobs, "_spark", Mock(side_effect=PermissionError(13, "Permission denied", "/logs")))
    assert main(["pipeline", "audit", "t", "--log-dir", log_dir]) == 2
    assert capsys.readouterr().err == "odradek pipeline audit: /logs: Permission denied\n"


def test_a_bug_in_a_worker_is_told_in_full(log_dir: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "odradek.pipeline.streaming.BatchFailedError: Traceback (most recent call last):\n  1 / 0"
    monkeypatch.setattr(pipeline_jobs, "_spark", Mock(side_effect=RuntimeError(said)))
    with pytest.raises(RuntimeError):
        main(["pipeline", "audit", "t", "--log-dir", log_dir])


@pytest.mark.kafka(topics={"in": 1})
def test_jobs_from_the_command_line(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session is the test's own: `retry` alone would end it, and is called with a handler in a file."""
    servers = ["--bootstrap-servers", kafka_broker.bootstrap_servers]
    produce(kafka_broker, "in", ["a", "b"], **{"enable.idempotence": True})
    setting = ["--conf", "spark.sql.shuffle.partitions=3"]
    shuffled = spark.conf.get(setting[1].partition("=")[0])
    assert main(["pipeline", "audit", "in", "--by", "key", *servers, *setting]) == 0
    assert capsys.readouterr().out.splitlines() == ["in records: 2", "in committed: 2", "passed"]
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    spark.conf.set("spark.sql.shuffle.partitions", shuffled)
    produce(kafka_broker, "in", ["a"], **{"enable.idempotence": True})
    assert main(["pipeline", "audit", "in", "--by", "key", *servers]) == 1
    assert "duplicate id: in-0 offset 2: k0" in capsys.readouterr().out
    folder, page = str(tmp_path / "a"), tmp_path / "r.html"
    told = ["--report", str(page)]
    assert main(["pipeline", "archive", folder, "--topic", "in", *servers, *told]) == 0
    assert capsys.readouterr().out == f"3 records in {folder}\nreport: {page}\n"
    assert f"<li>3 records in {folder}</li>" in page.read_text()
    assert main(["pipeline", "replay", folder, "--rename", "in=again", *servers, *told]) == 0
    assert capsys.readouterr().out == f"again-0: 3 records in 1 batches from offset 0\nreport: {page}\n"
    assert f"<li>from {folder} to {kafka_broker.bootstrap_servers}</li>" in page.read_text()
    assert main(["pipeline", "audit", "absent", *servers]) == 2
    assert "no topic absent" in capsys.readouterr().err


@pytest.mark.kafka(topics={"orders": 2})
def test_a_retry_job_and_a_replay_with_reports(
    spark: Any,
    kafka_broker: odradek.KafkaBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(type(spark), "stop", lambda _: None)  # the session is that of all tests
    (tmp_path / "app.py").write_text("def handle(message):\n    assert message.value != b'bad', 'no good: order'\n")
    produce(kafka_broker, "orders", ["bad", "good"])
    page = tmp_path / "r.html"
    common = ["--main-topic", "orders", "--delays", "", "--bootstrap-servers", kafka_broker.bootstrap_servers]
    common += ["--checkpoint", str(tmp_path / "state"), "--report", str(page)]
    assert main(["pipeline", "retry", "--handler", f"{tmp_path / 'app.py'}:handle", "--once", *common]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["created failed_topic", "retrying orders through failed_topic"]
    summary = "2 arrived, 2 due, 1 to failed_topic"
    assert said[2].startswith(f"batch 0: {summary}, ")
    assert said[3:] == [f"done: {summary}", f"report: {page}"]
    text = page.read_text()
    assert 'http-equiv="refresh"' not in text
    for part in ("<li>done</li>", f"<li>since the job was started: {summary}</li>", "AssertionError: no good: order"):
        assert part in text
    assert [name for name in ("handled", "attempts", "journeys") if f"<h2>{name}</h2>" in text] == [
        "handled",
        "attempts",
        "journeys",
    ]
    assert main(["pipeline", "replay-failed", *common]) == 0
    assert capsys.readouterr().out == f"1 messages from failed_topic to orders\nreport: {page}\n"
    text = page.read_text()
    assert '<td>AssertionError</td><td class="number">1</td><td>AssertionError: no good: order</td>' in text
    produce(kafka_broker, "orders", ["bad"])
    assert main(["pipeline", "replay-failed", *common]) == 0
    assert "<li>0 messages from failed_topic to orders</li>" in page.read_text()


@pytest.mark.kafka(topics={"main_topic": 1})
def test_the_page_of_a_retry_job_that_fails_has_the_reason(
    kafka_broker: odradek.KafkaBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("plotly")
    from odradek.pipeline.jobs.retry import RetryJob

    said = "Job aborted\nodradek.pipeline.source.DataLossError: main_topic-0: the topic is gone\n\tat org"
    failing = Mock()
    failing.awaitTermination.side_effect = RuntimeError(said)
    monkeypatch.setattr(pipeline_jobs, "_spark", Mock())
    monkeypatch.setattr(RetryJob, "start", Mock(return_value=failing))
    page = tmp_path / "r.html"
    words = ["--bootstrap-servers", kafka_broker.bootstrap_servers, "--checkpoint", str(tmp_path / "state")]
    assert main(["pipeline", "retry", "--handler", "json:loads", "--report", str(page), *words]) == 2
    told = capsys.readouterr()
    assert told.err == "odradek pipeline retry: main_topic-0: the topic is gone\n"
    assert told.out.splitlines()[-1] == f"report: {page}"
    assert "<li>FAILED: main_topic-0: the topic is gone</li>" in page.read_text()
