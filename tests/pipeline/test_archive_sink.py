"""The sink to archives: each row once, whatever is repeated, and read back by `replay`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import odradek
from tests.pipeline.test_session import PATIENCE_S, produce

pytest.importorskip("pyspark")

import pyarrow.parquet as pq
from pyspark.sql import Row
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from odradek.pipeline.archive_sink import ArchiveBatchWriter, ArchiveOptions, ArchiveStreamWriter
from odradek.pipeline.jobs.archive import replay
from odradek.pipeline.source_options import OptionError

SCHEMA = StructType(
    [
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("value", BinaryType()),
    ]
)
COLUMNS = "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary"


def options(folder: Path, **more: str) -> ArchiveOptions:
    return ArchiveOptions.parse({"path": str(folder), **more}, SCHEMA)


def row(value: str, partition: int = 0, topic: str = "t") -> Row:
    return Row(topic=topic, partition=partition, offset=int(value), value=value.encode())


def archived(folder: Path) -> list[str]:
    """The values of an archive, file by file."""
    files = sorted(folder.glob("topic=*/partition=*/*.parquet"))
    return [value.decode() for file in files for value in pq.ParquetFile(file).read()["value"].to_pylist()]


def test_archive_sink_options_that_are_wrong_are_refused(tmp_path: Path) -> None:
    def parse(given: dict[str, str], schema: StructType = SCHEMA) -> None:
        ArchiveOptions.parse({"path": str(tmp_path), **given}, schema)

    with pytest.raises(OptionError, match=r"one of the two"):
        parse({"kafka.bootstrap.servers": "h:1"})
    with pytest.raises(OptionError, match="unknown option transactionalid"):
        parse({"transactionalId": "x"})
    with pytest.raises(OptionError, match="path is empty"):
        parse({"path": ""})
    with pytest.raises(OptionError, match=r"all workers see under one path, not s3a://"):
        parse({"path": "s3a://bucket/archive"})
    with pytest.raises(OptionError, match="needs a column partition and a column offset"):
        parse({"topic": "t"}, StructType([StructField("value", BinaryType())]))
    with pytest.raises(OptionError, match="or a column topic"):
        parse({}, StructType(list(SCHEMA)[1:]))
    assert options(Path(f"file://{tmp_path}")).folder == tmp_path


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (row("1", topic="../up"), "no topic can have the name '../up'"),
        (row("1", topic=".."), r"no topic can have the name '\.\.'"),
        (row("1", partition=-1), "a negative partition"),
        (Row(topic="t", partition=None, offset=1, value=b""), "without a partition or an offset"),
    ],
)
def test_a_row_that_belongs_nowhere_leaves_nothing(wrong: Row, message: str, as_task: Any, tmp_path: Path) -> None:
    writer = ArchiveBatchWriter(options(tmp_path / "archive"))
    many = [Row(topic="t", partition=0, offset=number, value=b"x" * 1000) for number in range(10_000)]
    with pytest.raises(ValueError, match=message):
        as_task(writer, 0, *many, wrong)
    assert not list(tmp_path.rglob("*.parquet"))


def test_rows_are_there_when_all_tasks_are_done(as_task: Any, tmp_path: Path) -> None:
    writer = ArchiveBatchWriter(options(tmp_path))
    messages = [as_task(writer, 0, row("1"), row("2", partition=3)), as_task(writer, 1, row("3", topic="u"))]
    assert archived(tmp_path) == []
    writer.commit([*messages, None])
    assert sorted(archived(tmp_path)) == ["1", "2", "3"]
    assert [each.parent.relative_to(tmp_path).as_posix() for each in sorted(tmp_path.glob("topic=*/*/*"))] == [
        "topic=t/partition=0",
        "topic=t/partition=3",
        "topic=u/partition=0",
    ]
    dropped = ArchiveBatchWriter(options(tmp_path))
    dropped.abort([as_task(dropped, 0, row("4"))])
    assert sorted(archived(tmp_path)) == ["1", "2", "3"]
    assert len(list(tmp_path.rglob("*.parquet"))) == 3


def test_a_micro_batch_that_is_repeated_is_there_once(
    as_task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(number: int, *values: str) -> None:
        writer = ArchiveStreamWriter(options(tmp_path))
        writer.commit([as_task(writer, task, row(value, task)) for task, value in enumerate(values)], number)

    attempt(0, "1", "2")
    attempt(0, "1", "2")  # Spark did not learn of the commit
    assert archived(tmp_path) == ["1", "2"]
    with monkeypatch.context() as patch:  # the driver dies after the note and its first move
        moved: list[Path] = []
        real = Path.replace

        def replace(source: Path, target: Path) -> Path:
            if source.suffix == ".parquet":
                if moved:
                    raise KeyboardInterrupt
                moved.append(source)
            return real(source, target)

        patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            attempt(1, "3", "4")
    assert sorted(archived(tmp_path)) == ["1", "2", "3"]
    attempt(1, "33", "44")  # other rows, as of a source that gives what it likes: the first attempt counts
    assert sorted(archived(tmp_path)) == ["1", "2", "3", "4"]
    writer = ArchiveStreamWriter(options(tmp_path))
    as_task(writer, 0, row("5"))  # dies before the note
    attempt(2, "6")
    attempt(1, "7")  # of a checkpoint that was set back: that micro-batch is there
    assert sorted(archived(tmp_path)) == ["1", "2", "3", "4", "6"]
    assert [file.name for file in (tmp_path / "_odradek").iterdir()] == ["query.json"]
    assert json.loads((tmp_path / "_odradek/query.json").read_text())["batch"] == 2


def test_a_damaged_note_is_named(as_task: Any, tmp_path: Path) -> None:
    writer = ArchiveStreamWriter(options(tmp_path))
    (tmp_path / "_odradek").mkdir()
    (tmp_path / "_odradek" / "query.json").write_text('{"batch": 1}')
    with pytest.raises(ValueError, match=r"_odradek/query\.json is damaged"):
        writer.commit([as_task(writer, 0, row("1"))], 2)
    assert archived(tmp_path) == []


def test_an_aborted_micro_batch_leaves_nothing(as_task: Any, tmp_path: Path) -> None:
    writer = ArchiveStreamWriter(options(tmp_path))
    writer.abort([as_task(writer, 0, row("1")), None], 0)
    writer.commit([None], 1)
    assert not list(tmp_path.rglob("*.*"))


@pytest.mark.kafka(topics={"in": 2})
def test_spark_archives_and_replays(spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    where = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers}
    archive, checkpoint = tmp_path / "archive", tmp_path / "checkpoint"

    def run() -> None:
        rows = spark.readStream.format("odradek").schema(COLUMNS).options(**where, subscribe="in").load()
        writer = rows.writeStream.format("odradek").option("checkpointLocation", str(checkpoint))
        assert writer.trigger(availableNow=True).start(str(archive)).awaitTermination(PATIENCE_S)

    produce(kafka_broker, "in", ["a", "b", "c"])
    run()
    for file in (checkpoint / "commits").glob("*0*"):
        file.unlink()
    produce(kafka_broker, "in", ["d"])
    run()
    if spark.version < "4.2":  # there the trigger runs one micro-batch, which was the repeated one
        run()
    reader = spark.read.format("odradek").schema(COLUMNS).options(**where, subscribe="in")
    reader.load().write.format("odradek").mode("append").save(str(tmp_path / "at-once"))
    stored = {(each.partition, each.value, each.timestamp) for each in kafka_broker.records("in")}
    for number, folder in enumerate((archive, tmp_path / "at-once")):
        replay(spark, str(folder), kafka_broker.bootstrap_servers, rename={"in": f"copy-{number}"})
        copied = [(each.partition, each.value, each.timestamp) for each in kafka_broker.records(f"copy-{number}")]
        assert len(copied) == 4
        assert set(copied) == stored
    with pytest.raises(Exception, match="use the mode append"):
        reader.load().write.format("odradek").mode("overwrite").save(str(archive))
    shutil.rmtree(archive)
