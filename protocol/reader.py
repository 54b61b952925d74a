"""The input of generated decoders (`codecs/`): a position in a buffer, and a method for each type of the wire.

Whatever cannot be read is an IndexError or a ProtocolError without a text. `decoded_again` then finds the words: the
decoder that is generated at run time reads the same bytes, and what it says counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar, final

from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Buffer, UnknownTaggedFields, VersionedMessage
from odradek.protocol.native import i64, mypyc_attr
from odradek.protocol.varint import ANY_NUMBER, MAX_ELEMENTS, MAX_STRING_BYTES, MAX_TAGGED_FIELDS

M = TypeVar("M", bound=VersionedMessage)

WINDOW: Final = 4096
"""Bytes that are copied at a time from a buffer that is not `bytes`: a request's records stay where they are."""


_WORTH_A_VIEW: Final = 4096


@final
@mypyc_attr(acyclic=True, free_list_len=1)
class Reader:
    """Reads on from `offset` of a buffer; `most`: how many elements all arrays may have together.

    Numbers and text are read fastest from `bytes`: from the buffer itself, or from a copy of it, window by window.
    """

    __slots__ = ("_base", "_bytes", "_left", "_pos", "_source", "_stop", "_total")

    def __init__(self, source: Buffer, offset: int, most: int = ANY_NUMBER) -> None:
        self._source: Any = source
        self._left: i64 = most
        """How many elements may still come."""
        self._total: i64 = len(source)
        self._base: i64 = 0
        """Where the window begins in the source."""
        self._pos: i64 = offset
        """The place in the window."""
        self._bytes: bytes = b""
        self._stop: i64 = 0
        if isinstance(source, bytes):
            self._bytes = source
            self._stop = self._total
        elif self._total <= WINDOW:
            self._bytes = bytes(source)
            self._stop = self._total
        else:
            self._move(WINDOW)

    def _move(self, size: i64) -> None:
        """Begin the window at the place, for `size` bytes or more."""
        start: i64 = self._base + self._pos
        self._bytes = bytes(self._source[start : start + (WINDOW if size < WINDOW else size)])
        self._base = start
        self._pos = 0
        self._stop = len(self._bytes)

    def _take(self, size: i64) -> i64:
        """Where in the window the next `size` bytes are; the place is behind them then."""
        pos: i64 = self._pos
        if size > self._stop - pos:
            if size > self._total - self._base - pos:
                raise IndexError
            self._move(size)
            pos = 0
        self._pos = pos + size
        return pos

    @property
    def offset(self) -> int:
        """The place in the buffer."""
        return self._base + self._pos

    # -- numbers

    def boolean(self) -> bool:
        pos: i64 = self._take(1)
        return self._bytes[pos] != 0

    def int8(self) -> int:
        pos: i64 = self._take(1)
        value: i64 = self._bytes[pos]
        return (value ^ 0x80) - 0x80

    def int16(self) -> int:
        return self._int16()

    def _int16(self) -> i64:
        return (self._uint16() ^ 0x8000) - 0x8000

    def uint16(self) -> int:
        return self._uint16()

    def _uint16(self) -> i64:
        pos: i64 = self._take(2)
        data = self._bytes
        value: i64 = i64(data[pos]) << 8 | i64(data[pos + 1])
        return value

    def int32(self) -> int:
        return self._int32()

    def _int32(self) -> i64:
        pos: i64 = self._take(4)
        data = self._bytes
        value: i64 = i64(data[pos]) << 24 | i64(data[pos + 1]) << 16 | i64(data[pos + 2]) << 8 | i64(data[pos + 3])
        return (value ^ 0x80000000) - 0x80000000

    def int64(self) -> int:
        pos: i64 = self._take(8)
        data = self._bytes
        high: i64 = i64(data[pos]) << 24 | i64(data[pos + 1]) << 16 | i64(data[pos + 2]) << 8 | i64(data[pos + 3])
        low: i64 = i64(data[pos + 4]) << 24 | i64(data[pos + 5]) << 16 | i64(data[pos + 6]) << 8 | i64(data[pos + 7])
        return ((high ^ 0x80000000) - 0x80000000) << 32 | low

    def uvarint(self) -> int:
        """32 bits wide: like Kafka's reader, it drops the higher bits of the fifth byte."""
        return self._uvarint()

    def _uvarint(self) -> i64:
        pos: i64 = self._pos
        if pos < self._stop:  # one byte, usually
            only: i64 = self._bytes[pos]
            if only < 0x80:
                self._pos = pos + 1
                return only
        return self._long_uvarint()

    def _long_uvarint(self) -> i64:
        value: i64 = 0
        shift: i64 = 0
        while shift < 35:
            pos: i64 = self._take(1)
            byte: i64 = self._bytes[pos]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFF
            shift += 7
        raise ProtocolError

    def uuid(self) -> bytes:
        return self._content(16)

    # -- lengths; negative is null

    def _compact(self) -> i64:
        value: i64 = self._uvarint()
        return -1 if value > 0x80000000 else value - 1

    def count(self, minimum: int) -> int:
        """Of elements that take at least `minimum` bytes each; they may still be missing."""
        return self._elements(self._int32(), minimum)

    def count_or_null(self, minimum: int) -> int:
        length: i64 = self._int32()
        return length if length < 0 else self._elements(length, minimum)

    def compact_count(self, minimum: int) -> int:
        return self._elements(self._compact(), minimum)

    def compact_count_or_null(self, minimum: int) -> int:
        length: i64 = self._compact()
        return length if length < 0 else self._elements(length, minimum)

    def _elements(self, length: i64, minimum: i64) -> i64:
        self._left -= length
        if self._left < 0 or length > MAX_ELEMENTS:
            raise ProtocolError
        return self._possible(length, minimum)

    def _possible(self, length: i64, minimum: i64) -> i64:
        if length < 0 or length * minimum > self._total - self._base - self._pos:
            raise ProtocolError
        return length

    # -- text, bytes, records

    def _content(self, length: i64) -> bytes:
        pos: i64 = self._take(length)
        return self._bytes[pos : pos + length]

    def _text(self, length: i64) -> str:
        if length < 0 or length > MAX_STRING_BYTES:
            raise ProtocolError
        content = self._content(length)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return content.decode("utf-8", "replace")

    def string(self) -> str:
        return self._text(self._int16())

    def string_or_null(self) -> str | None:
        length: i64 = self._int16()
        return None if length < 0 else self._text(length)

    def compact_string(self) -> str:
        return self._text(self._compact())

    def compact_string_or_null(self) -> str | None:
        length: i64 = self._compact()
        return None if length < 0 else self._text(length)

    def byte_string(self) -> bytes:
        return self._content(self._possible(self._int32(), 1))

    def byte_string_or_null(self) -> bytes | None:
        length: i64 = self._int32()
        return None if length < 0 else self._content(length)

    def compact_byte_string(self) -> bytes:
        return self._content(self._possible(self._compact(), 1))

    def compact_byte_string_or_null(self) -> bytes | None:
        length: i64 = self._compact()
        return None if length < 0 else self._content(length)

    def records(self) -> bytes | memoryview:
        return self._slice(self._int32())

    def records_or_null(self) -> bytes | memoryview | None:
        length: i64 = self._int32()
        return None if length < 0 else self._slice(length)

    def compact_records(self) -> bytes | memoryview:
        return self._slice(self._compact())

    def compact_records_or_null(self) -> bytes | memoryview | None:
        length: i64 = self._compact()
        return None if length < 0 else self._slice(length)

    def _slice(self, length: i64) -> bytes | memoryview:
        """The next bytes of the source itself; few of `bytes` are copied, which costs less than a view."""
        start: i64 = self._base + self._pos
        stop: i64 = start + self._possible(length, 1)
        self._pos += length
        if self._pos > self._stop:  # what follows is in no window yet
            self._base = stop
            self._pos = 0
            self._stop = 0
        source = self._source
        if isinstance(source, bytes):
            if length <= _WORTH_A_VIEW:
                return source[start:stop]
            source = memoryview(source)
        elif isinstance(source, bytearray):
            source = memoryview(source)
        view: memoryview = source[start:stop]
        return view

    # -- tagged fields

    def tags(self) -> int:
        """How many tagged fields follow."""
        return self._tags()

    def _tags(self) -> i64:
        count: i64 = self._uvarint()
        if count == 0:
            return 0
        self._left -= count
        if self._left < 0 or count > MAX_TAGGED_FIELDS:
            raise ProtocolError
        return count

    def unknown_tags(self) -> UnknownTaggedFields:
        """A tagged section in which no tag is known."""
        count: i64 = self._tags()
        if count == 0:
            return ()
        fields: list[tuple[int, bytes]] = []
        while count > 0:
            tag = self.uvarint()
            fields.append((tag, self.raw(self.uvarint())))
            count -= 1
        return tuple(fields)

    def raw(self, size: int) -> bytes:
        """The data of an unknown tagged field."""
        return self._content(size)


def decoded_again(message: type[M], version: int, buf: Buffer, offset: int, most: int = ANY_NUMBER) -> tuple[M, int]:
    """Decode bytes that a generated decoder refuses with the one compiled at run time, which raises an error with a
    text.
    """
    kind: Any = message  # as a key: classes are hashable, messages are not
    decoded: tuple[M, int] = _generated(kind, version)(buf, offset, most)
    return decoded


@cache
def _generated(message: Any, version: int) -> Callable[..., tuple[Any, int]]:
    """Made once: whoever sends what cannot be read may do so again and again."""
    from odradek.protocol.compiler import compile_decoder
    from odradek.protocol.schema import fold

    return compile_decoder(fold(message, version), version)
