"""Which schema a record has."""

from __future__ import annotations

import json

import pytest

from odradek.broker.schemas.avro import AvroSchema
from odradek.broker.schemas.protobuf import compiled
from odradek.broker.schemas.record_schemas import Decoded, RecordSchemas, SchemaInfo, schema_of

PROTO = 'syntax = "proto3"; message A { string a = 1; } message B { string b = 1; }'


def test_the_kind_is_seen_by_its_text() -> None:
    assert schema_of('{"type": "string"}', None, None).kind == "avro"
    assert schema_of(b' ["null", "int"]', None, None).kind == "avro"
    assert schema_of('"string"', None, None).name == "string"
    assert schema_of("// ours\n" + PROTO, None, None).name == "A"
    assert schema_of(PROTO, "protobuf", "B").name == "B"


def test_a_descriptor_set_that_came_as_text_is_one_too() -> None:
    assert schema_of(compiled(PROTO), None, None).name == "A"
    assert schema_of(compiled(PROTO).decode(), None, "B").name == "B"


def test_what_is_no_schema_is_told() -> None:
    with pytest.raises(ValueError, match="not an Avro schema"):
        schema_of('{"type": ', None, None)
    with pytest.raises(ValueError, match=r"expected Avro's JSON, the text of a \.proto file"):
        schema_of("hello", None, None)
    with pytest.raises(ValueError, match="not 'xml'"):
        schema_of("<a/>", "xml", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`message` is for Protobuf"):
        schema_of('"string"', "avro", "A")
    with pytest.raises(ValueError, match="at most 4194304 bytes"):
        schema_of(" " * 5_000_000, None, None)


def test_data_go_by_their_id_else_by_the_usual_schema() -> None:
    schemas = RecordSchemas()
    assert schemas.decoded("t", "value", b"\x00\x00\x00\x00\x07\x02a") is None
    schemas.set("t", "value", 7, AvroSchema('"string"'))
    schemas.set("t", "value", None, AvroSchema('"int"'))
    assert schemas.decoded("t", "value", b"\x00\x00\x00\x00\x07\x02a") == Decoded("a", "string", schema_id=7)
    assert schemas.decoded("t", "value", b"\x00\x00\x00\x00\x08\x02") == Decoded(1, "int", schema_id=8)
    assert schemas.decoded("t", "value", b"\xc3\x01" + bytes(8) + b"\x02") == Decoded(1, "int", fingerprint="0" * 16)
    assert schemas.decoded("t", "value", b"\x02") == Decoded(1, "int")
    assert schemas.decoded("t", "key", b"\x02") is None
    assert schemas.decoded("other", "value", b"\x02") is None
    assert schemas.decoded("t", "value", None) is None
    assert repr(schemas) == "<RecordSchemas: 2>"
    assert schemas.infos() == [
        SchemaInfo("t", "value", "avro", "int"),
        SchemaInfo("t", "value", "avro", "string", 7),
    ]


def test_plain_avro_may_begin_with_a_zero() -> None:
    pair = {"type": "record", "name": "P", "fields": [{"name": n, "type": "string"} for n in ("a", "b")]}
    schemas = RecordSchemas()
    schemas.set("t", "value", None, AvroSchema(json.dumps(pair)))
    assert schemas.decoded("t", "value", b"\x00\x08book") == Decoded({"a": "", "b": "book"}, "P")


def test_what_does_not_fit_is_told_with_its_id() -> None:
    schemas = RecordSchemas()
    schemas.set("t", "value", None, AvroSchema('"int"'))
    found = schemas.decoded("t", "value", b"\x00\x00\x00\x00\x07\x02more")
    assert found == Decoded(None, "int", 7, None, "does not fit int: 4 bytes are left over")
