"""The retry pipeline: a failed message is retried after growing delays, and the other messages do not wait for it.

One Structured Streaming query reads the main topic and the retry topics (`odradek.pipeline.source`). Each micro-batch

1. writes its time (`plan/<batch>.json`), so that a repeated micro-batch decides as the first attempt did;
2. stores messages that are not due in `pending/bucket=<minute due>/batch=<batch>`, and reads those that became due
   after the time of the micro-batch before, up to its own. So no message is read twice, and no file is rewritten;
3. calls the handler with the due messages, and stores the failures (`outcome/<batch>`) before it writes to a topic;
4. writes each failure to the topic of its next delay, or to the failed topic, in transactions with the number of the
   micro-batch (`odradek.pipeline.sink`). A repeated micro-batch gives each task the same failures; the sink aborts them
   if they were committed before.

So a crash neither loses nor duplicates a message for readers of committed records. The handler may be called again for
a message whose outcome was not stored yet. No task sleeps: a waiting message is a row in a file, and a micro-batch each
second (or each ``poll_interval``) reads the due minutes. Its cost grows only with its new and its due messages.

Identity of an attempt: the headers ``retry_origin`` (topic, partition, offset) and ``retry_number``.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.pipeline.jobs.handlers import BatchHandler, Calling, Handler, handling, handling_in_order
from odradek.pipeline.jobs.logs import LogPlace, check_topics
from odradek.pipeline.jobs.retry_policy import (
    COLUMNS,
    RETRY_ERROR,
    ROW,
    RetryPolicy,
    due_after,
    header_text,
    next_step,
    other_headers,
    parsed,
)
from odradek.pipeline.jobs.state_folder import StateFolder, has_unfinished_batch
from odradek.pipeline.rows import schema_of
from odradek.pipeline.session import register
from odradek.pipeline.source_options import LIMITS_KNOWN, RetryOptions, check_limit
from odradek.pipeline.streaming import with_brief_errors
from odradek.pipeline.transaction_writer import ENDED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_BUCKET_MS = 60_000
_CLAIM = "job.json"
_WRITER = "writer.json"
_STATE_VERSION = 2
"""The version of the files in the checkpoint. A version of the job with other files has another number."""
_ROWS_OF_TASK = 25_000
_MOST_TASKS = 100
"""The number of failures alone determines the number of tasks that write them. So a repeated micro-batch has as many
tasks. A change of these numbers is a new _STATE_VERSION."""
_READ = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_ATTEMPTS_TO_WRITE = 3
_TRANSACTION_ENDED = re.compile(f"KafkaError: (?:{'|'.join(code.name for code in ENDED)})")
"""The errors after the timeout has ended an open transaction, as when a test moves the clock. It is written again."""
_OUTCOME = "error string, behind int, behind_origin string"
_BLOCKED = "key binary, origin string, retry_number int, due_ms bigint"


class BatchReport(NamedTuple):
    """The results of one micro-batch."""

    batch: int
    now_ms: int
    """The time of the micro-batch."""
    arrived: int
    """Messages read from the topics."""
    due: int
    """Due messages, from the topics or from the waiting ones."""
    failed: Mapping[str, int]
    """Failures by target topic."""
    errors: Mapping[str, tuple[str, str]]
    """Origin and error of one failure of each of these topics."""
    repeated: bool
    """Whether it is a repetition."""
    took_s: float
    """Seconds from the start to the last write."""


def wall_clock_ms() -> int:
    """The machine's time."""
    return time.time_ns() // 1_000_000


