"""Records decoded by the schemas that were set for their topics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from odradek.broker.facade.records.record import DecodedRecord
from odradek.broker.schemas.record_schemas import RecordSchemas, schema_of

if TYPE_CHECKING:
    from odradek.broker.facade.records.record import StoredRecord
    from odradek.broker.schemas.record_schemas import Kind, Part, Schema

_PARTS = ("key", "value")
_LARGEST_ID = 2**32 - 1


class SchemaChange:
    """Sets the schema of a topic's keys or values, and restores the previous one. ValueError for bad arguments."""

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
            raise ValueError("a schema needs the name of a topic")
        if part not in _PARTS:
            raise ValueError(f"part={part!r}: expected 'key' or 'value'")
        if schema_id is not None and not 0 <= schema_id <= _LARGEST_ID:
            raise ValueError(f"schema_id={schema_id}: expected 0 to {_LARGEST_ID}")
        self._place = topic, part, schema_id
        self._schema: Schema | None = None if source is None else schema_of(source, kind, message)
        self._before: Schema | None = None

    def make(self, schemas: RecordSchemas) -> None:
        """Set the schema."""
        self._before = schemas.set(*self._place, self._schema)

    def undo(self, schemas: RecordSchemas) -> None:
        """Restore the previous schema."""
        schemas.set(*self._place, self._before)


def decoded_records(schemas: RecordSchemas, records: Iterable[StoredRecord]) -> Iterator[DecodedRecord]:
    """Decode each record in the caller's thread. Transaction markers have no schema."""
    for each in records:
        if each.control is not None:
            yield DecodedRecord(each, None, None)
            continue
        key, value = (schemas.decoded(each.topic, "key", each.key), schemas.decoded(each.topic, "value", each.value))
        yield DecodedRecord(each, key, value)


def has_text(found: DecodedRecord, text: str) -> bool:
    """Whether a record has a text, in small letters, in its key, value or headers, as bytes or decoded."""
    record, wanted = found.record, text.encode()
    parts = (record.key, record.value, *(part for name, value in record.headers for part in (name.encode(), value)))
    return any(part is not None and wanted in part.lower() for part in parts) or any(
        each is not None and text in json.dumps(each.data, ensure_ascii=False).lower()
        for each in (found.key, found.value)
    )
