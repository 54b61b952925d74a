"""The schemas of topics' keys and values, as a test or a registry gives them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from odradek.broker.schemas.framing import Framed, readings

Part = Literal["key", "value"]
"""The part of a record that a schema describes."""
Kind = Literal["avro", "protobuf"]
_LARGEST = 4 * 1024 * 1024
_PROTO_BEGIN = re.compile(r"\s*(syntax|edition|package|import|option|message|enum|//|/\*)")
_PROTO_SOURCE = 'text of a .proto file, or what "protoc --include_imports -o" writes'


class Schema(Protocol):
    """Something that makes JSON values of bytes."""

    name: str

    @property
    def kind(self) -> str:
        """The format of the schema."""
        ...

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """The values, and what may be wrong with them; ValueError, in words, for bytes that do not fit."""
        ...

    def encode(self, data: Any) -> bytes:
        """The bytes that a serializer writes behind the schema id; ValueError, in words, for data that do not fit."""
        ...


class RegisteredSchemas(Protocol):
    """The schemas of a registry."""

    def schema(self, topic: str, part: Part, number: int) -> Schema | None:
        """The one with an id; None for an unknown id."""
        ...

    def expects(self, topic: str, part: Part) -> bool:
        """Whether there is a subject for the keys or values of a topic."""
        ...


class SchemaRegistry(Protocol):
    """A schema registry beside a cluster."""

    @property
    def url(self) -> str:
        """The registry's URL; it stays the same while the registry is down."""
        ...

    def stop(self) -> Callable[[], None]:
        """Refuse connections, and cut those that there are. Returns `resume`. RuntimeError if it is down already."""
        ...

    def resume(self) -> None:
        """Answer again, at the same address, if it was stopped. OSError if the address is taken."""
        ...

    def ask(self, method: str, path: str, body: Any) -> Any:
        """What its REST API answers, as JSON; RuntimeError with what it refuses. Not in the broker's thread."""
        ...


@dataclass(frozen=True, slots=True)
class SchemaInfo:
    """A schema that is in force. ``schema_id``: it is of data that carry this id; None for all others.

    ``name``: of the record type or message. ``kind``: ``avro`` or ``protobuf``.
    """

    topic: str
    part: Part
    kind: str
    name: str
    schema_id: int | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """A key or a value by its schema, as JSON has it. ``problem``: why there are no data, or what is odd about them.

    ``schema_id``: the id before the data (Confluent's wire format), ``fingerprint`` that of Avro's single objects.
    """

    data: Any
    schema: str
    schema_id: int | None = None
    fingerprint: str | None = None
    problem: str | None = None


class RecordSchemas:
    """By topic, part and schema id. Looked at in any thread: each change makes a new dictionary."""

    def __init__(self) -> None:
        self._by_place: dict[tuple[str, Part, int | None], Schema] = {}
        self.registered: RegisteredSchemas | None = None
        """The schemas of a registry, for topics without a set schema. Asked in the thread that looks."""

    def __repr__(self) -> str:
        return f"<RecordSchemas: {len(self._by_place)}>"

    def set(self, topic: str, part: Part, schema_id: int | None, schema: Schema | None) -> Schema | None:
        """Have a schema from now on, or none; the one before is returned."""
        key = topic, part, schema_id
        before = self._by_place.get(key)
        others = {place: each for place, each in self._by_place.items() if place != key}
        self._by_place = others if schema is None else {**others, key: schema}
        return before

    def infos(self) -> list[SchemaInfo]:
        """All of them, by topic, part and id."""
        found = [
            SchemaInfo(topic, part, schema.kind, schema.name, number)
            for (topic, part, number), schema in self._by_place.items()
        ]
        return sorted(found, key=lambda each: (each.topic, each.part, each.schema_id is not None, each.schema_id or 0))

    def encoded(self, topic: str, part: Part, number: int, data: Any) -> bytes:
        """The bytes that a serializer writes by the registered schema with this id; ValueError if there is none."""
        schema = None if self.registered is None else self.registered.schema(topic, part, number)
        if schema is None:
            raise ValueError(f"no schema with the id {number} is registered")
        return b"\0" + number.to_bytes(4) + schema.encode(data)

    def decoded(self, topic: str, part: Part, data: bytes | None) -> Decoded | None:
        """The data decoded by their schema; None without a schema or data."""
        known = self._by_place
        registered = self.registered
        if data is None or not (known or registered):
            return None
        failed: Decoded | None = None
        for framed in readings(data):
            usual = known.get((topic, part, None))
            schema = usual if framed.schema_id is None else known.get((topic, part, framed.schema_id), usual)
            if schema is None and framed.schema_id is not None and registered is not None:
                schema = registered.schema(topic, part, framed.schema_id)
            if schema is None:
                continue
            try:
                values, problem = schema.decode(framed)
            except ValueError as error:
                failed = failed or Decoded(None, schema.name, framed.schema_id, framed.fingerprint, str(error))
                continue
            return Decoded(values, schema.name, framed.schema_id, framed.fingerprint, problem)
        return failed


def schema_of(source: str | bytes, kind: Kind | None, message: str | None) -> Schema:
    """The schema that a text or a descriptor set declares; ValueError, in words, if it declares none.

    ImportError, with what to install, without the extra ``schemas``.
    """
    if kind not in (None, "avro", "protobuf"):
        raise ValueError(f"a schema is of avro or protobuf, not {kind!r}")
    if len(source) > _LARGEST:
        raise ValueError(f"a schema has at most {_LARGEST} bytes, not {len(source)}")
    if kind == "avro" or (kind is None and message is None and _is_json(source)):
        return _avro(source, message)
    from odradek.broker.schemas.protobuf import ProtobufSchema

    if isinstance(source, str) and not _PROTO_BEGIN.match(source):
        if not any(each < " " and each not in "\t\r\n" for each in source):
            raise ValueError(f"this is not a schema: expected Avro's JSON, the {_PROTO_SOURCE}")
        source = source.encode()
    return ProtobufSchema(source, message)


def _avro(source: str | bytes, message: str | None) -> Schema:
    from odradek.broker.schemas.avro import AvroSchema

    if message is not None:
        raise ValueError("`message` is for Protobuf: an Avro schema is of one type")
    return AvroSchema(source if isinstance(source, str) else source.decode("utf-8"))


def _is_json(source: str | bytes) -> bool:
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return isinstance(source, str) and source.lstrip()[:1] in ("{", "[")  # Avro says what is wrong with it
    return True
