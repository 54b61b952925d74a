"""Messages as JSON, in the form of Kafka's own tools (its generated JSON converters).

Names are in camelCase. UUIDs are 22 characters of URL-safe base64, bytes are base64, numbers are numbers. Fields that
the version lacks are left out, and so are tagged fields with their default. Two things are ours, where Kafka's form
loses content: `records` are their bytes in hex (or, on demand, `recordsSizeInBytes` as Kafka shows them), and unknown
tagged fields, where there are any, stand under `unknownTaggedFields` as `[{"tag": number, "data": base64}, ..]`.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, TypeVar, cast

from construct import Construct, FormatField

from odradek.protocol import primitives as p
from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Message, UnknownTaggedFields, VersionedMessage
from odradek.protocol.message_codec import codec
from odradek.protocol.uuids import uuid_from_text, uuid_to_text

M = TypeVar("M", bound=VersionedMessage)
Json = dict[str, Any]

UNKNOWN = "unknownTaggedFields"
RECORDS_SIZE = "recordsSizeInBytes"


def camel_case(name: str) -> str:
    """`topic_id` -> `topicId`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def to_json(message: VersionedMessage, version: int, *, record_sizes: bool = False) -> Json:
    """The JSON form of a message; with `record_sizes`, sizes stand in place of records."""
    return _struct_to_json(codec(type(message), version).construct, message, record_sizes)


def from_json(message: type[M], version: int, form: Any) -> M:
    """The message of a JSON form: the reverse of `to_json`.

    All fields of the version must be there but tagged ones, and no others. Raises ProtocolError.
    """
    return cast("M", _struct_from_json(codec(message, version).construct, form, message.__name__))


def _struct_to_json(body: p.StructBody, message: Message, record_sizes: bool) -> Json:
    form: Json = {}
    for member in body.members:
        value = getattr(message, member.name)
        if member.body is None or (member.tag is not None and member.is_default(value)):
            continue
        if record_sizes and isinstance(member.body, p.RecordData) and value is not None:
            form[RECORDS_SIZE] = sum(map(len, value)) if isinstance(value, list | tuple) else len(value)
        else:
            form[camel_case(member.name)] = _to_json(member.body, value, record_sizes)
    if message.unknown_tagged_fields:
        form[UNKNOWN] = tagged_to_json(message.unknown_tagged_fields)
    return form


def _to_json(body: Construct, value: Any, record_sizes: bool) -> Any:
    if value is None:
        return None
    if isinstance(body, p.StructBody):
        return _struct_to_json(body, value, record_sizes)
    if isinstance(body, p.NullableStruct):
        return _struct_to_json(body.struct, value, record_sizes)
    if isinstance(body, p.ListOf):
        return [_to_json(body.element, element, record_sizes) for element in value]
    if body is p.UUID:
        return uuid_to_text(value)
    if isinstance(body, p.RecordData):
        return (b"".join(value) if isinstance(value, list | tuple) else bytes(value)).hex()
    if isinstance(body, p.Blob):
        return base64.b64encode(value).decode()
    if body is p.FLOAT64 and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return int(value) if isinstance(value, IntEnum) else value


def _struct_from_json(body: p.StructBody, form: Any, path: str) -> Message:
    if not isinstance(form, Mapping):
        raise ProtocolError(f"{path}: an object is needed, not {_shown(form)}")
    values: dict[str, Any] = {}
    known = {UNKNOWN}
    for member in body.members:
        name = camel_case(member.name)
        if member.body is None:
            continue
        known.add(name)
        if name in form:
            values[member.name] = _from_json(member.body, form[name], f"{path}.{name}")
        elif member.tag is None:
            raise ProtocolError(f"{path}: the field {name} is missing")
    for name in form:
        if name not in known:
            raise ProtocolError(f"{path}: there is no field {name} in this version")
    values["unknown_tagged_fields"] = tagged_from_json(form.get(UNKNOWN, []), f"{path}.{UNKNOWN}")
    return body.message(**values)


def _from_json(body: Construct, form: Any, path: str) -> Any:
    if form is None:
        if isinstance(body, p.NullableStruct) or (isinstance(body, p.LengthPrefixed) and body.nullable):
            return None
        raise ProtocolError(f"{path}: null, which this field cannot be in this version")
    if isinstance(body, p.StructBody):
        return _struct_from_json(body, form, path)
    if isinstance(body, p.NullableStruct):
        return _struct_from_json(body.struct, form, path)
    if isinstance(body, p.ListOf):
        if not isinstance(form, list):
            raise ProtocolError(f"{path}: a list is needed, not {_shown(form)}")
        return [_from_json(body.element, element, f"{path}[{index}]") for index, element in enumerate(form)]
    if body is p.BOOLEAN:
        if not isinstance(form, bool):
            raise ProtocolError(f"{path}: true or false is needed, not {_shown(form)}")
        return form
    return _number(body, form, path) if isinstance(body, FormatField) else _text(body, form, path)


def _number(body: FormatField, form: Any, path: str) -> int | float:
    if body is p.FLOAT64:
        if form in ("NaN", "Infinity", "-Infinity") or (isinstance(form, int | float) and not isinstance(form, bool)):
            return float(form)
        raise ProtocolError(f"{path}: a number is needed, not {_shown(form)}")
    if not isinstance(form, int) or isinstance(form, bool):
        raise ProtocolError(f"{path}: a whole number is needed, not {_shown(form)}")
    return form


def _text(body: Construct, form: Any, path: str) -> str | bytes:
    if not isinstance(form, str):
        raise ProtocolError(f"{path}: a string is needed, not {_shown(form)}")
    try:
        if body is p.UUID:
            return uuid_from_text(form)
        if isinstance(body, p.RecordData):
            return bytes.fromhex(form)
        if isinstance(body, p.Blob):
            return base64.b64decode(form, validate=True)
    except (ValueError, binascii.Error) as error:
        kind = "a UUID in base64" if body is p.UUID else "hex" if isinstance(body, p.RecordData) else "base64"
        raise ProtocolError(f"{path}: not {kind}: {error}") from None
    return form


def tagged_to_json(fields: UnknownTaggedFields) -> list[Json]:
    return [{"tag": tag, "data": base64.b64encode(data).decode()} for tag, data in fields]


def tagged_from_json(form: Any, path: str) -> UnknownTaggedFields:
    try:
        return tuple((int(field["tag"]), base64.b64decode(field["data"], validate=True)) for field in form)
    except (TypeError, KeyError, ValueError):
        raise ProtocolError(f'{path}: a list of {{"tag": number, "data": base64}} is needed') from None


def _shown(form: Any) -> str:
    text = repr(form)
    return text if len(text) <= 60 else text[:57] + "..."
