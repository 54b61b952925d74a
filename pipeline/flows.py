"""The jobs as queries for flows of a declarative pipeline (`pyspark.pipelines`, from Spark 4.1 on), and their project.

`odradek pipeline init DIR` writes the files of the folder `project`, with a name and a place. A flow can also return a
table of `odradek.pipeline.jobs.groups` or the findings of `odradek.pipeline.jobs.audit`. Build the queries outside the
function of a flow: within it, Spark refuses everything that needs a schema.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.pipeline.archive_sink import ARCHIVE_COLUMNS
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable
from odradek.pipeline.jobs.handlers import BatchHandler, Calling, Handler, handling
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry import prepare_topics
from odradek.pipeline.jobs.retry_policy import ROW, RetryPolicy, next_step, parsed
from odradek.pipeline.session import register

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_ONE_CALL_EACH = Calling()


_ACCUMULATORS = "__python_accumulator__"


def session() -> SparkSession:
    """The session of the `spark-pipelines` command that reads a project's file. Registers the format `odradek`.

    Spark 4.2.0 reports the counters of a Python data source's planning. Its own client then ends with status 1 after a
    complete run. So the reports are removed.
    """
    from pyspark.sql import SparkSession

    spark = register(SparkSession.active())
    client: Any = spark.client
    fetch = client._execute_and_fetch_as_iterator

    def without_reports(*arguments: Any, **named: Any) -> Iterator[Any]:
        return (each for each in fetch(*arguments, **named) if getattr(each, "name", None) != _ACCUMULATORS)

    client._execute_and_fetch_as_iterator = without_reports
    return spark


def records(spark: SparkSession, place: LogPlace, topics: Sequence[str]) -> DataFrame:
    """The committed records of topics as a stream, with the columns of an archive."""
    rows = place.stream(spark, topics, isolation="read_committed")
    return rows.select(*ARCHIVE_COLUMNS)


def retry(
    spark: SparkSession,
    place: LogPlace,
    handler: Handler | BatchHandler,
    policy: RetryPolicy,
    calling: Calling = _ONE_CALL_EACH,
) -> DataFrame:
    """The output of a retry pipeline, as a stream for the sink `odradek`: one row for each failure.

    Each run calls the handler for the messages of the main topic and for due messages of the retry topics. A message
    that is not due is written to the end of its topic again. So only the offsets of the stream are stored, and the cost
    of a run grows with the waiting messages. `RetryJob` stores waiting messages in files and suits larger numbers. The
    topics have each message once, by the sink's transactions. The handler is called at least once for each message.

    Creates the retry topics and the failed topic if they are missing. Raises ValueError without the main topic.
    """
    from pyspark.sql import functions as f

    prepare_topics(place, policy)
    messages = parsed(records(spark, place, [policy.main_topic, *policy.retry_topics]), policy)
    timed = messages.selectExpr("*", "unix_millis(current_timestamp()) as now_ms")
    handled = timed.mapInArrow(_handling_due(handler, calling), f"{ROW}, now_ms bigint, error string")
    step = next_step(policy, f.col("now_ms"))
    early = f.col("due_ms") > f.col("now_ms")
    return handled.where(early | f.col("error").isNotNull()).select(
        f.when(early, f.col("topic")).otherwise(step.topic).alias("topic"),
        "key",
        "value",
        f.when(early, f.col("headers")).otherwise(step.headers).alias("headers"),
    )


def _handling_due(handler: Any, calling: Calling) -> Any:
    """The function for `mapInArrow`: due messages with the handler's error, other messages without one."""
    handle = handling(handler, calling)

    def run(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow
        import pyarrow.compute as pc

        early: list[pa.RecordBatch] = []

        def due() -> Iterator[pa.RecordBatch]:
            for chunk in chunks:
                waits = pc.greater(chunk["due_ms"], chunk["now_ms"])
                early.append(chunk.filter(waits))
                yield chunk.filter(pc.invert(waits))

        for chunk in handle(due()):
            yield chunk
            for rest in early:
                nulls = pyarrow.nulls(rest.num_rows, pyarrow.string())
                yield pyarrow.RecordBatch.from_arrays([*rest.columns, nulls], names=[*rest.schema.names, "error"])
            early.clear()

    return run


TEMPLATE = Path(__file__).with_name("project")
_SPEC = "spark-pipeline.yml"


def check_pipelines(spark: InstalledSpark) -> None:
    """PipelineUnavailable if this Spark has no declarative pipelines, or if a package for them is missing."""
    if spark.minor < (4, 1):
        raise PipelineUnavailable(f"declarative pipelines need Spark 4.1 or later, this is {spark.version}")
    for name in ("grpc", "grpc_status", "yaml", "zstandard"):
        try:
            importlib.import_module(name)
        except ImportError:
            wanted = f"pip install 'pyspark[pipelines]=={spark.version}'"
            raise PipelineUnavailable(f"declarative pipelines need the package {name}: {wanted}") from None


def write_project(folder: Path) -> list[Path]:
    """Write a project into a new or empty folder; return its files. ValueError if something is in it."""
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already, and not empty")
    written = []
    for source in sorted(TEMPLATE.rglob("*")):
        if source.suffix not in (".py", ".yml"):
            continue
        target = folder / source.relative_to(TEMPLATE)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text()
        if source.name == _SPEC:
            text = text.format(name=folder.name, storage=(folder / "storage").as_uri())
        target.write_text(text)
        written.append(target)
    return written
