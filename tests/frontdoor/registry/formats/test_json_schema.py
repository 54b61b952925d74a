"""JSON Schema: who reads whom, a test for each rule of docs/registry.md."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from odradek.registry.effort import Steps, TooManyStepsError
from odradek.registry.formats.json_schema import JsonSchema


def schema(declared: Any, **needed: Any) -> JsonSchema:
    return JsonSchema(json.dumps(declared), {name: json.dumps(each) for name, each in needed.items()})


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


INT, STRING, NUMBER, NULL = ({"type": name} for name in ("integer", "string", "number", "null"))


def array(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def test_the_canonical_text_keeps_the_order_and_the_normalized_one_does_not() -> None:
    made = JsonSchema('{ "type": "object", "$comment": "\u00e4" }', {})
    assert made.canonical == '{"type":"object","$comment":"\u00e4"}'
    assert made.normalized == '{"$comment":"\u00e4","type":"object"}'
    assert repr(made) == '<JsonSchema {"type":"object","$comment":"\u00e4"}>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "invalid JSON Schema"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "expected an object, true or false"),
        ('"string"', "expected an object, true or false"),
        ('{"type":"strin"}', r"\$\.type"),
        (
            '{"$schema":"http://example.com/draft","type":"string"}',
            "the draft 'http://example.com/draft' is not supported",
        ),
        ('{"$ref":"other.json"}', "refers to 'other.json', which does not exist"),
        ('{"$ref":"#/definitions/a"}', "refers to '/definitions/a', which does not exist"),
    ],
)
def test_a_text_that_is_no_json_schema_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        JsonSchema(text, {})


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07"])
def test_older_drafts_of_json_schema_are_read(draft: str) -> None:
    JsonSchema(json.dumps({"$schema": f"http://json-schema.org/{draft}/schema#", "type": "string"}), {})


@pytest.mark.parametrize(
    ("reader", "writer", "readable"),
    [
        # everything, nothing, equal
        (True, STRING, True),
        ({}, True, True),
        (STRING, False, True),
        (False, STRING, False),
        (STRING, True, False),
        (closed(a=INT), closed(a=INT), True),
        ({"not": STRING}, {"not": STRING}, True),
        ({"description": "a", **STRING}, {"title": "b", **STRING}, True),
        # types
        (NUMBER, INT, True),
        (INT, NUMBER, False),
        ({"type": ["string", "null"]}, STRING, True),
        (STRING, {"type": ["string", "null"]}, False),
        # values
        ({"enum": ["a", "b"]}, {"enum": ["a"]}, True),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, False),
        ({"enum": ["a"]}, STRING, False),
        (STRING, {"enum": ["a"]}, True),
        (INT, {"enum": ["a"]}, False),
        ({"enum": [1, "a"]}, {"const": 1}, True),
        ({"const": 1}, {"const": 2}, False),
        ({"const": 1}, {"const": True}, False),
        ({"not": {"const": 1}}, {"not": {"const": True}}, False),
        # bounds
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 2}, True),
        ({"type": "integer", "minimum": 2}, {"type": "integer", "minimum": 1}, False),
        ({"type": "integer", "maximum": 2}, INT, False),
        ({"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 1}, True),
        (INT, {"type": "integer", "maximum": 1}, True),
        ({"type": "string", "maxLength": 5}, {"type": "string", "maxLength": 4}, True),
        ({"type": "string", "minLength": 5}, {"type": "string", "minLength": 4}, False),
        ({"minimum": 3}, STRING, True),
        # arrays
        (array(NUMBER), array(INT), True),
        (array(INT), array(NUMBER), False),
        (array(INT), {"type": "array"}, False),
        ({"type": "array"}, array(INT), True),
        (array(INT, minItems=1), array(INT), False),
        (array(INT, uniqueItems=True), array(INT), False),
        (array(INT, uniqueItems=False), array(INT), True),
        # objects: properties
        (opened(), opened(a=INT), True),
        (opened(a=INT), opened(), False),
        (opened(a=True), opened(), True),
        (closed(a=INT), closed(), True),
        (closed(), closed(a=INT), False),
        (closed(a=INT), opened(a=INT), False),
        (opened(a=INT), closed(a=INT), True),
        (opened(a=NUMBER), opened(a=INT), True),
        (opened(a=INT), opened(a=NUMBER), False),
        (opened(a=INT), {"type": "object", "additionalProperties": INT}, True),
        ({"type": "object", "additionalProperties": NUMBER}, closed(a=INT), True),
        ({"type": "object", "additionalProperties": NUMBER}, closed(a=STRING), False),
        # objects: what is required
        ({**opened(a=INT), "required": []}, {**opened(a=INT), "required": ["a"]}, True),
        ({**opened(a=INT), "required": ["a"]}, opened(a=INT), False),
        (
            {**closed(a={"type": "integer", "default": 0}), "required": ["a"]},
            closed(a={"type": "integer"}),
            True,
        ),
        # several schemas
        ({"anyOf": [INT, STRING]}, STRING, True),
        ({"anyOf": [INT, STRING]}, NULL, False),
        (STRING, {"anyOf": [INT, STRING]}, False),
        ({"oneOf": [NULL, STRING, INT]}, {"oneOf": [NULL, STRING]}, True),
        ({"oneOf": [NULL, STRING]}, {"oneOf": [NULL, STRING, INT]}, False),
        ({"allOf": [{"minimum": 1}, {"maximum": 9}]}, {"type": "integer", "minimum": 2, "maximum": 8}, True),
        ({"allOf": [{"minimum": 1}, {"maximum": 9}]}, {"type": "integer", "minimum": 2}, False),
        ({"type": "integer", "minimum": 1, "maximum": 9}, {"allOf": [INT, {"minimum": 2}, {"maximum": 8}]}, True),
        (closed(a=NUMBER), {"anyOf": [closed(a=INT), closed()]}, True),
        # what is left open
        ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "a", "minLength": 1}, True),
        ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "aa"}, False),
        ({"type": "string", "format": "date"}, STRING, False),
        (STRING, {"type": "string", "format": "date"}, True),
        ({"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 4}, False),
        ({"not": STRING}, {"not": {"type": ["string", "null"]}}, False),
        ({"type": "array", "prefixItems": [NUMBER]}, {"type": "array", "prefixItems": [INT]}, False),
        (
            {"type": "object", "patternProperties": {"a": NUMBER}},
            {"type": "object", "patternProperties": {"a": INT}},
            False,
        ),
        ({"type": "object", "properties": {}, "patternProperties": {"a": INT}}, closed(a=INT), False),
        ({"if": STRING, "then": {"minLength": 1}}, STRING, False),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, opened(), False),
        ({"unevaluatedProperties": False}, {"type": "object", "unevaluatedProperties": False}, False),
        ({"if": STRING, "then": {"minLength": 1}}, {"if": STRING, "then": {"minLength": 1}, "type": "string"}, True),
        ({"allOf": [{"if": INT, "then": INT}]}, {"allOf": [{"if": INT}, {"then": INT}]}, False),
        # what is no keyword
        ({"type": "string", "x-own": 1, "description": "a"}, STRING, True),
    ],
)
def test_json_schemas_read_each_other_as_confluent_says(reader: Any, writer: Any, readable: bool) -> None:
    reasons = schema(reader).reads(schema(writer))
    assert (list(reasons) == []) is readable, reasons


def test_draft_4_has_flags_of_bounds() -> None:
    older = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 1}
    plain, exclusive = schema({**older, "exclusiveMinimum": False}), schema({**older, "exclusiveMinimum": True})
    assert plain.reads(exclusive) == []
    assert exclusive.reads(exclusive) == []
    assert exclusive.reads(plain) != []
    newer = schema({"type": "integer", "exclusiveMinimum": 1})
    assert newer.reads(schema({**older, "minimum": 0, "exclusiveMinimum": True})) != []


def test_tuples_of_older_drafts_have_to_be_equal() -> None:
    older = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array"}
    assert schema({**older, "items": [NUMBER]}).reads(schema({**older, "items": [INT]})) != []
    assert schema({**older, "items": [INT]}).reads(schema({**older, "items": [INT], "minItems": 1})) == []


def test_a_reason_says_where_it_lies() -> None:
    (reason,) = schema(opened(a=opened(b=INT))).reads(schema(opened(a=opened(b=STRING))))
    assert reason == "#/properties/a/properties/b/type: string is not admitted"


def test_json_schema_follows_references() -> None:
    inner = {"$defs": {"a": INT}}
    by_name = schema(opened(a={"$ref": "inner.json#/$defs/a"}), **{"inner.json": inner})
    local = schema({**opened(a={"$ref": "#/$defs/a"}), "$defs": {"a": NUMBER}})
    assert local.reads(by_name) == []
    assert by_name.reads(local) != []
    assert schema({"$ref": "#/$defs/a", "minimum": 1, "$defs": {"a": INT}}).reads(schema(INT)) != []


def test_json_schema_that_contains_itself_is_compared() -> None:
    def tree(value: Any) -> Any:
        return schema(opened(value=value, left={"anyOf": [NULL, {"$ref": "#"}]}, right={"allOf": [{"$ref": "#"}]}))

    assert tree(NUMBER).reads(tree(INT)) == []
    assert tree(INT).reads(tree(NUMBER)) != []


def test_a_circle_of_references_is_refused() -> None:
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    with pytest.raises(ValueError, match="its references form a cycle"):
        schema(circle)
    with pytest.raises(ValueError, match="its references form a cycle"):
        schema({"$ref": "a"}, a={"$ref": "b"}, b={"$ref": "a"})


def test_a_schema_that_contains_itself_at_once_is_not_compared() -> None:
    """As a writer it would never end; as a reader it asks no more than the rest of it."""
    endless = schema({"allOf": [{"$ref": "#"}], "type": "integer"})
    assert schema(INT).reads(endless) == ["the schemas are nested too deeply to be compared"]
    assert endless.reads(schema(INT)) == []


# -- what is promised: no document of the writer's is refused by a reader that reads it

_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.5, 2.0]), st.text("ab", max_size=3)
)
DOCUMENTS = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    small = st.integers(-2, 3)
    sizes = st.integers(0, 3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(_KINDS) | st.lists(st.sampled_from(_KINDS), min_size=1, max_size=3, unique=True),
            "enum": st.lists(_LEAVES, min_size=1, max_size=3),
            "const": _LEAVES,
            "minimum": small,
            "exclusiveMaximum": small,
            "minLength": sizes,
            "maxLength": sizes,
            "items": inner,
            "minItems": sizes,
            "uniqueItems": st.booleans(),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "maxProperties": sizes,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "patternProperties": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
        },
    )


SCHEMAS: st.SearchStrategy[Any] = st.recursive(st.booleans() | st.builds(dict), _schemas, max_leaves=6)


@given(SCHEMAS, SCHEMAS, st.booleans(), st.lists(DOCUMENTS, min_size=1, max_size=10))
def test_json_schema_that_reads_another_admits_its_documents(
    one: Any, two: Any, alike: bool, documents: list[Any]
) -> None:
    if alike and isinstance(one, dict) and isinstance(two, dict):
        two = {**one, **two}
    for reader, writer in ((one, two), (two, one)):
        if schema(reader).reads(schema(writer)):
            continue
        admits, wrote = Draft202012Validator(reader), Draft202012Validator(writer)
        for each in documents:
            assert admits.is_valid(each) or not wrote.is_valid(each), (reader, writer, each)


def all_of_pairs(most: int) -> dict[str, Any]:
    """One of 2^40 combinations of branches."""
    pairs = [{"anyOf": [{"minimum": n}, {"maximum": n + 100}]} for n in range(40)]
    return {"type": "integer", "allOf": pairs, "maximum": most}


def chain_of_pairs(least: int) -> dict[str, Any]:
    """Each definition refers twice to the next one."""
    pairs = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}", "maxLength": n + 50}]}
        for n in range(40)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**pairs, "d40": {"type": "string", "minLength": least}}}


def chain_of_all_of(title: str) -> dict[str, Any]:
    """The parts of a writer double with each definition."""
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(40)}
    return {"$ref": "#/$defs/d0", "title": title, "$defs": {**defs, "d40": {"type": "string"}}}


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        (chain_of_pairs(1), chain_of_pairs(2)),
        (chain_of_all_of("a"), chain_of_all_of("b")),
        ({"type": "integer", "maximum": 1000, "title": "x"}, all_of_pairs(1000)),
    ],
)
def test_a_comparison_of_too_many_ways_is_given_up(reader: Any, writer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Steps, "MOST", 2000)
    with pytest.raises(TooManyStepsError):
        schema(reader).reads(schema(writer))
