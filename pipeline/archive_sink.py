"""The sink of the data source `odradek` for archives: parquet folders by topic and partition, which `replay` reads.

A task writes its files under `_odradek`, which readers of the archive ignore. The driver moves the files to their
places when all tasks have ended. For a micro-batch it first writes all moves to one file, `_odradek/<query>.json`: that
write is the commit. A repeated micro-batch reads this file, finishes the moves and deletes its own files. So each row
is stored once, even if the repetition has other rows.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from odradek.pipeline.cluster_client import TopicPartition
from odradek.pipeline.rows import spare_imports
from odradek.pipeline.sink import ROW_COLUMNS, SPARKS_OPTIONS, StreamWriterBase, check_columns, query_of_task
from odradek.pipeline.source_options import OptionError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

ARCHIVE_COLUMNS: Mapping[str, tuple[str, ...]] = {
    **ROW_COLUMNS,
    "offset": ("bigint",),
    "timestamp_type": ("string",),
    "producer_id": ("bigint",),
    "producer_epoch": ("int",),
    "sequence": ("int",),
}
"""The columns of an archive, and the Spark types that each accepts."""

_FILE_COLUMNS: Mapping[str, str] = {
    "offset": "int64",
    "timestamp_ms": "int64",
    "timestamp_type": "string",
    "key": "binary",
    "value": "binary",
    "headers": "",
    "producer_id": "int64",
    "producer_epoch": "int32",
    "sequence": "int32",
}
_KNOWN = {"path", "topic"}
_OURS = "_odradek"
_TOPIC = re.compile(r"(?!\.{1,2}\Z)[a-zA-Z0-9._-]{1,249}\Z")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_WAITING_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ArchiveOptions:
    """Where to write: checked options."""

    folder: Path
    topic: str | None

    @classmethod
    def parse(cls, given: Mapping[str, str], schema: StructType) -> ArchiveOptions:
        """From the options and the columns of a writer; raises OptionError."""
        options = {name.lower(): value for name, value in given.items()}
        if "kafka.bootstrap.servers" in options or "bootstrap.servers" in options:
            raise OptionError("give a folder (save(path)) or kafka.bootstrap.servers: one of the two")
        if unknown := set(options) - _KNOWN - SPARKS_OPTIONS:
            raise OptionError(f"unknown option {', '.join(sorted(unknown))}; known of an archive: path, topic")
        if not options["path"]:
            raise OptionError("an archive needs a folder: path is empty")
        path = re.sub(r"^file:(//)?", "", options["path"])
        if scheme := _SCHEME.match(path):
            raise OptionError(f"an archive is a folder that all workers see under one path, not {scheme[0]}//...")
        check_columns(schema, options.get("topic"), ARCHIVE_COLUMNS)
        if lacking := [name for name in ("partition", "offset") if name not in schema.names]:
            raise OptionError(f"an archive needs a column {' and a column '.join(lacking)}")
        return cls(Path(path).absolute(), options.get("topic"))


@dataclass
class Archived(WriterCommitMessage):
    """The names of the files that a task wrote, and the partition of each."""

    work: str = ""
    files: dict[str, TopicPartition] = field(default_factory=dict)


class _Writer:
    """``name``: of the write, which all its tasks share; None: the id of the streaming query."""

    def __init__(self, options: ArchiveOptions, name: str | None = None) -> None:
        self._options, self._name = options, name
        self._ours = options.folder / _OURS

    def write(self, iterator: Iterator[Any]) -> Archived:
        from odradek.pipeline.sink_rows import record_rows

        spare_imports()
        work = self._name or query_of_task()
        files = _Files(self._ours / work)
        try:
            for rows in record_rows(iterator, self._options.topic):
                files.add(rows)
            return Archived(work, files.finish())
        except BaseException:
            files.drop()
            raise

    def _moves(self, messages: Sequence[WriterCommitMessage | None], number: int | None) -> dict[str, str]:
        """The place of each file. The file name contains the write and the micro-batch."""
        written = [message for message in messages if isinstance(message, Archived)]
        batch = "" if number is None else f"-{number:010d}"
        return {
            f"{message.work}/{name}": f"topic={topic}/partition={partition}/{message.work}{batch}-{task}.parquet"
            for task, message in enumerate(written)
            for name, (topic, partition) in message.files.items()
        }

    def _move(self, moves: Mapping[str, str]) -> None:
        for name, place in moves.items():
            target = self._options.folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if (self._ours / name).exists():  # else an earlier attempt moved it
                (self._ours / name).replace(target)


class ArchiveBatchWriter(_Writer, DataSourceArrowWriter):
    """Of `df.write`."""

    def __init__(self, options: ArchiveOptions) -> None:
        self._folder = uuid.uuid4().hex
        super().__init__(options, self._folder)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._move(self._moves(messages, None))
        self.abort(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        shutil.rmtree(self._ours / self._folder, ignore_errors=True)


class ArchiveStreamWriter(_Writer, StreamWriterBase):
    """Of `df.writeStream`."""

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        works = {message.work for message in messages if isinstance(message, Archived)}
        for work in works:  # none if the micro-batch has no tasks, else one
            note = self._ours / f"{work}.json"
            noted = _noted(note)
            if noted["batch"] < batchId:
                noted = {"batch": batchId, "moves": self._moves(messages, batchId)}
                _write_whole(note, json.dumps(noted))
            self._move(noted["moves"])
            # The remaining files are of abandoned attempts, or of a micro-batch that was committed before.
            shutil.rmtree(self._ours / work, ignore_errors=True)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        for message in messages:
            if isinstance(message, Archived):
                for name in message.files:
                    (self._ours / message.work / name).unlink(missing_ok=True)


class _Files:
    """The files of a task: one for each partition of its rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: dict[TopicPartition, list[pa.RecordBatch]] = {}
        self._sizes: dict[TopicPartition, int] = {}
        self._names: dict[TopicPartition, str] = {}
        self._open: dict[TopicPartition, Any] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        """Take rows in the form of `record_rows`. ValueError for a row without a topic or a partition."""
        for place, part in _by_partition(rows):
            self._waiting.setdefault(place, []).append(part)
            self._sizes[place] = self._sizes.get(place, 0) + part.nbytes
            if self._sizes[place] >= _WAITING_BYTES:
                self._write(place)

    def _write(self, place: TopicPartition) -> None:
        import pyarrow.parquet as pq

        from odradek.pipeline.sink_rows import joined

        rows = joined(self._waiting.pop(place))
        self._sizes.pop(place)
        if place not in self._open:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._names[place] = f"{uuid.uuid4().hex}.parquet"
            self._open[place] = pq.ParquetWriter(self._folder / self._names[place], rows.schema)
        self._open[place].write_batch(rows)

    def finish(self) -> dict[str, TopicPartition]:
        """Write the remaining rows, close the files, and return their names."""
        for place in list(self._waiting):
            self._write(place)
        for writer in self._open.values():
            writer.close()
        return {name: place for place, name in self._names.items()}

    def drop(self) -> None:
        """Remove the files."""
        for writer in self._open.values():
            writer.close()
        for name in self._names.values():
            (self._folder / name).unlink(missing_ok=True)