@dataclass
class RetryJob:
    """The parameters of a retry pipeline; :meth:`start` runs it.

    ``handler``: called for each message, or with ``by_batch`` for several messages. ``checkpoint``: a folder for this
    job alone, on a file system that driver and executors share. ``now_ms``: the clock, read once for each micro-batch
    on the driver.
    ``kafka``: options of the source and the sink (``kafka.security.protocol``, ``maxOffsetsPerTrigger``,
    ``transactionalId``, ...).
    ``on_batch``: called after the writes of each micro-batch and before its commit.
    ``create_topics``: create a missing retry topic or failed topic, with ``partitions`` partitions (default: the
    partition count of the main topic).
    ``in_order``: handle the messages of a key in order. While one of them waits for its retry, later ones are held. A
    message in the failed topic holds no other. Messages without a key have no order.
    ``isolated``: run the handler in a child process. A message that ends this process, or takes longer than
    ``timeout_s``, is a failure. It needs a system that forks.
    """

    bootstrap_servers: str
    checkpoint: str
    handler: Handler | BatchHandler
    by_batch: bool = False
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    now_ms: Callable[[], int] = wall_clock_ms
    poll_interval: str = "1 second"
    kafka: Mapping[str, str] = field(default_factory=dict)
    on_batch: Callable[[BatchReport], None] | None = None
    create_topics: bool = True
    partitions: int | None = None
    in_order: bool = False
    isolated: bool = False
    timeout_s: float | None = None
    options: RetryOptions = field(init=False)

    def __post_init__(self) -> None:
        self.options = RetryOptions.parse(self.bootstrap_servers, self.kafka)
        if self.in_order and self.by_batch:
            raise ValueError("a handler of batches gets messages together: order within a key takes one at a time")
        if self.timeout_s is not None and not self.isolated:
            raise ValueError("only a handler that is isolated can be ended after a time")

    def start(self, spark: SparkSession, *, once: bool = False) -> StreamingQuery:
        """Start the query. ``once``: end when all present and due messages are processed.

        ValueError for a missing topic, and for the checkpoint of another pipeline. KafkaError if the topics cannot be
        described or created.
        """
        check_limit(self.options.max_offsets)
        state = StateFolder(spark, f"{self.checkpoint}/state")
        self._check_claim(state)
        self.prepare_topics()
        claim = {**self._identity(), "retry": self.policy.retry_topics}
        if state.read_json(_CLAIM) != claim:
            state.write_json(_CLAIM, claim)
        name = self._transactional_id(state)
        writer = self._input(spark).writeStream.queryName(f"retry {self.policy.main_topic}")
        if not once:
            writer = writer.trigger(processingTime=self.poll_interval)

        def process(rows: DataFrame, number: int) -> None:
            _Batch(self, spark, state, number, name).run(rows)

        writer = writer.foreachBatch(with_brief_errors(process))
        folder = f"{self.checkpoint}/query"
        if once:
            return _started_once(spark, writer, folder)[-1]
        return writer.option("checkpointLocation", folder).start()

    def missing_topics(self) -> list[str]:
        """The topics that `start` will create. Raises the errors of `start`."""
        return list(_missing(self.place, self.policy, self.partitions, create=self.create_topics))

    def prepare_topics(self) -> list[str]:
        """Create the missing topics of the pipeline and return their names. Raises the errors of `start`."""
        return prepare_topics(self.place, self.policy, create=self.create_topics, partitions=self.partitions)

    @property
    def place(self) -> LogPlace:
        """The cluster of the job."""
        return LogPlace(bootstrap_servers=self.bootstrap_servers, security=self.options.security)

    def check_replay(self) -> None:
        """ValueError if `replay_failed` lacks a topic."""
        check_topics(self.place, [self.policy.failed_topic, self.policy.main_topic])

    def _transactional_id(self, state: StateFolder) -> str:
        """The prefix of the checkpoint's transactional ids. It is made once."""
        known = state.read_json(_WRITER)
        if known is None:
            known = {"transactional_id": f"{self.options.transactional_id or 'odradek'}-{uuid.uuid4().hex}"}
            state.write_json(_WRITER, known)
        return str(known["transactional_id"])

    def _identity(self) -> dict[str, Any]:
        return {"version": _STATE_VERSION, "main": self.policy.main_topic, "failed": self.policy.failed_topic}

    def _check_claim(self, state: StateFolder) -> None:
        """ValueError if the checkpoint belongs to another pipeline, or would lose messages."""
        mine, known = self._identity(), state.read_json(_CLAIM)
        if known is not None:
            where = f"the checkpoint {self.checkpoint}"
            if known["version"] != _STATE_VERSION:
                raise ValueError(
                    f"{where} is of version {known['version']} of the job, this one has {_STATE_VERSION}: "
                    "end it with the version that began it, or give the job a new one"
                )
            for word in ("main", "failed"):
                if known[word] != mine[word]:
                    raise ValueError(f"{where} has the {word} topic {known[word]}, the job has {mine[word]}")
            if dropped := sorted(set(known["retry"]) - set(self.policy.retry_topics)):
                raise ValueError(
                    f"{where} has messages of {', '.join(dropped)}, which the job's delays no longer use: "
                    "keep the delay, or give the job a new checkpoint"
                )
        writer, wanted = state.read_json(_WRITER), self.options.transactional_id
        if writer is not None and wanted not in (None, writer["transactional_id"].rpartition("-")[0]):
            raise ValueError(
                f"the checkpoint {self.checkpoint} has the transactional id {writer['transactional_id']}, which does "
                f"not begin with {wanted}: leave the option transactionalId as it was, or give the job a new checkpoint"
            )

    def replay_failed(self, spark: SparkSession) -> int:
        """Send the messages of the failed topic since the last replay to the main topic, without their retry headers.

        Returns their number. The checkpoint has the progress: the next replay continues an interrupted one, and each
        message is sent once. ValueError for a missing topic.
        """
        check_limit(self.options.max_offsets)
        self.check_replay()
        failed = self._records(spark, [self.policy.failed_topic])
        failed = failed.select("key", "value", other_headers().alias("headers"))
        writer = failed.writeStream.format("odradek").options(**self.options.sink, topic=self.policy.main_topic)
        queries = _started_once(spark, writer, f"{self.checkpoint}/replay")
        queries[-1].awaitTermination()
        return sum(int(progress["numInputRows"]) for query in queries for progress in query.recentProgress)

    def _records(self, spark: SparkSession, topics: list[str]) -> DataFrame:
        """The committed records of topics, as a stream."""
        reader = register(spark).readStream.format("odradek").options(**self.options.source)
        reader = reader.options(subscribe=",".join(topics), isolation="read_committed")
        return reader.schema(schema_of(_READ)).load()

    def _input(self, spark: SparkSession) -> DataFrame:
        """The messages, and a tick without a topic. The tick starts a micro-batch even without new messages."""
        messages = parsed(self._records(spark, [self.policy.main_topic, *self.policy.retry_topics]), self.policy)
        tick = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        return messages.unionByName(tick.selectExpr("cast(null as string) as topic"), allowMissingColumns=True)


