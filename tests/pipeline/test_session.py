"""Spark's own Kafka connector against odradek: batch, streaming, restart, isolation and lost data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.pipeline import session
from odradek.pipeline.connector import ConnectorNotServed

PATIENCE_S = 180
"""For what Spark does in seconds where it has the machine for itself."""


def produce(broker: odradek.KafkaBroker, topic: str, values: list[str], **config: Any) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **config})
    for number, value in enumerate(values):
        producer.produce(topic, key=f"k{number}", value=value, headers=[("n", str(number).encode())])
    assert producer.flush(30) == 0


def produce_transaction(broker: odradek.KafkaBroker, topic: str, values: list[str], *, commit: bool) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": f"t-{values[0]}"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value=value)
    producer.flush(30)
    producer.commit_transaction(30) if commit else producer.abort_transaction(30)


def kafka(spark: Any, broker: odradek.KafkaBroker, topic: str, **options: str) -> Any:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    return reader.option("subscribe", topic).options(**options).load()


def stream_of(spark: Any, broker: odradek.KafkaBroker, form: str) -> Any:
    """A stream of the topic `in` from its beginning, to be loaded."""
    where = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "in", "startingOffsets": "earliest"}
    return spark.readStream.format(form).options(**where)


def run_once(rows: Any, checkpoint: Path) -> list[str]:
    """One pass of a stream over what is there now; the values it brought."""
    seen: list[str] = []
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: seen.extend(_values(batch)))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S), "the stream does not end"
    return seen


def _values(rows: Any) -> list[str]:
    return sorted(bytes(row.value).decode() for row in rows.collect())


def test_only_a_local_driver_is_hidden_from_other_machines() -> None:
    from odradek.pipeline.session import settings_for

    hidden = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    assert hidden.items() <= settings_for("local[2]", {}).items()
    assert not hidden.keys() & settings_for("spark://master:7077", {}).keys()
    assert settings_for("spark://master:7077", {"spark.driver.host": "driver"})["spark.driver.host"] == "driver"


def test_the_log_leaves_out_what_the_caller_is_told(spark: Any) -> None:
    def logged(name: str) -> bool:
        return bool(
            spark._jvm.org.apache.logging.log4j.LogManager.getLogger(f"org.apache.spark.{name}").isErrorEnabled()
        )

    assert not any(map(logged, ("executor.Executor", "scheduler.TaskSetManager")))
    assert all(map(logged, ("scheduler.TaskSchedulerImpl", "sql.execution.streaming.MicroBatchExecution")))


@pytest.mark.kafka(topics={"in": 2, "out": 1})
def test_spark_session_reads_and_writes_batches(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    produce(kafka_broker, "in", ["a", "b", "c"])
    rows = kafka(spark, kafka_broker, "in", includeHeaders="true")
    assert _values(rows) == ["a", "b", "c"]
    writer = rows.select("key", "value", "headers").write.format("kafka")
    writer.option("kafka.bootstrap.servers", kafka_broker.bootstrap_servers).option("topic", "out").save()
    written = {record.value: record for record in kafka_broker.records("out")}
    assert sorted(value or b"" for value in written) == [b"a", b"b", b"c"]
    assert written[b"b"].key == b"k1"
    assert written[b"b"].headers == (("n", b"1"),)


@pytest.mark.kafka(topics={"in": 2})
def test_a_stream_goes_on_from_its_checkpoint(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    stream = stream_of(spark, kafka_broker, "kafka").load()
    produce(kafka_broker, "in", ["a", "b"])
    assert run_once(stream, tmp_path) == ["a", "b"]
    produce(kafka_broker, "in", ["c"])
    assert run_once(stream, tmp_path) == ["c"]


@pytest.mark.kafka(topics={"in": 1})
def test_read_committed_leaves_out_aborted_transactions(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    produce_transaction(kafka_broker, "in", ["kept"], commit=True)
    produce_transaction(kafka_broker, "in", ["dropped"], commit=False)
    committed = kafka(spark, kafka_broker, "in", **{"kafka.isolation.level": "read_committed"})
    assert _values(committed) == ["kept"]
    assert _values(kafka(spark, kafka_broker, "in")) == ["dropped", "kept"]


@pytest.mark.kafka(topics={"in": 1})
@pytest.mark.parametrize("fail", [True, False])
def test_lost_data_fails_a_stream_only_if_asked(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, fail: bool
) -> None:
    stream = stream_of(spark, kafka_broker, "kafka").option("failOnDataLoss", fail).load()
    produce(kafka_broker, "in", ["a"])
    assert run_once(stream, tmp_path) == ["a"]
    produce(kafka_broker, "in", ["b", "c"])
    kafka_broker.topic("in").delete_records(before=2)
    if fail:
        with pytest.raises(Exception, match=r"(?i)data.?loss|some data may have been lost|missing data"):
            run_once(stream, tmp_path)
    else:
        assert run_once(stream, tmp_path) == ["c"]


def test_a_connector_that_spark_does_not_find_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = pytest.importorskip("pyspark.errors")
    from pyspark.sql import SparkSession

    def ended(_: object) -> None:
        raise errors.PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    monkeypatch.setattr(session, "java_command", lambda _: "java")
    monkeypatch.setattr(session, "fetch_jars", lambda _: [])
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", ended)
    with pytest.raises(ConnectorNotServed, match=r"which Spark did not find .* do without it"):
        session.build_session()
    with pytest.raises(errors.PySparkRuntimeError):
        session.build_session(kafka=False)


def test_the_warning_of_each_start_of_spark_stays_away_and_all_else_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    said = "echo 'WARNING: Using incubator modules: jdk.incubator.vector' >&2; echo 'no such JVM' >&2; false"
    with pytest.raises(subprocess.CalledProcessError), session._without_a_warning():  # it waits for the last lines then
        subprocess.run(["sh", "-c", said], check=True)
    assert capfd.readouterr().err == "no such JVM\n"
    with session._without_a_warning():
        os.write(2, b"a line\n")
    assert os.write(2, b"later\n") == 6
