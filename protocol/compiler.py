"""Python source from constructs: one decoder and one builder per message and version.

The generated code works on a buffer and an offset. Runs of fixed-size fields become one `struct` call, which also reads
the length (or the first byte of it) of what follows; a length below 128 in compact form costs one comparison; record
fields are slices. Every read is bounded: `unpack_from` and indexing raise at the end of the buffer, slices are checked.
A construct that is not known here raises TypeError at generation: nothing is guessed.

The code is compiled here with the first message. For hot messages it is also written into modules for mypyc
(`generators/codecs.py`): the same builder, and a typed form of the decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

from construct import Construct, FormatField

from odradek.protocol import codec_parts, varint
from odradek.protocol import primitives as p
from odradek.protocol.errors import ProtocolError, TooManyElementsError
from odradek.protocol.file_slice import INLINE_RECORDS, Part
from odradek.protocol.message import Message
from odradek.protocol.primitives import StructBody
from odradek.protocol.varint import ANY_NUMBER, MAX_ELEMENTS, MAX_STRING_BYTES

# -- Source lines under construction, and facts about constructs.


RUN_LIMIT = 9
"""Arrays of fewer numbers than this have a `Struct` ready."""
READS = {
    "?": "buf[{0}] != 0",
    "B": "buf[{0}]",
    "b": "int8_at(buf, {0})",
    "h": "int16_at(buf, {0})",
    "H": "uint16_at(buf, {0})",
    "l": "int32_at(buf, {0})",
    "q": "int64_at(buf, {0})",
    "d": "unpack_from('>d', buf, {0})[0]",
    "16s": "buf[{0} : {0} + 16]",
}
"""How the typed form of a decoder reads a value of fixed size."""
SIZES = {"b": 1, "h": 2, "H": 2, "l": 4, "L": 4, "i": 4, "q": 8, "d": 8, "?": 1, "B": 1, "16s": 16}


def format_of(body: Construct) -> str | None:
    """The `struct` character of a fixed-size construct."""
    if body is p.BOOLEAN:
        return "?"
    if body is p.UUID:
        return "16s"
    if isinstance(body, FormatField):
        return str(body.fmtstr).lstrip(">")
    return None


def minimum_size(body: Construct) -> int:
    """The fewest bytes that the construct can take."""
    code = format_of(body)
    if code is not None:
        return SIZES[code]
    if isinstance(body, p.LengthPrefixed):
        return 1 if body.length is p.COMPACT_LENGTH else minimum_size(body.length)
    if isinstance(body, p.NullableStruct):
        return 1
    if isinstance(body, p.StructBody):
        return sum(minimum_size(member.body) for member in body.plain if member.body is not None) + body.flexible
    raise TypeError(f"no code can be generated for {type(body).__name__}")


def has_records(body: Construct) -> bool:
    """Whether a record field is anywhere in the construct."""
    if isinstance(body, p.StructBody):
        return any(member.body is not None and has_records(member.body) for member in body.members)
    if isinstance(body, p.ListOf):
        return has_records(body.element)
    if isinstance(body, p.NullableStruct):
        return has_records(body.struct)
    return isinstance(body, p.RecordData)


class Source:
    """Lines of a function's body, the constants and messages that they use, and names for temporaries."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        """Name to expression."""
        self.messages: dict[str, type[Message]] = {}
        self._indent = 1
        self._counter = 0

    def add(self, *lines: str) -> None:
        self.lines += ["    " * self._indent + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(head)
        self._indent += 1
        yield
        self._indent -= 1

    def name(self, prefix: str) -> str:
        self._counter += 1
        return f"{prefix}{self._counter}"

    def message(self, message: type[Message]) -> str:
        self.messages[message.__name__] = message
        return message.__name__

    def structure(self, codes: str, method: str) -> str:
        """A bound method of the Struct for these codes."""
        name = f"{method}_{codes.replace('?', 'o').replace('H', 'u')}"
        self.constants[name] = f'Struct(">{codes}").{method}'
        return name

    def number_runs(self, code: str, method: str, prefix: str = "") -> str:
        """A list: at n, the bound method of a Struct for `prefix` and n numbers."""
        name = f"{method}_{prefix}_{code.replace('?', 'o').replace('H', 'u')}"
        self.constants[name] = f'[Struct(f">{prefix}{{count}}{code}").{method} for count in range({RUN_LIMIT})]'
        return name

    def function(self, parameters: str, version: int) -> Any:
        constants = [f"{name} = {value}" for name, value in self.constants.items()]
        text = "\n".join([*constants, f"def generated({parameters}):", *self.lines])
        namespace: dict[str, Any] = {**NAMES, **self.messages, "version": version}
        exec(compile(text, f"<codec of {next(iter(self.messages))}>", "exec"), namespace)
        return namespace["generated"]


# -- The source that reads one version of a message.


def too_long(what: str, size: int, left: int) -> NoReturn:
    raise ProtocolError(f"{what}: {size} announced, {left} bytes are left")


def too_many(what: str, length: int, most: int) -> NoReturn:
    if length > MAX_ELEMENTS:
        raise ProtocolError(f"{what}: {length} elements, at most {MAX_ELEMENTS} are allowed")
    raise TooManyElementsError(f"{what}: more than {most} elements in all arrays together")


def is_null(what: str) -> NoReturn:
    raise ProtocolError(f"{what}: null, which this field cannot be in this version")


def cut_off(message: type[Message], version: int, size: int) -> ProtocolError:
    return ProtocolError(f"{message.__name__} version {version} is cut off after {size} bytes")


NAMES: dict[str, Any] = {
    **vars(varint),
    **vars(codec_parts),
    **{function.__name__: function for function in (too_long, too_many, is_null, cut_off)},
}
"""What generated code may use."""


class DecoderSource(Source):
    """Generates the code that reads. `buf` is the buffer, `pos` the offset, `end` its length.

    Text is decoded fastest from `bytes`, so a message without record fields is read from a copy. With record fields it
    is read from a view of what was passed, and they are slices of it.

    The typed form is for mypyc. It reads numbers without `struct`, and makes a message when it has the fields. It
    refuses without words: the plain form reads the same bytes again, and what it says counts. A message with record
    fields is read from `bytes`, or from copies of a few bytes (`WINDOW`): the first ones, and those after long records.
    Short records are a slice of `buf`. `base` is the place of `buf` in `data`, and `last` the end of `data` in `buf`.
    A message with so many bytes between records that a copy ends is also left to the plain form.
    """

    def __init__(self, body: p.StructBody, *, typed: bool = False) -> None:
        super().__init__()
        self._typed = typed
        self._run: list[tuple[str, str]] = []  # (struct code, target) not yet read
        self._windows = typed and has_records(body)
        self._last = "last" if self._windows else "end"
        self._number = ": i64" if typed else ""
        piece = "buf[pos:{0}].tobytes()" if has_records(body) else "buf[pos:{0}]"
        self._text = piece + ".decode('utf-8', 'replace')"
        name = self.message(body.message)
        if typed:
            self.add("try:")
            self._indent += 1
            self._typed_head()
        else:
            kind, convert = ("memoryview", "memoryview(buf)") if has_records(body) else ("bytes", "bytes(buf)")
            self.add(f"if type(buf) is not {kind}:", f"    buf = {convert}")
            self.add("pos = offset", "end = len(buf)", "left = most", "try:")
            self._indent += 1
        self.struct(body, "message")
        self.flush()
        self.add("return message, pos" if not self._windows else "return message, base + pos")
        self._indent -= 1
        if typed:
            self.add("except (struct_error, IndexError, ProtocolError):", "    pass")
            self.add(f"return decoded_again({name}, version, data, offset, most)")
        else:
            self.add("except (struct_error, IndexError):")
            self.add(f"    raise cut_off({name}, version, max(end - offset, 0)) from None")

    def _typed_head(self) -> None:
        if self._windows:
            self.add("base: i64 = 0", "pos: i64 = offset", "last: i64 = len(data)")
            self.add("if isinstance(data, bytes):", "    buf = data", "elif last <= WINDOW:", "    buf = bytes(data)")
            with self.block("else:"):
                self._next_window()
        else:
            self.add("buf = data if isinstance(data, bytes) else bytes(data)", "pos: i64 = offset")
        self.add("end: i64 = len(buf)", "left: i64 = most")

    def _next_window(self) -> None:
        self.add("base += pos", "last -= pos", "pos = 0", "buf = bytes(memoryview(data)[base : base + WINDOW])")

    def _refuse(self, words: str) -> None:
        self.add("raise IndexError" if self._typed else words)

    def fixed(self, code: str, target: str) -> None:
        self._run.append((code, target))

    def flush(self) -> None:
        """Read the pending fixed-size fields with one call."""
        if not self._run:
            return
        codes = "".join(code for code, _ in self._run)
        targets = ", ".join(target for _, target in self._run)
        size = sum(SIZES[code] for code, _ in self._run)
        if self._typed:
            self._flush_typed(size)
        elif codes == "B":
            self.add(f"{targets} = buf[pos]")
        else:
            comma = "," if len(self._run) == 1 else ""
            self.add(f"{targets}{comma} = {self.structure(codes, 'unpack_from')}(buf, pos)")
        self.add(f"pos += {size}")
        self._run.clear()

    def _flush_typed(self, size: int) -> None:
        if any(code == "16s" for code, _ in self._run):  # a slice is short, where an index is an error
            self.add(f"if pos + {size} > end:", "    raise IndexError")
        place = 0
        for code, target in self._run:
            kind = ": i64" if code == "B" else ""  # a length or a count
            at = f"pos + {place}" if place else "pos"
            self.add(f"{target}{kind} = {READS[code].format(at)}")
            place += SIZES[code]

    def value(self, body: Construct, target: str, what: str) -> None:
        """Read a value of any type into `target`."""
        code = format_of(body)
        if code is not None:
            self.fixed(code, target)
        elif isinstance(body, p.Text):
            if self._typed:
                self._sized(body, target, what, "text_at(buf, pos, {0})", long="long_string", last="")
            else:
                self._sized(body, target, what, self._text, long="long_string")
        elif isinstance(body, p.RecordData):
            piece = "buf[pos:{0}]"
            if self._windows:
                piece += " if {0} <= end and {0} - pos <= SMALL else memoryview(data)[base + pos : base + {0}]"
            self._sized(body, target, what, piece, last=self._last)
            if self._windows:
                with self.block("if last > end and end - pos < WINDOW // 8:"):
                    self._next_window()
                    self.add("end = len(buf)")
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
            if body.nullable:
                self.add(f"{target} = None")
            else:
                self._refuse(f"is_null({what!r})")
        with self.block("else:") if body.nullable else nullcontext():
            yield length, " - 1" if compact else ""
            self.flush()

    def _sized(
        self,
        body: p.LengthPrefixed,
        target: str,
        what: str,
        content: str,
        long: str = "long_length",
        last: str = "end",
    ) -> None:
        with self._length(body, target, what, long) as (length, shift):
            stop = self.name("e")
            self.add(f"{stop}{self._number} = pos + {length}{shift}")
            if last:
                with self.block(f"if {stop} > {last}:"):
                    self._refuse(f"too_long({what!r}, {stop} - pos, {last} - pos)")
            self.add(f"{target} = {content.format(stop)}", f"pos = {stop}")

    def _list(self, body: p.ListOf, target: str, what: str) -> None:
        code = format_of(body.element)
        if code is not None and code != "16s":
            self._numbers(body, code, target, what)
            return
        with self._length(body, target, what, "long_length") as (length, shift):
            if shift:
                self.add(f"{length} -= 1")
            with self.block(f"if {length} * {minimum_size(body.element)} > {self._last} - pos:"):
                self._refuse(f"too_long({what!r}, {length}, {self._last} - pos)")
            self._limit(length, what)
            items, append = self.name("l"), self.name("a")
            if self._typed:
                append = f"{items}.append"
                self.add(f"{items}: list[Any] = []", f"{target} = {items}")
            else:
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
                self.add(f"{target} = list(unpack_from(f'>{{{length}{shift}}}{code}', buf, pos))")
            less = f" - {size}" if shift else ""
            self.add(f"pos += {length} * {size}{less}")

    def _limit(self, length: str, what: str) -> None:
        self.add(f"left -= {length}")
        if self._typed:
            self.add(f"check_count({length}, left)")
            return
        with self.block(f"if left < 0 or {length} > {MAX_ELEMENTS}:"):
            self.add(f"too_many({what!r}, {length}, most)")

    def _unknown_fields(self, instance: str, pos: str) -> None:
        """Tagged fields count as elements: each takes as much memory."""
        self.add(f"{instance}.unknown_tagged_fields, pos = read_unknown_fields(buf, {pos})")
        self._limit(f"len({instance}.unknown_tagged_fields)", "tagged fields")

    def struct(self, body: p.StructBody, target: str) -> None:
        """Read a struct into a new object; its last fixed-size fields may stay pending."""
        message = self.message(body.message)
        instance = self.name("o")
        fields = [(member, f"{instance}{'_' if self._typed else '.'}{member.name}") for member in body.plain]
        if self._typed:
            made = f"{message}({', '.join(f'{member.name}={local}' for member, local in fields)})"
        else:
            self.constants[f"new_{message}"] = f"{message}.__new__"
            self.flush()
            self.add(f"{target} = {instance} = new_{message}({message})")
            for member in body.absent + [body.tagged[tag] for tag in sorted(body.tagged)]:
                self.add(f"{instance}.{member.name} = {self._default(member)}")
        for member, local in fields:
            assert member.body is not None
            self.value(member.body, local, f"{body.message.__name__}.{member.name}")
        if body.flexible:
            count = "" if not self._run and not body.tagged else self.name("n")
            if count:
                self.fixed("B", count)
        if self._typed:
            self.flush()
            self.add(f"{target} = {instance} = {made}" if body.flexible else f"{target} = {made}")
        if body.flexible:
            self._tagged(body, instance, count)
        elif not self._typed:
            self.add(f"{instance}.unknown_tagged_fields = ()")

    def _default(self, member: p.Member) -> str:
        return f"{self.message(member.default)}()" if isinstance(member.default, type) else repr(member.default)

    def _tagged(self, body: p.StructBody, instance: str, count: str) -> None:
        """The tagged section: of `count` fields, or of as many as the next byte says."""
        nothing = [] if self._typed else [f"{instance}.unknown_tagged_fields = ()"]
        if not count:
            with self.block("if buf[pos]:"):
                self._unknown_fields(instance, "pos")
            with self.block("else:"):
                self.add(*nothing, "pos += 1")
            return
        self.flush()
        with self.block(f"if {count}:"):
            if body.tagged:
                self._known_tags(body, instance, count)
            else:
                self._unknown_fields(instance, "pos - 1")
        if nothing:
            with self.block("else:"):
                self.add(*nothing)

    def _known_tags(self, body: p.StructBody, instance: str, count: str) -> None:
        unknown, tag, size, data = (self.name(prefix) for prefix in ("u", "t", "s", "d"))
        with self.block(f"if {count} > 127:"):
            self.add(f"{count}, pos = read_uvarint(buf, pos - 1)", f"checked_tags({count})")
        self._limit(count, "tagged fields")
        self.add(f"{unknown}: list[tuple[int, bytes]] = []")
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


# -- The source that writes one version of a message.


class EncoderSource(Source):
    """Generates the code that writes: pieces are appended to a list, to be joined once.

    Statements compute what is needed first (encoded strings, lengths); fields of fixed size wait in a run, and runs and
    other pieces wait until one statement can append them all.
    """

    def __init__(self, body: p.StructBody) -> None:
        super().__init__()
        self._out = "out"
        self._run: list[tuple[str, str]] = []
        self._pieces: list[str] = []
        name = self.message(body.message)
        self.add("parts: list[Part] = []", "out: list[bytes] = []")
        with self.block("try:"):
            self.add(f"m: {name} = message")
            self.struct(body, "m")
            self.flush()
            self.add("if out:", "    parts.append(b''.join(out))", "return parts")
        with self.block("except ENCODING_ERRORS as error:"):
            self.add(f"raise explained({name}, version, message, error) from None")

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

    def value(self, body: Construct, value: str) -> None:
        """Write a value of any type; `value` is an expression without side effects."""
        code = format_of(body)
        if code == "16s":
            uuid = self.name("u")
            self.add(f"{uuid} = {value}")
            self._run.append((code, f"{uuid} if len({uuid}) == 16 else refuse()"))
        elif code is not None:
            self._run.append((code, value))
        elif isinstance(body, p.Text):
            self._text(body, value)
        elif isinstance(body, p.RecordData):
            self._records(body, value)
        elif isinstance(body, p.Blob):
            self._blob(body, value)
        elif isinstance(body, p.ListOf):
            self._list(body, value)
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
    def _unless_null(
        self, body: p.LengthPrefixed, value: str, variable: str, length: str, empty: str
    ) -> Iterator[tuple[str, str]]:
        """A block for a value that is there; yields its length with a type, and what to add to it.

        Null where it is not allowed fails by itself in that block (None has no length and no encoding).
        """
        compact = body.length is p.COMPACT_LENGTH
        if body.nullable:
            with self.block(f"if {value} is None:"):
                self.add(f"{length}: i64 = {0 if compact else -1}", f"{variable} = {empty}")
        with self.block("else:") if body.nullable else nullcontext():
            yield length if body.nullable else f"{length}: i64", " + 1" if compact else ""

    def _text(self, body: p.Text, value: str) -> None:
        text, length = self.name("b"), self.name("n")
        if body.nullable:
            held = self.name("s")
            self.add(f"{held} = {value}")
            value = held
        with self._unless_null(body, value, text, length, "b''") as (typed, extra):
            self.add(f"{text} = {value}.encode()", f"{typed} = len({text}){extra}")
            with self.block(f"if {length} > {MAX_STRING_BYTES + bool(extra)}:"):
                self.add("refuse()")
        self._put_length(body, length)
        self._end_run()
        self._pieces.append(text)

    def _blob(self, body: p.Blob, value: str) -> None:
        data, length = self.name("b"), self.name("n")
        self.add(f"{data} = {value}")
        with self._unless_null(body, data, data, length, "b''") as (typed, extra):
            self.add(f"{typed} = len({data}){extra}")
        self._put_length(body, length)
        self._end_run()
        self._pieces.append(data)

    def _records(self, body: p.RecordData, value: str) -> None:
        """A large record field ends the current part and becomes one itself, or several."""
        data, length = self.name("b"), self.name("n")
        self.add(f"{data}: Any = {value}")
        with self._unless_null(body, data, data, length, "b''") as (typed, extra):
            with self.block(f"if type({data}) is list or type({data}) is tuple:"):
                self.add(f"{typed} = sum(map(len, {data})){extra}")
            with self.block("else:"):
                self.add(f"{length} = len({data}){extra}")
        self._put_length(body, length)
        self.flush()
        with self.block(f"if {length} > {INLINE_RECORDS} or type({data}) is list or type({data}) is tuple:"):
            self.add(f"put_records(parts, {self._out}, {data}, {length})")
        with self.block("else:"):
            self.add(f"{self._out}.append({data})")

    def _list(self, body: p.ListOf, value: str) -> None:
        code = format_of(body.element)
        items, length = self.name("l"), self.name("n")
        self.add(f"{items} = {value}")
        with self._unless_null(body, items, items, length, "[]") as (typed, extra):
            self.add(f"{typed} = len({items}){extra}")
        if code is not None and code != "16s":
            self._numbers(body, code, items, length)
            return
        self._put_length(body, length)
        self.flush()
        item = self.name("v")
        with self.block(f"for {item} in {items}:"):
            self.value(body.element, item)
            self.flush()

    def _numbers(self, body: p.ListOf, code: str, items: str, length: str) -> None:
        """Count and numbers in one piece: a ready `Struct` for the usual, short array."""
        self._end_run()
        if body.length is p.COMPACT_LENGTH:
            runs = self.number_runs(code, "pack", "B")
            count = f"encode_uvarint({length}) + "
            many = f"pack(f'>{{len({items})}}{code}', *{items})"
        else:
            runs = self.number_runs(code, "pack", "l")
            count = ""
            many = f"pack(f'>l{{len({items})}}{code}', {length}, *{items})"
        short = f"{runs}[len({items})]({length}, *{items})"
        self._pieces.append(f"{short} if len({items}) < {RUN_LIMIT} else {count}{many}")

    def struct(self, body: p.StructBody, value: str) -> None:
        instance = value
        if not value.isidentifier():
            instance = self.name("o")
            self.add(f"{instance} = {value}")
        for member in body.absent:
            if not member.droppable:
                with self.block(f"if {self._not_default(member.default, f'{instance}.{member.name}')}:"):
                    self.add("refuse()")
        for member in body.plain:
            assert member.body is not None
            self.value(member.body, f"{instance}.{member.name}")
        if not body.flexible:
            with self.block(f"if {instance}.unknown_tagged_fields:"):
                self.add("refuse()")
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
        self.add(f"{known}: tuple[tuple[int, bytes], ...] = ()")
        for tag, member in sorted(body.tagged.items()):
            assert member.body is not None
            source = f"{instance}.{member.name}"
            with self.block(f"if {self._not_default(member.default, source)}:"):
                outer = self._out, self._run, self._pieces
                self._out, self._run, self._pieces = self.name("w"), [], []
                self.add(f"{self._out}: list[bytes] = []")
                self.value(member.body, source)
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


# -- From the source to functions.


def compile_decoder(body: StructBody, version: int) -> Callable[..., tuple[Any, int]]:
    """`decode(buf, offset=0, most=ANY_NUMBER) -> (message, offset after it)`."""
    return DecoderSource(body).function(f"buf, offset=0, most={ANY_NUMBER}", version)  # type: ignore[no-any-return]


def compile_encoder(body: StructBody, version: int) -> Callable[[Any], list[Part]]:
    """`encode_parts(message) -> list of parts`."""
    return EncoderSource(body).function("message", version)  # type: ignore[no-any-return]
