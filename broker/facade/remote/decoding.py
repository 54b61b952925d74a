"""JSON as values of the types that a method declares. A mistake is told: where, what was expected, what came."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from odradek.broker.config.definition import did_you_mean
from odradek.broker.facade.remote.type_hints import hints_of
from odradek.broker.faults.fault import Fault
from odradek.broker.faults.wire_fault import WireFault
from odradek.broker.requests.bugs import Bug

_LISTS = (list, Sequence, Iterable, Collection, set, frozenset)
_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", type(None): "null"}


class RemoteError(RuntimeError):
    """An error of a kind that does not exist here; the text is what the broker's process said."""


_FAULTS: dict[Any, type[Fault]] = {each.__name__: each for each in (WireFault,)}


def decoded(hint: Any, data: Any, where: str, *, strict: bool = True) -> Any:
    """The value of that type; TypeError or ValueError, which begin with ``where``, for JSON of another shape.

    ``strict``: unknown fields are mistakes. Otherwise they are passed over.
    """
    origin = typing.get_origin(hint)
    arguments = typing.get_args(hint)
    if hint is Any:
        return _anything(data, where)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments, data, where, strict)
    if origin is Literal:
        if data not in arguments or isinstance(data, bool):
            raise ValueError(f"{where}: expected {' or '.join(map(str, arguments))}, not {_shown(data)}")
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


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 100 else f"{text[:100]}..."


def _anything(data: Any, where: str) -> Any:
    return _bytes(data, where) if isinstance(data, dict) and data.keys() == {"base64"} else data


def _plain(hint: Any, data: Any, where: str) -> Any:
    fits = type(data) is hint or (hint is float and type(data) is int)
    if not fits:
        raise TypeError(f"{where}: expected {_NAMES[hint]}, not {_shown(data)}")
    return data


def _bytes(data: Any, where: str) -> bytes:
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, dict) and data.keys() == {"base64"} and isinstance(data["base64"], str):
        try:
            return base64.b64decode(data["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"{where}: {_shown(data['base64'])} is not base64") from None
    raise TypeError(f'{where}: expected text or {{"base64": "..."}}, not {_shown(data)}')


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
    raise TypeError(f"{where}: expected {' or '.join(map(_name, candidates))}, not {_shown(data)}")


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
        raise TypeError(f"{where}: expected a list, not {_shown(data)}")
    return data


def _mapping(hints: tuple[Any, ...], data: Any, where: str, strict: bool) -> dict[Any, Any]:
    if not isinstance(data, dict):
        raise TypeError(f"{where}: expected an object, not {_shown(data)}")
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
            raise ValueError(f"{where}: no {owner.__name__} is called {_shown(data)}")
        return owner[data]
    if issubclass(owner, BaseException):
        return RemoteError(str(data))
    if not isinstance(data, dict):
        raise TypeError(f"{where}: expected an object, not {_shown(data)}")
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
