"""Source text of the functions by which written-out decoders read structs from a `Reader`."""

from __future__ import annotations

from construct import Construct

from generators.codec_source import NUMBERS, ModuleSource, kind_of, method_of
from generators.messages import snake_case
from odradek.protocol import primitives as p
from odradek.protocol.compiler import format_of, minimum_size
from odradek.protocol.message import VersionedMessage


class DecoderFunctions:
    """Functions that read the layouts of structs."""

    def __init__(self, module: ModuleSource) -> None:
        self._module = module

    def entry(self, message: type[VersionedMessage]) -> None:
        """`decode_<message>(version, buf, offset=0, most=ANY_NUMBER) -> (message, offset after it)`."""
        module = self._module
        branches = module.by_version(message, self.struct)
        name = module.use_message(message)
        lines = ["    reader = Reader(buf, offset, most)", "    try:"]
        for condition, function in branches:
            indent = "            " if condition else "        "
            lines += [f"        {condition}"] if condition else []
            lines.append(f"{indent}message = {function}(reader)")
        lines += ["        return message, reader.offset", "    except (IndexError, ProtocolError):", "        pass"]
        lines.append(f"    return decoded_again({name}, version, buf, offset, most)")
        parameters = ["version: int", "buf: Buffer", "offset: int = 0", "most: int = ANY_NUMBER"]
        module.function(f"decode_{snake_case(name)}", parameters, f"tuple[{name}, int]", lines)

    def struct(self, body: p.StructBody, version: int) -> str:
        name = self._module.use_message(body.message)
        fields = [(member.name, self.value(member.body, member, version)) for member in body.plain]
        values = [f"{field}={value}" for field, value in fields]
        if body.flexible and not body.tagged:
            values.append("unknown_tagged_fields=r.unknown_tags()")
        if not body.tagged:
            lines = [f"    return {name}({', '.join(values)})"]
        else:
            lines = [f"    message = {name}({', '.join(values)})"]
            lines += self._tagged(body, version)
        return self._module.layout(f"_read_{snake_case(name)}", version, ["r: Reader"], name, lines)

    def _tagged(self, body: p.StructBody, version: int) -> list[str]:
        lines = ["    count = r.tags()", "    if count == 0:", "        return message"]
        lines += ["    unknown: list[tuple[int, bytes]] = []", "    for _ in range(count):"]
        lines += ["        tag, size = r.uvarint(), r.uvarint()"]
        word = "if"
        for tag, member in sorted(body.tagged.items()):
            lines.append(f"        {word} tag == {tag}:")
            lines.append(f"            message.{member.name} = {self.value(member.body, member, version)}")
            word = "elif"
        lines += ["        else:", "            unknown.append((tag, r.raw(size)))"]
        return [*lines, "    message.unknown_tagged_fields = tuple(unknown)", "    return message"]

    def value(self, body: Construct | None, member: p.Member, version: int) -> str:
        """An expression that reads a value."""
        if isinstance(body, p.StructBody):
            return f"{self.struct(body, version)}(r)"
        if isinstance(body, p.NullableStruct):
            return self._nullable_struct(body, version)
        if isinstance(body, p.ListOf):
            return self._list(body, member, version)
        kind = kind_of(body)
        if kind is not None:
            assert isinstance(body, p.LengthPrefixed)
            return f"r.{method_of(body, kind)}()"
        code = format_of(body)
        if code == "16s":
            return "r.uuid()"
        if code not in NUMBERS:
            raise TypeError(f"no code can be written out for {type(body).__name__}")
        return f"r.{NUMBERS[code]}()"

    def _nullable_struct(self, body: p.NullableStruct, version: int) -> str:
        inner = self.struct(body.struct, version)
        null = "r.uvarint() == 0" if body.marker is p.COMPACT_LENGTH else "r.int8() < 0"
        lines = [f"    return None if {null} else {inner}(r)"]
        name = f"_read_nullable_{snake_case(body.struct.message.__name__)}"
        return self._module.layout(name, version, ["r: Reader"], annotation(body), lines) + "(r)"

    def _list(self, body: p.ListOf, member: p.Member, version: int) -> str:
        element = self.value(body.element, member, version)
        count = f"r.{method_of(body, 'count')}({minimum_size(body.element)})"
        if not body.nullable:
            return f"[{element} for _ in range({count})]"
        lines = [f"    count = {count}", f"    return None if count < 0 else [{element} for _ in range(count)]"]
        name = f"_read_{member.name}_or_null"
        return self._module.layout(name, version, ["r: Reader"], annotation(body), lines) + "(r)"


def annotation(body: Construct) -> str:
    """The type of what is read."""
    if isinstance(body, p.StructBody):
        return body.message.__name__
    if isinstance(body, p.NullableStruct):
        return f"{body.struct.message.__name__} | None"
    if isinstance(body, p.ListOf):
        return f"list[{annotation(body.element)}]" + (" | None" if body.nullable else "")
    kind = kind_of(body)
    if kind is not None:
        return {"string": "str", "records": "bytes | memoryview", "byte_string": "bytes"}[kind]
    code = format_of(body)
    return "bytes" if code == "16s" else "bool" if code == "?" else "int"
