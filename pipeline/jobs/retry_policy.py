"""The rules of the retry pipeline: the topics, the delays, and messages as rows with their headers.

A failed message goes to the topic of its next delay, and waits there until it is due. Without a delay left, it goes to
the failed topic. Each distinct delay has its own topic. So the messages of a topic become due in the order of the log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RETRY_NUMBER = "retry_number"
RETRY_TIMESTAMP = "retry_timestamp"
RETRY_ORIGIN = "retry_origin"
RETRY_ERROR = "retry_error"
HEADERS = (RETRY_NUMBER, RETRY_TIMESTAMP, RETRY_ORIGIN, RETRY_ERROR)
"""The headers that the pipeline sets: number of the next retry; its due time (milliseconds since 1970); topic,
partition and offset of the original message (``main_topic/3/127``); the last error. All are text."""

DEFAULT_DELAYS = ("5m", "5m", "30m", "30m", "30m", "1h")
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Step(NamedTuple):
    """The target topic of a failed message, and its delay there."""

    topic: str
    delay_ms: int


def parse_delay(text: str) -> int:
    """``90s``, ``5m``, ``1h``: milliseconds. ValueError for anything else."""
    found = re.fullmatch(r"(\d+)\s*(ms|s|m|h|d)", text.strip())
    if found is None or not int(found[1]):
        raise ValueError(f"a delay is a number with ms, s, m, h or d, not {text!r}")
    return int(found[1]) * _UNITS_MS[found[2]]


@dataclass(frozen=True)
class RetryPolicy:
    """The topics and delays of a retry pipeline.

    ``delays``: the n-th delay follows the n-th failure. ``topics``: delay to topic name (default:
    ``retry_<delay>_topic``). ``jitter``: 0 to 1; each delay grows by up to this part of it, so that messages that
    failed together do not return together.
    """

    main_topic: str = "main_topic"
    failed_topic: str = "failed_topic"
    delays: Sequence[str] = DEFAULT_DELAYS
    topics: Mapping[str, str] = field(default_factory=dict)
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.jitter <= 1:
            raise ValueError(f"jitter is a part of the delay, from 0 to 1, not {self.jitter}")
        for delay in self.delays:
            parse_delay(delay)
        if unknown := set(self.topics) - set(self.delays):
            raise ValueError(f"topics for delays that do not occur: {', '.join(sorted(unknown))}")
        names = self.all_topics
        if len(set(names)) < len(names):
            raise ValueError(f"the topics of a retry pipeline differ from one another: {', '.join(names)}")

    @property
    def steps(self) -> list[Step]:
        """The step after the first failure, after the second, ..."""
        return [Step(self.topic_for(delay), parse_delay(delay)) for delay in self.delays]

    def topic_for(self, delay: str) -> str:
        """The topic in which messages wait for a delay."""
        return self.topics.get(delay, f"retry_{delay.replace(' ', '')}_topic")

    @property
    def retry_topics(self) -> list[str]:
        """The topics of the delays, each once."""
        return list(dict.fromkeys(self.topic_for(delay) for delay in dict.fromkeys(self.delays)))

    @property
    def output_topics(self) -> list[str]:
        """The targets of the pipeline: the topics of the delays, and the failed topic."""
        return [*self.retry_topics, self.failed_topic]

    @property
    def all_topics(self) -> list[str]:
        """Every topic of the pipeline."""
        return [self.main_topic, *self.output_topics]

    def after_failure(self, retry_number: int) -> Step | None:
        """The step after a failed first attempt (0) or retry (1, 2, ...). None: the failed topic."""
        return self.steps[retry_number] if retry_number < len(self.delays) else None


COLUMNS = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp_ms": "bigint",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key: string, value: binary>>",
    "retry_number": "int",
    "due_ms": "bigint",
    "origin": "string",
}
ROW = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())

_PARTS = 1_000_000


class NextStep(NamedTuple):
    """The next step of a failure, as columns."""

    topic: Column
    headers: Column
    retry_number: Column
    due_ms: Column
    """Null: no retry is left."""


def next_step(policy: RetryPolicy, now_ms: Column) -> NextStep:
    """The next step of a failure: to the topic of its next delay, or to the failed topic."""
    from pyspark.sql import functions as f

    steps = policy.steps
    number = f.col("retry_number")
    topic = _choice([f.lit(step.topic) for step in steps], number, f.lit(policy.failed_topic))
    due = due_after(policy, now_ms, number, f.col("origin"))
    next_number = f.when(number < f.lit(len(steps)), number + 1).otherwise(number)
    ours = f.array(
        _made_header(RETRY_NUMBER, next_number),
        _made_header(RETRY_TIMESTAMP, due),
        _made_header(RETRY_ORIGIN, f.col("origin")),
        _made_header(RETRY_ERROR, f.col("error")),
    )
    ours = f.filter(ours, lambda each: each["value"].isNotNull())
    return NextStep(topic, f.concat(other_headers(), ours), next_number, due)


def due_after(policy: RetryPolicy, now_ms: Column, number: Column, origin: Column) -> Column:
    """The due time after a failed attempt with this number. Null if no retry is left.

    The jitter is a function of the attempt, so it is the same for a repetition.
    """
    from pyspark.sql import functions as f

    # A part from 0 to 1 that differs by message and attempt.
    part = f.pmod(f.xxhash64(origin, number), f.lit(_PARTS)) / f.lit(_PARTS) if policy.jitter else f.lit(0)
    delays = [f.lit(step.delay_ms) * (1 + part * f.lit(policy.jitter)) for step in policy.steps]
    return _choice([now_ms + delay.cast("bigint") for delay in delays], number, f.lit(None)).cast("bigint")


def parsed(records: DataFrame, policy: RetryPolicy) -> DataFrame:
    """Records of the main topic and the retry topics as messages, with the values of their headers.

    A message on the main topic has no retries yet.
    """
    from pyspark.sql import functions as f

    retried = f.col("topic") != f.lit(policy.main_topic)
    fresh = f.concat_ws("/", "topic", "partition", "offset")
    number = header_text(RETRY_NUMBER).try_cast("int")
    due = header_text(RETRY_TIMESTAMP).try_cast("bigint")
    return records.select(
        "topic",
        "partition",
        "offset",
        f.unix_millis("timestamp").alias("timestamp_ms"),
        "key",
        "value",
        "headers",
        # A message of another producer in a retry topic starts at retry 1 and is due at once.
        f.when(retried, f.coalesce(number, f.lit(1))).otherwise(0).cast("int").alias("retry_number"),
        f.when(retried, f.coalesce(due, f.lit(0))).otherwise(0).cast("bigint").alias("due_ms"),
        f.when(retried, f.coalesce(header_text(RETRY_ORIGIN), fresh)).otherwise(fresh).alias("origin"),
    )


def header_text(name: str) -> Column:
    """The last header with this name as text. Null if there is none."""
    from odradek.pipeline.jobs.logs import last_header  # it imports pyspark

    return last_header(name).cast("string")


def other_headers() -> Column:
    """The headers that the pipeline did not set."""
    from pyspark.sql import functions as f

    return f.filter(f.coalesce("headers", f.array()), lambda each: ~each["key"].isin(list(HEADERS)))


def _made_header(name: str, value: Column) -> Column:
    from pyspark.sql import functions as f

    return f.struct(f.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))


def _choice(options: list[Column], index: Column, otherwise: Column) -> Column:
    """The option with this index, else ``otherwise``."""
    from pyspark.sql import functions as f

    chosen = otherwise
    for number, option in enumerate(options):
        chosen = f.when(index == number, option).otherwise(chosen)
    return chosen
