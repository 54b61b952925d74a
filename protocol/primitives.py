"""The building blocks of Kafka's wire format as constructs, for one version of a message.

`schema.fold` puts them together, `compiler` turns the result into Python source. They also parse and build by
themselves, slowly: that is the reference the compiled code is tested against, and where encoding errors get their
path from. Rules follow what Kafka's generated readers and writers do (KIP-482 for the compact forms).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import construct
from construct import Construct, Int8sb, Int16sb, Int16ub, Int32sb, Int32ub, Int64sb, stream_read, stream_write

from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import ZERO_UUID, Message
from odradek.protocol.varint import (
    MAX_ELEMENTS,
    MAX_STRING_BYTES,
    checked_tags,
    encode_tagged_section,
    encode_uvarint,
    read_compact_length,
    read_uvarint,
)

__all__ = ["BOOLEAN", "FLOAT64", "INT8", "INT16", "INT32", "INT64", "UINT16", "UINT32", "UUID", "ZERO_UUID"]

INT8, INT16, INT32, INT64 = Int8sb, Int16sb, Int32sb, Int64sb
UINT16, UINT32 = Int16ub, Int32ub
FLOAT64 = construct.Float64b
BOOLEAN = construct.Flag


def remaining(stream: BytesIO) -> int:
    return stream.getbuffer().nbytes - stream.tell()


def read_exactly(stream: BytesIO, size: int, what: str, path: str) -> bytes:
    left = remaining(stream)
    if size > left:
        raise ProtocolError(f"{path}: {what} of {size} bytes, {left} are left")
    return bytes(stream_read(stream, size, path))


def refuse_null(path: str) -> ProtocolError:
    return ProtocolError(f"{path}: null, which this field cannot be in this version")


class _Uuid(Construct):  # type: ignore[misc]
    """16 bytes."""

    def _parse(self, stream: BytesIO, context: Any, path: str) -> bytes:
        return read_exactly(stream, 16, "UUID", path)

    def _build(self, obj: bytes, stream: BytesIO, context: Any, path: str) -> bytes:
        if not isinstance(obj, bytes) or len(obj) != 16:
            raise ProtocolError(f"{path}: a UUID is 16 bytes, not {obj!r}")
        stream_write(stream, obj, 16, path)
        return obj


UUID = _Uuid()


class _FromFunctions(Construct):  # type: ignore[misc]
    """A number whose reading and writing are functions over a buffer."""

    def __init__(self, read: Callable[[Any, int], tuple[int, int]], encode: Callable[[int], bytes]) -> None:
        super().__init__()
        self.read = read
        self.encode = encode

    def _parse(self, stream: BytesIO, context: Any, path: str) -> int:
        try:
            value, offset = self.read(stream.getbuffer(), stream.tell())
        except IndexError:
            raise ProtocolError(f"{path}: the variable-length integer is cut off") from None
        stream.seek(offset)
        return value

    def _build(self, obj: int, stream: BytesIO, context: Any, path: str) -> int:
        encoded = self.encode(obj)
        stream_write(stream, encoded, len(encoded), path)
        return obj


UVARINT = _FromFunctions(read_uvarint, encode_uvarint)
COMPACT_LENGTH = _FromFunctions(read_compact_length, lambda length: encode_uvarint(length + 1))


class LengthPrefixed(Construct):  # type: ignore[misc]
    """A length (INT16, INT32 or COMPACT_LENGTH; negative = null), then the content."""

    def __init__(self, length: Construct, nullable: bool) -> None:
        super().__init__()
        self.length = length
        self.nullable = nullable

    def _parse(self, stream: BytesIO, context: Any, path: str) -> Any:
        length = self.length._parsereport(stream, context, path)
        if length >= 0:
            return self.parse_content(stream, length, context, path)
        if not self.nullable:
            raise refuse_null(path)
        return None

    def _build(self, obj: Any, stream: BytesIO, context: Any, path: str) -> Any:
        if obj is None:
            if not self.nullable:
                raise refuse_null(path)
            self.length._build(-1, stream, context, path)
        else:
            self.build_content(obj, stream, context, path)
        return obj

    def parse_content(self, stream: BytesIO, length: int, context: Any, path: str) -> Any:
        raise NotImplementedError

    def build_content(self, obj: Any, stream: BytesIO, context: Any, path: str) -> None:
        raise NotImplementedError


class Text(LengthPrefixed):
    """UTF-8 of at most 32767 bytes. Bytes that are not UTF-8 are read as U+FFFD, as Kafka reads them."""

    def parse_content(self, stream: BytesIO, length: int, context: Any, path: str) -> str:
        if length > MAX_STRING_BYTES:
            raise ProtocolError(f"{path}: string of {length} bytes, at most {MAX_STRING_BYTES} are allowed")
        return str(read_exactly(stream, length, "string", path), "utf-8", "replace")

    def build_content(self, obj: str, stream: BytesIO, context: Any, path: str) -> None:
        try:
            encoded = obj.encode("utf-8")
        except (UnicodeEncodeError, AttributeError):
            raise ProtocolError(f"{path}: not text that UTF-8 can express: {obj!r}") from None
        if len(encoded) > MAX_STRING_BYTES:
            raise ProtocolError(f"{path}: string of {len(encoded)} bytes, at most {MAX_STRING_BYTES} are allowed")
        self.length._build(len(encoded), stream, context, path)
        stream_write(stream, encoded, len(encoded), path)


class Blob(LengthPrefixed):
    """Bytes."""

    def parse_content(self, stream: BytesIO, length: int, context: Any, path: str) -> bytes:
        return read_exactly(stream, length, "byte string", path)

    def build_content(self, obj: Any, stream: BytesIO, context: Any, path: str) -> None:
        if not isinstance(obj, bytes | bytearray | memoryview):
            raise ProtocolError(f"{path}: bytes are needed, not {type(obj).__name__}")
        self.length._build(len(obj), stream, context, path)
        stream_write(stream, obj, len(obj), path)


class RecordData(Blob):
    """Record batches, taken as they are. Compiled code does not copy them."""

    def build_content(self, obj: Any, stream: BytesIO, context: Any, path: str) -> None:
        super().build_content(b"".join(obj) if isinstance(obj, list | tuple) else obj, stream, context, path)


class ListOf(LengthPrefixed):
    """A count, then the elements."""

    def __init__(self, length: Construct, element: Construct, nullable: bool) -> None:
        super().__init__(length, nullable)
        self.element = element

    def parse_content(self, stream: BytesIO, length: int, context: Any, path: str) -> list[Any]:
        left = remaining(stream)
        if length > left:
            raise ProtocolError(f"{path}: {length} elements announced, {left} bytes are left")
        if length > MAX_ELEMENTS:
            raise ProtocolError(f"{path}: {length} elements, at most {MAX_ELEMENTS} are allowed")
        return [self.element._parsereport(stream, context, f"{path}[{index}]") for index in range(length)]

    def build_content(self, obj: Sequence[Any], stream: BytesIO, context: Any, path: str) -> None:
        if not isinstance(obj, Sequence) or isinstance(obj, str | bytes):
            raise ProtocolError(f"{path}: a list is needed, not {type(obj).__name__}")
        self.length._build(len(obj), stream, context, path)
        for index, element in enumerate(obj):
            self.element._build(element, stream, context, f"{path}[{index}]")


class NullableStruct(Construct):  # type: ignore[misc]
    """A marker, then the struct unless the marker says null.

    The marker is an INT8 that is negative for null; in a tagged field it is like a compact length, 0 for null.
    """

    def __init__(self, struct: StructBody, tagged: bool) -> None:
        super().__init__()
        self.struct = struct
        self.marker = COMPACT_LENGTH if tagged else INT8

    def _parse(self, stream: BytesIO, context: Any, path: str) -> Message | None:
        if self.marker._parsereport(stream, context, path) < 0:
            return None
        return self.struct._parse(stream, context, path)

    def _build(self, obj: Message | None, stream: BytesIO, context: Any, path: str) -> Message | None:
        null, present = (-1, 0) if self.marker is COMPACT_LENGTH else (-1, 1)
        self.marker._build(null if obj is None else present, stream, context, path)
        if obj is not None:
            self.struct._build(obj, stream, context, path)
        return obj


class Member:
    """A field of a struct as one version has it."""

    def __init__(self, name: str, default: Any, body: Construct | None, tag: int | None, droppable: bool) -> None:
        self.name = name
        self.default = default
        """A value, or for a struct that is not nullable its class."""
        self.body = body
        """None if the version lacks the field."""
        self.tag = tag
        """Its tag if the version has it as a tagged field."""
        self.droppable = droppable
        """Whether a value that the version lacks is left out silently (Kafka's "ignorable")."""

    def new_default(self) -> Any:
        if isinstance(self.default, type):
            return self.default()
        return [] if isinstance(self.default, list) else self.default

    def is_default(self, value: Any) -> bool:
        if isinstance(self.default, list):
            return value is not None and len(value) == 0
        return bool(value == self.new_default())


class StructBody(Construct):  # type: ignore[misc]
    """The fields of a struct in order, then (flexible versions) the tagged ones."""

    def __init__(self, message: type[Message], members: list[Member], flexible: bool) -> None:
        super().__init__()
        self.message = message
        self.members = members
        self.flexible = flexible
        self.plain = [member for member in members if member.body is not None and member.tag is None]
        self.tagged = {member.tag: member for member in members if member.body is not None and member.tag is not None}
        self.absent = [member for member in members if member.body is None]

    def _parse(self, stream: BytesIO, context: Any, path: str) -> Message:
        values = {}
        for member in self.plain:
            values[member.name] = parse_member(member, stream, context, path)
        if self.flexible:
            values.update(self._parse_tagged(stream, context, path))
        return self.message(**values)

    def _parse_tagged(self, stream: BytesIO, context: Any, path: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        unknown = []
        for _ in range(checked_tags(UVARINT._parsereport(stream, context, path))):
            tag = UVARINT._parsereport(stream, context, path)
            size = UVARINT._parsereport(stream, context, path)
            if tag in self.tagged:  # like Kafka's readers, this goes by the content and not by the size
                member = self.tagged[tag]
                values[member.name] = parse_member(member, stream, context, path)
            else:
                unknown.append((tag, read_exactly(stream, size, f"tagged field {tag}", path)))
        values["unknown_tagged_fields"] = tuple(unknown)
        return values

    def _build(self, obj: Message, stream: BytesIO, context: Any, path: str) -> Message:
        if type(obj) is not self.message:
            raise ProtocolError(f"{path}: a {self.message.__name__} is needed, not {type(obj).__name__}")
        for member in self.absent:
            if not member.droppable and not member.is_default(getattr(obj, member.name)):
                raise ProtocolError(f"{path}: this version has no {member.name}, and it is not the default")
        for member in self.plain:
            build_member(member, getattr(obj, member.name), stream, context, path)
        if self.flexible:
            known = self._tagged_values(obj, context, path)
            section = encode_tagged_section(known, obj.unknown_tagged_fields)
            stream_write(stream, section, len(section), path)
        elif obj.unknown_tagged_fields:
            raise ProtocolError(f"{path}: this version has no tagged fields")
        return obj

    def _tagged_values(self, obj: Message, context: Any, path: str) -> list[tuple[int, bytes]]:
        known = []
        for tag, member in sorted(self.tagged.items()):
            value = getattr(obj, member.name)
            if not member.is_default(value):
                body = BytesIO()
                build_member(member, value, body, context, path)
                known.append((tag, body.getvalue()))
        return known


def parse_member(member: Member, stream: BytesIO, context: Any, path: str) -> Any:
    assert member.body is not None
    try:
        return member.body._parsereport(stream, context, f"{path}.{member.name}")
    except construct.ConstructError:
        raise ProtocolError(f"{path}.{member.name}: {remaining(stream)} bytes are left, more are needed") from None


def build_member(member: Member, value: Any, stream: BytesIO, context: Any, path: str) -> None:
    assert member.body is not None
    try:
        member.body._build(value, stream, context, f"{path}.{member.name}")
    except construct.ConstructError:
        kind = type(member.body).__name__ if not hasattr(member.body, "fmtstr") else f"format {member.body.fmtstr}"
        raise ProtocolError(f"{path}.{member.name}: {value!r} cannot be expressed ({kind})") from None