def _started_once(spark: SparkSession, writer: DataStreamWriter, checkpoint: str) -> list[StreamingQuery]:
    """Start the queries that read all present messages. The last one is still running.

    Before 4.2, Spark ends a query of a Python source after one micro-batch. That is the interrupted one, if there is
    one. So a second query is needed then.
    """
    writer = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True)
    queries = []
    if not LIMITS_KNOWN and has_unfinished_batch(spark, checkpoint):
        queries.append(writer.start())
        queries[0].awaitTermination()
    return [*queries, writer.start()]


def prepare_topics(
    place: LogPlace, policy: RetryPolicy, *, create: bool = True, partitions: int | None = None
) -> list[str]:
    """Create the missing topics of a pipeline and return their names. ``partitions``: default as the main topic.

    ValueError for a missing main topic, and for another missing topic unless ``create``. KafkaError if the topics
    cannot be described or created.
    """
    if missing := _missing(place, policy, partitions, create=create):
        with place.client() as client:
            client.create_topics(missing)
    return list(missing)


def _missing(place: LogPlace, policy: RetryPolicy, partitions: int | None, *, create: bool) -> dict[str, int]:
    """The missing topics, each with the partition count that it will have."""
    with place.client() as client:
        found = client.topics(policy.all_topics, missing_ok=True)
    if policy.main_topic not in found:
        raise ValueError(f"no topic {policy.main_topic}")
    missing = [name for name in policy.all_topics if name not in found]
    if missing and not create:
        raise ValueError(f"no topic {', '.join(missing)}: create them, or let the job do it")
    return dict.fromkeys(missing, partitions or len(found[policy.main_topic]))


