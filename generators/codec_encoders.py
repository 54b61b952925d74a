"""Source text of the functions by which written-out encoders write structs to a `Writer`."""

from __future__ import annotations

from typing import Any

from construct import Construct

from generators.codec_source import NUMBERS, ModuleSource, kind_of, method_of
from generators.messages import snake_case
from odradek.protocol import primitives as p
from odradek.protocol.compiler import format_of
from odradek.protocol.message import ZERO_UUID, VersionedMessage


class EncoderFunctions:
    """Functions that write the layouts of structs."""

    def __init__(self, module: ModuleSource) -> None:
        self._module = module

    def entry(self, message: type[VersionedMessage]) -> None:
        """`encode_<message>(version, message) -> bytes`, `encode_<message>_parts` likewise for a list of parts."""
        module = self._module
        branches = module.by_version(message, self.struct)
        name = module.use_message(message)
        snake = snake_case(name)
        parameters = ["version: int", "message: Any"]
        lines = ["    writer = Writer()", "    try:"]
        for condition, function in branches:
            indent = "            " if condition else "        "
            lines += [f"        {condition}"] if condition else []
            lines.append(f"{indent}{function}(writer, message)")
        lines += ["        return writer.parts()", "    except ENCODING_ERRORS:", "        pass"]
        lines.append(f"    return encoded_again({name}, version, message)")
        module.function(f"encode_{snake}_parts", parameters, "list[Part]", lines)
        whole = f"    return in_one_piece(encode_{snake}_parts(version, message))"
        module.function(f"encode_{snake}", parameters, "bytes", [whole])

    def struct(self, body: p.StructBody, version: int) -> str:
        name = self._module.use_message(body.message)
        source = _StructWriter(self, self._module, version, body)
        source.fields()
        parameters = ["w: Writer", f"m: {name}"]
        return self._module.layout(f"_write_{snake_case(name)}", version, parameters, "None", source.lines)


class _StructWriter:
    """The statements that write a struct; fields of fixed size wait in a run, to be packed at once."""

    def __init__(self, functions: EncoderFunctions, module: ModuleSource, version: int, body: p.StructBody) -> None:
        self.lines: list[str] = []
        self._body = body
        self._may_be_null = {f"m.{field.name}" for field in body.message.declare() if field.nullable.low >= 0}
        """The fields that are null in some version, maybe not in this one."""
        self._loops = 0
        self._functions = functions
        self._module = module
        self._version = version
        self._run: list[tuple[str, str]] = []

    def fields(self) -> None:
        body = self._body
        for member in body.absent:
            if not member.droppable:
                self.lines += [*self._if_not_default(member), "        w.refuse()"]
        for member in body.plain:
            self._field(member.body, f"m.{member.name}", "    ")
        self._flush("    ")
        if not body.flexible:
            self.lines += ["    if m.unknown_tagged_fields:", "        w.refuse()"]
        elif body.tagged:
            self._tagged()
        else:
            self.lines.append("    w.tags((), m.unknown_tagged_fields)")

    def _tagged(self) -> None:
        self.lines.append("    known: tuple[tuple[int, bytes], ...] = ()")
        for tag, member in sorted(self._body.tagged.items()):
            self.lines += self._if_not_default(member)
            self.lines.append(f"        known = (*known, ({tag}, {self._tag_function(member)}(m)))")
        self.lines.append("    w.tags(known, m.unknown_tagged_fields)")

    def _tag_function(self, member: p.Member) -> str:
        """A function that gives the content of a tagged field."""
        source = _StructWriter(self._functions, self._module, self._version, self._body)
        source.lines.append("    w = Writer()")
        source._field(member.body, f"m.{member.name}", "    ")
        source._flush("    ")
        source.lines.append("    return w.whole()")
        owner = self._body.message.__name__
        name = f"_{member.name}_of_{snake_case(owner)}"
        return self._module.layout(name, self._version, [f"m: {owner}"], "bytes", source.lines)

    def _if_not_default(self, member: p.Member) -> list[str]:
        """`if` a field's value differs from its default."""
        value = f"m.{member.name}"
        terms = not_default(member.default, value)
        if isinstance(member.default, type) and value in self._may_be_null:
            terms.insert(0, f"{value} is None")
        return [f"    if {' or '.join(terms)}:"]

    def _flush(self, indent: str) -> None:
        if self._run:
            pack = self._module.pack("".join(code for code, _ in self._run))
            values = [value for _, value in self._run]
            self.lines.append(f"{indent}w.fixed({pack}({', '.join(values)}))")
            self._run.clear()

    def _field(self, body: Construct | None, value: str, indent: str) -> None:
        code = format_of(body)
        if code is not None and code != "16s":
            if code not in NUMBERS:
                raise TypeError(f"no code can be written out for {type(body).__name__}")
            self._run.append((code, value))
            return
        self._flush(indent)
        kind = "uuid" if code else kind_of(body)
        if kind is not None:
            method = method_of(body, kind) if isinstance(body, p.LengthPrefixed) else kind
            self.lines.append(f"{indent}w.{method}({value})")
        elif isinstance(body, p.StructBody):
            self._refuse_null(value, indent)
            self.lines.append(f"{indent}{self._functions.struct(body, self._version)}(w, {value})")
        elif isinstance(body, p.NullableStruct):
            self._nullable_struct(body, value, indent)
        elif isinstance(body, p.ListOf):
            self._list(body, value, indent)
        else:
            raise TypeError(f"no code can be written out for {type(body).__name__}")

    def _nullable_struct(self, body: p.NullableStruct, value: str, indent: str) -> None:
        function = self._functions.struct(body.struct, self._version)
        null = 'b"\\0"' if body.marker is p.COMPACT_LENGTH else 'b"\\xff"'
        self.lines += [f"{indent}if {value} is None:", f"{indent}    w.fixed({null})", f"{indent}else:"]
        self.lines += [f'{indent}    w.fixed(b"\\1")', f"{indent}    {function}(w, {value})"]

    def _list(self, body: p.ListOf, value: str, indent: str) -> None:
        compact = "compact" if body.length is p.COMPACT_LENGTH else "count"
        inner = indent
        if body.nullable:
            self.lines += [f"{indent}if {value} is None:", f"{indent}    w.{compact}(-1)", f"{indent}else:"]
            inner += "    "
        else:
            self._refuse_null(value, indent)
        code = format_of(body.element)
        if code is not None and code != "16s":
            method = "compact_numbers" if compact == "compact" else "numbers"
            self.lines.append(f'{inner}w.{method}("{code}", {value})')
            return
        self._loops += 1
        each = f"each_{self._loops}" if self._loops > 1 else "each"
        self.lines += [f"{inner}w.{compact}(len({value}))", f"{inner}for {each} in {value}:"]
        self._field(body.element, each, f"{inner}    ")

    def _refuse_null(self, value: str, indent: str) -> None:
        if value in self._may_be_null:
            self.lines += [f"{indent}if {value} is None:", f"{indent}    w.refuse()"]


def not_default(default: Any, value: str) -> list[str]:
    """What holds, one or the other, if a value differs from its default."""
    if default is None:
        return [f"{value} is not None"]
    if isinstance(default, list):
        return [f"{value} is None", f"len({value}) > 0"]
    if not isinstance(default, type):
        return [f"{value} != {literal(default)}"]
    terms = [f"{value}.unknown_tagged_fields"]
    for field in default.declare():  # type: ignore[attr-defined]
        terms += not_default(field.default, f"{value}.{field.name}")
    return terms


def literal(value: Any) -> str:
    """A value as source."""
    if value == ZERO_UUID:
        return "ZERO_UUID"
    return repr(value)
