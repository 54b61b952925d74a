"""The columns of the `odradek` data source, and what a task wants of them.

A row is a stored record with the fields of its batch. Spark's own connector shows only a part of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS: Mapping[str, str] = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestamp_type": "string",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key:string,value:binary>>",
    "base_offset": "bigint",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "sequence": "int",
    "transactional": "boolean",
    "control": "string",
    "leader_epoch": "int",
    "codec": "string",
    "batch_size": "int",
}
"""Names and Spark types. `sequence`, `producer_id`, `producer_epoch`: -1 without idempotence. `control`: null
for a record, else `commit`, `abort` or the name of another type. `batch_size`: bytes of the stored batch."""


def schema_of(columns: Iterable[str]) -> str:
    """Some columns as a schema for `spark.read.schema`."""
    return ", ".join(f"{name} {COLUMNS[name]}" for name in columns)


SCHEMA = schema_of(COLUMNS)


def arrow_schema(schema: str) -> pa.Schema:
    """A schema of Spark as one of Arrow. Only the driver can make it."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    kind: Any = StructType.fromDDL(schema)
    return to_arrow_schema(kind)


class Wanted(NamedTuple):
    """The records of a partition that become rows, and the columns of the rows."""

    topic: str
    partition: int
    start: int
    """First offset."""
    end: int
    """Offset after the last."""
    from_ms: int | None = None
    """First timestamp."""
    until_ms: int | None = None
    """Timestamp after the last."""
    control: bool = True
    """Whether control records are rows too."""
    columns: tuple[str, ...] = tuple(COLUMNS)
    fail_on_data_loss: bool = True
    """Whether missing records fail the task."""


@cache
def spare_imports() -> None:
    """Exclude the imported modules of a Python worker from garbage collection. Does nothing outside a task.

    Spark collects garbage after each task. With pandas, pyarrow and numpy that takes 35 ms, longer than many tasks.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        gc.freeze()
