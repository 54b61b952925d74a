"""Avro by a schema. The bytes are written by hand, as Avro's specification has them."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from odradek.broker.schemas.avro import AvroSchema
from odradek.broker.schemas.framing import Framed

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}],
}


def schema(declared: Any) -> AvroSchema:
    return AvroSchema(json.dumps(declared))


def values(declared: Any, data: bytes) -> Any:
    return schema(declared).decode(Framed(data))[0]


def test_an_avro_record_is_decoded() -> None:
    assert schema(ORDER).name == "shop.Order"
    assert repr(schema(ORDER)) == "<AvroSchema shop.Order>"
    assert values(ORDER, b"\x54\x08book") == {"id": 42, "item": "book"}


@pytest.mark.parametrize(
    ("declared", "data", "expected"),
    [
        ("string", b"\x02a", "a"),
        ("bytes", b"\x04\x00\xff", "0x00ff"),
        ("bytes", b"\x04ab", "ab"),
        ("double", struct.pack("<d", float("nan")), "nan"),
        (["null", "int"], b"\x02\x03", -2),
        (["null", "int"], b"\x00", None),
        ({"type": "map", "values": "boolean"}, b"\x02\x02k\x01\x00", {"k": True}),
        ({"type": "array", "items": "int"}, b"\x04\x02\x04\x00", [1, 2]),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, b"\x02", "B"),
        ({"type": "int", "logicalType": "date"}, b"\x02", "1970-01-02"),
        ({"type": "long", "logicalType": "timestamp-millis"}, b"\xd0\x0f", "1970-01-01 00:00:01+00:00"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, b"\x04\x04\xd2", "12.34"),
    ],
)
def test_values_are_as_json_has_them(declared: Any, data: bytes, expected: Any) -> None:
    found = values(declared, data)
    assert found == expected
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x54\x08bo", "does not fit shop.Order: "),
        (b"\x54", "does not fit shop.Order: the data end too early"),
        (b"\x54\x08bookmore", "does not fit shop.Order: 4 bytes are left over"),
        (b"\x54\x02\xff", "does not fit shop.Order: 'utf"),
        (b"", "does not fit shop.Order: the data end too early"),
    ],
)
def test_what_does_not_fit_is_told(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        values(ORDER, data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"type": "record"}',
        '{"type": "nothing"}',
        "7",
        "[]]",
        '{"type":"array","items":"null"}',
        "[" * 100_000,
    ],
)
def test_what_is_no_schema_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="not an Avro schema"):
        AvroSchema(text)


def test_the_same_name_may_be_declared_again() -> None:
    changed = {**ORDER, "fields": [{"name": "id", "type": "string"}]}
    assert values(ORDER, b"\x54\x08book") == {"id": 42, "item": "book"}
    assert values(changed, b"\x02a") == {"id": "a"}


def test_data_are_written_as_they_are_read() -> None:
    assert schema(ORDER).encode({"id": 42, "item": "book"}) == b"\x54\x08book"
    for data in ({"id": 42}, {"id": 42, "item": "book", "more": 1}, {"id": "x", "item": "book"}, None):
        with pytest.raises(ValueError, match=r"does not fit shop\.Order: ."):
            schema(ORDER).encode(data)
