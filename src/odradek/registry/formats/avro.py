"""Avro: the library's parser and its check of compatibility; texts as Avro's Java library writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from avro.name import Names
from avro.schema import make_avsc_object

from odradek.registry.effort import Steps
from odradek.registry.formats import ReferencedTexts

_NAMED = ("record", "error", "enum", "fixed")
_PRIMITIVE = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_OWN = {
    "record": ("type", "name", "namespace", "doc", "fields", "aliases"),
    "error": ("type", "name", "namespace", "doc", "fields", "aliases"),
    "enum": ("type", "name", "namespace", "doc", "symbols", "default", "aliases"),
    "fixed": ("type", "name", "namespace", "doc", "size", "aliases"),
    "array": ("type", "items"),
    "map": ("type", "values"),
}
_OF_FIELD = ("name", "type", "doc", "default", "order", "aliases")
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_INT, _LONG = 2**31, 2**63


def prepared(text: str, needed: ReferencedTexts) -> Callable[[], AvroSchema]:
    """As `Prepare` says."""
    return lambda: AvroSchema(text, needed)


class AvroSchema:
    """A parsed schema. ValueError says why a text is invalid."""

    formats: ClassVar[Mapping[str, Callable[[], str]]] = {}

    def __init__(self, text: str, needed: ReferencedTexts) -> None:
        try:
            names, named = Names(), dict[str, Any]()
            for each in needed.values():
                make_avsc_object(_Writer(named, _no_others).write(_json(each), None), names)
            declared = _json(text)
            self.canonical = _text(_Writer(dict(named)).write(declared, None))
            self.normalized = _text(_Writer(dict(named), _sorted).write(declared, None))
            self._schema = make_avsc_object(_Writer(named, _no_others).write(declared, None), names)
        except KeyError as error:
            raise ValueError(f"invalid Avro schema: {error} is missing") from None
        except (AvroException, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"invalid Avro schema: {error}") from None

    def __repr__(self) -> str:
        return f"<AvroSchema {self.canonical}>"

    def reads(self, writer: AvroSchema) -> Sequence[str]:
        """By Avro's rules of schema resolution. Each reason names its place as a path in the reader."""
        found = ReaderWriterCompatibilityChecker().get_compatibility(self._schema, writer._schema)
        if found.compatibility is SchemaCompatibilityType.compatible:
            return []
        kinds = ", ".join(dict.fromkeys(each.name for each in found.incompatibilities))
        places, words = ", ".join(sorted(found.locations)), ", ".join(sorted(found.messages))
        return [f"{kinds} at {places}: {words}"]


