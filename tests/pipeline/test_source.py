"""The data source `odradek`: log directories that Kafka wrote against Kafka's own dump, and live brokers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.pipeline.log_folder import plan, segments_in
from odradek.pipeline.rows import Wanted
from tests.pipeline.test_session import PATIENCE_S, produce, produce_transaction, run_once, stream_of

_BATCH = re.compile(
    r"baseOffset: (?P<base>\d+) .* producerId: (?P<pid>-?\d+) producerEpoch: (?P<epoch>-?\d+) "
    r"partitionLeaderEpoch: (?P<leader>\d+) isTransactional: (?P<txn>\w+) isControl: \w+ .*"
    r"(?P<kind>CreateTime|LogAppendTime): \d+ size: (?P<size>\d+) magic: 2 compresscodec: (?P<codec>\w+)"
)
_RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) \w+: (?P<time>-?\d+) keySize: (?P<key>-?\d+) valueSize: (?P<value>-?\d+) "
    r"sequence: (?P<sequence>-?\d+) headerKeys: \[(?P<headers>[^]]*)\](?: endTxnMarker: (?P<control>\w+))?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def odradek_rows(spark: Any, **options: Any) -> Any:
    return spark.read.format("odradek").options(**{name: str(value) for name, value in options.items()})


def from_broker(spark: Any, broker: odradek.KafkaBroker, topic: str, **options: Any) -> Any:
    return odradek_rows(spark, **{"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": topic, **options})


def millis(moment: datetime) -> int:
    moment = moment if moment.tzinfo else moment.astimezone(UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def dumped(folder: Path) -> Iterator[tuple[Any, ...]]:
    """The records of a partition as Kafka's dump tool prints them."""
    batch: re.Match[str] | None = None
    for line in (folder / "log.txt").read_text().splitlines():
        if found := _BATCH.match(line):
            batch = found
        elif found := _RECORD.match(line):
            assert batch is not None
            yield (
                int(found["offset"]),
                int(found["time"]),
                batch["kind"],
                int(found["key"]),
                int(found["value"]),
                int(found["sequence"]),
                [name for name in found["headers"].split(",") if name],
                found["control"].lower() if found["control"] else None,
                int(batch["base"]),
                int(batch["pid"]),
                int(batch["epoch"]),
                int(batch["leader"]),
                batch["txn"] == "true",
                batch["codec"],
                int(batch["size"]),
            )


def shown(row: Any) -> tuple[Any, ...]:
    return (
        row.offset,
        row.millis,
        row.timestamp_type,
        -1 if row.key is None else len(row.key),
        -1 if row.value is None else len(row.value),
        row.sequence,
        [header.key for header in row.headers],
        row.control,
        row.base_offset,
        row.producer_id,
        row.producer_epoch,
        row.leader_epoch,
        row.transactional,
        row.codec,
        row.batch_size,
    )


def test_kafkas_log_directory_equals_kafkas_dump(spark: Any, golden_log_dir: Path, golden_dump: Path) -> None:
    stored = odradek_rows(spark, includeControl=True).load(str(golden_log_dir))
    rows = stored.selectExpr("*", "unix_millis(timestamp) as millis").collect()
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in sorted(rows, key=lambda each: each.offset):
        found.setdefault(f"{row.topic}-{row.partition}", []).append(shown(row))
    expected = {path.parent.name: list(dumped(path.parent)) for path in golden_dump.glob("*/log.txt")}
    assert sum(map(len, expected.values())) > 500
    assert found == {name: records for name, records in expected.items() if records}


def test_source_reads_payloads_of_every_codec(spark: Any, golden_log_dir: Path, golden_dump: Path) -> None:
    rows = odradek_rows(spark).load(str(golden_log_dir / "d-codecs-0")).orderBy("offset").collect()
    text = (golden_dump / "d-codecs-0" / "log.txt").read_text()
    expected = re.findall(r"key: (\S+) payload: (\S+)", text)
    assert [(bytes(row.key).decode(), bytes(row.value).decode()) for row in rows] == expected
    assert {row.codec for row in rows} == {"none", "gzip", "snappy", "lz4", "zstd"}


def test_small_segments_are_read_by_one_task_and_ranges_prune_them(spark: Any, golden_log_dir: Path) -> None:
    def tasks_and_offsets(**options: Any) -> tuple[int, list[int]]:
        rows = odradek_rows(spark, subscribe="d-seg", **options).load(str(golden_log_dir))
        return rows.rdd.getNumPartitions(), sorted(row.offset for row in rows.select("offset").collect())

    assert tasks_and_offsets() == (1, list(range(360)))
    assert tasks_and_offsets(recordsPerTask=1000) == (4, list(range(360)))
    start, end = json.dumps({"d-seg": {"0": 150}}), json.dumps({"d-seg": {"0": 250}})
    part = {"startingOffsets": start, "endingOffsets": end, "recordsPerTask": 1000}
    assert tasks_and_offsets(**part) == (2, list(range(150, 250)))


