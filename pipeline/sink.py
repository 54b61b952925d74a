"""The sink of the data source `odradek`: rows to a cluster, each task in a transaction that the driver ends.

A task writes under a transactional id of its own and leaves its transaction open. When all tasks are done the driver
commits them one after the other. Each transaction of a stream also commits the number of its micro-batch, as the offset
of a group that is named as the transactional id. A micro-batch that Spark repeats is written again, and aborted where
its number shows that it was committed before. So each row is there once for readers of committed records, as long as a
repeated micro-batch gives each task the same rows. The ids of a stream hold that of its query, which Spark keeps in the
checkpoint: a stream with a new checkpoint counts from its own beginning.
"""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamWriter, DataSourceWriter, WriterCommitMessage

from odradek.client_security import ClientSecurity
from odradek.client_security.options import security_options
from odradek.pipeline.cluster_client import ClusterClient, TopicPartition
from odradek.pipeline.source_options import OptionError, positive_number, security_of
from odradek.pipeline.transaction_writer import (
    Transaction,
    TransactionWriter,
    end_transaction,
    note_in_transaction,
    noted,
)
from odradek.protocol.partitioner import Partitioner
from odradek.protocol.records import Record

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp",),
}
_KNOWN = {
    "kafka.bootstrap.servers",
    "bootstrap.servers",
    "topic",
    "transactionalid",
    "transactiontimeout",
}
_IGNORED = {"checkpointlocation"}
"""Spark's own option, which it hands on."""
_DEFAULT_ID = "odradek"
_QUERY_ID = "sql.streaming.queryId"
"""Spark's name for the local property that holds the id of a streaming query; the checkpoint keeps the id."""
_TIMEOUT_MS = 600_000
_BATCH_BYTES = 256 * 1024
_RECORD_OVERHEAD = 64


@dataclass(frozen=True)
class SinkOptions:
    """Where to write: checked options."""

    bootstrap_servers: str
    topic: str | None
    transactional_id: str
    """The beginning of the tasks' transactional ids."""
    timeout_ms: int
    security: ClientSecurity

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> SinkOptions:
        """From the options of a writer, whose names are not case-sensitive; raises OptionError."""
        options = {name.lower(): value for name, value in given.items()}
        security = security_options(options, "kafka.")
        if "path" in options:
            raise OptionError("the sink writes to a cluster, not to files: `odradek pipeline archive` writes archives")
        if unknown := set(options) - _KNOWN - _IGNORED - {f"kafka.{name}" for name in security}:
            known = [*sorted(_KNOWN), "kafka.security.*", "kafka.sasl.*", "kafka.ssl.*"]
            raise OptionError(f"unknown option {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        servers = options.get("kafka.bootstrap.servers") or options.get("bootstrap.servers")
        if not servers:
            raise OptionError("writing needs kafka.bootstrap.servers")
        transactional_id = options.get("transactionalid") or _DEFAULT_ID
        timeout_ms = positive_number("transactionTimeout", options.get("transactiontimeout")) or _TIMEOUT_MS
        return cls(servers, options.get("topic"), transactional_id, timeout_ms, security_of(security))

    def client(self) -> ClusterClient:
        """A new client of the cluster."""
        return ClusterClient(self.bootstrap_servers, security=self.security)


@dataclass
class Written(WriterCommitMessage):
    """What a task wrote: its open transaction, and a partition in it; nothing without rows."""

    transaction: Transaction | None = None
    partition: TopicPartition | None = None


def check_columns(schema: StructType, topic: str | None) -> None:
    """OptionError for columns that a record has not, or without a value or a topic."""
    kinds = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, kind in kinds.items():
        if kind not in _COLUMNS.get(name, ()):
            known = ", ".join(f"{each} {' or '.join(types)}" for each, types in _COLUMNS.items())
            raise OptionError(f"no column {name} {kind} can be written; there are: {known}")
    if "value" not in kinds:
        raise OptionError("writing needs a column value")
    if "topic" not in kinds and topic is None:
        raise OptionError("writing needs the option topic, or a column topic")


class _Writer(ABC):
    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    @abstractmethod
    def _work(self) -> str:
        """The identity of what the tasks do together."""

    def write(self, iterator: Iterator[Any]) -> Written:
        first = next(iterator, None)
        if first is None:
            return Written()
        options = self._options
        with options.client() as client:
            writer = TransactionWriter(client, self._transactional_id(), options.timeout_ms)
            try:
                rows = _Rows(client, writer, options.topic)
                rows.add(first)
                for row in iterator:
                    rows.add(row)
                rows.flush()
            except BaseException:
                if writer.partitions:
                    end_transaction(client, writer.transaction, commit=False)
                raise
            return Written(writer.transaction, writer.partitions[0])

    def _transactional_id(self) -> str:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return f"{self._options.transactional_id}-{self._work()}-{context.partitionId()}"

    def _end(self, messages: Sequence[WriterCommitMessage | None], number: int | None, *, commit: bool) -> None:
        """End the transactions of the tasks; ``number``: of the micro-batch."""
        with self._options.client() as client:
            for message in messages:
                if not isinstance(message, Written) or message.transaction is None:
                    continue
                transaction, group = message.transaction, message.transaction.transactional_id
                wanted = commit and (number is None or noted(client, group) <= number)
                if wanted and number is not None and message.partition is not None:
                    note_in_transaction(client, transaction, group, message.partition, number + 1)
                end_transaction(client, transaction, commit=wanted)


class BatchWriter(_Writer, DataSourceWriter):
    """Of `df.write`."""

    def __init__(self, options: SinkOptions) -> None:
        super().__init__(options)
        self._write_id = uuid.uuid4().hex

    def _work(self) -> str:
        return self._write_id

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, None, commit=True)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, None, commit=False)


