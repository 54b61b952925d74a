"""Protobuf: protoc understands the text; a schema reads another one by the rules here, which docs/registry.md lists."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from typing import Any

from odradek.broker.schemas.protobuf import FILE, compiled
from odradek.registry.formats import ReferencedTexts

try:
    from google.protobuf import text_encoding
    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        FieldDescriptorProto,
        FileDescriptorProto,
        FileDescriptorSet,
        ServiceDescriptorProto,
    )
    from google.protobuf.unknown_fields import UnknownFieldSet
except ImportError as error:
    raise ImportError(f'Protobuf needs more: pip install "odradek[schemas]" ({error})') from error

_ALIKE = (
    ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    ("sint32", "sint64"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("string", "bytes"),
)
"""Types that can read each other's bytes."""
_F = FieldDescriptorProto
_LABELS = {_F.LABEL_REQUIRED: "required ", _F.LABEL_REPEATED: "repeated "}
_LAST_NUMBER = 536870912
_LAST_OF_ENUM = 2147483647


def prepared(text: str, needed: ReferencedTexts) -> Callable[[], ProtobufSchema]:
    """As `Prepare` says."""
    source, data = _compiled(text, needed)
    return lambda: ProtobufSchema(source, needed, data)


class ProtobufSchema:
    """A parsed .proto file. ``text``: the file, or a FileDescriptorProto in base64, as some clients send. ``data``: the
    file as protoc understands it, if it was asked before.

    ValueError, in words, for what is neither.
    """

    def __init__(self, text: str, needed: ReferencedTexts, data: bytes | None = None) -> None:
        text, data = _compiled(text, needed) if data is None else (text, data)
        files = FileDescriptorSet.FromString(data).file
        self._file = next(each for each in files if each.name == FILE)
        self._messages = {name: each for file in files for name, each in _messages(file.message_type, file.package)}
        every = _messages(self._file.message_type, self._file.package)
        self._own = [name for name, each in every if not each.options.map_entry]
        self.canonical = text

    def __repr__(self) -> str:
        return f"<ProtobufSchema of {', '.join(self._own) or 'no messages'}>"

    @property
    def normalized(self) -> str:
        """The text without comments, in the order of declaration."""
        return proto_text(self._file)

    @property
    def formats(self) -> Mapping[str, Callable[[], str]]:
        """``serialized``: the FileDescriptorProto in base64."""
        return {"serialized": lambda: base64.b64encode(self._file.SerializeToString()).decode()}

    def reads(self, writer: ProtobufSchema) -> Sequence[str]:
        """Every reason, with the names of message and field."""
        if self._file.package != writer._file.package:
            return [f"the package is {self._file.package!r}, and was {writer._file.package!r}"]
        comparison = _Comparison(self._messages, writer._messages)
        for name in writer._own:
            if name not in self._own:
                comparison.reasons.append(f"the message {name} is missing")
            else:
                if self._places(name) != writer._places(name):
                    comparison.reasons.append(f"the message {name} stands at another place of the file")
                comparison.compare(name)
        return list(dict.fromkeys(comparison.reasons))

    def _places(self, name: str) -> list[int]:
        """The indexes of a message, outermost first: serializers write them before the data."""
        among, places = self._file.message_type, []
        inner = name[len(self._file.package) + 1 :] if self._file.package else name
        for part in inner.split("."):
            place = next(number for number, each in enumerate(among) if each.name == part)
            places.append(place)
            among = among[place].nested_type
        return places


class _Comparison:
    """Collects reasons why messages do not read those of the same name."""

    def __init__(self, readers: Mapping[str, Any], writers: Mapping[str, Any]) -> None:
        self._readers = readers
        self._writers = writers
        self._seen: set[str] = set()
        self.reasons: list[str] = []

    def compare(self, name: str) -> None:
        """A message, and those that its fields are of."""
        if name in self._seen:
            return
        self._seen.add(name)
        reader, writer = self._readers[name], self._writers[name]
        before = {each.number: each for each in writer.field}
        now = {each.number: each for each in reader.field}
        for number, field in now.items():
            where = f"{name}.{field.name}"
            if number in before:
                self._field(where, field, before[number])
            if field.label == _F.LABEL_REQUIRED and (number not in before or before[number].label != _F.LABEL_REQUIRED):
                self.reasons.append(f"{where} is required, and was not")
        self._oneofs(name, reader, writer)

    def _field(self, where: str, reader: Any, writer: Any) -> None:
        kinds = _kind(reader), _kind(writer)
        maps = [self._is_map(side, each) for side, each in ((self._readers, reader), (self._writers, writer))]
        if maps[0] != maps[1]:
            self.reasons.append(f"{where} is a map on one side only")
        elif maps[0]:
            for part, now, before in zip(
                ("key", "value"),
                self._readers[reader.type_name[1:]].field,
                self._writers[writer.type_name[1:]].field,
                strict=True,
            ):
                self._field(f"{where}.{part}", now, before)
        elif kinds[0] != kinds[1] and not any(set(kinds) <= set(each) for each in _ALIKE):
            self.reasons.append(f"{where} is {kinds[0]}, and was {kinds[1]}")
        elif kinds == ("message", "message"):
            if reader.type_name != writer.type_name:
                self.reasons.append(f"{where} is of {reader.type_name[1:]}, and was of {writer.type_name[1:]}")
            else:
                self.compare(reader.type_name[1:])
        repeated = [each.label == _F.LABEL_REPEATED for each in (reader, writer)]
        if repeated[0] != repeated[1] and not set(kinds) <= {"string", "bytes", "message"}:
            self.reasons.append(f"{where} is repeated on one side only")

    def _is_map(self, side: Mapping[str, Any], field: Any) -> bool:
        is_message = _kind(field) == "message"
        return is_message and bool(side[field.type_name[1:]].options.map_entry)

    def _oneofs(self, name: str, reader: Any, writer: Any) -> None:
        groups_now, groups_before = _oneofs(reader), _oneofs(writer)
        there = {each.number for each in writer.field}
        for oneof, numbers in groups_now.items():
            moved = numbers & there
            if len(moved) > 1 and not any(moved <= each for each in groups_before.values()):
                self.reasons.append(f"several fields of {name} have moved into the oneof {oneof}")
        kept = {each.number for each in reader.field}
        for oneof, numbers in groups_before.items():
            if numbers - kept:
                self.reasons.append(f"the oneof {oneof} of {name} has lost fields")


def _oneofs(message: Any) -> dict[str, set[int]]:
    """The numbers of the fields in each oneof that a file declares."""
    found: dict[str, set[int]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            found.setdefault(message.oneof_decl[field.oneof_index].name, set()).add(field.number)
    return found


def _kind(field: Any) -> str:
    name: str = _F.Type.Name(field.type)
    return name.removeprefix("TYPE_").lower()


def _messages(declared: Any, around: str) -> Iterator[tuple[str, Any]]:
    """Each message with its full name, those inside of others and the entries of maps too."""
    for each in declared:
        name = f"{around}.{each.name}" if around else each.name
        yield name, each
        yield from _messages(each.nested_type, name)


def _compiled(text: str, needed: ReferencedTexts) -> tuple[str, bytes]:
    """The text of a file, and its descriptor set."""
    described = _described(text)
    if described is not None:
        text = proto_text(described)
    return text, compiled(text, needed)


def _described(text: str) -> Any | None:
    """The file that a text describes in base64; None for another text."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    try:
        return FileDescriptorProto.FromString(data)
    except Exception:
        raise ValueError("invalid FileDescriptorProto in base64") from None


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
