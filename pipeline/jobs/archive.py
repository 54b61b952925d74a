"""Topics to parquet and back, with unchanged keys, values, headers, timestamps and partitions.

The archive is a parquet folder, partitioned by topic and partition. `replay` writes records with the wire codec because
Spark's connector cannot set timestamps. One task writes each partition, in the order of the offsets. The broker assigns
new offsets, and a topic with LogAppendTime new timestamps. A repeated task writes its records again. So replay into an
empty topic, and audit it where that matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from odradek.client_security.options import PLAIN_TEXT, ClientSecurity
from odradek.pipeline.cluster_client import ClusterClient, TopicPartition
from odradek.pipeline.jobs.logs import LogPlace, readable_topics
from odradek.pipeline.jobs.report import records_by_second
from odradek.pipeline.jobs.transactions import with_outcome
from odradek.pipeline.rows import COLUMNS, arrow_schema
from odradek.protocol.record_batch import assemble

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from odradek.pipeline.record_bytes import Records

_STAMPED = ("topic", "partition", "offset", "timestamp_ms", "timestamp_type")
_FILE = (*_STAMPED, "key", "value", "headers", "producer_id", "producer_epoch", "sequence")
"""The columns of an archive's files."""
_RESULT = "topic string, partition int, records bigint, batches bigint, first_offset bigint, archived_topic string"


def archive(
    spark: SparkSession,
    place: LogPlace,
    folder: str,
    topics: Sequence[str] | None = None,
    *,
    read_committed: bool = True,
) -> int:
    """Write the records of the topics (default: all) into a new folder and return their number.

    ValueError if there is no topic that the user may read.
    """
    if topics is None and not readable_topics(place).topics:
        raise ValueError("no topic to archive: there is none, or the user may read none")
    isolation = "read_committed" if read_committed else "read_uncommitted"
    rows = place.read(spark, topics, isolation=isolation)
    kept = rows.selectExpr("*", "unix_millis(timestamp) as timestamp_ms").select(*_FILE)
    kept.write.partitionBy("topic", "partition").mode("errorifexists").parquet(folder)
    return int(archived_rows(spark, folder).count())


