"""Avro: texts as Avro's Java library writes them, and its specification's rules of resolution."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from odradek.registry.effort import TooManyStepsError
from odradek.registry.formats.avro import AvroSchema

VECTORS = Path(__file__).parents[3] / "vectors"


def schema(declared: Any, **needed: str) -> AvroSchema:
    return AvroSchema(declared if isinstance(declared, str) else json.dumps(declared), needed)


def record(*fields: dict[str, Any], name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def fixed(size: int) -> dict[str, Any]:
    return {"type": "fixed", "name": "F", "size": size}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


# -- texts


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("string", '"string"'),
        (' {"type" : "string"} ', '"string"'),
        ('{"logicalType":"date","type":"int"}', '{"type":"int","logicalType":"date"}'),
        ('["null", {"type": "int"}]', '["null","int"]'),
        (
            '{"fields":[{"type":"int","name":"a","default":1,"doc":"d"}],"name":"R","doc":"D","type":"record"}',
            '{"type":"record","name":"R","doc":"D","fields":[{"name":"a","type":"int","doc":"d","default":1}]}',
        ),
        (
            '{"type":"record","name":"x.y.R","fields":[]}',
            '{"type":"record","name":"R","namespace":"x.y","fields":[]}',
        ),
        (
            '{"type":"enum","name":"E","symbols":["A"],"aliases":["x.F"],"default":"A","extra":1}',
            '{"type":"enum","name":"E","symbols":["A"],"default":"A","extra":1,"aliases":["x.F"]}',
        ),
        ('{"size":4,"type":"fixed","name":"F"}', '{"type":"fixed","name":"F","size":4}'),
        (
            '{"items":{"type":"map","values":"int"},"type":"array"}',
            '{"type":"array","items":{"type":"map","values":"int"}}',
        ),
    ],
)
def test_avro_schema_has_the_canonical_text(text: str, canonical: str) -> None:
    assert schema(text).canonical == canonical
    assert schema(canonical).canonical == canonical


def test_names_are_short_inside_of_their_namespace() -> None:
    inner = record(
        name="a.Inner",
    )
    outer = record(field("i", inner), field("j", "a.Inner"), field("k", "int", order="descending"), name="a.Outer")
    assert schema(outer).canonical == (
        '{"type":"record","name":"Outer","namespace":"a","fields":[{"name":"i","type":{"type":"record","name":"Inner",'
        '"fields":[]}},{"name":"j","type":"Inner"},{"name":"k","type":"int","order":"descending"}]}'
    )


def test_normalized_text_has_properties_by_name() -> None:
    written = schema({"type": "string", "b": 1, "a": 2})
    assert written.canonical == '{"type":"string","b":1,"a":2}'
    assert written.normalized == '{"type":"string","a":2,"b":1}'


def test_types_may_be_of_schemas_that_are_referred_to() -> None:
    made = schema(record(field("i", "a.Inner", default={})), **{"a.Inner": json.dumps(record(name="a.Inner"))})
    assert made.canonical == '{"type":"record","name":"R","fields":[{"name":"i","type":"a.Inner","default":{}}]}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '"strin"',
        '{"type":"record","name":"R"}',
        '{"type":"record","fields":[]}',
        '{"type":"record","name":"R","fields":[{"name":"a"}]}',
        '{"type":"record","name":"R","fields":[{"name":"a","type":"Unknown"}]}',
        '{"type":"enum","name":"E","symbols":["A","A"]}',
        '{"type":"enum","name":"E","symbols":["A"],"default":"B"}',
        '{"type":"array"}',
        "[[]]",
        '["int","int"]',
        "1",
        "null",
    ],
)
def test_a_text_that_is_no_avro_schema_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid Avro schema"):
        AvroSchema(text, {})


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="invalid Avro schema"):
        schema([record(name="A"), record(name="A")])


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("null", None, 0),
        ("boolean", True, 1),
        ("int", 2**31 - 1, 2**31),
        ("long", -(2**63), 2**63),
        ("float", 1, "1"),
        ("double", 1.5, True),
        ("bytes", "\u00ff", 1),
        ("string", "a", None),
        (["null", "int"], None, "a"),
        (["null", "int"], 1, 1.5),
        (array("int"), [1], [None]),
        ({"type": "map", "values": "int"}, {"a": 1}, {"a": "b"}),
        (enum("A"), "A", 0),
        (fixed(2), "ab", None),
        (record(field("a", "int"), field("b", "int", default=1), name="Inner"), {"a": 1}, {"b": 1}),
        ("R", {"a": {}}, None),
    ],
)
def test_defaults_are_of_their_type(kind: Any, good: Any, bad: Any) -> None:
    if kind == "R":
        kind, good = array("R"), []
    schema(record(field("a", kind, default=good)))
    with pytest.raises(ValueError, match=r"the default .* of a is not of its type"):
        schema(record(field("a", kind, default=bad)))


@pytest.mark.parametrize(("given", "written"), json.loads((VECTORS / "avro_texts.json").read_text())["texts"])
def test_texts_that_the_java_library_wrote(given: str, written: str | None) -> None:
    if written is None:
        with pytest.raises(ValueError, match="invalid Avro schema"):
            AvroSchema(given, {})
    else:
        assert AvroSchema(given, {}).canonical == written


# -- resolution


@pytest.mark.parametrize(
    ("reader", "writer", "readable"),
    [
        ("int", "int", True),
        ("long", "int", True),
        ("float", "int", True),
        ("double", "int", True),
        ("float", "long", True),
        ("double", "long", True),
        ("double", "float", True),
        ("int", "long", False),
        ("string", "bytes", True),
        ("bytes", "string", True),
        ("string", "int", False),
        ({"type": "int", "logicalType": "date"}, "int", True),
        (record(field("a", "int")), record(field("a", "int"), field("b", "int")), True),
        (record(field("a", "int"), field("b", "int")), record(field("a", "int")), False),
        (record(field("a", "int"), field("b", "int", default=0)), record(field("a", "int")), True),
        (record(field("b", "int", aliases=["a"])), record(field("a", "int")), True),
        (record(name="A"), record(name="B"), False),
        (record(name="A", aliases=["B"]), record(name="B"), True),
        (record(name="x.A"), record(name="y.A"), True),
        (enum("A", "B"), enum("A"), True),
        (enum("A"), enum("A", "B"), False),
        (enum("A", default="A"), enum("A", "B"), True),
        (fixed(4), fixed(4), True),
        (fixed(4), fixed(8), False),
        (array("long"), array("int"), True),
        (array("int"), array("long"), False),
        ({"type": "map", "values": "int"}, array("int"), False),
        (["null", "int"], "int", True),
        ("int", ["null", "int"], False),
        ("long", ["int", "long"], True),
        (["null", "string"], ["null", "string", "int"], False),
        (["null", "long"], ["null", "int"], True),
        (["null", record(field("a", "int"), field("b", "int"), name="A")], record(field("a", "int"), name="A"), False),
        (
            record(field("n", ["null", "R"], default=None)),
            record(field("n", ["null", "R"], default=None), field("x", "int")),
            True,
        ),
    ],
)
def test_avro_schemas_read_each_other_as_avro_says(reader: Any, writer: Any, readable: bool) -> None:
    readers = schema(reader if reader not in ("int", "long", "float", "double", "bytes", "string") else f'"{reader}"')
    writers = schema(writer if writer not in ("int", "long", "float", "double", "bytes", "string") else f'"{writer}"')
    assert (list(readers.reads(writers)) == []) is readable


def test_a_reason_says_where_it_lies() -> None:
    (reason,) = schema(record(field("a", "int"))).reads(schema(record(field("a", "string"))))
    assert reason == "type_mismatch at /fields/0/type: reader type: int not compatible with writer type: string"


def test_a_default_is_tried_in_so_many_ways_only() -> None:
    """A default of two recursive records fits neither: each level tries both."""
    default: Any = {"next": 5}
    for _ in range(60):
        default = {"next": default}
    records = [record({"name": "next", "type": ["A", "B"]}, name="B")]
    union = [{"type": "record", "name": "A", "fields": [{"name": "next", "type": ["A", *records]}]}, "B"]
    with pytest.raises(TooManyStepsError):
        AvroSchema(json.dumps(record({"name": "f", "type": union, "default": default})), {})
