"""JSON Schema: a schema reads another one if it admits every document that the other one admits, by the rules here.

docs/registry.md lists the rules. Where they say nothing of a keyword, only an equal one will do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from odradek.protocol.errors import as_value
from odradek.registry.effort import Steps
from odradek.registry.formats import ReferencedTexts

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_COMPARED = (
    *("$ref", "type", "enum", "const", "allOf", "anyOf", "oneOf", "properties", "additionalProperties", "required"),
    *("items", "uniqueItems"),
)
_TOGETHER = (
    *(("pattern",), ("format",), ("multipleOf",), ("not",), ("if", "then", "else"), ("propertyNames",)),
    *(("contains", "minContains", "maxContains"), ("items", "prefixItems", "additionalItems")),
    *(("dependencies",), ("dependentRequired",), ("dependentSchemas",), ("uniqueItems",)),
)
"""Keywords that must be equal on both sides; those of a group depend on each other."""
_NEVER = ("unevaluatedItems", "unevaluatedProperties", "$dynamicRef", "$recursiveRef", "patternProperties")
"""Keywords that depend on all others: the whole schemas must be equal."""
_AT_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_OF_TYPE = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), "array"),
    **dict.fromkeys(("properties", "additionalProperties", "required", "minProperties", "maxProperties"), "object"),
}
"""Keywords that restrict documents of one type only, and that type."""
_KNOWN = {*_COMPARED, *_AT_LEAST, *_AT_MOST, *_NEVER, *(name for group in _TOGETHER for name in group)}
"""The keywords that restrict documents; all others are ignored."""
_LONGEST_WAY = 100
_NOTHING: dict[str, Any] = {"not": {}}


class _Place(NamedTuple):
    """A part of a schema, and the resolver of its references."""

    schema: Mapping[str, Any]
    resolver: Any

    def at(self, schema: Any) -> _Place:
        """A schema inside; true and false are schemas, too."""
        return _Place({} if schema is True else _NOTHING if schema is False else schema, self.resolver)


def prepared(text: str, needed: ReferencedTexts) -> Callable[[], JsonSchema]:
    """As `Prepare` says."""
    return lambda: JsonSchema(text, needed)


class JsonSchema:
    """A parsed schema, valid by its metaschema. ValueError says why a text is invalid."""

    formats: ClassVar[Mapping[str, Callable[[], str]]] = {}

    def __init__(self, text: str, needed: ReferencedTexts) -> None:
        declared = _json(text)
        known = declared.get("$schema") if isinstance(declared, dict) else None
        validator = validator_for(declared, default=None if known is not None else Draft202012Validator)
        if validator is None:
            raise ValueError(f"invalid JSON Schema: the draft {known!r} is not supported")
        try:
            validator.check_schema(declared)
            resources = [(name, _resource(_json(each), validator)) for name, each in needed.items()]
            own = _resource(declared, validator)
            name = own.id() or ""
            registry = Registry().with_resources([*resources, (name, own)])
            self._place = _Place({}, registry.resolver(name)).at(declared)
            for each in _references(declared):
                _check_end(_Place({"$ref": each}, self._place.resolver))
        except SchemaError as error:
            path = error.json_path
            raise ValueError(f"invalid JSON Schema: {path}: {_apart(error).message}") from None
        except Unresolvable as error:
            ref = as_value(error).ref
            raise ValueError(f"invalid JSON Schema: it refers to {ref!r}, which does not exist") from None
        self.canonical = json.dumps(declared, separators=(",", ":"), ensure_ascii=False)
        self.normalized = json.dumps(declared, separators=(",", ":"), ensure_ascii=False, sort_keys=True)

    def __repr__(self) -> str:
        return f"<JsonSchema {self.canonical}>"

    def reads(self, writer: JsonSchema) -> Sequence[str]:
        """The first reason found, with its place in this schema."""
        try:
            reason = _Comparison().reason(self._place, [writer._place], "#")
        except RecursionError:
            reason = "the schemas are nested too deeply to be compared"
        return [] if reason is None else [reason]


class _Comparison:
    """Looks for a reason why a reader does not admit all that writers admit together."""

    def __init__(self) -> None:
        self._under_way: set[tuple[int, tuple[int, ...]]] = set()
        self._steps = Steps()

    def reason(self, reader: _Place, writers: Sequence[_Place], where: str) -> str | None:
        """The reason, or None. A pair that is being compared further up the recursion gives no reason."""
        self._steps.take()
        parts = list(self._parts(writers))
        if not list(_references(reader.schema)) and any(_same(each.schema, reader.schema) for each in parts):
            return None
        key = id(reader.schema), tuple(id(each.schema) for each in writers)
        if key in self._under_way:
            return None
        self._under_way.add(key)
        try:
            return self._reason(reader, parts, where)
        finally:
            self._under_way.discard(key)

    def _parts(self, writers: Sequence[_Place]) -> Iterator[_Place]:
        """Resolve references and allOf into schemas that all apply; empty ones are left out."""
        for each in writers:
            self._steps.take()
            if "$ref" in each.schema:
                yield from self._parts([_resolved(each)])
            if "allOf" in each.schema:
                yield from self._parts([each.at(inner) for inner in each.schema["allOf"]])
            rest = {name: inner for name, inner in each.schema.items() if name not in ("$ref", "allOf")}
            if rest:
                yield each if len(rest) == len(each.schema) else each.at(rest)

    def _reason(self, reader: _Place, parts: list[_Place], where: str) -> str | None:
        for number, part in enumerate(parts):
            for keyword in ("anyOf", "oneOf"):
                if keyword in part.schema:
                    rest = {name: each for name, each in part.schema.items() if name != keyword}
                    others = [*parts[:number], part.at(rest), *parts[number + 1 :]]
                    found = (self.reason(reader, [*others, part.at(each)], where) for each in part.schema[keyword])
                    return next(filter(None, found), None)
        if any(each.schema == _NOTHING for each in parts) or not _types(parts):
            return None
        for keyword in reader.schema:
            if keyword in _KNOWN and self._matters(keyword, parts):
                reason = self._of_keyword(keyword, reader, parts, where)
                if reason is not None:
                    return reason
        return None

    def _matters(self, keyword: str, parts: list[_Place]) -> bool:
        """Whether the writers admit documents of the type that the keyword restricts."""
        kind = _OF_TYPE.get(keyword)
        return kind is None or bool(_types(parts) & ({kind, "integer"} if kind == "number" else {kind}))

    def _of_keyword(self, keyword: str, reader: _Place, parts: list[_Place], where: str) -> str | None:
        value = reader.schema[keyword]
        place = f"{where}/{keyword}"
        if keyword == "$ref":
            return self.reason(_resolved(reader), parts, place)
        if keyword == "type":
            wrong = sorted(_types(parts) - _named_types(value))
            return f"{place}: {', '.join(wrong)} is not admitted" if wrong else None
        if keyword in ("enum", "const"):
            return _of_values(value if keyword == "enum" else [value], parts, place)
        if keyword in _AT_LEAST or keyword in _AT_MOST:
            return _of_bound(keyword, value, parts, place)
        if keyword == "allOf":
            found = (self.reason(reader.at(each), parts, f"{place}/{number}") for number, each in enumerate(value))
            return next(filter(None, found), None)
        if keyword in ("anyOf", "oneOf"):
            reasons = [self.reason(reader.at(each), parts, f"{place}/{number}") for number, each in enumerate(value)]
            return None if None in reasons else f"{place}: no branch admits all of it ({reasons[0]})"
        if keyword == "required":
            return self._of_required(reader, parts, place)
        if keyword == "additionalProperties" and "properties" in reader.schema:
            return None  # it is compared with the properties
        if keyword in ("properties", "additionalProperties"):
            return self._of_properties(reader, parts, where)
        if keyword == "items" and not isinstance(value, list) and not _is_tuple(reader, parts):
            items = [each.at(each.schema["items"]) for each in parts if "items" in each.schema]
            return self.reason(reader.at(value), items, place)
        if keyword == "uniqueItems" and value is False:
            return None
        group = next((each for each in _TOGETHER if keyword in each), ())
        asked = {name: reader.schema.get(name) for name in group}
        equal = any(_same({name: each.schema.get(name) for name in group}, asked) for each in parts)
        is_known = group and equal and not list(_references(asked))
        return None if is_known else f"{place}: only an equal one is known to be compatible"

    def _of_required(self, reader: _Place, parts: list[_Place], place: str) -> str | None:
        there = {name for each in parts for name in each.schema.get("required", ())}
        properties = reader.schema.get("properties", {})
        for name in reader.schema["required"]:
            known = properties.get(name)
            if name not in there and not (isinstance(known, dict) and "default" in known):
                return f"{place}: {name} may be missing, and has no default"
        return None

    def _of_properties(self, reader: _Place, parts: list[_Place], where: str) -> str | None:
        for each in (reader, *parts):
            if "patternProperties" in each.schema:
                return f"{where}/patternProperties: only an equal schema is known to be compatible"
        names = dict.fromkeys(name for each in (reader, *parts) for name in each.schema.get("properties", ()))
        for name in names:
            reason = self.reason(
                _property(reader, name), [_property(each, name) for each in parts], f"{where}/properties/{name}"
            )
            if reason is not None:
                return reason
        return self.reason(
            reader.at(reader.schema.get("additionalProperties", True)),
            [each.at(each.schema.get("additionalProperties", True)) for each in parts],
            f"{where}/additionalProperties",
        )


def _resolved(place: _Place) -> _Place:
    found = place.resolver.lookup(place.schema["$ref"])
    return _Place({}, found.resolver).at(found.contents)


def _check_end(place: _Place) -> None:
    """ValueError for references that form a cycle without a schema in it."""
    for _ in range(_LONGEST_WAY):
        if "$ref" not in place.schema:
            return
        place = _resolved(place)
    raise ValueError("invalid JSON Schema: its references form a cycle")


def _property(place: _Place, name: str) -> _Place:
    """The schema of a property: its own, or else additionalProperties."""
    known = place.schema.get("properties", {})
    return place.at(known[name] if name in known else place.schema.get("additionalProperties", True))


def _is_tuple(reader: _Place, parts: list[_Place]) -> bool:
    return any("prefixItems" in each.schema or isinstance(each.schema.get("items"), list) for each in (reader, *parts))


def _types(parts: list[_Place]) -> set[str]:
    """The types of documents that all schemas admit."""
    found = set(_TYPES)
    for each in parts:
        if "type" in each.schema:
            found &= _named_types(each.schema["type"])
        values = _values(each)
        if values is not None:
            found &= {_type_of(value) for value in values}
    return found


def _named_types(value: Any) -> set[str]:
    named = {value} if isinstance(value, str) else set(value)
    return named | {"integer"} if "number" in named else named


def _values(place: _Place) -> list[Any] | None:
    if "const" in place.schema:
        return [place.schema["const"]]
    found: list[Any] | None = place.schema.get("enum")
    return found


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    names: dict[type, str] = {float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def _of_values(admitted: list[Any], parts: list[_Place], place: str) -> str | None:
    known = [json.dumps(each, sort_keys=True) for each in admitted]
    every = [values for each in parts if (values := _values(each)) is not None]
    if not every:
        return f"{place}: the writer admits other values"
    fewest = min(every, key=len)
    wrong = [text for each in fewest if (text := json.dumps(each, sort_keys=True)) not in known]
    return f"{place}: {', '.join(wrong)} is not admitted" if wrong else None


def _of_bound(keyword: str, value: Any, parts: list[_Place], place: str) -> str | None:
    if isinstance(value, bool):  # draft 4: a flag of the bound beside it
        equal = any(each.schema.get(keyword) == value for each in parts)
        return None if equal or value is False else f"{place}: only an equal one is known to be compatible"
    bounds = [each.schema[keyword] for each in parts if not isinstance(each.schema.get(keyword, True), bool)]
    fits = any(each >= value if keyword in _AT_LEAST else each <= value for each in bounds)
    return None if fits else f"{place}: the writer admits values beyond {value}"


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: to Python, true is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _references(schema: Any) -> Iterator[str]:
    """Every reference in a schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for name, each in schema.items():
            if name not in ("enum", "const", "default", "examples"):
                yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def _json(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"invalid JSON Schema: {reason}") from None
    if not isinstance(found, dict | bool):
        raise ValueError("invalid JSON Schema: expected an object, true or false")
    return found


def _apart(error: SchemaError) -> SchemaError:
    """The error, without the circles of references between it and others: each has parts of the schema."""
    todo: list[Any] = [error]
    while todo[-1].parent is not None:
        todo.append(todo[-1].parent)
    while todo:
        each = todo.pop()
        todo += each.context
        each.parent, each.context = None, []
    return as_value(error)


def _resource(declared: Any, validator: Any) -> Any:
    return Resource.from_contents(
        declared, default_specification=specification_with(validator.META_SCHEMA.get("$schema"))
    )
