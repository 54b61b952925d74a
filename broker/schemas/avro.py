"""Avro: bytes as JSON values, by a schema."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any, Literal

from odradek.broker.schemas.framing import Framed

_WHAT_TO_INSTALL = 'Avro needs more: pip install "odradek[schemas]"'


class AvroSchema:
    """A parsed schema. ``needed``: texts of schemas whose names it uses, each behind those that it uses itself.

    ValueError for a text that is none; ImportError, with what to install, without fastavro.
    """

    kind: Literal["avro"] = "avro"

    def __init__(self, text: str, needed: Iterable[str] = ()) -> None:
        self._fastavro = _fastavro()
        try:
            named: dict[str, Any] = {}
            for each in (*needed, text):
                declared = json.loads(each)
                _check_sizes(declared)
                self._parsed = self._fastavro.parse_schema(declared, named_schemas=named)
        except RecursionError:
            raise ValueError("this is not an Avro schema: it is nested too deeply") from None
        except Exception as error:
            raise ValueError(f"this is not an Avro schema: {error}") from None
        self.name = _name(declared)

    def __repr__(self) -> str:
        return f"<AvroSchema {self.name}>"

    def decode(self, framed: Framed) -> tuple[Any, str | None]:
        """The data as JSON values, and None; ValueError for data that do not fit."""
        stream = BytesIO(framed.data)
        try:
            value = self._fastavro.schemaless_reader(stream, self._parsed, None)
        except EOFError:
            raise ValueError(f"does not fit {self.name}: the data end too early") from None
        except Exception as error:
            raise ValueError(f"does not fit {self.name}: {error or type(error).__name__}") from None
        left = len(framed.data) - stream.tell()
        if left:
            raise ValueError(f"does not fit {self.name}: {left} bytes are left over")
        return plain(value), None

    def encode(self, data: Any) -> bytes:
        """The data as Avro; ValueError for data that do not fit."""
        stream = BytesIO()
        try:
            self._fastavro.schemaless_writer(stream, self._parsed, data, strict_allow_default=True)
        except Exception as error:
            raise ValueError(f"does not fit {self.name}: {error or type(error).__name__}") from None
        return stream.getvalue()


def plain(value: Any) -> Any:
    """A decoded value as JSON has it: times, decimals and ids as text, bytes as text or in hex."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value)


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"0x{data.hex()}"
    return text if text.isprintable() else f"0x{data.hex()}"


def _name(declared: Any) -> str:
    if isinstance(declared, list):
        return _name(declared[-1]) if declared else "an empty union"
    if isinstance(declared, dict):
        space = declared.get("namespace")
        name = str(declared.get("name", declared.get("type")))
        return f"{space}.{name}" if space and "." not in name else name
    return str(declared)


def _check_sizes(declared: Any) -> None:
    """Refuse lists of what takes no bytes: five bytes of data could ask for any number of them."""
    for each in _parts(declared):
        if each.get("type") == "array" and _is_empty(each.get("items")):
            raise ValueError("an array of values without a size says nothing about where it ends")


def _parts(declared: Any) -> Iterator[dict[str, Any]]:
    if isinstance(declared, dict):
        yield declared
    for each in declared.values() if isinstance(declared, dict) else declared if isinstance(declared, list) else ():
        yield from _parts(each)


def _is_empty(items: Any) -> bool:
    if isinstance(items, dict):
        kind = items.get("type")
        fields = items.get("fields", ())
        if kind == "record":
            return all(isinstance(each, dict) and _is_empty(each.get("type")) for each in fields)
        return (kind == "fixed" and items.get("size") == 0) or _is_empty(kind)
    return bool(items == "null")


def _fastavro() -> Any:
    try:
        return importlib.import_module("fastavro")
    except ImportError as error:
        raise ImportError(f"{_WHAT_TO_INSTALL} ({error})") from error
