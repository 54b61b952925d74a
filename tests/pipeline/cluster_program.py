"""What the tests of a cluster run there and, to compare, in the local session; as a program it drives the cluster.

    python -m tests.pipeline.cluster_program jobs MASTER SETTINGS SERVERS FOLDER NAME

A second SparkContext in the process of the tests is impossible. The program writes its result as JSON into the folder,
which it shares with the workers and the test.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odradek.pipeline.jobs import archive, audit, groups, transactions
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry import RetryJob
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from odradek.pipeline.session import build_session
from tests.pipeline.standalone_cluster import PATIENCE_S, WORKER_NAME

if TYPE_CHECKING:
    import pyarrow as pa

    from odradek.pipeline.jobs.handlers import Message

ROWS = "partition int, offset bigint, value string"


# --- jobs -------------------------------------------------------------------------------------------------------------


def jobs(spark: Any, servers: str, folder: Path, name: str) -> dict[str, Any]:
    """The batch jobs, over the broker and over its log directory."""
    place, logs = LogPlace(bootstrap_servers=servers), LogPlace(path=str(folder / "data"))
    archived = str(folder / f"archive-{name}")
    return {
        "groups": _tables(groups.run(spark, place)),
        "transactions": _tables(transactions.run(spark, place, ["in"])),
        "audit": audit.run(spark, place, "in", by="key").lines(),
        "audit of a pair, in the folder": audit.run(spark, logs, "in", "out").lines(),
        "archive": archive.archive(spark, place, archived, ["in"]),
        "archived": _rows(spark.read.parquet(archived)),
        "replay": _rows(archive.replay(spark, archived, servers, rename={"in": f"again-{name}"}).drop("topic")),
    }


def _tables(tables: dict[str, Any]) -> dict[str, list[str]]:
    return {name: _rows(table) for name, table in tables.items()}


def _rows(table: Any) -> list[str]:
    return sorted(str(row.asDict(recursive=True)) for row in table.collect())


# --- streams ----------------------------------------------------------------------------------------------------------


def stream(spark: Any, servers: str, folder: Path, name: str) -> dict[str, Any]:
    """Rows go to parquet by one query; one that is stopped meanwhile counts them in its state. Both keep a checkpoint.

    The rows of late records are held until the test lets them go.
    """
    counts: list[list[str]] = []
    _count(spark, servers, folder, counts)
    query = _records(spark, servers).mapInArrow(_holding(str(folder), _is_late), ROWS).writeStream.format("parquet")
    query = query.option("path", str(folder / "rows")).option("checkpointLocation", str(folder / "checkpoint"))
    running = query.trigger(processingTime="200 milliseconds").start()
    _wait(folder / "all-sent", lambda: running.isActive or _fail(running.exception()))
    running.processAllAvailable()
    running.stop()
    _count(spark, servers, folder, counts)
    return {"counts": counts, "rows": _rows(spark.read.parquet(str(folder / "rows")))}


def _records(spark: Any, servers: str) -> Any:
    reader = spark.readStream.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", "in")
    return reader.load().selectExpr("partition", "offset", "cast(value as string) as value")


def _count(spark: Any, servers: str, folder: Path, told: list[list[str]]) -> None:
    """Have the counting query read what there is, and tell."""
    grouped = _records(spark, servers).groupBy("partition")
    counts = grouped.agg({"offset": "sum", "value": "count"}).writeStream.outputMode("complete")
    writer = counts.foreachBatch(lambda rows, _: told.append(_rows(rows)))
    query = writer.option("checkpointLocation", str(folder / "counting")).trigger(availableNow=True).start()
    assert query.awaitTermination(PATIENCE_S), "the counting query does not end"


def _holding(folder: str, at: Callable[[int, pa.RecordBatch], bool]) -> Any:
    """For `mapInArrow`: hold the task at some of its numbered batches."""

    def run(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, chunk in enumerate(chunks):
            if at(number, chunk):
                hold(folder)
            yield chunk

    return run


def _is_late(_: int, chunk: pa.RecordBatch) -> bool:
    return any(text.startswith("late") for text in chunk.column("value").to_pylist())


def effects(spark: Any, servers: str, folder: Path, name: str) -> dict[str, Any]:
    """What a handler makes of each record goes to a topic in transactions; it is held in the middle of its rows."""
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
    place = {"kafka.bootstrap.servers": servers}
    rows = spark.readStream.format("odradek").schema("key binary, value binary").options(**place, subscribe="in").load()
    writer = rows.mapInArrow(
        _holding(str(folder), lambda number, _: number == 1), "key binary, value binary"
    ).writeStream.format("odradek")
    writer = writer.options(**place, topic=f"effects-{name}", checkpointLocation=str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(PATIENCE_S), "the stream does not end"
    return {}


# --- retry ------------------------------------------------------------------------------------------------------------


def retry(spark: Any, servers: str, folder: Path, name: str) -> dict[str, Any]:
    """One pass of the retry job with a handler that fails, and that is held until the test lets it go."""
    held = str(folder)

    def handle(message: Message) -> None:
        hold(held)
        raise ValueError(f"no to {(message.value or b'').decode()}")

    policy = RetryPolicy("in", f"failed-{name}", delays=())
    job = RetryJob(servers, str(folder / "checkpoint"), handle, policy=policy)
    assert job.start(spark, once=True).awaitTermination(PATIENCE_S), "the retry job does not end"
    return {}


# --- the test and the tasks -------------------------------------------------------------------------------------------


def hold(folder: str) -> None:
    """In a task: leave a mark that says which task is under way on which worker, and wait for the test's word."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    worker = os.environ.get(WORKER_NAME, "local")
    marks = Path(folder) / "under-way"
    marks.mkdir(exist_ok=True)
    (marks / f"{worker}.{context.partitionId()}.{context.taskAttemptId()}").touch()
    _wait(Path(folder) / "go", lambda: True)


def _wait(file: Path, going: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not file.exists():
        if not going() or time.monotonic() > deadline:
            raise TimeoutError(f"nobody made {file.name}")
        time.sleep(0.02)


def _fail(error: Any) -> bool:
    raise RuntimeError(f"the query ended: {error}")


PROGRAMS: dict[str, Callable[[Any, str, Path, str], dict[str, Any]]] = {
    "jobs": jobs,
    "stream": stream,
    "effects": effects,
    "retry": retry,
}


def main(program: str, master: str, settings: str, servers: str, folder: str, name: str) -> None:
    spark = build_session(f"test of {program}", master=master, config=json.loads(settings))
    result = PROGRAMS[program](spark, servers, Path(folder), name)
    spark.stop()
    (Path(folder) / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
