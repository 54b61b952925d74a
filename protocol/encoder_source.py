"""Generates the Python source that writes one version of a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from struct import pack
from typing import Any, NoReturn

from construct import Construct

from odradek.protocol import primitives as p
from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import INLINE_RECORDS
from odradek.protocol.source_code import RUN_LIMIT, Source, format_of
from odradek.protocol.varint import MAX_STRING_BYTES, encode_tagged_section, encode_uvarint


def string_too_long(size: int) -> NoReturn:
    raise ProtocolError(f"string of {size} bytes, at most {MAX_STRING_BYTES} are allowed")


def bad_uuid(value: Any) -> NoReturn:
    raise ProtocolError(f"a UUID is 16 bytes, not {value!r}")


def refuse(what: str) -> NoReturn:
    raise ProtocolError(f"{what}: this version does not have it, and it is not the default")


def put_records(parts: list[Any], out: list[Any], records: Any, size: int) -> None:
    """Add a record field; a large one ends the current part and becomes one itself (or several)."""
    pieces = records if isinstance(records, list | tuple) else (records,)
    if size <= INLINE_RECORDS:
        out.extend(pieces)
        return
    parts.append(b"".join(out))
    out.clear()
    parts.extend(memoryview(piece) if isinstance(piece, bytearray) else piece for piece in pieces)


ENCODER_CONSTANTS: dict[str, Any] = {
    "bad_uuid": bad_uuid,
    "refuse": refuse,
    "put_records": put_records,
    "string_too_long": string_too_long,
    "encode_uvarint": encode_uvarint,
    "encode_tagged_section": encode_tagged_section,
    "BYTE": [bytes((value,)) for value in range(128)],
    "pack": pack,
}


class EncoderSource(Source):
    """Generates the code that writes: pieces are appended to a list, to be joined once.

    Statements compute what is needed first (encoded strings, lengths); fields of fixed size wait in a run, and runs and
    other pieces wait until one statement can append them all.
    """

    def __init__(self, body: p.StructBody) -> None:
        super().__init__(dict(ENCODER_CONSTANTS))
        self._out = "out"
        self._run: list[tuple[str, str]] = []
        self._pieces: list[str] = []
        self.struct(body, "message")
        self.flush()

    def _pack(self, tail: tuple[str, str] | None = None) -> str:
        run = [*self._run, tail] if tail else self._run
        codes = "".join(code for code, _ in run)
        return f"{self.structure(codes, 'pack')}({', '.join(value for _, value in run)})"

    def _end_run(self) -> None:
        if self._run:
            self._pieces.append(self._pack())
            self._run.clear()

    def _end_run_with(self, condition: str, byte: str, otherwise: str) -> None:
        """End the run with one byte if the condition holds, else with the bytes of another expression."""
        if self._run:
            self._pieces.append(f"{self._pack(('B', byte))} if {condition} else {self._pack()} + {otherwise}")
            self._run.clear()
        else:
            short = "BYTE[0]" if byte == "0" else f"BYTE[{byte}]"
            self._pieces.append(f"{short} if {condition} else {otherwise}")

    def flush(self) -> None:
        self._end_run()
        if len(self._pieces) == 1:
            self.add(f"{self._out}.append({self._pieces[0]})")
        elif self._pieces:
            self.add(f"{self._out} += ({', '.join(self._pieces)})")
        self._pieces.clear()

    def value(self, body: Construct, value: str, what: str) -> None:
        """Write a value of any type; `value` is an expression without side effects."""
        code = format_of(body)
        if code == "16s":
            uuid = self.name("u")
            self.add(f"{uuid} = {value}")
            self._run.append((code, f"{uuid} if len({uuid}) == 16 else bad_uuid({uuid})"))
        elif code is not None:
            self._run.append((code, value))
        elif isinstance(body, p.Text):
            self._text(body, value)
        elif isinstance(body, p.RecordData):
            self._records(body, value)
        elif isinstance(body, p.Blob):
            self._blob(body, value)
        elif isinstance(body, p.ListOf):
            self._list(body, value, what)
        elif isinstance(body, p.NullableStruct):
            struct = self.name("s")
            self.flush()
            self.add(f"{struct} = {value}")
            with self.block(f"if {struct} is None:"):
                null = bytes(1) if body.marker is p.COMPACT_LENGTH else b"\xff"
                self.add(f"{self._out}.append({null!r})")
            with self.block("else:"):
                self._run.append(("b", "1"))
                self.struct(body.struct, struct)
                self.flush()
        elif isinstance(body, p.StructBody):
            self.struct(body, value)
        else:
            raise TypeError(f"no code can be generated for {type(body).__name__}")

    def _put_length(self, body: p.LengthPrefixed, length: str) -> None:
        """`length` is a variable; in compact form it already has one added, and 0 is null."""
        if body.length is p.COMPACT_LENGTH:
            self._end_run_with(f"{length} < 128", length, f"encode_uvarint({length})")
        else:
            code = format_of(body.length)
            assert code is not None
            self._run.append((code, length))

    @contextmanager
    def _unless_null(self, body: p.LengthPrefixed, variable: str, length: str, empty: str) -> Iterator[str]:
        """A block for a value that is there; yields what to add to its length.

        Null where it is not allowed fails by itself in that block (None has no length and no encoding).
        """
        compact = body.length is p.COMPACT_LENGTH
        if body.nullable:
            with self.block(f"if {variable} is None:"):
                self.add(f"{length} = {0 if compact else -1}", f"{variable} = {empty}")
        with self.block("else:") if body.nullable else nullcontext():
            yield " + 1" if compact else ""

    def _text(self, body: p.Text, value: str) -> None:
        text, length = self.name("b"), self.name("n")
        if body.nullable:
            self.add(f"{text} = {value}")
        with self._unless_null(body, text, length, "b''") as extra:
            self.add(f"{text} = {text if body.nullable else value}.encode()", f"{length} = len({text}){extra}")
            with self.block(f"if {length} > {MAX_STRING_BYTES + bool(extra)}:"):
                self.add(f"string_too_long(len({text}))")
        self._put_length(body, length)
        self._end_run()
        self._pieces.append(text)

    def _blob(self, body: p.Blob, value: str) -> None:
        data, length = self.name("b"), self.name("n")
        self.add(f"{data} = {value}")
        with self._unless_null(body, data, length, "b''") as extra:
            self.add(f"{length} = len({data}){extra}")
        self._put_length(body, length)
        self._end_run()
        self._pieces.append(data)

    def _records(self, body: p.RecordData, value: str) -> None:
        """A large record field ends the current part and becomes one itself, or several."""
        data, length = self.name("b"), self.name("n")
        self.add(f"{data} = {value}")
        with self._unless_null(body, data, length, "b''") as extra:
            with self.block(f"if type({data}) is list or type({data}) is tuple:"):
                self.add(f"{length} = sum(map(len, {data})){extra}")
            with self.block("else:"):
                self.add(f"{length} = len({data}){extra}")
        self._put_length(body, length)
        self.flush()
        with self.block(f"if {length} > {INLINE_RECORDS} or type({data}) is list or type({data}) is tuple:"):
            self.add(f"put_records(parts, {self._out}, {data}, {length})")
        with self.block("else:"):
            self.add(f"{self._out}.append({data})")

    def _list(self, body: p.ListOf, value: str, what: str) -> None:
        code = format_of(body.element)
        items, length = self.name("l"), self.name("n")
        self.add(f"{items} = {value}")
        with self._unless_null(body, items, length, "()") as extra:
            self.add(f"{length} = len({items}){extra}")
        if code is not None and code != "16s":
            self._numbers(body, code, items, length)
            return
        self._put_length(body, length)
        self.flush()
        item = self.name("v")
        with self.block(f"for {item} in {items}:"):
            self.value(body.element, item, what)
            self.flush()

    def _numbers(self, body: p.ListOf, code: str, items: str, length: str) -> None:
        """Count and numbers in one piece: a ready `Struct` for the usual, short array."""
        self._end_run()
        if body.length is p.COMPACT_LENGTH:
            runs = self.number_runs(code, "pack", "B")
            count = f"encode_uvarint({length}) + "
            many = f"pack('>%d{code}' % len({items}), *{items})"
        else:
            runs = self.number_runs(code, "pack", "l")
            count = ""
            many = f"pack('>l%d{code}' % len({items}), {length}, *{items})"
        short = f"{runs}[len({items})]({length}, *{items})"
        self._pieces.append(f"{short} if len({items}) < {RUN_LIMIT} else {count}{many}")

    def struct(self, body: p.StructBody, value: str) -> None:
        name = body.message.__name__
        instance = value
        if not value.isidentifier():
            instance = self.name("o")
            self.add(f"{instance} = {value}")
        for member in body.absent:
            if not member.droppable:
                with self.block(f"if {self._not_default(member.default, f'{instance}.{member.name}')}:"):
                    self.add(f"refuse({f'{name}.{member.name}'!r})")
        for member in body.plain:
            assert member.body is not None
            self.value(member.body, f"{instance}.{member.name}", f"{name}.{member.name}")
        if not body.flexible:
            with self.block(f"if {instance}.unknown_tagged_fields:"):
                self.add(f"refuse({f'{name}.unknown_tagged_fields'!r})")
            return
        known = self._known_tags(body, instance) if body.tagged else "()"
        condition = f"not ({known} or {instance}.unknown_tagged_fields)" if body.tagged else ""
        self._end_run_with(
            condition or f"not {instance}.unknown_tagged_fields",
            "0",
            f"encode_tagged_section({known}, {instance}.unknown_tagged_fields)",
        )

    def _known_tags(self, body: p.StructBody, instance: str) -> str:
        """Build the known tagged fields that are not default into a tuple; returns its name."""
        known = self.name("t")
        self.add(f"{known} = ()")
        for tag, member in sorted(body.tagged.items()):
            assert member.body is not None
            source = f"{instance}.{member.name}"
            with self.block(f"if {self._not_default(member.default, source)}:"):
                outer = self._out, self._run, self._pieces
                self._out, self._run, self._pieces = self.name("w"), [], []
                self.add(f"{self._out} = []")
                self.value(member.body, source, f"{body.message.__name__}.{member.name}")
                self.flush()
                self.add(f"{known} += (({tag}, b''.join({self._out})),)")
                self._out, self._run, self._pieces = outer
        return known

    def _not_default(self, default: Any, value: str) -> str:
        """An expression: whether a field's value differs from its default."""
        if default is None:
            return f"{value} is not None"
        if isinstance(default, list):
            return f"{value} is None or len({value})"
        if not isinstance(default, type):
            return f"{value} != {default!r}"
        struct = self.name("s")
        terms = [f"({struct} := {value}) is None", f"{struct}.unknown_tagged_fields"]
        terms += [self._not_default(field.default, f"{struct}.{field.name}") for field in default.declare()]  # type: ignore[attr-defined]
        return f"({' or '.join(terms)})"
