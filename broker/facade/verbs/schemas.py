"""Verbs of schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending
from odradek.broker.facade.verbs.undo import TrioUndo

if TYPE_CHECKING:
    from odradek.broker.schemas.record_schemas import Kind, Part


class SchemaVerbs(TrioFlavour):
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
    ) -> Pending[TrioUndo]:
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

    async def remove_schema(self, topic: str, *, part: Part = "value", schema_id: int | None = None) -> None:
        """Forget a schema that `set_schema` has set; nothing happens if there is none."""
        from odradek.broker.facade.decoded_record import SchemaChange

        change = SchemaChange(topic, part, schema_id, None)
        await self._call(lambda: change.make(self._cluster.record_schemas))
