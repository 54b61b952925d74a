"""What generated codecs call (`compiler`, `generated/codecs`). Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from struct import Struct, pack, unpack_from
from struct import error as struct_error
from typing import Any, Final, NoReturn

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import INLINE_RECORDS, Part, joined
from odradek.protocol.message import Buffer, VersionedMessage
from odradek.protocol.native import i64
from odradek.protocol.varint import MAX_ELEMENTS, MAX_STRING_BYTES, read_compact_length

__all__ = [
    "BYTE",
    "ENCODING_ERRORS",
    "SMALL",
    "WINDOW",
    "Part",
    "ProtocolError",
    "Struct",
    "check_count",
    "encode_whole",
    "explained",
    "int8_at",
    "int16_at",
    "int32_at",
    "int64_at",
    "long_length",
    "long_string",
    "pack",
    "put_records",
    "refuse",
    "struct_error",
    "text_at",
    "uint16_at",
    "unpack_from",
]

WINDOW: Final = 4096
"""Bytes that are copied at a time from a request with records: these stay where they are."""
SMALL: Final = 1024
"""Records of so many bytes are copied: a view costs more."""
BYTE: Final[list[bytes]] = [bytes((value,)) for value in range(128)]


# -- Reading. IndexError where the bytes are not there.


def int8_at(buf: bytes, pos: i64) -> i64:
    value: i64 = buf[pos]
    return (value ^ 0x80) - 0x80


def int16_at(buf: bytes, pos: i64) -> i64:
    return (uint16_at(buf, pos) ^ 0x8000) - 0x8000


def uint16_at(buf: bytes, pos: i64) -> i64:
    value: i64 = i64(buf[pos]) << 8 | i64(buf[pos + 1])
    return value


def int32_at(buf: bytes, pos: i64) -> i64:
    value: i64 = i64(buf[pos]) << 24 | i64(buf[pos + 1]) << 16 | i64(buf[pos + 2]) << 8 | i64(buf[pos + 3])
    return (value ^ 0x80000000) - 0x80000000


def int64_at(buf: bytes, pos: i64) -> i64:
    return int32_at(buf, pos) << 32 | (int32_at(buf, pos + 4) & 0xFFFFFFFF)


def text_at(buf: bytes, pos: i64, stop: i64) -> str:
    if stop > len(buf):
        raise IndexError
    return buf[pos:stop].decode("utf-8", "replace")


def check_count(count: i64, left: i64) -> None:
    """IndexError for an array that is too long, or that leaves a negative number of elements for the others."""
    if left < 0 or count > MAX_ELEMENTS:
        raise IndexError


def long_string(buf: Buffer, offset: int) -> tuple[int, int]:
    """A compact string length of more than one byte, plus one; 0 is null."""
    length, offset = read_compact_length(buf, offset)
    if length > MAX_STRING_BYTES:
        raise ProtocolError(f"string of {length} bytes, at most {MAX_STRING_BYTES} are allowed")
    return max(length + 1, 0), offset


def long_length(buf: Buffer, offset: int) -> tuple[int, int]:
    """A compact length of more than one byte, plus one; 0 is null."""
    length, offset = read_compact_length(buf, offset)
    return max(length + 1, 0), offset


# -- Writing.


def refuse() -> NoReturn:
    """A value that the version cannot express; `explained` finds the words."""
    raise ProtocolError


def put_records(parts: list[Part], out: list[bytes], records: Any, size: int) -> None:
    """Add a record field; a large one ends the current part and becomes one itself (or several)."""
    pieces = records if isinstance(records, (list, tuple)) else (records,)
    if size <= INLINE_RECORDS:
        out.extend(pieces)
        return
    parts.append(b"".join(out))
    out.clear()
    parts.extend(memoryview(piece) if isinstance(piece, bytearray) else piece for piece in pieces)


def encode_whole(encode_parts: Callable[[Any], list[Part]], message: Any) -> bytes:
    """A message in one piece."""
    parts = encode_parts(message)
    if len(parts) == 1:
        first = parts[0]
        if isinstance(first, bytes):
            return first
    return joined(parts)


def explained(message: type[VersionedMessage], version: int, value: Any, error: Exception) -> ProtocolError:
    """The error that encoding meets, with the path to the value: found by building again with the construct itself."""
    from odradek.protocol.schema import fold

    title = f"{message.__name__} version {version}"
    try:
        fold(message, version)._build(value, BytesIO(), None, title)
    except ProtocolError as found:
        return found
    except Exception as unexpected:
        return ProtocolError(f"{title}: {unexpected}")
    return ProtocolError(f"{title}: {error}")
