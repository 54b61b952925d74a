"""Hypothesis strategies for messages, made from their constructs, and a list of all messages."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

from construct import Construct
from hypothesis import strategies as st

from odradek.protocol import primitives as p
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated import messages, metadata_records, stored
from odradek.protocol.message import Message, VersionedMessage
from odradek.protocol.message_codec import codec

Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.just("long" * 60)
BLOB = st.binary(max_size=8) | st.just(bytes(200))
NUMBERS = {
    p.INT8: st.integers(-(2**7), 2**7 - 1),
    p.INT16: st.integers(-(2**15), 2**15 - 1),
    p.UINT16: st.integers(0, 2**16 - 1),
    p.INT32: st.integers(-(2**31), 2**31 - 1),
    p.UINT32: st.integers(0, 2**32 - 1),
    p.INT64: st.integers(-(2**63), 2**63 - 1),
    p.FLOAT64: st.floats(allow_nan=False),
    p.BOOLEAN: st.booleans(),
    p.UUID: st.binary(min_size=16, max_size=16),
}
COUNTS = st.sampled_from([0, 1, 1, 2, 3])
MANY_NUMBERS = st.sampled_from([0, 1, 3, 8, 9, 130])
UNKNOWN_TAGS = st.lists(st.tuples(st.integers(100, 2**32 - 1), BLOB), max_size=2, unique_by=lambda field: field[0])
# What kio, a codec with richer types, can express: known error codes, times in the range of datetime.
KIO_TIMES = st.integers(0, 10**12)
KIO_TIMES_32 = st.integers(0, 10**6)
_LAST_ERROR_OF_KIO = 133
KIO_ERRORS = st.sampled_from([int(code) for code in ErrorCode if code <= _LAST_ERROR_OF_KIO])


def all_messages() -> Iterator[type[VersionedMessage]]:
    """Every message class, requests and responses first."""
    for package in (messages, stored, metadata_records):
        for module in pkgutil.iter_modules(package.__path__):
            for value in vars(import_module(f"{package.__name__}.{module.name}")).values():
                if isinstance(value, type) and hasattr(value, "MIN_VERSION"):
                    yield value


def versions(message: type[VersionedMessage]) -> range:
    return range(message.MIN_VERSION, message.MAX_VERSION + 1)


@st.composite
def instances(draw: Draw, message: type[VersionedMessage], version: int, for_kio: bool = False) -> VersionedMessage:
    """A message that the version can express."""
    struct = _struct(draw, codec(message, version).construct, for_kio)
    assert isinstance(struct, VersionedMessage)
    return struct


def _struct(draw: Draw, body: p.StructBody, for_kio: bool) -> Message:
    values = {}
    for member in body.members:
        if member.body is None or (member.tag is not None and draw(st.booleans())):
            continue
        values[member.name] = _value(draw, member.body, member.name, for_kio)
    if body.flexible and not for_kio:
        values["unknown_tagged_fields"] = tuple(sorted(draw(UNKNOWN_TAGS)))
    return body.message(**values)


def _value(draw: Draw, body: Construct, name: str, for_kio: bool) -> Any:
    nullable = isinstance(body, p.NullableStruct) or (isinstance(body, p.LengthPrefixed) and body.nullable)
    if nullable and draw(st.integers(0, 3)) == 0:
        return None
    if isinstance(body, p.StructBody):
        return _struct(draw, body, for_kio)
    if isinstance(body, p.NullableStruct):
        return _struct(draw, body.struct, for_kio)
    if isinstance(body, p.ListOf):
        count = draw(MANY_NUMBERS if body.element in NUMBERS else COUNTS)
        if body.element in NUMBERS and count > 9:
            return [draw(NUMBERS[body.element])] * count
        return [_value(draw, body.element, name, for_kio) for _ in range(count)]
    if isinstance(body, p.Text):
        return draw(TEXT)
    if isinstance(body, p.Blob):
        return draw(BLOB)
    return draw(_numbers(body, name) if for_kio else NUMBERS[body])


def _numbers(body: Construct, name: str) -> st.SearchStrategy[Any]:
    if body is p.INT16 and name.endswith("error_code"):
        return KIO_ERRORS
    if body is p.INT64 and ("time" in name or name.endswith("_ms")):
        return KIO_TIMES
    if body is p.INT32 and ("time" in name or name.endswith("_ms")):
        return KIO_TIMES_32
    return NUMBERS[body]
