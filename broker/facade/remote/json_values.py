"""Values as JSON, and JSON as values of the types that a method declares.

Bytes are text where they are UTF-8, else ``{"base64": "..."}``. A (topic, partition) is ``"orders-0"``. Dataclasses are
objects with their fields and properties; one of a subclass names it in ``class``. An error names the place in the JSON,
the expected type and the value.
"""

from __future__ import annotations

import ast
import base64
import binascii
import dataclasses
import enum
import functools
import importlib
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from odradek.broker.facade.groups.info import is_place
from odradek.broker.faults.fault import Fault
from odradek.broker.faults.wire_fault import WireFault
from odradek.broker.mistakes import did_you_mean, one_of, wrong
from odradek.broker.requests.bugs import Bug
from odradek.broker.transcript.json_lines import to_line
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import KafkaError

_FAULT_FIELDS = tuple(name for name in Fault.__slots__ if not name.startswith("_") and name not in ("api", "when"))


class RemoteHandle:
    """Something that stays with a broker in another process, such as a snapshot."""

    __slots__ = ("id", "path")

    def __init__(self, identity: str, path: str) -> None:
        self.id = identity
        self.path = path

    def __repr__(self) -> str:
        return f"<RemoteHandle {self.path}>"


def encoded(value: Any) -> Any:
    """The value as what `json` writes; TypeError for one that has no JSON."""
    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, int | float | Path):
        return str(value) if isinstance(value, Path) else value
    if isinstance(value, bytes | bytearray | memoryview):
        return _encoded_bytes(bytes(value))
    if isinstance(value, Mapping):
        return {_encoded_key(key): encoded(each) for key, each in value.items()}
    if isinstance(value, RemoteHandle):
        return value.id
    if isinstance(value, RecordedRequest):
        return json.loads(to_line(value))
    if isinstance(value, Fault):
        return _fault(value)
    if isinstance(value, Bug):
        return _bug(value)
    return _structure(value)


def error_told(error: BaseException) -> dict[str, str]:
    """An error as JSON: its class and message, and Kafka's code if it is Kafka's refusal."""
    if isinstance(error, KafkaError):
        return {"type": "KafkaError", "message": error.message or error.code.name, "code": error.code.name}
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return {"type": type(error).__name__, "message": text}


