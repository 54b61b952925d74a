"""The Spark data source `odradek`: records of log directories or of a live cluster, with the fields of their batches.

`spark.read.format("odradek").load("/var/kafka/data")` reads a folder, `.option("kafka.bootstrap.servers", ...)` a
cluster. `spark.readStream` reads both as streams. Spark's checkpoint has the offsets, so a restart neither loses nor
repeats rows. The columns are `odradek.pipeline.rows.SCHEMA`. docs/pipeline.md has the options and errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
)

from odradek.client_security.options import ClientSecurity
from odradek.pipeline import log_folder
from odradek.pipeline.archive_sink import ArchiveBatchWriter, ArchiveOptions, ArchiveStreamWriter
from odradek.pipeline.cluster_client import EARLIEST, LATEST, ClusterClient, TopicPartition, batches_between
from odradek.pipeline.pushdown import Narrowing, narrowed
from odradek.pipeline.rows import COLUMNS, SCHEMA, Wanted, spare_imports
from odradek.pipeline.sink import BatchWriter, SinkOptions, StreamWriter
from odradek.pipeline.source_options import (
    MissingTopicError,
    OptionError,
    Position,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SourceOptions,
    SupportsTriggerAvailableNow,
    check_limit,
    limited,
    offset_for,
)
from odradek.protocol.control import committed_batches
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import RecordBatch, iter_batches

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

Offsets = dict[TopicPartition, int]
_PACKED_BYTES = 128 * 1024 * 1024
"""The size limit of the small segments of one task. Spark has the same limit for files."""
_GO_ON = "set failOnDataLoss to false to go on with what is left"


class DataLossError(RuntimeError):
    """The log no longer has offsets that the query has to read."""


class FetchTask(NamedTuple):
    """A range of a live partition to read."""

    bootstrap_servers: str
    wanted: Wanted
    read_committed: bool
    security: ClientSecurity


Work = log_folder.SegmentTask | FetchTask


class Task(InputPartition):
    """The parts that one Spark task reads, in order."""

    def __init__(self, works: Sequence[Work]) -> None:
        super().__init__(works)


class OdradekDataSource(DataSource):
    """Registered as `odradek`; batch and streaming. `odradek.pipeline.sink` writes."""

    @classmethod
    def name(cls) -> str:
        return "odradek"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        options = SourceOptions.parse(self.options)
        if options.max_offsets_per_trigger is not None:
            raise OptionError("maxOffsetsPerTrigger is for streams: a batch reads all")
        if options.push_filters and not hasattr(DataSourceReader, "pushFilters"):
            raise OptionError("pushFilters needs Spark 4.1")
        kind = NarrowedReader if options.push_filters else BatchReader
        return kind(options, chosen_columns(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        options = SourceOptions.parse(self.options)
        if options.ending != "latest":
            raise OptionError("endingOffsets is for batches: a stream has no end")
        if options.push_filters:
            raise OptionError("pushFilters is for batches: Spark tells a stream of no filters")
        check_limit(options.max_offsets_per_trigger)
        return StreamReader(options, chosen_columns(schema))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        if self._to_archive(overwrite=overwrite):
            return ArchiveBatchWriter(ArchiveOptions.parse(self.options, schema))
        return BatchWriter(SinkOptions.parse(self.options, schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802 (Spark's name)
        if self._to_archive(overwrite=overwrite):
            return ArchiveStreamWriter(ArchiveOptions.parse(self.options, schema))
        return StreamWriter(SinkOptions.parse(self.options, schema))

    def _to_archive(self, *, overwrite: bool) -> bool:
        if overwrite:
            raise OptionError("topics and archives are appended to: use the mode append")
        return any(name.lower() == "path" for name in self.options)


def chosen_columns(schema: Any) -> tuple[str, ...]:
    """The columns of a reader's schema: all, or those of `spark.read.schema(...)`. OptionError for unknown columns."""
    for field in schema.fields:
        kind = field.dataType.simpleString()
        if COLUMNS.get(field.name) != kind:
            raise OptionError(f"no column {field.name} {kind}; there are: {SCHEMA}")
    return tuple(field.name for field in schema.fields)


