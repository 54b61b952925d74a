"""The sink of the data source `odradek`: rows to a cluster. Each task writes one transaction, which the driver ends.

A task has its own transactional id and leaves its transaction open. The driver commits the transactions one after the
other when all tasks have ended. A transaction of a stream also commits the number of its micro-batch as the offset of a
group; the group has the name of the transactional id. A repeated micro-batch is written again. It is aborted if its
number was committed before. So readers of committed records see each row once, if a repeated micro-batch gives each
task the same rows.

The transactional ids of a stream contain the id of its query, which Spark keeps in the checkpoint. So a stream with a
new checkpoint counts its micro-batches from 0. A batch write does the same with the options transactionalId and
batchId: the function of `foreachBatch` writes by itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from odradek.client_security.options import ClientSecurity
from odradek.pipeline.cluster_client import ClusterClient, TopicPartition
from odradek.pipeline.rows import spare_imports
from odradek.pipeline.source_options import OptionError, known_options, positive_number, security_of
from odradek.pipeline.transaction_writer import (
    Transaction,
    TransactionWriter,
    end_transaction,
    note_in_transaction,
    noted,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    StreamWriterBase = datasource.DataSourceStreamWriter
else:  # from 4.1 on Spark gives the writers of streams Arrow batches
    StreamWriterBase = getattr(datasource, "DataSourceStreamArrowWriter", datasource.DataSourceStreamWriter)

ROW_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "headers": ("array<struct<key:string,value:binary>>",),
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp",),
}
"""The columns of a record, and the Spark types that each accepts."""

SPARKS_OPTIONS = {"checkpointlocation", "queryname"}
"""Options of Spark itself, which it passes to the sink."""

_QUERY_ID = "sql.streaming.queryId"
"""Spark's local property with the id of a streaming query. The checkpoint keeps the id."""
_KNOWN = ("kafka.bootstrap.servers", "bootstrap.servers", "topic", "transactionalId", "transactionTimeout", "batchId")
_DEFAULT_ID = "odradek"
_TIMEOUT_MS = "600000"


def check_columns(schema: StructType, topic: str | None, columns: Mapping[str, tuple[str, ...]] = ROW_COLUMNS) -> None:
    """OptionError for a column that a record does not have, and for a missing value or topic."""
    kinds = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, kind in kinds.items():
        if kind not in columns.get(name, ()):
            known = ", ".join(f"{each} {' or '.join(types)}" for each, types in columns.items())
            raise OptionError(f"no column {name} {kind} can be written; there are: {known}")
    if "value" not in kinds:
        raise OptionError("writing needs a column value")
    if "topic" not in kinds and topic is None:
        raise OptionError("writing needs the option topic, or a column topic")


@dataclass(frozen=True)
class SinkOptions:
    """Where to write: checked options."""

    bootstrap_servers: str
    topic: str | None
    transactional_id: str
    """The beginning of the tasks' transactional ids."""
    timeout_ms: int
    security: ClientSecurity
    batch_id: int | None = None
    """The number of the micro-batch, for a batch write."""

    @classmethod
    def parse(cls, given: Mapping[str, str], schema: StructType) -> SinkOptions:
        """From the options and the columns of a writer; raises OptionError."""
        options, security = known_options(given, _KNOWN, SPARKS_OPTIONS)
        servers = options.get("kafka.bootstrap.servers") or options.get("bootstrap.servers")
        if not servers:
            raise OptionError("writing needs kafka.bootstrap.servers, or a folder (save(path))")
        number = options.get("batchid")
        if number is not None and not (number.isascii() and number.isdigit()):
            raise OptionError(f"batchId: the number of a micro-batch, not {number!r}")
        if number is not None and not options.get("transactionalid"):
            raise OptionError("batchId needs transactionalId, the name under which the write counts its batches")
        transactional_id = options.get("transactionalid") or _DEFAULT_ID
        timeout_ms = positive_number("transactionTimeout", options.get("transactiontimeout", _TIMEOUT_MS))
        check_columns(schema, options.get("topic"))
        batch_id = None if number is None else int(number)
        return cls(servers, options.get("topic"), transactional_id, timeout_ms, security_of(security), batch_id)

    def client(self, *, patient: bool) -> ClusterClient:
        """A new client of the cluster. A ``patient`` one waits for a broker that does not answer."""
        return ClusterClient(self.bootstrap_servers, security=self.security, patient=patient)


def query_of_task() -> str:
    """The id of the streaming query of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    query = None if context is None else context.getLocalProperty(_QUERY_ID)
    if query is None:
        raise RuntimeError("Spark does not tell the task which query it is of")
    return str(query)


@dataclass
class Written(WriterCommitMessage):
    """The result of a task: its open transaction and one of its partitions. None without rows."""

    transaction: Transaction | None = None
    partition: TopicPartition | None = None


class _Writer:
    """``name``: the beginning of the tasks' transactional ids; None: made from the id of the streaming query.

    ``goes_on``: whether more micro-batches follow. Then the writer waits for a cluster that does not answer.
    """

    def __init__(self, options: SinkOptions, name: str | None, *, goes_on: bool) -> None:
        self._options, self._name, self._goes_on = options, name, goes_on

    def write(self, iterator: Iterator[Any]) -> Written:
        from odradek.pipeline.sink_rows import Outgoing, record_rows

        spare_imports()
        options = self._options
        rows = record_rows(iterator, options.topic)
        first = next(rows, None)
        if first is None:
            return Written()
        with options.client(patient=self._goes_on) as client:
            writer = TransactionWriter(client, self._transactional_id(), options.timeout_ms)
            try:
                outgoing = Outgoing(lambda topic: len(client.topics([topic])[topic]), writer.append)
                for batch in chain([first], rows):
                    outgoing.add(batch)
                outgoing.flush()
                writer.settle()
            except BaseException:
                writer.abort()
                raise
            return Written(writer.transaction, writer.partitions[0])

    def _transactional_id(self) -> str:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        name = self._name or f"{self._options.transactional_id}-{query_of_task()}"
        return f"{name}-{context.partitionId()}"

    def _end(self, messages: Sequence[WriterCommitMessage | None], number: int | None, *, commit: bool) -> None:
        """End the transactions of the tasks. ``number``: the number of the micro-batch."""
        with self._options.client(patient=True) as client:
            for message in messages:
                if not isinstance(message, Written) or message.transaction is None:
                    continue
                transaction, group = message.transaction, message.transaction.transactional_id
                wanted = commit and (number is None or noted(client, group) <= number)
                if wanted and number is not None and message.partition is not None:
                    note_in_transaction(client, transaction, group, message.partition, number + 1)
                end_transaction(client, transaction, commit=wanted)


class BatchWriter(_Writer, DataSourceArrowWriter):
    """Of `df.write`."""

    def __init__(self, options: SinkOptions) -> None:
        counted = options.batch_id is not None
        name = options.transactional_id if counted else f"{options.transactional_id}-{uuid.uuid4().hex}"
        super().__init__(options, name, goes_on=counted)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, self._options.batch_id, commit=True)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._end(messages, self._options.batch_id, commit=False)


class StreamWriter(_Writer, StreamWriterBase):
    """Of `df.writeStream`."""

    def __init__(self, options: SinkOptions) -> None:
        super().__init__(options, None, goes_on=True)
        if options.batch_id is not None:
            raise OptionError("batchId is for df.write: a stream counts its batches itself")

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        self._end(messages, batchId, commit=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        self._end(messages, batchId, commit=False)
