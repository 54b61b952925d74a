"""The output of generated encoders (`codecs/`): pieces that are joined once, and a method for each type of the wire.

Whatever cannot be written is one of `errors.ENCODING_ERRORS`. `encoded_again` then finds the words: the encoder
that is generated at run time gets the same value, and what it says counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct, pack
from typing import Any, Final, NoReturn, final

from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import INLINE_RECORDS, Part, joined
from odradek.protocol.message import Records, UnknownTaggedFields
from odradek.protocol.native import i64, mypyc_attr
from odradek.protocol.varint import MAX_STRING_BYTES, encode_tagged_section, encode_uvarint

_ZERO: Final = b"\0"
_SHORT: Final = 128
_BYTE: Final = [bytes((value,)) for value in range(_SHORT)]
_LENGTH_16: Final = [value.to_bytes(2, "big") for value in range(_SHORT)]
_LENGTH_32: Final = [value.to_bytes(4, "big") for value in range(_SHORT)]
_NULL_16: Final = b"\xff\xff"
_NULL_32: Final = b"\xff\xff\xff\xff"
_pack_h: Final = Struct(">h").pack
_pack_l: Final = Struct(">l").pack
_RUNS: Final = {code: [Struct(f">{count}{code}").pack for count in range(9)] for code in "bhlq"}


@final
@mypyc_attr(acyclic=True, free_list_len=1)
class Writer:
    """Collects a message: the pieces of the part at hand, and the parts before it."""

    __slots__ = ("_parts", "_pieces")

    def __init__(self) -> None:
        self._parts: list[Part] | None = None
        self._pieces: list[bytes] = []

    def parts(self) -> list[Part]:
        """Everything, for `sendmsg`; large record fields are among it uncopied."""
        parts = self._parts
        if parts is None:
            return [b"".join(self._pieces)] if self._pieces else []
        if self._pieces:
            parts.append(b"".join(self._pieces))
        return parts

    def whole(self) -> bytes:
        """Everything in one piece."""
        return b"".join(self._pieces) if self._parts is None else joined(self.parts())

    def fixed(self, piece: bytes) -> None:
        """Fields of fixed size, packed."""
        self._pieces.append(piece)

    def uuid(self, value: bytes) -> None:
        if len(value) != 16:
            raise ProtocolError
        self._pieces.append(value)

    # -- lengths

    def compact(self, length: i64) -> None:
        """A length or count in compact form, -1 for null."""
        length += 1
        self._pieces.append(_BYTE[length] if length < _SHORT else encode_uvarint(length))

    def count(self, length: i64) -> None:
        """A length or count of 32 bits, -1 for null."""
        if 0 <= length < _SHORT:
            self._pieces.append(_LENGTH_32[length])
        else:
            self._pieces.append(_NULL_32 if length == -1 else _pack_l(length))

    # -- text, bytes, records

    def string(self, text: str | None) -> None:
        data = _utf8(text)
        size: i64 = len(data)
        self._pieces.append(_LENGTH_16[size] if size < _SHORT else _pack_h(size))
        self._pieces.append(data)

    def string_or_null(self, text: str | None) -> None:
        if text is None:
            self._pieces.append(_NULL_16)
        else:
            self.string(text)

    def compact_string(self, text: str | None) -> None:
        data = _utf8(text)
        self.compact(len(data))
        self._pieces.append(data)

    def compact_string_or_null(self, text: str | None) -> None:
        if text is None:
            self._pieces.append(_ZERO)
        else:
            self.compact_string(text)

    def byte_string(self, data: Any) -> None:
        self.count(len(data))
        self._pieces.append(data)

    def byte_string_or_null(self, data: Any) -> None:
        if data is None:
            self._pieces.append(_NULL_32)
        else:
            self.byte_string(data)

    def compact_byte_string(self, data: Any) -> None:
        self.compact(len(data))
        self._pieces.append(data)

    def compact_byte_string_or_null(self, data: Any) -> None:
        if data is None:
            self._pieces.append(_ZERO)
        else:
            self.compact_byte_string(data)

    def records(self, records: Records | None) -> None:
        size = _size_of(records)
        self.count(size)
        self._put(records, size)

    def records_or_null(self, records: Records | None) -> None:
        if records is None:
            self._pieces.append(_NULL_32)
        else:
            self.records(records)

    def compact_records(self, records: Records | None) -> None:
        size = _size_of(records)
        self.compact(size)
        self._put(records, size)

    def compact_records_or_null(self, records: Records | None) -> None:
        if records is None:
            self._pieces.append(_ZERO)
        else:
            self.compact_records(records)

    def _put(self, records: Any, size: i64) -> None:
        """A large record field ends the part at hand and becomes one itself, or several."""
        pieces = records if isinstance(records, (list, tuple)) else (records,)
        if size <= INLINE_RECORDS:
            self._pieces.extend(pieces)
            return
        parts = self._parts
        if parts is None:
            parts = self._parts = []
        parts.append(b"".join(self._pieces))
        self._pieces.clear()
        parts.extend(memoryview(piece) if isinstance(piece, bytearray) else piece for piece in pieces)

    # -- arrays of numbers

    def numbers(self, code: str, items: list[int]) -> None:
        """Their count, and the numbers of one `struct` code."""
        self.count(len(items))
        self._numbers(code, items)

    def compact_numbers(self, code: str, items: list[int]) -> None:
        self.compact(len(items))
        self._numbers(code, items)

    def _numbers(self, code: str, items: list[int]) -> None:
        runs = _RUNS[code]
        size = len(items)
        self._pieces.append(runs[size](*items) if size < len(runs) else pack(f">{size}{code}", *items))

    # -- tagged fields

    def tags(self, known: tuple[tuple[int, bytes], ...], unknown: UnknownTaggedFields) -> None:
        """The tagged fields that are not default, ascending, and those that this version does not know."""
        self._pieces.append(encode_tagged_section(known, unknown) if known or unknown else _ZERO)

    def refuse(self) -> NoReturn:
        """A value is not the default in a field that this version does not have, or null where it may not be."""
        raise ProtocolError


def _utf8(text: str | None) -> bytes:
    if text is None:
        raise ProtocolError
    data = text.encode()
    if len(data) > MAX_STRING_BYTES:
        raise ProtocolError
    return data


def _size_of(records: Any) -> int:
    if not isinstance(records, (list, tuple)):
        return len(records)
    size = 0
    for part in records:
        size += len(part)
    return size


def in_one_piece(parts: list[Part]) -> bytes:
    """A message that may have parts."""
    if len(parts) == 1:
        first = parts[0]
        if isinstance(first, bytes):
            return first
    return joined(parts)


def encoded_again(message: type[Any], version: int, value: Any) -> list[Part]:
    """Encode a value that a generated encoder refuses with the one compiled at run time, which raises an error with a
    text.
    """
    kind: Any = message  # as a key: classes are hashable, messages are not
    return _generated(kind, version)(value)


@cache
def _generated(message: Any, version: int) -> Callable[[Any], list[Part]]:
    """Made once."""
    from odradek.protocol.compiler import compile_encoders
    from odradek.protocol.schema import fold

    return compile_encoders(fold(message, version), version)[1]
