"""The OpenAPI document of the control API, with Python's types as JSON schemas."""

from __future__ import annotations

import enum
import functools
import inspect
import types
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from odradek._version import __version__
from odradek.broker.facade.generated.blocking.coordinators import Group
from odradek.broker.facade.generated.blocking.topics import Topic
from odradek.broker.facade.records.record import Records, StoredRecord
from odradek.broker.facade.remote.json_values import encoded, fields_of
from odradek.broker.facade.remote.operations import HANDLES, PLACE, Operation, Parameter, operations
from odradek.broker.transcript.request_list import Requests
from odradek.control.streams import STREAMS

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
_LISTS = (list, Sequence, Iterable, Collection, tuple)


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
        if owner is Records:
            return self.of(list[StoredRecord])
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


_ERROR: Schema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "type": {"type": "string", "description": "The class of the error in Python."},
                "message": {"type": "string"},
                "code": {"type": "string", "description": "Kafka's code, where it is Kafka's refusal."},
            },
            "required": ["type", "message"],
        }
    },
    "required": ["error"],
}
ERRORS = {
    400: "The arguments make no sense; the message says why.",
    401: "The token is missing or wrong.",
    404: "There is no such path, or nothing of that id.",
    405: "The path takes another method.",
    409: "The broker is not in a state for it, refuses as Kafka does, or did not get there in time.",
    413: "The body is too large.",
    415: "The body is not declared as application/json.",
    421: "The Host header names another server.",
}


@functools.cache
def document() -> dict[str, Any]:
    """The document, as `json` writes it."""
    schemas = Schemas()
    paths: dict[str, Any] = {}
    for operation in operations():
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    for operation in STREAMS:
        paths[operation.path] = {"get": {**_described(operation, schemas), "responses": _stream(operation)}}
    schemas.components["Error"] = _ERROR
    return {
        "openapi": "3.1.0",
        "info": {"title": "odradek", "version": __version__, "description": "Control of a running broker."},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _described(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    summary = operation.doc.partition("\n\n")[0].replace("\n", " ")
    described: dict[str, Any] = {
        "operationId": f"{operation.owner.__name__.removeprefix('Blocking')}.{operation.member}",
        "summary": summary,
        "description": operation.doc,
        "responses": {"200": _answer(operation, schemas), **_errors(operation)},
    }
    places = [_of_path(operation, name) for name in PLACE.findall(operation.path)]
    if operation.method == "GET":
        places += [_of_query(each, schemas) for each in operation.parameters]
    elif operation.parameters:
        described["requestBody"] = _body(operation, schemas)
    if places:
        described["parameters"] = places
    return described


def _stream(operation: Operation) -> dict[str, Any]:
    lines = {"description": "Lines of JSON.", "content": {"application/x-ndjson": {"schema": {"type": "object"}}}}
    return {"200": lines, **_errors(operation)}


def _answer(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    return {
        "description": "What the method returns.",
        "content": {"application/json": {"schema": schemas.of(operation.result)}},
    }


def _errors(operation: Operation) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {str(status): {"description": text, "content": content} for status, text in ERRORS.items()}


def _of_path(operation: Operation, name: str) -> dict[str, Any]:
    """The id of a handle; of a group or a topic it is any text."""
    kind = {"minLength": 1} if operation.owner in (Group, Topic) else {"pattern": "^[A-Za-z0-9._-]+$"}
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", **kind}}


def _of_query(parameter: Parameter, schemas: Schemas) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.default is ...,
        "schema": _with_default(parameter, schemas),
    }


def _body(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    needed = [each.name for each in operation.parameters if each.default is ...]
    schema = {
        "type": "object",
        "properties": {each.name: _with_default(each, schemas) for each in operation.parameters},
        "additionalProperties": False,
        **({"required": needed} if needed else {}),
    }
    return {"required": bool(needed), "content": {"application/json": {"schema": schema}}}


def _with_default(parameter: Parameter, schemas: Schemas) -> Schema:
    schema = {"type": "string"} if parameter.handle else schemas.of(parameter.hint)
    if parameter.default is ... or "$ref" in schema:
        return schema
    return {**schema, "default": encoded(parameter.default)}