def test_a_time_range_reads_only_segments_that_can_hold_it(spark: Any, golden_log_dir: Path) -> None:
    alone: dict[str, Any] = {"subscribe": "d-seg", "recordsPerTask": 1000}  # each segment has a task
    source = odradek_rows(spark, **alone).load(str(golden_log_dir))
    times = {row.offset: row.t for row in source.selectExpr("offset", "unix_millis(timestamp) as t").collect()}
    first, last = times[220], times[300]
    rows = odradek_rows(spark, **alone, startingTimestamp=first, endingTimestamp=last).load(str(golden_log_dir))
    expected = sorted(offset for offset, time in times.items() if first <= time < last)
    assert sorted(row.offset for row in rows.collect()) == expected
    assert rows.rdd.getNumPartitions() < source.rdd.getNumPartitions()


def test_only_the_columns_of_a_given_schema_are_read(spark: Any, golden_log_dir: Path) -> None:
    whole = odradek_rows(spark, subscribe="d-seg").load(str(golden_log_dir))
    few = odradek_rows(spark, subscribe="d-seg").schema("sequence int, offset bigint").load(str(golden_log_dir))
    assert few.columns == ["sequence", "offset"]
    assert sorted(few.collect()) == sorted(whole.select("sequence", "offset").collect())
    for schema in ("offset int", "offsets bigint"):
        with pytest.raises(Exception, match="no column offset"):
            odradek_rows(spark).schema(schema).load(str(golden_log_dir)).count()


@pytest.mark.parametrize("records", [None, 50])
def test_rows_of_small_segments_share_an_arrow_batch(golden_log_dir: Path, records: int | None) -> None:
    source = pytest.importorskip("odradek.pipeline.source")
    works = [
        work
        for topic, start, end in [("d-seg", 10, 350), ("d-codecs", 0, 10)]
        for work in plan(segments_in(golden_log_dir / f"{topic}-0"), Wanted(topic, 0, start, end), records=records)
    ]
    found = list(source.read_works(works))
    offsets = [offset for batch in found for offset in batch["offset"].to_pylist()]
    assert offsets == [*range(10, 350), *range(10)]
    assert {topic for batch in found[:-1] for topic in batch["topic"].to_pylist()} == {"d-seg"}
    assert len(found) == len(works) - 3  # d-seg has four segments


def test_read_committed_of_a_folder_leaves_out_what_was_aborted(spark: Any, golden_log_dir: Path) -> None:
    options = {"subscribe": "d-txn"}
    raw = odradek_rows(spark, **options).load(str(golden_log_dir)).orderBy("offset").collect()
    committed = odradek_rows(spark, **options, isolation="read_committed").load(str(golden_log_dir)).collect()
    marked = odradek_rows(spark, **options, includeControl=True).load(str(golden_log_dir))
    controls = marked.where("control is not null").collect()
    kept = []
    for row in raw:
        ends = [each for each in controls if each.producer_id == row.producer_id and each.offset > row.offset]
        end = min(ends, key=lambda each: each.offset, default=None)
        if not row.transactional or (end is not None and end.control == "commit"):
            kept.append(row.offset)
    assert {each.control for each in controls} == {"commit", "abort"}
    assert sorted(row.offset for row in committed) == kept