class StreamWriter(_Writer, DataSourceStreamWriter):
    """Of `df.writeStream`."""

    def _work(self) -> str:
        from pyspark import TaskContext

        context = TaskContext.get()
        query = None if context is None else context.getLocalProperty(_QUERY_ID)
        if query is None:
            raise RuntimeError("Spark does not tell the task which query it is of")
        return str(query)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        self._end(messages, batchId, commit=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        self._end(messages, batchId, commit=False)


class _Rows:
    """Rows on their way into batches, partition by partition."""

    def __init__(self, client: ClusterClient, writer: TransactionWriter, topic: str | None) -> None:
        self._client, self._writer, self._topic = client, writer, topic
        self._partitioner = Partitioner()
        self._counts: dict[str, int] = {}
        self._waiting: dict[TopicPartition, list[Record]] = {}
        self._sizes: dict[TopicPartition, int] = {}

    def add(self, row: Any) -> None:
        given = row.asDict()
        topic = given.get("topic") or self._topic
        if topic is None:
            raise ValueError("a row without a topic, and no option topic")
        key, value = _bytes(given.get("key")), _bytes(given["value"])
        moment = given.get("timestamp")
        timestamp = time.time_ns() // 1_000_000 if moment is None else round(moment.timestamp() * 1000)
        headers = tuple((header["key"], _bytes(header["value"])) for header in given.get("headers") or ())
        place = topic, self._partition(topic, key, given.get("partition"))
        self._waiting.setdefault(place, []).append(Record(0, timestamp, key, value, headers))
        size = self._sizes.get(place, 0) + len(key or b"") + len(value or b"") + _RECORD_OVERHEAD
        self._sizes[place] = size
        if size >= _BATCH_BYTES:
            self._send(place)

    def _partition(self, topic: str, key: bytes | None, given: int | None) -> int:
        if topic not in self._counts:
            self._counts[topic] = len(self._client.topics([topic])[topic])
        count = self._counts[topic]
        if given is None:
            return self._partitioner.partition(topic, key, count)
        if not 0 <= given < count:
            raise ValueError(f"{topic} has no partition {given}: there are {count}")
        return given

    def flush(self) -> None:
        for place in list(self._waiting):
            self._send(place)

    def _send(self, place: TopicPartition) -> None:
        self._sizes.pop(place)
        self._writer.append(*place, self._waiting.pop(place))


def _bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None if value is None else bytes(value)
