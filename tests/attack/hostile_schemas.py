"""Schemas that cost a registry much: a few kilobytes that take years, or a megabyte that takes minutes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Question(NamedTuple):
    """A request of the registry's API with a JSON body."""

    method: str
    path: str
    body: dict[str, Any]


def registration(subject: str, schema: Any, kind: str = "AVRO", references: Any = ()) -> Question:
    """Register a schema: a text, or what is written as JSON."""
    return Question("POST", f"/subjects/{subject}/versions", _body(schema, kind, references))


def check(subject: str, schema: Any, kind: str = "AVRO") -> Question:
    """Ask whether a schema is compatible with the versions of a subject."""
    return Question("POST", f"/compatibility/subjects/{subject}/versions", _body(schema, kind, ()))


def _body(schema: Any, kind: str, references: Any) -> dict[str, Any]:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return {"schema": text, "schemaType": kind, "references": list(references)}


def references_that_double(subject: str) -> Iterator[Question]:
    """Each schema refers twice to the one before: the way down doubles with each level."""
    for level in range(60):
        before = [{"name": f"{name}.R{level - 1}", "subject": f"{subject}{level - 1}", "version": 1} for name in "ab"]
        yield registration(f"{subject}{level}", {"type": "object"}, "JSON", before if level else ())


def references_in_a_chain(subject: str) -> Iterator[Question]:
    """A chain deeper than Python's stack."""
    for level in range(1500):
        before = [{"name": f"r{level - 1}", "subject": f"{subject}{level - 1}", "version": 1}]
        yield registration(f"{subject}{level}", {"type": "object"}, "JSON", before if level else ())


def avro_default_of_recursive_records(subject: str) -> Iterator[Question]:
    """A default that fits none of the branches is tried in all ways: 4 times as many with every two levels."""
    default: Any = {"x": 1}
    for _ in range(60):
        default = {"next": default}
    branches = [
        {
            "type": "record",
            "name": name,
            "fields": [{"name": "next", "type": ["null", "A", "B"] if name == "B" else ["null", "A"]}],
        }
        for name in ("A", "B")
    ]
    inner = [{"type": "record", "name": "A", "fields": [{"name": "next", "type": ["A", branches[1]]}]}, "B"]
    yield registration(
        subject, {"type": "record", "name": "R", "fields": [{"name": "f", "type": inner, "default": default}]}
    )


def avro_of_many_fields(subject: str) -> Iterator[Question]:
    """The library looks each field up in a new table of all."""

    def record(kind: str) -> dict[str, Any]:
        return {"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": kind} for n in range(20_000)]}

    yield registration(subject, record("int"))
    yield check(subject, record("long"))
    yield check(subject, record("string"))


def avro_of_wide_unions(subject: str) -> Iterator[Question]:
    """Each branch is compared with each branch."""

    def union(size: int) -> list[Any]:
        return [{"type": "record", "name": f"R{n}", "fields": [{"name": "x", "type": "int"}]} for n in range(size)]

    yield registration(subject, union(5000))
    yield check(subject, [*union(5000), "string"])


def avro_that_is_deep(subject: str) -> Iterator[Question]:
    """Arrays in arrays, to the limit of a request."""
    for depth in (100, 1000, 20_000):
        yield registration(subject, '{"type":"array","items":' * depth + '"int"' + "}" * depth)


def json_all_of_pairs(subject: str) -> Iterator[Question]:
    """The writer is one of 2^n combinations."""
    pairs = [{"anyOf": [{"minLength": n}, {"maxLength": n + 1}]} for n in range(40)]
    yield registration(subject, {"allOf": pairs}, "JSON")
    yield check(subject, {"allOf": pairs, "description": "the same", "maxLength": 50}, "JSON")


def json_any_of_chains(subject: str) -> Iterator[Question]:
    """Each definition refers twice to the next one."""

    def chain(extra: int) -> dict[str, Any]:
        defs = {
            f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}", "maxLength": n}]}
            for n in range(40)
        }
        return {"$ref": "#/$defs/d0", "$defs": {**defs, "d40": {"type": "string", "minLength": extra}}}

    yield registration(subject, chain(2), "JSON")
    yield check(subject, chain(1), "JSON")
    yield check(subject, chain(3), "JSON")


def json_many_branches_of_many_references(subject: str) -> Iterator[Question]:
    """A thousand branches on each of 98 ways."""

    def wide(extra: int) -> dict[str, Any]:
        refs = {f"p{n}": {"$ref": "#/$defs/wide"} for n in range(98)}
        return {
            "properties": refs,
            "$defs": {"wide": {"anyOf": [{"const": n} for n in range(1000)] + [{"minimum": extra}]}},
        }

    yield registration(subject, wide(5000), "JSON")
    yield check(subject, wide(4000), "JSON")