@pytest.mark.kafka(topics={"in": 2})
def test_source_reads_a_live_broker(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    # Long values, as a client sends a batch uncompressed that does not shrink, and a batch may hold a single record.
    produce(kafka_broker, "in", [f"{n:0100}" for n in range(500)], **{"compression.type": "zstd", "linger.ms": 50})
    rows = from_broker(spark, kafka_broker, "in", recordsPerTask=100).load()
    assert rows.rdd.getNumPartitions() >= 5
    stored = {(each.partition, each.offset): each for each in kafka_broker.records("in")}
    found = rows.selectExpr("*", "unix_millis(timestamp) as millis").collect()
    assert len(found) == len(stored) == 500
    for row in found:
        record = stored[row.partition, row.offset]
        assert (row.key, row.value, row.millis, row.codec) == (record.key, record.value, record.timestamp, "zstd")
        assert [(each.key, bytes(each.value)) for each in row.headers] == list(record.headers)


@pytest.mark.kafka(topics={"in": 2})
def test_an_empty_topic_has_no_rows(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    assert from_broker(spark, kafka_broker, "in").load().collect() == []


@pytest.mark.kafka(topics={"in": 1})
def test_read_committed_of_a_live_broker(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    produce_transaction(kafka_broker, "in", ["kept"], commit=True)
    produce_transaction(kafka_broker, "in", ["dropped"], commit=False)
    committed = from_broker(spark, kafka_broker, "in", isolation="read_committed").load()
    assert [bytes(row.value) for row in committed.collect()] == [b"kept"]
    raw = from_broker(spark, kafka_broker, "in", includeControl=True).load().orderBy("offset").collect()
    assert [row.control for row in raw] == [None, "commit", None, "abort"]
    assert from_broker(spark, kafka_broker, "in").load().count() == 2, "as many rows as records"


@pytest.mark.kafka(topics={"in": 2})
def test_a_stream_goes_on_behind_its_last_offset(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    stream = stream_of(spark, kafka_broker, "odradek").load()
    produce(kafka_broker, "in", ["a", "b"])
    assert run_once(stream, tmp_path) == ["a", "b"]
    produce(kafka_broker, "in", ["c"])
    assert run_once(stream, tmp_path) == ["c"]


def test_a_folder_that_grows_as_a_stream(spark: Any, kafka_broker_factory: Any, tmp_path: Path) -> None:
    broker = kafka_broker_factory(topics={"in": 1}, data_dir=tmp_path / "data")
    produce(broker, "in", ["a", "b"])
    stream = spark.readStream.format("odradek").option("subscribe", "in").load(str(tmp_path / "data"))
    assert run_once(stream, tmp_path / "checkpoint") == ["a", "b"]
    produce(broker, "in", ["c"])
    assert run_once(stream, tmp_path / "checkpoint") == ["c"]


def test_a_missing_topic_and_a_missing_folder(spark: Any, golden_log_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no topic nothing"):
        odradek_rows(spark, subscribe="nothing").load(str(golden_log_dir)).count()
    with pytest.raises(Exception, match="no such folder"):
        odradek_rows(spark).load(str(tmp_path / "absent")).count()


@pytest.mark.kafka(topics={"in": 3})
def test_filters_that_are_pushed_prune_tasks(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    if spark.version < "4.1":
        with pytest.raises(Exception, match=r"pushFilters needs Spark 4\.1"):
            from_broker(spark, kafka_broker, "in", pushFilters="true").load().count()
        return
    for partition in range(3):
        for value in ("a", "b", "c", "d"):
            kafka_broker.produce("in", value, partition=partition)
    condition = "topic = 'in' and partition in (0, 2) and offset >= 2 and value != 'd'"

    def found(pushed: str) -> tuple[int, list[tuple[int, int]]]:
        rows = from_broker(spark, kafka_broker, "in", pushFilters=pushed).load().where(condition)
        return rows.rdd.getNumPartitions(), sorted((row.partition, row.offset) for row in rows.collect())

    assert found("false") == (3, [(0, 2), (2, 2)])
    with pytest.raises(Exception, match=r"spark\.sql\.python\.filterPushdown\.enabled"):
        found("true")
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert found("true") == (2, [(0, 2), (2, 2)])
        assert found("false") == (3, [(0, 2), (2, 2)])
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


@pytest.mark.kafka(topics={"in": 1})
def test_options_of_the_other_kind_of_query_are_refused(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="maxOffsetsPerTrigger is for streams"):
        from_broker(spark, kafka_broker, "in", maxOffsetsPerTrigger=6).load().count()
    for option, value in (("endingOffsets", "earliest"), ("pushFilters", "true")):
        rows = stream_of(spark, kafka_broker, "odradek").option(option, value).load()
        with pytest.raises(Exception, match=f"{option} is for batches"):
            run_once(rows, tmp_path / option)


@pytest.mark.kafka(topics={"in": 2})
def test_a_limit_makes_a_stream_go_in_steps(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    produce(kafka_broker, "in", [f"{n:02}" for n in range(20)])
    rows = stream_of(spark, kafka_broker, "odradek").option("maxOffsetsPerTrigger", 6).load()
    if spark.version < "4.2":
        with pytest.raises(Exception, match=r"needs Spark 4\.2"):
            run_once(rows, tmp_path / "checkpoint")
        return
    sizes: list[int] = []
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: sizes.append(batch.count()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(PATIENCE_S)
    assert sizes == [6, 6, 6, 2]


@pytest.mark.kafka(topics={"in": 2})
def test_partitions_of_a_broker_are_split_by_size(kafka_broker: odradek.KafkaBroker) -> None:
    pytest.importorskip("pyspark")
    from odradek.pipeline.source import BatchReader
    from odradek.pipeline.source_options import SourceOptions

    for _ in range(20):
        kafka_broker.produce("in", "x" * 10_000, partition=0)
    kafka_broker.produce("in", "x", partition=1)
    where = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers, "subscribe": "in"}
    options = SourceOptions.parse({**where, "bytesPerTask": "50500"})
    tasks = BatchReader(options, ("offset",)).partitions()
    wanted = [work.wanted for task in tasks for work in task.value]
    ranges = [(each.partition, each.start, each.end) for each in wanted]
    assert ranges == [(0, 0, 5), (0, 5, 10), (0, 10, 15), (0, 15, 20), (1, 0, 1)]
