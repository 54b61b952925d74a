"""The sink: rows to topics in transactions that are committed once, whatever is repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import odradek
from tests.pipeline.test_session import PATIENCE_S, produce

pytest.importorskip("pyspark")

from pyspark.sql import Row
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.sink import BatchWriter, SinkOptions, StreamWriter, check_columns
from odradek.pipeline.source_options import OptionError


def schema(**columns: Any) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


VALUES = schema(value=BinaryType())


def options(broker: odradek.KafkaBroker, **more: str) -> SinkOptions:
    return SinkOptions.parse({"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": "out", **more}, VALUES)


def committed(broker: odradek.KafkaBroker) -> list[str]:
    return sorted((record.value or b"").decode() for record in broker.records("out", isolation="read_committed"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"topic": "t"}, "needs kafka.bootstrap.servers"),
        ({"kafka.bootstrap.servers": "h:1", "subscribe": "t"}, "unknown option subscribe"),
        ({"kafka.bootstrap.servers": "h:1", "transactionTimeout": "soon"}, "transactionTimeout"),
        ({"kafka.bootstrap.servers": "h:1", "transactionalId": "i", "batchId": "-1"}, "a micro-batch, not '-1'"),
        ({"kafka.bootstrap.servers": "h:1", "transactionalId": "i", "batchId": ""}, "a micro-batch, not ''"),
        ({"kafka.bootstrap.servers": "h:1", "batchId": "0"}, "batchId needs transactionalId"),
    ],
)
def test_sink_options_that_are_wrong_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        SinkOptions.parse(given, VALUES)


@pytest.mark.parametrize(
    ("columns", "topic", "message"),
    [
        ({"value": IntegerType()}, "out", "no column value int can be written"),
        ({"value": BinaryType(), "offset": IntegerType()}, "out", "no column offset int"),
        ({"key": BinaryType()}, "out", "a column value"),
        ({"value": BinaryType()}, None, "or a column topic"),
    ],
)
def test_sink_refuses_columns_that_no_record_has(columns: dict[str, Any], topic: str | None, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        check_columns(schema(**columns), topic)


def test_sink_takes_the_columns_of_a_record() -> None:
    check_columns(schema(value=BinaryType(), key=StringType(), partition=IntegerType()), "out")
    check_columns(schema(value=StringType(), topic=StringType()), None)


@pytest.mark.kafka(topics={"out": 3, "other": 1})
def test_sink_writes_rows_as_records(kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    writer = BatchWriter(options(kafka_broker))
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    headers = [Row(key="h", value=b"\xff"), Row(key="none", value=None)]
    whole = Row(key="k", value=b"whole", headers=headers, topic=None, partition=2, timestamp=moment)
    plain = Row(key=None, value="plain", headers=None, topic="other", partition=None, timestamp=None)
    none = Row(key=b"key-7", value=None, headers=[], topic=None, partition=None, timestamp=moment)
    messages = [as_task(writer, 0, whole, plain), as_task(writer, 1, none), as_task(writer, 2)]
    assert committed(kafka_broker) == []
    writer.commit(messages)
    found = {record.key: record for record in kafka_broker.records("out", isolation="read_committed")}
    record = found[b"k"]
    assert (record.partition, record.value, record.timestamp) == (2, b"whole", 1767323045678)
    assert record.headers == (("h", b"\xff"), ("none", None))
    assert found[b"key-7"].value is None
    assert found[b"key-7"].partition == kafka_broker.produce("out", key="key-7").partition
    (plainly,) = kafka_broker.records("other", isolation="read_committed")
    assert (plainly.key, plainly.value) == (None, b"plain")
    writer.abort([as_task(writer, 0, whole)])
    assert len(committed(kafka_broker)) == 3


@pytest.mark.kafka(topics={"out": 2})
@pytest.mark.parametrize("kind", ["a stream", "a batch"])
def test_a_repeated_batch_is_there_once(kafka_broker: odradek.KafkaBroker, as_task: Any, kind: str) -> None:
    def attempt(number: int, *, commits: int = 2) -> None:
        """A driver that dies when it has committed so many tasks."""
        writer: Any = StreamWriter(options(kafka_broker))
        if kind == "a batch":
            writer = BatchWriter(options(kafka_broker, transactionalId="mine", batchId=str(number)))
        messages = [as_task(writer, task, Row(value=f"batch {number} task {task}")) for task in (0, 1)]
        writer.commit(messages[:commits], *([number] if kind == "a stream" else []))

    attempt(0)
    attempt(0)  # all was committed, and Spark does not know
    attempt(1, commits=0)
    attempt(1, commits=1)
    assert committed(kafka_broker) == ["batch 0 task 0", "batch 0 task 1", "batch 1 task 0"]
    attempt(1)
    attempt(1)
    attempt(2)
    assert committed(kafka_broker) == [f"batch {number} task {task}" for number in range(3) for task in (0, 1)]
    name = "mine" if kind == "a batch" else "odradek-query"
    assert sorted(kafka_broker.transactions) == [f"{name}-0", f"{name}-1"]


def test_a_stream_takes_no_number() -> None:
    given = {"kafka.bootstrap.servers": "h:1", "topic": "t", "transactionalId": "mine", "batchId": "1"}
    with pytest.raises(OptionError, match=r"batchId is for df\.write"):
        StreamWriter(SinkOptions.parse(given, VALUES))


@pytest.mark.kafka(topics={"out": 1})
def test_another_query_counts_from_its_own_beginning(kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    writer = StreamWriter(options(kafka_broker, transactionalId="mine"))
    for number, query in ((5, "one"), (0, "two")):
        writer.commit([as_task(writer, 0, Row(value=query), query=query)], number)
    assert committed(kafka_broker) == ["one", "two"]
    assert sorted(kafka_broker.transactions) == ["mine-one-0", "mine-two-0"]
    with pytest.raises(RuntimeError, match="which query it is of"):
        as_task(writer, 0, Row(value="x"), query=None)


@pytest.mark.kafka(topics={"out": 1})
def test_a_cluster_that_refuses_is_told(kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    with pytest.raises(odradek.KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: topic nope"):
        as_task(BatchWriter(options(kafka_broker, topic="nope")), 0, Row(value=b"x"))
    with pytest.raises(odradek.KafkaError, match="MESSAGE_TOO_LARGE: Produce of out-0"):
        as_task(BatchWriter(options(kafka_broker)), 0, Row(value=b"x" * 2_000_000))
    with pytest.raises(odradek.KafkaError, match="INVALID_TRANSACTION_TIMEOUT"):
        as_task(BatchWriter(options(kafka_broker, transactionTimeout="99999999")), 0, Row(value=b"x"))


@pytest.mark.kafka(topics={"out": 1})
def test_a_task_that_fails_leaves_nothing_open(kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    writer = StreamWriter(options(kafka_broker))
    rows = [Row(value="good", partition=0), Row(value="bad", partition=7)]
    with pytest.raises(ValueError, match="out has no partition 7: there are 1"):
        as_task(writer, 0, *rows)
    produce(kafka_broker, "out", ["after"])
    assert committed(kafka_broker) == ["after"]
    # Some million bytes are sent at a time: the first rows before the bad one is met.
    many = [*([Row(value="x" * 1000, partition=0)] * 10_000), Row(value="bad", partition=7)]
    with pytest.raises(ValueError, match="out has no partition 7: there are 1"):
        as_task(writer, 0, *many)
    assert 4_000 < len(list(kafka_broker.records("out"))) <= 10_001
    assert committed(kafka_broker) == ["after"]
    with ClusterClient(kafka_broker.bootstrap_servers) as client:
        end, stable = (client.offsets({("out", 0): -1}, read_committed=each) for each in (False, True))
    assert end == stable


@pytest.mark.kafka(topics={"out": 2})
def test_spark_writes_a_batch(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    rows = spark.range(100).selectExpr(
        "cast(id as string) as key",
        "cast(concat('v', id) as binary) as value",
        "array(named_struct('key', 'n', 'value', cast(cast(id as string) as binary))) as headers",
        "timestamp_millis(id) as timestamp",
    )
    writer = rows.repartition(3).write.format("odradek").mode("append")
    writer = writer.option("kafka.bootstrap.servers", kafka_broker.bootstrap_servers).option("topic", "out")
    writer.save()
    found = {record.key: record for record in kafka_broker.records("out", isolation="read_committed")}
    assert len(found) == 100
    assert {(key, each.value, each.timestamp, each.headers) for key, each in found.items()} == {
        (b"%d" % n, b"v%d" % n, n, (("n", b"%d" % n),)) for n in range(100)
    }
    with pytest.raises(Exception, match="use the mode append"):
        writer.mode("overwrite").save()
    with pytest.raises(Exception, match="no column id bigint can be written"):
        spark.range(1).write.format("odradek").mode("append").options(
            **{"kafka.bootstrap.servers": kafka_broker.bootstrap_servers, "topic": "out"}
        ).save()


@pytest.mark.kafka(topics={"in": 2, "out": 2})
def test_spark_writes_a_stream_once(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    where = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers}
    checkpoint = tmp_path / "checkpoint"

    def run() -> None:
        rows = spark.readStream.format("odradek").options(**where, subscribe="in").load()
        writer = rows.select("key", "value", "headers", "timestamp").writeStream.format("odradek")
        writer = writer.options(**where, topic="out", checkpointLocation=str(checkpoint)).queryName("named")
        assert writer.trigger(availableNow=True).start().awaitTermination(PATIENCE_S)

    produce(kafka_broker, "in", ["a", "b", "c"])
    run()
    assert committed(kafka_broker) == ["a", "b", "c"]
    # As after a crash between the sink's commit and Spark's: the micro-batch is run again.
    for file in (checkpoint / "commits").glob("*0*"):
        file.unlink()
    produce(kafka_broker, "in", ["d"])
    run()
    if spark.version < "4.2":  # there the trigger runs one micro-batch, which was the repeated one
        assert committed(kafka_broker) == ["a", "b", "c"]
        run()
    assert committed(kafka_broker) == ["a", "b", "c", "d"]
    assert len(list(kafka_broker.records("out"))) > 4  # the repeated one is there, and aborted
