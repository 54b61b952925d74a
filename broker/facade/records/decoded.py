"""Records by the schemas that somebody has given for their topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.schemas.record_schemas import Decoded, RecordSchemas, schema_of

if TYPE_CHECKING:
    from odradek.broker.facade.records.record import StoredRecord
    from odradek.broker.schemas.record_schemas import Kind, Part, Schema

_PARTS = ("key", "value")
_LARGEST_ID = 2**32 - 1


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    """A record, and its key and value by their schemas; None where there is no schema, or nothing to decode."""

    record: StoredRecord
    key: Decoded | None
    value: Decoded | None


class SchemaChange:
    """A schema for the keys or values of a topic, to set and to take back. ValueError for arguments without sense."""

    def __init__(
        self,
        topic: str,
        part: Part,
        schema_id: int | None,
        source: str | bytes | None,
        kind: Kind | None = None,
        message: str | None = None,
    ) -> None:
        if not topic:
            raise ValueError("a schema is of a topic: name it")
        if part not in _PARTS:
            raise ValueError(f"a schema is of the key or the value, not of the {part!r}")
        if schema_id is not None and not 0 <= schema_id <= _LARGEST_ID:
            raise ValueError(f"schema_id={schema_id}: expected 0 to {_LARGEST_ID}")
        self._place = topic, part, schema_id
        self._schema: Schema | None = None if source is None else schema_of(source, kind, message)
        self._before: Schema | None = None

    def make(self, schemas: RecordSchemas) -> None:
        """Have it in force from now on."""
        self._before = schemas.set(*self._place, self._schema)

    def undo(self, schemas: RecordSchemas) -> None:
        """Have what was in force before."""
        schemas.set(*self._place, self._before)


def decoded_records(schemas: RecordSchemas, records: Iterable[StoredRecord]) -> Iterator[DecodedRecord]:
    """Each record with what its schemas make of it, in the caller's thread. Transaction markers have no schema."""
    for each in records:
        if each.control is not None:
            yield DecodedRecord(each, None, None)
            continue
        key, value = (schemas.decoded(each.topic, "key", each.key), schemas.decoded(each.topic, "value", each.value))
        yield DecodedRecord(each, key, value)
