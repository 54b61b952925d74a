"""Types as JSON schemas (OpenAPI 3.1), with the types that have a name of their own as components."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from odradek.broker.facade.remote.decoding import fields_of
from odradek.broker.facade.remote.operations import HANDLES
from odradek.broker.transcript.request_list import Requests

Schema = dict[str, Any]
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Path: {"type": "string"},
}
_BASE64: Schema = {
    "type": "object",
    "properties": {"base64": {"type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*$"}},
    "required": ["base64"],
    "additionalProperties": False,
}
_BYTES: Schema = {"anyOf": [{"type": "string"}, _BASE64]}
_LISTS = (list, Sequence, Iterable, Iterator, Collection, tuple)


class Schemas:
    """Makes schemas, and keeps those of classes in ``components``."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a type."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint is Any:
            return {}
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        if hint is bytes:
            return _BYTES
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.of(each) for each in arguments]}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1]), **_names(arguments[0])}
        if hint == tuple[str, int]:
            return {"type": "string", "pattern": _PLACE}
        if origin is tuple and arguments[-1] is not Ellipsis:
            items = [self.of(each) for each in arguments]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin in _LISTS:
            return {"type": "array", "items": self.of(arguments[0])}
        return self._of_class(hint)

    def _of_class(self, owner: Any) -> Schema:
        if owner in HANDLES:
            return self._component("Handle", _HANDLE)
        if owner is Requests:
            return {"type": "array", "items": {"type": "object"}}
        if not inspect.isclass(owner) or issubclass(owner, BaseException):
            return {"type": "string"}
        if issubclass(owner, enum.Enum):
            return {"type": "string", "enum": list(owner.__members__)}
        if owner.__name__ not in self.components:
            self.components[owner.__name__] = {}  # for one that has itself inside
            fields = {name: self.of(hint) for name, hint in fields_of(owner).items()}
            self.components[owner.__name__] = {
                "type": "object",
                "description": inspect.getdoc(owner) or "",
                "properties": fields,
            }
        return {"$ref": f"#/components/schemas/{owner.__name__}"}

    def _component(self, name: str, schema: Schema) -> Schema:
        self.components[name] = schema
        return {"$ref": f"#/components/schemas/{name}"}


_PLACE = "^[^/]+-[0-9]{1,9}$"
_HANDLE: Schema = {
    "type": "object",
    "description": "What a verb leaves behind: call it by its id, under its path.",
    "properties": {"id": {"type": "string"}, "path": {"type": "string"}},
    "required": ["id", "path"],
}


def _names(hint: Any) -> Schema:
    if hint is int:
        return {"propertyNames": {"pattern": "^[0-9]+$"}}
    return {} if hint is str else {"propertyNames": {"pattern": _PLACE}}