class _Writer:
    """Writes a declaration in the order of Avro's library.

    ``named``: the known types by full name. ``others``: what happens to attributes that Avro does not know. The library
    that compares gets none of them, because it warns of logical types that it ignores.
    """

    def __init__(self, named: dict[str, Any], others: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> None:
        self._named = named
        self._kept = others
        self._steps = Steps()

    def write(self, declared: Any, space: str | None) -> Any:
        """The same schema. ValueError for errors that the library accepts and Avro's specification does not."""
        if isinstance(declared, str):
            return self._reference(declared, space)
        if isinstance(declared, list):
            return [self.write(each, space) for each in declared]
        kind = declared["type"]
        if not isinstance(kind, str):
            raise ValueError(f"invalid type {_text(kind)}")
        if kind in _PRIMITIVE:
            others = self._others(declared, ("type",))
            return {"type": kind, **others} if others else kind
        if kind in _NAMED:
            return self._with_name(declared, kind, space)
        if kind not in _OWN:
            return self._reference(kind, space)
        inner = "items" if kind == "array" else "values"
        return {"type": kind, inner: self.write(declared[inner], space), **self._others(declared, _OWN[kind])}

    def _with_name(self, declared: dict[str, Any], kind: str, space: str | None) -> dict[str, Any]:
        name, own = _split(declared["name"], declared.get("namespace", space))
        full = _full(name, own)
        if full in self._named:
            raise ValueError(f"{full} is declared twice")
        self._named[full] = declared
        written: dict[str, Any] = {"type": kind, "name": name}
        if own != space:
            written["namespace"] = own or ""
        if declared.get("doc") is not None:
            written["doc"] = declared["doc"]
        if kind in ("record", "error"):
            written["fields"] = [self._field(each, own) for each in declared["fields"]]
        elif kind == "enum":
            written["symbols"] = declared["symbols"]
            if "default" in declared:
                if declared["default"] not in declared["symbols"]:
                    raise ValueError(f"the default {declared['default']!r} of {full} is not among its symbols")
                written["default"] = declared["default"]
        else:
            written["size"] = declared["size"]
        written |= self._others(declared, _OWN[kind])
        if declared.get("aliases"):
            written["aliases"] = [_short(*_split(each, own), own) for each in declared["aliases"]]
        return written

    def _field(self, field: dict[str, Any], space: str | None) -> dict[str, Any]:
        if not _NAME.fullmatch(field["name"]):
            raise ValueError(f"invalid field name {field['name']!r}")
        written = {"name": field["name"], "type": self.write(field["type"], space)}
        if field.get("doc") is not None:
            written["doc"] = field["doc"]
        if "default" in field:
            if not self._fits(field["default"], field["type"], space):
                raise ValueError(f"the default {json.dumps(field['default'])} of {field['name']} is not of its type")
            written["default"] = field["default"]
        if field.get("order", "ascending") != "ascending":
            written["order"] = field["order"]
        if field.get("aliases"):
            written["aliases"] = field["aliases"]
        return {**written, **self._others(field, _OF_FIELD)}

    def _others(self, declared: Mapping[str, Any], own: Sequence[str]) -> dict[str, Any]:
        return self._kept({name: each for name, each in declared.items() if name not in own})

    def _reference(self, name: str, space: str | None) -> str:
        if name in _PRIMITIVE:
            return name
        full = self._meant(name, space)
        return _short(*_split(full, None), space)

    def _meant(self, name: str, space: str | None) -> str:
        """The full name. A name that the namespace lacks may be one without a namespace."""
        full = _full(*_split(name, space))
        return full if full in self._named or name not in self._named else name

    def _fits(self, value: Any, declared: Any, space: str | None) -> bool:
        """Whether a default has a type, by the rules of Avro's Java library; for a union, one of its types."""
        self._steps.take()
        if isinstance(declared, list):
            return any(self._fits(value, each, space) for each in declared)
        kind = declared if isinstance(declared, str) else declared["type"]
        if kind in _FITS:
            return _FITS[kind](value)
        if kind == "array":
            return isinstance(value, list) and all(self._fits(each, declared["items"], space) for each in value)
        if kind == "map":
            return isinstance(value, dict) and all(
                self._fits(each, declared["values"], space) for each in value.values()
            )
        if kind not in _NAMED:
            full = self._meant(kind, space)
            return self._fits(value, self._named[full], _split(full, None)[1])
        if kind in ("enum", "fixed"):
            return _is_text(value)
        own = _split(declared["name"], declared.get("namespace", space))[1]
        return isinstance(value, dict) and all(
            self._fits(value[each["name"]], each["type"], own) if each["name"] in value else "default" in each
            for each in declared["fields"]
        )


def _sorted(others: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(others.items()))


def _no_others(others: dict[str, Any]) -> dict[str, Any]:
    return {}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "int": lambda value: _is_whole(value, _INT),
    "long": lambda value: _is_whole(value, _LONG),
    "float": _is_number,
    "double": _is_number,
    "bytes": _is_text,
    "string": _is_text,
}


def _split(name: str, space: str | None) -> tuple[str, str | None]:
    """The last part of a name, and its namespace."""
    front, dot, last = name.rpartition(".")
    return (last, front or None) if dot else (name, space or None)


def _full(name: str, space: str | None) -> str:
    return f"{space}.{name}" if space else name


def _short(name: str, space: str | None, around: str | None) -> str:
    """The name as it is written within the namespace ``around``."""
    return name if space == around else _full(name, space)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        if text.strip() in _PRIMITIVE:
            return text.strip()
        raise


def _text(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)