def replay(
    spark: SparkSession,
    folder: str,
    bootstrap_servers: str,
    *,
    rename: Mapping[str, str] | None = None,
    security: ClientSecurity = PLAIN_TEXT,
) -> DataFrame:
    """Write an archive to a cluster. Missing topics are created with the archived number of partitions.

    ``rename``: archived topic to target topic. ``security``: the log-in at the cluster. The result has a row for each
    partition: records, batches, first new offset, and archived topic.
    """
    _check_archive(spark, folder)
    rows = archived_rows(spark, folder)
    names = dict(rename or {})
    sizes = rows.selectExpr("topic", "partition").distinct().groupBy("topic").agg({"partition": "max"}).collect()
    with ClusterClient(bootstrap_servers, security=security) as client:
        client.create_topics({names.get(row[0], row[0]): int(row[1]) + 1 for row in sizes})
    ordered = rows.repartition("topic", "partition").sortWithinPartitions("topic", "partition", "offset")
    columns = ordered.select("topic", "partition", "timestamp_ms", "key", "value", "headers")

    schema = arrow_schema(_RESULT)

    def write(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        from odradek.pipeline.sink_rows import Outgoing

        counts: dict[TopicPartition, list[int]] = {}  # records, batches and first offset, by archived partition

        def partitions(topic: str) -> int:
            name = names.get(topic, topic)
            return len(target.topics([name])[name])

        def send(batches: Mapping[TopicPartition, Records]) -> None:
            for place, (body, count, first, latest) in batches.items():
                batch = assemble(0, 0, (0, count - 1, first, latest, -1, -1, -1, count), body)
                offset = target.produce(names.get(place[0], place[0]), place[1], batch)
                found = counts.setdefault(place, [0, 0, offset])
                found[:2] = found[0] + count, found[1] + 1

        with ClusterClient(bootstrap_servers, security=security) as target:
            outgoing = Outgoing(partitions, send)
            for chunk in chunks:
                outgoing.add(chunk)
            outgoing.flush()
        rows = [(names.get(topic, topic), partition, *each, topic) for (topic, partition), each in counts.items()]
        named = [dict(zip(schema.names, row, strict=True)) for row in rows]
        yield pyarrow.RecordBatch.from_pylist(named, schema=schema)

    written = columns.mapInArrow(write, _RESULT).collect()
    return spark.createDataFrame(written, _RESULT)


def archived_rows(spark: SparkSession, folder: str) -> DataFrame:
    """The rows of an archive, as they were written."""
    kinds = {**COLUMNS, "timestamp_ms": "bigint"}
    return spark.read.schema(", ".join(f"{name} {kinds[name]}" for name in _FILE)).parquet(folder)


def _check_archive(spark: SparkSession, folder: str) -> None:
    """ValueError for a folder with other files. A folder without files is an empty archive."""
    from pyspark.errors import AnalysisException

    try:
        found = spark.read.parquet(folder).columns
    except AnalysisException as error:
        if error.getCondition() != "UNABLE_TO_INFER_SCHEMA":
            raise
        return
    if missing := [name for name in ("topic", "partition", "offset", "timestamp_ms", "value") if name not in found]:
        raise ValueError(f"{folder} is no archive: its files have no column {', '.join(missing)}")


_IN_BATCH_HEADERS = ("topic", "partition", "base_offset", "producer_id", "transactional", "control")


def archived(
    spark: SparkSession,
    place: LogPlace,
    folder: str,
    topics: Sequence[str] | None = None,
    *,
    read_committed: bool = True,
) -> dict[str, DataFrame]:
    """The tables of a new archive of a place; the arguments are those of `archive`.

    ``archived``: a row for each partition: records, first and last offset, first and last time, and bytes of its files.
    With ``read_committed`` also the numbers of records that are missing: ``aborted``, ``open`` (in an open transaction)
    and ``later`` (after an open transaction, or written since). These are counted by the batch headers of the place.
    ``activity``: records of each second, by topic.
    """
    rows = archived_rows(spark, folder)
    held = _partitions(rows)
    if read_committed:
        seen = _by_outcome(place.read(spark, topics, columns=_IN_BATCH_HEADERS, includeControl="true"))
        held = held.join(seen, ["topic", "partition"], "full").selectExpr(
            "topic",
            "partition",
            "coalesce(records, 0L) as records",
            "coalesce(aborted, 0L) as aborted",
            "coalesce(open, 0L) as open",
            "greatest(coalesce(committed, 0L) - coalesce(records, 0L), 0L) as later",
            *held.columns[3:],
        )
    return {"archived": held.orderBy("topic", "partition"), "activity": _activity(rows)}


def replayed(spark: SparkSession, folder: str, sent: DataFrame) -> dict[str, DataFrame]:
    """The tables of a replay of an archive, from the result of `replay`.

    ``sent``: a row for each partition: its topic and offsets in the archive, and its topic, records, batches and first
    offset in the cluster. ``activity``: records of each second, by topic of the archive.
    """
    rows = archived_rows(spark, folder)
    origins = _partitions(rows).drop("records", "bytes")
    for name in ("topic", "first_offset", "last_offset"):
        origins = origins.withColumnRenamed(name, f"archived_{name}")
    pairs = origins.join(sent, ["archived_topic", "partition"])
    times = ("first_time", "last_time")
    pairs = pairs.select(*(name for name in pairs.columns if name not in times), *times)
    return {"sent": pairs.orderBy("archived_topic", "partition"), "activity": _activity(rows)}


def _partitions(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    by_file = rows.groupBy("topic", "partition", "_metadata.file_path").agg(
        f.count("*").alias("records"),
        f.expr("first(_metadata.file_size)").alias("bytes"),
        f.min("offset").alias("first_offset"),
        f.max("offset").alias("last_offset"),
        f.min("timestamp_ms").alias("first_ms"),
        f.max("timestamp_ms").alias("last_ms"),
    )
    return by_file.groupBy("topic", "partition").agg(
        f.sum("records").alias("records"),
        f.min("first_offset").alias("first_offset"),
        f.max("last_offset").alias("last_offset"),
        f.timestamp_millis(f.min("first_ms")).alias("first_time"),
        f.timestamp_millis(f.max("last_ms")).alias("last_time"),
        f.sum("bytes").alias("bytes"),
    )


def _activity(rows: DataFrame) -> DataFrame:
    return records_by_second(rows.selectExpr("topic", "timestamp_millis(timestamp_ms) as timestamp"))


def _by_outcome(records: DataFrame) -> DataFrame:
    """The numbers of aborted records, of records in open transactions, and of others, by partition."""
    from pyspark.sql import functions as f

    batches = records.groupBy(*_IN_BATCH_HEADERS).agg(f.count("*").alias("records"))
    ended = with_outcome(batches.withColumnRenamed("base_offset", "offset")).where("control is null")
    kinds = {
        "aborted": "transactional and outcome <=> 'abort'",
        "open": "transactional and outcome is null",
        "committed": "not transactional or outcome <=> 'commit'",
    }
    sums = [f.expr(f"sum(if({which}, records, 0L))").alias(name) for name, which in kinds.items()]
    return ended.groupBy("topic", "partition").agg(*sums)
