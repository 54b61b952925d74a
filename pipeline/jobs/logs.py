"""The source of a job: a log directory or a cluster. Also what the jobs share: headers, and times in tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.client_security.options import ClientSecurity
from odradek.pipeline.cluster_client import ClusterClient
from odradek.pipeline.log_folder import partitions_in
from odradek.pipeline.rows import COLUMNS, schema_of
from odradek.pipeline.source_options import MissingTopicError
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader


@dataclass(frozen=True)
class LogPlace:
    """A log directory (``path``) or a cluster (``bootstrap_servers``).

    ``security``: client options for the log-in, such as ``security.protocol``, by Java's or librdkafka's names.
    """

    path: str | None = None
    bootstrap_servers: str | None = None
    security: Mapping[str, str] = field(default_factory=dict, repr=False)

    def client(self) -> ClusterClient:
        """A new client of the cluster."""
        return ClusterClient(self.bootstrap_servers or "", security=ClientSecurity.parse(self.security))

    def read(
        self,
        spark: SparkSession,
        topics: Sequence[str] | None = None,
        *,
        columns: Sequence[str] = tuple(COLUMNS),
        **options: str,
    ) -> DataFrame:
        """The records of the topics (default: all), with the columns of `odradek.pipeline.rows` (default: all)."""
        reader = spark.read.format("odradek").options(**options)
        if len(columns) < len(COLUMNS):
            reader = reader.schema(schema_of(columns))
        return self._loaded(reader, topics)

    def stream(self, spark: SparkSession, topics: Sequence[str] | None = None, **options: str) -> DataFrame:
        """The same as a stream, with all columns."""
        return self._loaded(spark.readStream.format("odradek").options(**options), topics)

    def _loaded(self, reader: DataFrameReader | DataStreamReader, topics: Sequence[str] | None) -> DataFrame:
        if topics is not None:
            reader = reader.option("subscribe", ",".join(topics))
        if self.path is not None:
            return reader.load(self.path)
        reader = reader.option("kafka.bootstrap.servers", self.bootstrap_servers or "")
        reader = reader.options(**{f"kafka.{name}": value for name, value in self.security.items()})
        return (reader if topics is not None else reader.option("subscribePattern", ".*")).load()


class Readable(NamedTuple):
    """The topics of a place by the user's rights, each list sorted."""

    topics: list[str]
    refused: list[str]
    """The topics that the user may not read. A topic that the user may not describe is unknown unless it is named."""


def readable_topics(place: LogPlace, asked: Iterable[str] = ()) -> Readable:
    """The topics by the user's rights. ``asked``: names that count as refused if the user may not describe them."""
    if place.path is not None:
        return Readable(sorted(_stored(place.path)), [])
    with place.client() as client:
        may_read = client.readable_topics()
        for name in asked:
            if name not in may_read and not _may_describe(client, name):
                may_read[name] = False
    return Readable(*(sorted(name for name, may in may_read.items() if may is which) for which in (True, False)))


def _may_describe(client: ClusterClient, topic: str) -> bool:
    try:
        client.topics([topic], missing_ok=True)
    except KafkaError as error:
        if error.code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            raise
        return False
    return True


def existing_topics(place: LogPlace, topics: Sequence[str]) -> set[str]:
    """Those of the topics that exist. KafkaError for one that the user may not describe."""
    if place.path is not None:
        return _stored(place.path) & set(topics)
    with place.client() as client:
        return set(client.topics(topics, missing_ok=True))


def check_topics(place: LogPlace, topics: Sequence[str]) -> None:
    """MissingTopicError for missing topics, FileNotFoundError for a folder that is not a log directory."""
    if topics or place.path is not None:
        there = existing_topics(place, topics)
        if missing := [topic for topic in topics if topic not in there]:
            raise MissingTopicError(missing)


def _stored(folder: str) -> set[str]:
    return {topic for topic, _ in partitions_in(Path(folder))}


def last_header(name: str) -> Column:
    """The value of a record's last header with this name. Null if there is none."""
    from pyspark.sql import functions as f

    found: Any = f.filter("headers", lambda each: each["key"] == f.lit(name))
    return f.try_element_at(found, f.lit(-1))["value"]


_MOMENTS = frozenset({"start_ms", "update_ms", "end_ms"})


def with_times(table: DataFrame) -> DataFrame:
    """The table with timestamps instead of milliseconds since 1970, and names without the unit. -1 becomes null.

    ``time_ms`` becomes ``time``, ``commit_time_ms`` ``commit_time``, ``start_ms`` ``start_time``; ``timeout_ms`` stays.
    """
    return table.selectExpr(*map(_column, table.columns))


def _column(name: str) -> str:
    stem = name.removesuffix("_ms")
    if name in _MOMENTS:
        return _moment(name, f"{stem}_time")
    return _moment(name, stem) if name.endswith("time_ms") else name


def _moment(name: str, shown: str) -> str:
    return f"timestamp_millis(nullif({name}, -1L)) as {shown}"