def _by_partition(rows: pa.RecordBatch) -> Iterator[tuple[TopicPartition, pa.RecordBatch]]:
    """The rows of each partition, in the form of its file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if rows["partition"].null_count or rows["offset"].null_count:
        raise ValueError("a row without a partition or an offset cannot be archived")
    if pc.min(rows["partition"]).as_py() < 0:
        raise ValueError("a row of a negative partition cannot be archived")
    filed = pa.RecordBatch.from_pydict({name: _column(rows, name, kind) for name, kind in _FILE_COLUMNS.items()})
    topics = rows["topic"].dictionary_encode()
    for number, topic in enumerate(topics.dictionary.to_pylist()):
        if not _TOPIC.match(topic):
            raise ValueError(f"no topic can have the name {topic!r}")
        of_topic = pc.equal(topics.indices, number)
        for partition in pc.unique(rows["partition"].filter(of_topic)).to_pylist():
            yield (topic, partition), filed.filter(pc.and_(of_topic, pc.equal(rows["partition"], partition)))


def _column(rows: pa.RecordBatch, name: str, kind: str) -> pa.Array:
    import pyarrow as pa

    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.type_for_alias(kind))
    return rows[name].cast(pa.type_for_alias(kind)) if kind else rows[name]


def _noted(note: Path) -> dict[str, Any]:
    if not note.exists():
        return {"batch": -1, "moves": {}}
    try:
        noted: dict[str, Any] = json.loads(note.read_text())
        return {"batch": int(noted["batch"]), "moves": dict(noted["moves"])}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{note} is damaged: it no longer says which micro-batch was archived last") from None


def _write_whole(file: Path, text: str) -> None:
    """Write to a temporary file and rename it, so that the file is complete even after a crash of the machine."""
    unfinished = file.with_suffix(".tmp")
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    with unfinished.open("w") as target:
        target.write(text)
        target.flush()
        os.fsync(target.fileno())
    unfinished.replace(file)
