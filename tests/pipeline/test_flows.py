"""Projects for declarative pipelines: what is written, and that it runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.__main__ import main
from odradek.pipeline import flows
from odradek.pipeline.flows import check_pipelines, write_project
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from tests.pipeline import quick_spark
from tests.pipeline.test_session import PATIENCE_S, produce, produce_transaction


def test_a_project_is_written_into_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "orders here"
    files = write_project(folder)
    assert [file.relative_to(folder).as_posix() for file in files] == [
        "spark-pipeline.yml",
        "transformations/kafka.py",
        "try_it.py",
    ]
    spec = (folder / "spark-pipeline.yml").read_text()
    assert f"name: orders here\nstorage: file://{tmp_path}/orders%20here/storage\n" in spec
    with pytest.raises(ValueError, match="orders here is there already, and not empty"):
        write_project(folder)
    with pytest.raises(ValueError, match="is there already"):
        write_project(files[0])


def test_what_is_lacking_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(PipelineUnavailable, match=r"need Spark 4\.1 or later, this is 4\.0\.2"):
        check_pipelines(InstalledSpark("4.0.2", "2.13", tmp_path))
    monkeypatch.setitem(sys.modules, "grpc_status", None)
    pytest.importorskip("grpc")
    with pytest.raises(PipelineUnavailable, match=r"pip install 'pyspark\[pipelines\]==4\.2\.0'"):
        check_pipelines(InstalledSpark("4.2.0", "2.13", tmp_path))


@pytest.mark.slow
def test_a_project_runs_at_once(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One of ten orders fails, twice: it goes through the retry topic to the failed topic."""
    pytest.importorskip("grpc_status")
    if spark.version < "4.1":
        pytest.skip("declarative pipelines need Spark 4.1 or later")
    assert main(["pipeline", "init", str(tmp_path / "orders")]) == 0
    command = capsys.readouterr().out.splitlines()[-1].rpartition(": ")[2].split()
    assert command == ["python", str(tmp_path / "orders" / "try_it.py")]
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *command[1:]],
        env=surroundings | {"JAVA_TOOL_OPTIONS": quick_spark.JAVA_OPTIONS},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-5:] == [
        "retry_1s_topic: 10 messages",
        "orders_failed: 10 messages",
        "archive: 100 records",
        "orders_audit: 0 rows",
        "group_lag: 2 rows",
    ]
    again = main(["pipeline", "init", str(tmp_path / "orders")])
    assert (again, capsys.readouterr().err.count("\n")) == (2, 1)


pytest.importorskip("pyspark")


POLICY = RetryPolicy("main", "dead", ("1h", "2h"))
HOUR_MS = 3_600_000


def handle(message: Any) -> None:
    if message.value.startswith(b"bad"):
        raise ValueError(f"attempt {message.retry_number}")


def put(broker: odradek.KafkaBroker, topic: str, value: str, *, number: int, due_ms: int) -> None:
    """A message that waits for its retry."""
    ours = {"retry_number": number, "retry_timestamp": due_ms, "retry_origin": f"main/0/{value}"}
    headers: list[Any] = [("mine", b"\xff"), *((name, str(each).encode()) for name, each in ours.items())]
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    producer.produce(topic, key="k", value=value, headers=headers)
    assert producer.flush(30) == 0


def committed(broker: odradek.KafkaBroker, topic: str) -> list[tuple[str, dict[str, bytes | None]]]:
    found = broker.records(topic, isolation="read_committed")
    return [((record.value or b"").decode(), dict(record.headers)) for record in found]


@pytest.mark.kafka(topics={"main": 2})
def test_retry_handles_what_is_due_and_puts_off_the_rest(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)

    def run() -> None:
        rows = flows.retry(spark, place, handle, POLICY)
        writer = rows.writeStream.format("odradek").option("checkpointLocation", str(tmp_path))
        writer = writer.option("kafka.bootstrap.servers", kafka_broker.bootstrap_servers)
        assert writer.trigger(availableNow=True).start().awaitTermination(PATIENCE_S)

    produce(kafka_broker, "main", ["bad 0", "good 0"])
    run()
    assert {"retry_1h_topic", "retry_2h_topic", "dead"} <= set(kafka_broker.topics)
    ((value, headers),) = committed(kafka_broker, "retry_1h_topic")
    assert (value, headers["retry_number"], headers["retry_error"]) == ("bad 0", b"1", b"ValueError: attempt 0")
    assert str(headers["retry_origin"], "ascii").startswith("main/")  # type: ignore[arg-type]
    now = time.time_ns() // 1_000_000
    assert now < int(headers["retry_timestamp"] or 0) <= now + HOUR_MS
    put(kafka_broker, "retry_1h_topic", "good 1", number=1, due_ms=now)
    put(kafka_broker, "retry_1h_topic", "bad 1", number=1, due_ms=now)
    put(kafka_broker, "retry_2h_topic", "bad 2", number=2, due_ms=now)
    run()
    waiting = [each for each in committed(kafka_broker, "retry_1h_topic") if each[0] == "bad 0"]
    assert waiting == [("bad 0", headers)] * 2  # it is not due: the second is the first again
    assert sorted(value for value, _ in committed(kafka_broker, "retry_2h_topic")) == ["bad 1", "bad 2"]
    ((value, headers),) = committed(kafka_broker, "dead")
    assert (value, headers["retry_number"], headers["retry_error"]) == ("bad 2", b"2", b"ValueError: attempt 2")
    assert (headers["mine"], headers["retry_origin"]) == (b"\xff", b"main/0/bad 2")


@pytest.mark.kafka(topics={"in": 1})
def test_records_are_those_of_committed_transactions(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    produce_transaction(kafka_broker, "in", ["dropped"], commit=False)
    produce_transaction(kafka_broker, "in", ["kept"], commit=True)
    rows = flows.records(spark, LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), ["in"])
    writer = rows.writeStream.format("odradek").option("checkpointLocation", str(tmp_path / "checkpoint"))
    assert writer.trigger(availableNow=True).start(str(tmp_path / "archive")).awaitTermination(PATIENCE_S)
    archived = spark.read.parquet(str(tmp_path / "archive")).collect()
    assert [(row.topic, row.partition, row.offset, bytes(row.value)) for row in archived] == [("in", 0, 2, b"kept")]
