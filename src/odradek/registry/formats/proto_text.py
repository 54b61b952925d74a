"""A .proto file out of its descriptor: what a client that has only descriptors registers."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence, Sequence
from typing import Any

from google.protobuf import text_encoding
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.unknown_fields import UnknownFieldSet

_F = FieldDescriptorProto
_LABELS = {_F.LABEL_REQUIRED: "required ", _F.LABEL_REPEATED: "repeated "}
_LAST_NUMBER = 536870912
_LAST_OF_ENUM = 2147483647


def proto_text(file: FileDescriptorProto) -> str:
    """The text; ValueError for what is not written here: editions, groups, extensions, options of one's own."""
    if file.syntax not in ("", "proto2", "proto3"):
        raise ValueError(f"the syntax {file.syntax!r} is not supported")
    if file.extension:
        raise ValueError("extensions are not supported: register the text of the file")
    lines = [f'syntax = "{file.syntax or "proto2"}";']
    if file.package:
        lines.append(f"package {file.package};")
    for number, name in enumerate(file.dependency):
        kind = "public " if number in file.public_dependency else "weak " if number in file.weak_dependency else ""
        lines.append(f"import {kind}{_quoted(name)};")
    lines += [f"option {each};" for each in _options(file)]
    writer = _Writer(proto3=file.syntax == "proto3")
    for message in file.message_type:
        lines += ["", *writer.message(message)]
    for enum in file.enum_type:
        lines += ["", *writer.enum(enum)]
    for service in file.service:
        lines += ["", *writer.service(service)]
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, *, proto3: bool) -> None:
        self._proto3 = proto3

    def message(self, message: DescriptorProto) -> Iterator[str]:
        """The lines of a message."""
        if message.extension:
            raise ValueError(f"the message {message.name} has extensions, which are not supported")
        yield f"message {message.name} {{"
        yield from _inner(f"option {each};" for each in _options(message, "map_entry"))
        entries = {each.name: each for each in message.nested_type if each.options.map_entry}
        written: set[int] = set()
        for field in message.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                yield from _inner([self._field(field, entries)])
            elif field.oneof_index not in written:
                written.add(field.oneof_index)
                yield from _inner(self._oneof(message, field.oneof_index))
        for nested in message.nested_type:
            if not nested.options.map_entry:
                yield from _inner(self.message(nested))
        for enum in message.enum_type:
            yield from _inner(self.enum(enum))
        for ranges in message.extension_range:
            if ranges.HasField("options"):
                raise ValueError(f"the message {message.name} has extensions with options, which are not supported")
            yield f"  extensions {_range(ranges.start, ranges.end - 1, _LAST_NUMBER - 1)};"
        yield from _inner(
            _reserved(
                [_range(each.start, each.end - 1, _LAST_NUMBER - 1) for each in message.reserved_range],
                message.reserved_name,
            )
        )
        yield "}"

    def _oneof(self, message: DescriptorProto, index: int) -> Iterator[str]:
        declared = message.oneof_decl[index]
        yield f"oneof {declared.name} {{"
        yield from _inner(f"option {each};" for each in _options(declared))
        fields = [each for each in message.field if each.HasField("oneof_index") and each.oneof_index == index]
        yield from _inner(self._field(each, {}) for each in fields)
        yield "}"

    def _field(self, field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> str:
        entry = entries.get(field.type_name.rpartition(".")[2]) if field.label == _F.LABEL_REPEATED else None
        if entry is not None:
            key, value = entry.field
            front = f"map<{_type(key)}, {_type(value)}>"
        else:
            front = f"{self._label(field)}{_type(field)}"
        options = list(_options(field))
        if field.HasField("default_value"):
            options.insert(0, f"default = {_default(field)}")
        if field.json_name and field.json_name != _json_name(field.name):
            options.append(f"json_name = {_quoted(field.json_name)}")
        end = f" [{', '.join(options)}]" if options else ""
        return f"{front} {field.name} = {field.number}{end};"

    def _label(self, field: FieldDescriptorProto) -> str:
        if field.label in _LABELS:
            return _LABELS[field.label]
        in_oneof = field.HasField("oneof_index") and not field.proto3_optional
        return "" if in_oneof or (self._proto3 and not field.proto3_optional) else "optional "

    def enum(self, enum: EnumDescriptorProto) -> Iterator[str]:
        """The lines of an enum."""
        yield f"enum {enum.name} {{"
        yield from _inner(f"option {each};" for each in _options(enum))
        for value in enum.value:
            options = list(_options(value))
            end = f" [{', '.join(options)}]" if options else ""
            yield f"  {value.name} = {value.number}{end};"
        ranges = [_range(each.start, each.end, _LAST_OF_ENUM) for each in enum.reserved_range]
        yield from _inner(_reserved(ranges, enum.reserved_name))
        yield "}"

    def service(self, service: ServiceDescriptorProto) -> Iterator[str]:
        """The lines of a service."""
        yield f"service {service.name} {{"
        yield from _inner(f"option {each};" for each in _options(service))
        for method in service.method:
            asked = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
            answered = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
            options = list(_options(method))
            end = "".join([" {", *(f" option {each};" for each in options), " }"]) if options else ";"
            yield f"  rpc {method.name} ({asked}) returns ({answered}){end}"
        yield "}"


def _type(field: FieldDescriptorProto) -> str:
    if field.type == _F.TYPE_GROUP:
        raise ValueError(f"{field.name} is a group, which is not supported")
    if field.type in (_F.TYPE_MESSAGE, _F.TYPE_ENUM):
        return str(field.type_name)
    return str(_F.Type.Name(field.type)).removeprefix("TYPE_").lower()


def _options(declared: Any, *left_out: str) -> Iterator[str]:
    """``name = value`` for each option that is set."""
    if not declared.HasField("options"):
        return
    if len(UnknownFieldSet(declared.options)):
        raise ValueError(f"{declared.name} has options of its own, which are not supported: register the text")
    for field, value in declared.options.ListFields():
        if field.name in left_out:
            continue
        if field.is_extension or field.message_type is not None:
            raise ValueError(f"the option {field.name} of {declared.name} is not supported: register the text")
        for each in value if isinstance(value, MutableSequence) else [value]:
            yield f"{field.name} = {_option(field, each)}"


def _option(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        name: str = field.enum_type.values_by_number[value].name
        return name
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else str(value)


def _reserved(ranges: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    if ranges:
        yield f"reserved {', '.join(ranges)};"
    if names:
        yield f"reserved {', '.join(map(_quoted, names))};"


def _range(first: int, last: int, largest: int) -> str:
    return str(first) if first == last else f"{first} to {'max' if last == largest else last}"


def _default(field: FieldDescriptorProto) -> str:
    """Bytes are escaped in a descriptor already."""
    if field.type == _F.TYPE_STRING:
        return _quoted(field.default_value)
    text: str = field.default_value
    return f'"{text}"' if field.type == _F.TYPE_BYTES else text


def _quoted(text: str) -> str:
    return f'"{text_encoding.CEscape(text, as_utf8=True)}"'


def _json_name(name: str) -> str:
    """What protoc calls a field in JSON."""
    first, *others = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others)


def _inner(lines: Any) -> Iterator[str]:
    return (f"  {each}" for each in lines)
