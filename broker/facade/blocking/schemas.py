"""Verbs of schemas.

Generated from facade/verbs/schemas.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.blocking.undo import Undo
from odradek.broker.facade.flavours import BlockingFlavour

if TYPE_CHECKING:
    from odradek.broker.schemas.record_schemas import Kind, Part


class SchemaVerbs(BlockingFlavour):
    """Which schemas the records of topics have, for whoever looks at them."""

    def set_schema(
        self,
        topic: str,
        schema: str | bytes,
        *,
        part: Part = "value",
        kind: Kind | None = None,
        message: str | None = None,
        schema_id: int | None = None,
    ) -> Undo:
        """Say which schema the values (or keys) of a topic have: `decoded_records` and the page show them by it.

        ``schema``: Avro's JSON, the text of a .proto file (which protoc reads in a process of its own), or the bytes
        of a descriptor set. ``kind``: ``avro`` or ``protobuf``, if that is not clear. ``message``: the full name of
        the Protobuf message, by default the first of the file. ``schema_id``: only for data that begin with this id
        (Confluent's wire format); without it, for all others. The topic need not exist; clients see nothing of it. A
        reset leaves schemas alone. ValueError for what is no schema; ImportError without the extra ``schemas``.
        """
        from odradek.broker.facade.decoded_record import SchemaChange

        change = SchemaChange(topic, part, schema_id, schema, kind, message)
        schemas = self._cluster.record_schemas
        return self._undone_by(lambda: change.make(schemas), lambda: change.undo(schemas))

    def remove_schema(self, topic: str, *, part: Part = "value", schema_id: int | None = None) -> None:
        """Forget a schema that `set_schema` has set; nothing happens if there is none."""
        from odradek.broker.facade.decoded_record import SchemaChange

        change = SchemaChange(topic, part, schema_id, None)
        self._call(lambda: change.make(self._cluster.record_schemas))