class _Batch:
    """One micro-batch."""

    def __init__(
        self, job: RetryJob, spark: SparkSession, state: StateFolder, number: int, transactional_id: str
    ) -> None:
        self.began_s = time.monotonic()
        self.errors: dict[str, tuple[str, str]] = {}
        self.transactional_id = transactional_id
        self.job, self.spark, self.state, self.number = job, spark, state, number
        self.policy = job.policy
        before = state.read_json(f"plan/{number - 1}.json")
        self.previous_ms = int(before["now_ms"]) if before else -1
        plan = state.read_json(f"plan/{number}.json")
        self.repeated = plan is not None
        self.now_ms = int(plan["now_ms"]) if plan else max(job.now_ms(), self.previous_ms)
        if not plan:
            state.write_json(f"plan/{number}.json", {"now_ms": self.now_ms})

    def run(self, rows: DataFrame) -> None:
        self._forget_finished()
        messages = self._messages(rows).persist()
        try:
            arrived, early, due = self._counts(messages)
            waiting = [messages.where(f"due_ms > {self.now_ms}").drop("arrived")] if early else []
            failed: dict[str, int] = {}
            if due:
                ready = messages.where(f"due_ms <= {self.now_ms}").drop("arrived")
                failed, held = self._process(ready)
                waiting += held
            if waiting:
                self._park(reduce(lambda one, other: one.unionByName(other), waiting))
        finally:
            messages.unpersist()
        if self.job.on_batch is not None:
            took_s = time.monotonic() - self.began_s
            self.job.on_batch(
                BatchReport(self.number, self.now_ms, arrived, due, failed, self.errors, self.repeated, took_s)
            )

    # -- what came, and what is due

    def _messages(self, rows: DataFrame) -> DataFrame:
        """The new messages and the stored ones that are due. The column ``arrived`` marks the new ones."""
        messages = rows.where("topic is not null").selectExpr("*", "true as arrived")
        pending = self._came_due()
        return messages if pending is None else messages.unionByName(pending.selectExpr("*", "false as arrived"))

    def _counts(self, messages: DataFrame) -> tuple[int, int, int]:
        """The numbers of new, early and due messages. Most micro-batches have none."""
        columns = ("arrived", f"due_ms > {self.now_ms}", f"due_ms <= {self.now_ms}")
        (counts,) = messages.selectExpr(*(f"count_if({column})" for column in columns)).collect()
        return (counts[0], counts[1], counts[2])

    def _park(self, rows: DataFrame) -> None:
        bucketed = rows.selectExpr("*", f"due_ms div {_BUCKET_MS} as bucket", f"{self.number} as batch")
        writer = bucketed.coalesce(1).write.mode("overwrite").option("partitionOverwriteMode", "dynamic")
        writer.partitionBy("bucket", "batch").parquet(self.state.path("pending"))

    def _came_due(self) -> DataFrame | None:
        """The stored messages that became due since the last micro-batch."""
        paths = [
            self.state.path(f"pending/bucket={bucket}")
            for bucket in self._buckets()
            if bucket * _BUCKET_MS <= self.now_ms and (bucket + 1) * _BUCKET_MS > self.previous_ms
        ]
        if not paths:
            return None
        reader = self.spark.read.schema(f"{ROW}, bucket bigint, batch bigint")
        rows = reader.option("basePath", self.state.path("pending")).parquet(*paths)
        due = f"due_ms > {self.previous_ms} and due_ms <= {self.now_ms} and batch < {self.number}"
        return rows.where(due).drop("bucket", "batch")

    def _buckets(self) -> list[int]:
        prefix = "bucket="
        return [int(name[len(prefix) :]) for name in self.state.names("pending") if name.startswith(prefix)]

    def _forget_finished(self) -> None:
        """Delete files that only committed micro-batches needed."""
        for bucket in self._buckets():
            if (bucket + 1) * _BUCKET_MS <= self.previous_ms:
                self.state.delete(f"pending/bucket={bucket}")
        current = self._blocked_since()
        for number in map(int, self.state.names("order")):
            if current is not None and number < current:
                self.state.delete(f"order/{number}")
        self.state.delete(f"outcome/{self.number - 1}")
        self.state.delete(f"plan/{self.number - 2}.json")

    # -- processing and writing

    def _process(self, due: DataFrame) -> tuple[dict[str, int], list[DataFrame]]:
        """Call the handler with the due messages, and write the failures.

        Returns the numbers of failures by topic, and the messages that are held.
        """
        from pyspark.sql import functions as f

        held: list[DataFrame] = []
        blocked = self._blocked() if self.job.in_order else None
        if blocked is not None:
            due, early = self._split(due, blocked)
            held.append(early)
        outcome = f"outcome/{self.number}"
        if not self.state.exists(f"{outcome}/_SUCCESS"):
            self._handled(due).write.mode("overwrite").parquet(self.state.path(outcome))
        found = self.spark.read.schema(f"{ROW}, {_OUTCOME}").parquet(self.state.path(outcome))
        output = self._next_steps(found.where("error is not null")).persist()
        try:
            example = (f.first("origin"), f.first(header_text(RETRY_ERROR)))
            failed = output.groupBy("topic").agg(f.count("*"), *example).collect()
            counts = {topic: int(count) for topic, count, *_ in failed}
            self.errors = {topic: (origin, error) for topic, _, origin, error in failed}
            if counts:
                self._write(output, sum(counts.values()))
            if self.job.in_order and (counts or blocked is not None):
                self._block(due, blocked, output)
                held.append(self._behind(found))
        finally:
            output.unpersist()
        return counts, held

    def _handled(self, messages: DataFrame) -> DataFrame:
        """The failed and the held messages, with the columns of an outcome."""
        from pyspark.sql import functions as f

        job = self.job
        calling = Calling(job.by_batch, job.isolated, job.timeout_s)
        if not job.in_order:
            handle = handling(job.handler, calling)
            # The due messages are in few files. So they are spread over all tasks.
            spread = messages.repartition("origin")
            return spread.mapInArrow(handle, f"{ROW}, error string").where("error is not null")
        place = f.split("origin", "/")
        offset = [f.try_element_at(place, f.lit(at)).try_cast("bigint") for at in (-2, -1)]
        by_key = messages.repartition(f.coalesce("key", f.col("origin").cast("binary")))
        ordered = by_key.sortWithinPartitions("key", *offset, "retry_number")
        handle = handling_in_order(job.handler, len(self.policy.steps), calling)
        handled = ordered.mapInArrow(handle, f"{ROW}, {_OUTCOME}")
        return handled.where("error is not null or behind is not null")

    # -- order within a key

    def _blocked(self) -> DataFrame | None:
        """The attempt that each key waits for, from the last micro-batch that changed it."""
        number = self._blocked_since()
        if number is None:
            return None
        return self.spark.read.schema(_BLOCKED).parquet(self.state.path(f"order/{number}"))

    def _blocked_since(self) -> int | None:
        before = [number for number in map(int, self.state.names("order")) if number < self.number]
        return max((number for number in before if self.state.exists(f"order/{number}/_SUCCESS")), default=None)

    def _split(self, due: DataFrame, blocked: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The messages to handle, and those whose key waits for an attempt that is not in this micro-batch."""
        absent = blocked.join(due.select("origin", "retry_number"), ["origin", "retry_number"], "left_anti")
        marked = due.join(absent.selectExpr("key", "due_ms as until_ms"), "key", "left")
        held = marked.where("until_ms is not null").drop("due_ms")
        held = held.selectExpr("*", f"greatest(until_ms, {self.now_ms + 1}) as due_ms")
        return marked.where("until_ms is null").select(*due.columns), held.select(*due.columns)

    def _behind(self, outcome: DataFrame) -> DataFrame:
        """The messages that a failure of this micro-batch holds until its retry is due."""
        from pyspark.sql import functions as f

        held = outcome.where("behind is not null").drop("due_ms")
        due = due_after(self.policy, f.lit(self.now_ms), f.col("behind"), f.col("behind_origin")).alias("due_ms")
        return held.select(*(due if name == "due_ms" else name for name in COLUMNS))

    def _block(self, handled: DataFrame, blocked: DataFrame | None, output: DataFrame) -> None:
        """Write the attempts that keys wait for after this micro-batch."""
        now = output.where("due_ms is not null and key is not null").select("key", "origin", "retry_number", "due_ms")
        if blocked is not None:
            done = handled.select("origin", "retry_number")
            now = now.unionByName(blocked.join(done, ["origin", "retry_number"], "left_anti"))
        now.write.mode("overwrite").parquet(self.state.path(f"order/{self.number}"))

    def _next_steps(self, failures: DataFrame) -> DataFrame:
        """Failures as messages for the topic of the next delay, or for the failed topic."""
        from pyspark.sql import functions as f

        step = next_step(self.policy, f.lit(self.now_ms))._asdict()
        return failures.select("key", "value", "origin", *(column.alias(name) for name, column in step.items()))

    def _write(self, output: DataFrame, count: int) -> None:
        """Write the rows. ``count``: their number. A repeated micro-batch gives each task the same rows."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        tasks = min(-(-count // _ROWS_OF_TASK), _MOST_TASKS)
        spread = output.coalesce(1) if tasks == 1 else output.repartition(tasks, "origin")
        writer = spread.select("topic", "key", "value", "headers").write.format("odradek").mode("append")
        writer = writer.options(**self.job.options.sink).options(transactionalId=self.transactional_id)
        writer = writer.option("batchId", self.number)
        for left in reversed(range(_ATTEMPTS_TO_WRITE)):
            try:
                writer.save()
                return
            except (PySparkException, Py4JError) as error:
                if not left or not _TRANSACTION_ENDED.search(str(error)):
                    raise