def _structure(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encoded(getattr(value, field.name)) for field in dataclasses.fields(value)}
        derived = {name: encoded(getattr(value, name)) for name in _properties(type(value))}
        is_special = any(dataclasses.is_dataclass(base) for base in type(value).__mro__[1:])
        return {**fields, **derived, **({"class": type(value).__name__} if is_special else {})}
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return {name: encoded(each) for name, each in zip(value._fields, value, strict=True)}
        if is_place(value):
            return _encoded_key(value)
    if isinstance(value, Iterable):
        return [encoded(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no JSON")


def _properties(owner: type) -> list[str]:
    return [name for base in owner.__mro__ for name, member in vars(base).items() if isinstance(member, property)]


def _encoded_key(key: Any) -> str:
    return f"{key[0]}-{key[1]}" if is_place(key) else str(key)


def _encoded_bytes(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _fault(fault: Fault) -> dict[str, Any]:
    api = None if fault.api is None else API_BY_KEY[fault.api].name
    fields = {name: encoded(getattr(fault, name)) for name in (*_FAULT_FIELDS, "hits")}
    if isinstance(fault, WireFault):
        left_out = ("answer", "drop", "lose", "cut")
        fields = {name: each for name, each in fields.items() if name not in left_out}
        fields |= {name: encoded(getattr(fault, name)) for name in WireFault.__slots__}
        fields["class"] = WireFault.__name__
    given = {name: each for name, each in fields.items() if each is not None and each is not False}
    return {"api": api, **given}


def _bug(bug: Bug) -> dict[str, Any]:
    return {
        "where": bug.where,
        "error": repr(bug.error),
        "traceback": bug.traceback,
        "frame": encoded(bug.frame),
        "last_requests": list(bug.last_requests),
    }


# -- JSON as values

_LISTS = (list, Sequence, Iterable, Collection, set, frozenset)
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", type(None): "null"}


class RemoteError(RuntimeError):
    """An error of a kind that does not exist here; the text is what the broker's process said."""


_FAULTS: dict[Any, type[Fault]] = {each.__name__: each for each in (WireFault,)}


def decoded(hint: Any, data: Any, where: str, *, strict: bool = True) -> Any:
    """The value of a type. Raises TypeError or ValueError, which name the place ``where``, for JSON of another shape.

    ``strict``: unknown fields are errors. Otherwise they are skipped.
    """
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if hint is Any:
        return _anything(data, where)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments, data, where, strict)
    if origin is Literal:
        if data not in arguments or isinstance(data, bool):
            raise ValueError(wrong(where, data, one_of(arguments)))
        return data
    if hint in _NAMES:
        return _plain(hint, data, where)
    if hint is bytes:
        return _bytes(data, where)
    if origin in (dict, Mapping):
        return _mapping(arguments, data, where, strict)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _tuple(arguments, data, where, strict)
    if origin is tuple or origin in _LISTS:
        items = [
            decoded(arguments[0], each, f"{where}[{number}]", strict=strict)
            for number, each in enumerate(_list(data, where))
        ]
        return tuple(items) if origin is tuple else items
    if inspect.isclass(hint):
        return _object(hint, data, where, strict)
    raise TypeError(f"{where}: {hint} has no JSON")


def _anything(data: Any, where: str) -> Any:
    return _bytes(data, where) if isinstance(data, dict) and data.keys() == {"base64"} else data


def _plain(hint: Any, data: Any, where: str) -> Any:
    fits = type(data) is hint or (hint is float and type(data) is int)
    if not fits:
        raise TypeError(wrong(where, data, _NAMES[hint]))
    return data


def _bytes(data: Any, where: str) -> bytes:
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, dict) and data.keys() == {"base64"} and isinstance(data["base64"], str):
        try:
            return base64.b64decode(data["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"{where}: {data['base64']!r:.100} is not base64") from None
    raise TypeError(wrong(where, data, 'text or {"base64": "..."}'))


def _union(hints: tuple[Any, ...], data: Any, where: str, strict: bool) -> Any:
    if data is None and type(None) in hints:
        return None
    failures: list[Exception] = []
    candidates = [each for each in hints if each is not type(None) and not _is_function(each)]
    for hint in candidates:
        try:
            return decoded(hint, data, where, strict=strict)
        except (TypeError, ValueError) as error:
            failures.append(error)
    if len(candidates) == 1 or isinstance(data, dict | list):
        raise failures[-1]
    raise TypeError(wrong(where, data, " or ".join(dict.fromkeys(map(_name, candidates)))))


def _is_function(hint: Any) -> bool:
    return typing.get_origin(hint) is Callable or getattr(typing.get_origin(hint), "__name__", "") == "Callable"


def _name(hint: Any) -> str:
    if typing.get_origin(hint) in (dict, Mapping):
        return "an object"
    if typing.get_origin(hint) is not None:
        return "a list"
    name = getattr(hint, "__name__", str(hint))
    return _NAMES.get(hint) or ("text" if name == "Path" else name)


def _list(data: Any, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise TypeError(wrong(where, data, "a list"))
    return data


def _mapping(hints: tuple[Any, ...], data: Any, where: str, strict: bool) -> dict[Any, Any]:
    if not isinstance(data, dict):
        raise TypeError(wrong(where, data, "an object"))
    key, value = hints
    return {
        _key(key, name, where): decoded(value, each, f"{where}.{name}", strict=strict) for name, each in data.items()
    }


def _key(hint: Any, name: str, where: str) -> Any:
    if hint is int:
        if not name.lstrip("-").isdecimal():
            raise ValueError(f"{where}: expected numbers as names, not {name!r}")
        return int(name)
    return _place(name, where) if typing.get_origin(hint) is tuple else name


def _place(text: str, where: str) -> tuple[str, int]:
    topic, dash, number = text.rpartition("-")
    if not dash or not number.isdecimal():
        raise ValueError(f'{where}: expected a topic and a partition as in "orders-0", not {text!r}')
    return topic, int(number)


def _tuple(hints: tuple[Any, ...], data: Any, where: str, strict: bool) -> tuple[Any, ...]:
    if isinstance(data, str) and hints == (str, int):
        return _place(data, where)
    items = _list(data, where)
    if len(items) != len(hints):
        raise ValueError(f"{where}: expected {len(hints)} items, not {len(items)}")
    return tuple(
        decoded(hint, each, f"{where}[{number}]", strict=strict)
        for number, (hint, each) in enumerate(zip(hints, items, strict=True))
    )


def _object(owner: type, data: Any, where: str, strict: bool) -> Any:
    if issubclass(owner, enum.Enum):
        if not isinstance(data, str) or data not in owner.__members__:
            raise ValueError(f"{where}: no {owner.__name__} is called {data!r:.100}")
        return owner[data]
    if issubclass(owner, BaseException):
        return RemoteError(str(data))
    if not isinstance(data, dict):
        raise TypeError(wrong(where, data, "an object"))
    owner = _named_class(owner, data.get("class"))
    if owner in _FAULTS.values():
        data = {name: each for name, each in data.items() if name != "class"}
    hints = fields_of(owner)
    if strict and (unknown := data.keys() - hints.keys()):
        name = min(unknown)
        raise ValueError(f"{where}: there is no {name!r}{did_you_mean(name, hints)}; there are {', '.join(hints)}")
    given = {
        name: decoded(hint, data[name], f"{where}.{name}", strict=strict)
        for name, hint in hints.items()
        if name in data
    }
    try:
        made = owner(**given)
    except TypeError as error:
        raise TypeError(f"{where}: {_reason(error)}") from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    if issubclass(owner, Fault) and "hits" in data:
        hits = decoded(int, data["hits"], f"{where}.hits")
        made.count_elsewhere(lambda: hits)
    return made


def _reason(error: TypeError) -> str:
    text = str(error)
    return text.partition("() ")[2] if "__init__()" in text or "__new__()" in text else text


def _named_class(owner: type, name: Any) -> type:
    if owner is Fault:
        return _FAULTS.get(name, Fault)
    special: list[type] = owner.__subclasses__()  # a class with slots is there twice: the later one counts
    return next((each for each in reversed(special) if each.__name__ == name), owner)


def fields_of(owner: type) -> dict[str, Any]:
    """The parts of a class with their types: the fields of a dataclass or named tuple, the arguments of `Fault` and
    `Bug`.
    """
    if owner in (Bug, Fault, *_FAULTS.values()):
        hints = hints_of(inspect.getattr_static(owner, "__init__"))
        return {name: hint for name, hint in hints.items() if name not in ("return", "when")}
    if dataclasses.is_dataclass(owner) or hasattr(owner, "_fields"):
        names = getattr(owner, "_fields", None) or [field.name for field in dataclasses.fields(owner)]
        hints = hints_of(owner)
        return {name: hints[name] for name in names}
    raise TypeError(f"{owner.__name__} has no JSON")


# -- types


@functools.cache
def hints_of(owner: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's arguments (and ``return``), or of the fields of a class.

    Names that are imported for type checkers alone are imported now. NameError for a name that is nowhere.
    """
    modules = {owner.__module__}
    if inspect.isclass(owner):
        modules |= {base.__module__ for base in owner.__mro__ if base.__module__.startswith("odradek")}
    names: dict[str, Any] = {}
    for module in modules:
        names |= {**vars(importlib.import_module(module)), **_typing_imports(module)}
    return typing.get_type_hints(owner, globalns=names, localns={**names, **_forward_names()})


@functools.cache
def _typing_imports(module: str) -> dict[str, Any]:
    """The imports under ``if TYPE_CHECKING:``."""
    found: dict[str, Any] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom) and each.module is not None:
                    home = importlib.import_module(each.module)
                    found |= {name.asname or name.name: getattr(home, name.name) for name in each.names}
    return found


@functools.cache
def _forward_names() -> dict[str, Any]:
    """The quoted names in aliases such as ``Topics``."""
    from odradek.broker.facade.topics import TopicSpec

    return {"TopicSpec": TopicSpec}
