"""Generates the Python source that reads one version of a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from struct import error as struct_error
from struct import unpack_from
from typing import Any, NoReturn

from construct import Construct

from odradek.protocol import primitives as p
from odradek.protocol.errors import ProtocolError, TooManyElementsError
from odradek.protocol.source_code import RUN_LIMIT, SIZES, Source, format_of, has_records, minimum_size
from odradek.protocol.varint import (
    MAX_ELEMENTS,
    MAX_STRING_BYTES,
    checked_tags,
    read_compact_length,
    read_raw_field,
    read_tagged_field,
    read_unknown_fields,
    read_uvarint,
)


def too_long(what: str, size: int, left: int) -> NoReturn:
    raise ProtocolError(f"{what}: {size} announced, {left} bytes are left")


def too_many(what: str, length: int, most: int) -> NoReturn:
    if length > MAX_ELEMENTS:
        raise ProtocolError(f"{what}: {length} elements, at most {MAX_ELEMENTS} are allowed")
    raise TooManyElementsError(f"{what}: more than {most} elements in all arrays together")


def is_null(what: str) -> NoReturn:
    raise ProtocolError(f"{what}: null, which this field cannot be in this version")


def long_string(buf: Any, offset: int) -> tuple[int, int]:
    """A compact string length of more than one byte, plus one; 0 is null."""
    length, offset = read_compact_length(buf, offset)
    if length > MAX_STRING_BYTES:
        raise ProtocolError(f"string of {length} bytes, at most {MAX_STRING_BYTES} are allowed")
    return max(length + 1, 0), offset


def long_length(buf: Any, offset: int) -> tuple[int, int]:
    """A compact length of more than one byte, plus one; 0 is null."""
    length, offset = read_compact_length(buf, offset)
    return max(length + 1, 0), offset


DECODER_CONSTANTS: dict[str, Any] = {
    "ProtocolError": ProtocolError,
    "IndexError": IndexError,
    "struct_error": struct_error,
    "too_long": too_long,
    "is_null": is_null,
    "long_string": long_string,
    "long_length": long_length,
    "read_uvarint": read_uvarint,
    "read_tagged_field": read_tagged_field,
    "read_raw_field": read_raw_field,
    "read_unknown_fields": read_unknown_fields,
    "too_many": too_many,
    "checked_tags": checked_tags,
    "unpack_from": unpack_from,
}


class DecoderSource(Source):
    """Generates the code that reads. `buf` is the buffer, `pos` the offset, `end` its length.

    Text is decoded fastest from `bytes`, so a message without record fields is read from a copy. With record fields it
    is read from a view of what was passed, and they are slices of it.
    """

    def __init__(self, body: p.StructBody, title: str) -> None:
        super().__init__(dict(DECODER_CONSTANTS))
        self._run: list[tuple[str, str]] = []  # (struct code, target) not yet read
        with_records = has_records(body)
        piece = "buf[pos:{0}].tobytes()" if with_records else "buf[pos:{0}]"
        self._text = piece + ".decode('utf-8', 'replace')"
        kind, convert = ("memoryview", "memoryview(buf)") if with_records else ("bytes", "bytes(buf)")
        self.add(f"if type(buf) is not {kind}:", f"    buf = {convert}")
        self.add("pos = offset", "end = len(buf)", "left = most")
        with self.block("try:"):
            self.struct(body, "message")
            self.flush()
        with self.block("except (struct_error, IndexError):"):
            self.add(f"raise ProtocolError('{title} is cut off after %d bytes' % max(end - offset, 0)) from None")
        self.add("return message, pos")

    def fixed(self, code: str, target: str) -> None:
        self._run.append((code, target))

    def flush(self) -> None:
        """Read the pending fixed-size fields with one call."""
        if not self._run:
            return
        codes = "".join(code for code, _ in self._run)
        targets = ", ".join(target for _, target in self._run)
        size = sum(SIZES[code] for code, _ in self._run)
        if codes == "B":
            self.add(f"{targets} = buf[pos]", "pos += 1")
        else:
            comma = "," if len(self._run) == 1 else ""
            self.add(f"{targets}{comma} = {self.structure(codes, 'unpack_from')}(buf, pos)", f"pos += {size}")
        self._run.clear()

    def value(self, body: Construct, target: str, what: str) -> None:
        """Read a value of any type into `target`."""
        code = format_of(body)
        if code is not None:
            self.fixed(code, target)
        elif isinstance(body, p.Text):
            self._sized(body, target, what, self._text, long="long_string")
        elif isinstance(body, p.RecordData):
            self._sized(body, target, what, "buf[pos:{0}]")
        elif isinstance(body, p.Blob):
            self._sized(body, target, what, "bytes(buf[pos:{0}])")
        elif isinstance(body, p.ListOf):
            self._list(body, target, what)
        elif isinstance(body, p.NullableStruct):
            marker = self.name("n")
            compact = body.marker is p.COMPACT_LENGTH
            self.fixed("B" if compact else "b", marker)
            self.flush()
            if compact:
                self.add(f"if {marker} > 127: {marker}, pos = long_length(buf, pos - 1)")
            with self.block(f"if {marker} == 0:" if compact else f"if {marker} < 0:"):
                self.add(f"{target} = None")
            with self.block("else:"):
                self.struct(body.struct, target)
                self.flush()
        elif isinstance(body, p.StructBody):
            self.struct(body, target)
        else:
            raise TypeError(f"no code can be generated for {type(body).__name__}")

    @contextmanager
    def _length(self, body: p.LengthPrefixed, target: str, what: str, long: str) -> Iterator[tuple[str, str]]:
        """The head of a length-prefixed value; yields the variable with the length and what must be added to it."""
        length = self.name("n")
        compact = body.length is p.COMPACT_LENGTH
        code = "B" if compact else format_of(body.length)
        assert code is not None
        self.fixed(code, length)
        self.flush()
        if compact:
            with self.block(f"if {length} > 127:"):
                self.add(f"{length}, pos = {long}(buf, pos - 1)")
        null = f"{length} == 0" if compact else f"{length} < 0"
        with self.block(f"if {null}:"):
            self.add(f"{target} = None" if body.nullable else f"is_null({what!r})")
        with self.block("else:"):
            yield length, " - 1" if compact else ""
            self.flush()

    def _sized(self, body: p.LengthPrefixed, target: str, what: str, content: str, long: str = "long_length") -> None:
        with self._length(body, target, what, long) as (length, shift):
            stop = self.name("e")
            self.add(f"{stop} = pos + {length}{shift}")
            with self.block(f"if {stop} > end:"):
                self.add(f"too_long({what!r}, {stop} - pos, end - pos)")
            self.add(f"{target} = {content.format(stop)}", f"pos = {stop}")

    def _list(self, body: p.ListOf, target: str, what: str) -> None:
        code = format_of(body.element)
        if code is not None and code != "16s":
            self._numbers(body, code, target, what)
            return
        with self._length(body, target, what, "long_length") as (length, shift):
            if shift:
                self.add(f"{length} -= 1")
            with self.block(f"if {length} * {minimum_size(body.element)} > end - pos:"):
                self.add(f"too_long({what!r}, {length}, end - pos)")
            self._limit(length, what)
            items, append = self.name("l"), self.name("a")
            self.add(f"{target} = {items} = []", f"{append} = {items}.append")
            with self.block(f"for _ in range({length}):"):
                item = self.name("v")
                self.value(body.element, item, what)
                self.flush()
                self.add(f"{append}({item})")

    def _numbers(self, body: p.ListOf, code: str, target: str, what: str) -> None:
        """An array of numbers: a ready `Struct` for the usual, short one. `unpack_from` is what bounds the length."""
        runs = self.number_runs(code, "unpack_from")
        size = SIZES[code]
        with self._length(body, target, what, "long_length") as (length, shift):
            self._limit(f"{length}{shift}", what)
            with self.block(f"if {length} < {RUN_LIMIT}:"):
                self.add(f"{target} = list({runs}[{length}{shift}](buf, pos))")
            with self.block("else:"):
                self.add(f"{target} = list(unpack_from('>%d{code}' % ({length}{shift}), buf, pos))")
            less = f" - {size}" if shift else ""
            self.add(f"pos += {length} * {size}{less}")

    def _limit(self, length: str, what: str) -> None:
        self.add(f"left -= {length}")
        with self.block(f"if left < 0 or {length} > {MAX_ELEMENTS}:"):
            self.add(f"too_many({what!r}, {length}, most)")

    def _unknown_fields(self, instance: str, pos: str) -> None:
        """Tagged fields count as elements: each takes as much memory."""
        self.add(f"{instance}.unknown_tagged_fields, pos = read_unknown_fields(buf, {pos})")
        self._limit(f"len({instance}.unknown_tagged_fields)", "tagged fields")

    def struct(self, body: p.StructBody, target: str) -> None:
        """Read a struct into a new object; its last fixed-size fields may stay pending."""
        message = self.constant(body.message, "Message_")
        new = self.constant(body.message.__new__, "new_")
        instance = self.name("o")
        self.flush()
        self.add(f"{target} = {instance} = {new}({message})")
        for member in body.absent + [body.tagged[tag] for tag in sorted(body.tagged)]:
            self.add(f"{instance}.{member.name} = {self._default(member)}")
        for member in body.plain:
            assert member.body is not None
            self.value(member.body, f"{instance}.{member.name}", f"{body.message.__name__}.{member.name}")
        if not body.flexible:
            self.add(f"{instance}.unknown_tagged_fields = ()")
        else:
            self._tagged(body, instance)

    def _default(self, member: p.Member) -> str:
        if isinstance(member.default, type):
            return f"{self.constant(member.default, 'Message_')}()"
        return repr(member.default)

    def _tagged(self, body: p.StructBody, instance: str) -> None:
        if not self._run and not body.tagged:
            with self.block("if buf[pos]:"):
                self._unknown_fields(instance, "pos")
            with self.block("else:"):
                self.add(f"{instance}.unknown_tagged_fields = ()", "pos += 1")
            return
        count = self.name("n")
        self.fixed("B", count)
        self.flush()
        with self.block(f"if {count}:"):
            if body.tagged:
                self._known_tags(body, instance, count)
            else:
                self._unknown_fields(instance, "pos - 1")
        with self.block("else:"):
            self.add(f"{instance}.unknown_tagged_fields = ()")

    def _known_tags(self, body: p.StructBody, instance: str, count: str) -> None:
        unknown, tag, size, data = (self.name(prefix) for prefix in ("u", "t", "s", "d"))
        with self.block(f"if {count} > 127:"):
            self.add(f"{count}, pos = read_uvarint(buf, pos - 1)", f"checked_tags({count})")
        self._limit(count, "tagged fields")
        self.add(f"{unknown} = []")
        with self.block(f"for _ in range({count}):"):
            self.add(f"{tag}, {size}, pos = read_tagged_field(buf, pos)")
            word = "if"
            for number, member in sorted(body.tagged.items()):
                assert member.body is not None
                with self.block(f"{word} {tag} == {number}:"):
                    self.value(member.body, f"{instance}.{member.name}", f"{body.message.__name__}.{member.name}")
                    self.flush()
                word = "elif"
            with self.block("else:"):
                self.add(f"{data}, pos = read_raw_field(buf, pos, {size})", f"{unknown}.append(({tag}, {data}))")
        self.add(f"{instance}.unknown_tagged_fields = tuple({unknown})")
