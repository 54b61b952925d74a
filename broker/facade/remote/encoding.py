"""Values as JSON.

Bytes are text where they are UTF-8, else ``{"base64": "..."}``. A (topic, partition) is ``"orders-0"``. Dataclasses are
objects with their fields and properties; one of a subclass says which in ``class``.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from odradek.broker.faults.fault import Fault
from odradek.broker.faults.wire_fault import WireFault
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
        return _bytes(bytes(value))
    if isinstance(value, Mapping):
        return {_key(key): encoded(each) for key, each in value.items()}
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
            return _key(value)
    if isinstance(value, Iterable):
        return [encoded(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no JSON")


def _properties(owner: type) -> list[str]:
    return [name for base in owner.__mro__ for name, member in vars(base).items() if isinstance(member, property)]


def is_place(value: Any) -> bool:
    """Whether it is a topic and the number of a partition."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int


def _key(key: Any) -> str:
    return f"{key[0]}-{key[1]}" if is_place(key) else str(key)


def _bytes(data: bytes) -> str | dict[str, str]:
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