def json_enum_of_unlike_items(subject: str) -> Iterator[Question]:
    """Draft 4 wants different items, and items of unlike types cannot be sorted."""
    items: list[Any] = [value for n in range(8000) for value in ({"a": n}, [n], str(n))]
    yield registration(subject, {"$schema": "http://json-schema.org/draft-04/schema#", "enum": items}, "JSON")


def json_of_many_properties(subject: str) -> Iterator[Question]:
    """Twenty thousand properties, and one more."""

    def properties(count: int) -> dict[str, Any]:
        return {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(count)}}

    yield registration(subject, properties(20_000), "JSON")
    yield registration(subject, properties(20_001), "JSON")


def json_with_patterns(subject: str) -> Iterator[Question]:
    """Patterns that backtrack, and one that is long."""
    slow = "(a+)+$"
    yield registration(subject, {"pattern": slow, "default": "a" * 40 + "!", "examples": ["a" * 40 + "!"]}, "JSON")
    names = {"patternProperties": {slow: {}}, "properties": {"a" * 40 + "!": {}}, "propertyNames": {"pattern": slow}}
    yield check(subject, names, "JSON")
    yield registration(f"{subject}-long", {"pattern": "(?:" * 5000 + "a" + "){0,9}" * 5000}, "JSON")
    yield registration(f"{subject}-wide", {"pattern": "|".join(f"a{n}[^x-z]*" for n in range(60_000))}, "JSON")


def json_that_is_deep(subject: str) -> Iterator[Question]:
    """Wrong at its innermost place: each level tells of it with all that is inside."""
    for draft in ("http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2020-12/schema"):
        for depth in (60, 150, 300):
            schema: Any = {"type": 5, "description": "x" * 300_000}
            for _ in range(depth):
                schema = {"items": schema} if "04" in draft else {"allOf": [schema, schema] if depth < 10 else [schema]}
            yield registration(subject, {"$schema": draft, **schema}, "JSON")


def json_of_huge_numbers(subject: str) -> Iterator[Question]:
    """Numbers that Python's arithmetic would work on for long."""
    yield registration(subject, '{"minimum": %s}' % ("9" * 900_000), "JSON")
    yield registration(subject, '{"multipleOf": 1e-X, "maximum": 1eX}'.replace("X", "9" * 5000), "JSON")
    numbers = ",".join("9" * 4000 for _ in range(200))
    yield registration(subject, f'{{"enum": [{numbers}]}}', "JSON")
    yield registration(f"{subject}-avro", '{"type":"fixed","name":"F","size":%s}' % ("9" * 4000))


def json_of_many_references(subject: str) -> Iterator[Question]:
    """Each reference is looked up in the whole schema, and none or all are there."""
    defs = {f"d{n}": {"$anchor": f"a{n}"} for n in range(8000)}
    yield registration(subject, {"$defs": defs, "allOf": [{"$ref": f"#a{n}"} for n in range(8000)]}, "JSON")
    yield registration(subject, {"$defs": {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(8000)}}, "JSON")


def protobuf_of_reserved_numbers(subject: str) -> Iterator[Question]:
    """protoc compares each reserved range with each other one."""
    numbers = ", ".join(str(2 * n + 1) for n in range(100_000))
    yield registration(subject, f'syntax = "proto3"; message M {{ reserved {numbers}; }}', "PROTOBUF")


def protobuf_of_many_messages(subject: str) -> Iterator[Question]:
    """Thousands of messages side by side, and hundreds inside of each other."""

    def messages(kind: str) -> str:
        return 'syntax = "proto3";' + "".join(f"message M{n} {{ {kind} x = 1; }}" for n in range(15_000))

    yield registration(subject, messages("int32"), "PROTOBUF")
    yield registration(subject, messages("string"), "PROTOBUF")
    yield registration(f"{subject}-deep", 'syntax = "proto3";' + "message M {" * 5000 + "}" * 5000, "PROTOBUF")


CASES: dict[str, Callable[[str], Iterator[Question]]] = {
    each.__name__: each
    for each in (
        references_that_double,
        avro_default_of_recursive_records,
        avro_of_many_fields,
        avro_of_wide_unions,
        avro_that_is_deep,
        json_all_of_pairs,
        json_any_of_chains,
        json_many_branches_of_many_references,
        json_enum_of_unlike_items,
        json_of_many_properties,
        json_with_patterns,
        json_that_is_deep,
        json_of_huge_numbers,
        json_of_many_references,
        protobuf_of_reserved_numbers,
        protobuf_of_many_messages,
        references_in_a_chain,
    )
}
"""The cases by name: each takes a subject of its own, and gives its requests in their order."""