class BatchReader(DataSourceReader):
    """Plans one task for each segment, for several small segments, or for a range of a live partition."""

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self._options, self._columns = options, columns
        self._narrowing = options.narrowing

    def partitions(self) -> Sequence[InputPartition]:
        options = self._options
        with _open(options, self._columns, narrowing=self._narrowing) as place:
            bounds = place.bounds()
            start = place.resolve(options.starting, bounds)
            end = place.resolve(options.ending, bounds)
            tasks = [Task(works) for works in place.plan(start, end)]
            return tasks or [Task(())]  # Spark turns an empty list into one task without a value

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_works(partition.value)


class NarrowedReader(BatchReader):
    """Reads less by the filters of the query. Spark refuses such a reader unless a setting allows it."""

    def pushFilters(self, filters: Sequence[Any]) -> Iterable[Any]:  # noqa: N802 (Spark's name, from 4.1 on)
        """Take the bounds from the query's filters. Spark still applies all of them to the rows."""
        self._narrowing = narrowed(filters, self._options.narrowing)
        return filters


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are `{topic: {partition: offset}}`. New partitions are read from their beginning."""

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self._options, self._columns = options, columns
        self._available: Offsets | None = None
        self._ends: Offsets = {}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        with _open(self._options, self._columns) as place:
            bounds = place.bounds()
            start = place.resolve(self._options.starting, bounds)
            if self._options.from_ms is not None:
                for key, young in place.offsets_at(self._options.from_ms, bounds).items():
                    start[key] = max(start[key], young)
            return _as_json(start)

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """The ends of the logs, or of a micro-batch with a limit. Spark before 4.2 passes no arguments.

        Spark writes the result into the checkpoint. So the checkpoint of another stream is refused first.
        """
        if start is not None:
            self._check_checkpoint(start)
        bounds = self._bounds_now(start or {})
        ends = self._ends = {key: end for key, (_, end) in bounds.items()}
        if self._available is not None:
            ends = {key: min(end, self._available[key]) for key, end in ends.items() if key in self._available}
        if start is not None and isinstance(limit, ReadMaxRows):
            begins = {key: first for key, (first, _) in bounds.items()} | _from_json(start)
            ends = limited(begins, ends, limit.max_rows)
        return _as_json(ends)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 (Spark's name)
        """The option `maxOffsetsPerTrigger`."""
        most = self._options.max_offsets_per_trigger
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 (Spark's name)
        """Let the query end at the present ends of the logs."""
        self._available = {key: end for key, (_, end) in self._bounds_now({}).items()}

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """The last ends of the logs, for Spark's progress report."""
        return _as_json(self._ends)

    def _bounds_now(self, start: Mapping[str, Any]) -> dict[TopicPartition, tuple[int, int]]:
        with self._running(start) as place:
            return place.bounds()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        self._check_checkpoint(start)
        _check_shape(end)
        if others := self._not_wanted(end):
            raise OptionError(
                f"the last batch in the checkpoint was planned by a stream of {', '.join(others)}, which the options "
                "do not name: if that was a mistake, remove the last file in the checkpoint's folder offsets"
            )
        with self._running(start) as place:
            bounds = place.bounds()
            first, last = _from_json(start), _from_json(end)
            for key in last:
                first.setdefault(key, bounds[key][0] if key in bounds else 0)
            first, last = _without_lost(first, last, bounds, fail=self._options.fail_on_data_loss)
            return [Task(works) for works in place.plan(first, last)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_works(partition.value)

    @contextmanager
    def _running(self, start: Mapping[str, Any]) -> Iterator[_Place]:
        """The place of a running stream. DataLossError if a topic that it has read is gone."""
        try:
            with _open(self._options, self._columns, running=True) as place:
                yield place
        except MissingTopicError as error:
            if lost := [topic for topic in error.topics if topic in start]:
                raise DataLossError(f"the topic {', '.join(lost)} is gone ({_GO_ON})") from None
            raise

    def _check_checkpoint(self, start: Mapping[str, Any]) -> None:
        _check_shape(start)
        if others := self._not_wanted(start):
            raise OptionError(
                f"the checkpoint is that of a stream of {', '.join(others)}, which the options do not name: "
                "give this stream a checkpoint of its own"
            )

    def _not_wanted(self, offsets: Mapping[str, Any]) -> list[str]:
        return sorted(topic for topic in offsets if not self._options.wants(topic))


def read_works(works: Iterable[Work]) -> Iterator[pa.RecordBatch]:
    """The rows of a task as Arrow; runs on the executors."""
    from odradek.pipeline.record_columns import arrow_chunks

    spare_imports()
    for run in _runs(works):
        wanted = run[0].wanted._replace(end=run[-1].wanted.end)
        yield from arrow_chunks(chain.from_iterable(map(_batches, run)), wanted)


def _runs(works: Iterable[Work]) -> Iterator[list[Work]]:
    """Group the consecutive segments of a partition. So the rows of small segments share an Arrow batch."""
    run: list[Work] = []
    for work in works:
        if run and not _follows(work, run[-1]):
            yield run
            run = []
        run.append(work)
    if run:
        yield run


def _follows(work: Work, before: Work) -> bool:
    """Whether a work reads the next segment of the same partition. Two parts of one segment may share a batch."""
    if not (isinstance(work, log_folder.SegmentTask) and isinstance(before, log_folder.SegmentTask)):
        return False
    return work.path != before.path and work.wanted[:2] == before.wanted[:2]


def _batches(work: Work) -> Iterator[RecordBatch]:
    if not isinstance(work, log_folder.SegmentTask):
        yield from _fetched(work)
        return
    try:
        yield from log_folder.read(work)
    except FileNotFoundError:  # retention removed it after the planning
        if work.wanted.fail_on_data_loss:
            raise _loss(work.wanted, work.wanted.start, f"{work.path} is gone") from None


def _fetched(work: FetchTask) -> Iterator[RecordBatch]:
    wanted, offset = work.wanted, work.wanted.start
    with ClusterClient(work.bootstrap_servers, security=work.security, patient=True) as client:
        while offset < wanted.end:
            try:
                for part in batches_between(
                    client, wanted.topic, wanted.partition, offset, wanted.end, read_committed=work.read_committed
                ):
                    batches = iter_batches(part.records)
                    for batch in committed_batches(batches, part.aborted) if work.read_committed else batches:
                        offset = batch.next_offset
                        yield batch
                return
            except KafkaError as error:
                offset = _behind_the_loss(client, wanted, offset, error)


def _behind_the_loss(client: ClusterClient, wanted: Wanted, offset: int, error: KafkaError) -> int:
    """The next offset after records were lost before their fetch. DataLossError if the options ask for it.

    Other errors are raised unchanged.
    """
    if error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        earliest, held = wanted.end, "the topic is gone"
    elif error.code == ErrorCode.OFFSET_OUT_OF_RANGE:
        key = wanted.topic, wanted.partition
        earliest = client.offsets({key: EARLIEST})[key]
        held = f"the log begins at {earliest}"
        if earliest <= offset:  # the log ends before the offset
            earliest, held = wanted.end, f"the log ends at {client.offsets({key: LATEST})[key]}"
    else:
        raise error
    if wanted.fail_on_data_loss:
        raise _loss(wanted, offset, held) from None
    return earliest


def _loss(wanted: Wanted, offset: int, held: str) -> DataLossError:
    return DataLossError(
        f"{wanted.topic}-{wanted.partition}: offsets {offset} to {wanted.end} were to be read, {held} ({_GO_ON})"
    )


def _as_json(offsets: Offsets) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        shown.setdefault(topic, {})[str(partition)] = offset
    return shown


def _check_shape(offsets: Any) -> None:
    """OptionError for offsets that this source did not write into the checkpoint."""
    try:
        whole = all(isinstance(offset, int) for offset in _from_json(offsets).values())
    except (AttributeError, TypeError, ValueError):
        whole = False
    if not whole:
        raise OptionError(f"the checkpoint is damaged, or that of another source: its offsets are {offsets}")


def _from_json(shown: Mapping[str, Mapping[str, int]]) -> Offsets:
    return {(topic, int(index)): offset for topic, parts in shown.items() for index, offset in parts.items()}


def _without_lost(
    first: Offsets, last: Offsets, bounds: Mapping[TopicPartition, tuple[int, int]], *, fail: bool
) -> tuple[Offsets, Offsets]:
    """Starts and ends within the present logs. ``fail``: DataLossError for lost records."""
    starts, ends = dict(first), dict(last)
    for key, offset in first.items():
        earliest, latest = bounds.get(key, (0, 0))
        end = last.get(key, offset)
        if offset < earliest or offset > end or end > latest:
            held = f"the log holds {earliest} to {latest}" if key in bounds else "the partition is gone"
            if fail:
                raise DataLossError(f"{key[0]}-{key[1]}: offsets {offset} to {end} were to be read, {held} ({_GO_ON})")
            # A log that ends before the offset is a new log: read all of it.
            starts[key] = max(offset, earliest) if offset <= end else earliest
            ends[key] = min(end, latest)
    return starts, ends


# --- where the records are --------------------------------------------------------------------------------------------


@dataclass
class _Place(ABC):
    """A log directory or a cluster: partitions with bounds.

    ``running``: of a running stream. It waits for a cluster that does not answer, and accepts a missing topic unless
    lost data is an error.
    """

    options: SourceOptions
    columns: tuple[str, ...]
    narrowing: Narrowing
    running: bool

    @abstractmethod
    def __post_init__(self) -> None:
        """Find the folders, or make a client."""

    @property
    def missing_ok(self) -> bool:
        return self.running and not self.options.fail_on_data_loss

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027 (a folder has nothing to close)
        """Close the connections."""

    @abstractmethod
    def bounds(self) -> dict[TopicPartition, tuple[int, int]]:
        """The first offset of each wanted partition, and the offset after the last readable one."""

    @abstractmethod
    def offsets_at(self, timestamp: int, bounds: Mapping[TopicPartition, tuple[int, int]]) -> Offsets:
        """The offset of the first record with at least this timestamp, by partition; else the end offset."""

    @abstractmethod
    def plan(self, start: Offsets, end: Offsets) -> Iterator[Sequence[Work]]:
        """The parts of each task, to read from `start` to `end` (exclusive)."""

    def resolve(self, position: Position, bounds: Mapping[TopicPartition, tuple[int, int]]) -> Offsets:
        """A position as offsets within the bounds. DataLossError for a lost offset."""
        found: Offsets = {}
        for key, (earliest, latest) in bounds.items():
            offset = offset_for(position, *key)
            found[key] = {EARLIEST: earliest, LATEST: latest}.get(offset, offset)
        _without_lost(found, found, bounds, fail=self.options.fail_on_data_loss)
        return {key: min(max(offset, bounds[key][0]), bounds[key][1]) for key, offset in found.items()}

    def wanted(self, key: TopicPartition, start: int, end: int) -> Wanted:
        times = self.narrowing.from_ms, self.narrowing.until_ms
        return Wanted(*key, start, end, *times, self.options.control, self.columns, self.options.fail_on_data_loss)

    def ranges(self, start: Offsets, end: Offsets) -> Iterator[tuple[TopicPartition, int, int]]:
        """The range of each partition: the first offset, and the offset after the last one."""
        for key, last in end.items():
            if key in start and self.narrowing.allows(*key):
                first, until = self.narrowing.offsets(start[key], last)
                if first < until:
                    yield key, first, until


class _Folder(_Place):
    def __post_init__(self) -> None:
        found = log_folder.partitions_in(Path((self.options.path or "").removeprefix("file:")))
        topics = set(self.options.choose((topic for topic, _ in found), missing_ok=self.missing_ok))
        self._segments = {key: segments for key, segments in found.items() if key[0] in topics}
        self._aborted: dict[TopicPartition, tuple[log_folder.AbortedRange, ...]] = {}

    def bounds(self) -> dict[TopicPartition, tuple[int, int]]:
        return {key: (segments[0].base, self._end(key, segments)) for key, segments in self._segments.items()}

    def _end(self, key: TopicPartition, segments: list[log_folder.Segment]) -> int:
        if not self.options.read_committed:
            return log_folder.end_offset(segments)
        self._aborted[key], stable = log_folder.transactions_in(segments)
        return stable

    def offsets_at(self, timestamp: int, bounds: Mapping[TopicPartition, tuple[int, int]]) -> Offsets:
        return {key: log_folder.offset_at(segments, timestamp) for key, segments in self._segments.items()}

    def plan(self, start: Offsets, end: Offsets) -> Iterator[Sequence[log_folder.SegmentTask]]:
        if self.options.records_per_task:
            return ([part] for part in self._parts(start, end))
        return log_folder.packed(self._parts(start, end), self.options.bytes_per_task or _PACKED_BYTES)

    def _parts(self, start: Offsets, end: Offsets) -> Iterator[log_folder.SegmentTask]:
        for key, first, last in self.ranges(start, end):
            wanted = self.wanted(key, first, last)
            parts = {"records": self.options.records_per_task, "size": self.options.bytes_per_task}
            yield from log_folder.plan(self._segments[key], wanted, self._aborted.get(key, ()), **parts)


class _Cluster(_Place):
    def __post_init__(self) -> None:
        self._servers = self.options.bootstrap_servers or ""
        self._client = ClusterClient(self._servers, security=self.options.security, patient=self.running)
        self._bounds: dict[TopicPartition, tuple[int, int]] = {}

    def close(self) -> None:
        self._client.close()

    def _partitions(self) -> list[TopicPartition]:
        # By name, a topic without the right to describe it differs from a missing one.
        topics = self._client.topics(self.options.topics, missing_ok=True)
        chosen = self.options.choose(topics, missing_ok=self.missing_ok)
        return [(topic, partition) for topic in chosen for partition in topics[topic]]

    def bounds(self) -> dict[TopicPartition, tuple[int, int]]:
        partitions = self._partitions()
        first = self._client.offsets(dict.fromkeys(partitions, EARLIEST))
        committed = self.options.read_committed
        last = self._client.offsets(dict.fromkeys(partitions, LATEST), read_committed=committed)
        self._bounds = {key: (first[key], last[key]) for key in partitions}
        return self._bounds

    def offsets_at(self, timestamp: int, bounds: Mapping[TopicPartition, tuple[int, int]]) -> Offsets:
        found = self._client.offsets(dict.fromkeys(bounds, timestamp))
        return {key: found[key] if found[key] >= 0 else bounds[key][1] for key in bounds}

    def plan(self, start: Offsets, end: Offsets) -> Iterator[Sequence[FetchTask]]:
        ranges = list(self.ranges(start, end))
        young: Offsets = {}
        if self.narrowing.from_ms is not None:
            young = self.offsets_at(self.narrowing.from_ms, {key: (0, last) for key, _, last in ranges})
        sizes = self._client.sizes(key for key, _, _ in ranges) if self.options.bytes_per_task and ranges else {}
        for key, begin, last in ranges:
            first = max(begin, young.get(key, begin))
            step = self._step(key, sizes.get(key, 0)) or max(last - first, 1)
            for begin in range(first, last, step):
                wanted = self.wanted(key, begin, min(begin + step, last))
                yield [FetchTask(self._servers, wanted, self.options.read_committed, self.options.security)]

    def _step(self, key: TopicPartition, size: int) -> int | None:
        """Offsets for each task: configured, or estimated from `bytesPerTask`; None for all."""
        if not self.options.bytes_per_task or not size:
            return self.options.records_per_task
        first, last = self._bounds.get(key, (0, 0))
        return max(self.options.bytes_per_task * (last - first) // size, 1)


def _open(
    options: SourceOptions, columns: tuple[str, ...], *, narrowing: Narrowing | None = None, running: bool = False
) -> _Place:
    kind = _Cluster if options.path is None else _Folder
    return kind(options, columns, narrowing or options.narrowing, running)
