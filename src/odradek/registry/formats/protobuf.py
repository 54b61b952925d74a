"""Protobuf: protoc understands the text; a schema reads another one by the rules here, which docs/registry.md lists."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from odradek.broker.schemas.protobuf import FILE, compiled
from odradek.registry.formats.parsed import ReferencedTexts

_ALIKE = (
    ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    ("sint32", "sint64"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("string", "bytes"),
)
"""Types that can read each other's bytes."""
_REQUIRED, _REPEATED = 2, 3


def prepared(text: str, needed: ReferencedTexts) -> Callable[[], ProtobufSchema]:
    """As `Prepare` says."""
    source, data = _compiled(text, needed)
    return lambda: ProtobufSchema(source, needed, data)


class ProtobufSchema:
    """A parsed .proto file. ``text``: the file, or a FileDescriptorProto in base64, as some clients send. ``data``: the
    file as protoc understands it, if it was asked before.

    ValueError, in words, for what is neither; ImportError, with what to install, without the libraries.
    """

    def __init__(self, text: str, needed: ReferencedTexts, data: bytes | None = None) -> None:
        text, data = _compiled(text, needed) if data is None else (text, data)
        files = _descriptors().FileDescriptorSet.FromString(data).file
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
        from odradek.registry.formats.proto_text import proto_text

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
            if field.label == _REQUIRED and (number not in before or before[number].label != _REQUIRED):
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
        repeated = [each.label == _REPEATED for each in (reader, writer)]
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
    name: str = _descriptors().FieldDescriptorProto.Type.Name(field.type)
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
        from odradek.registry.formats.proto_text import proto_text

        text = proto_text(described)
    return text, compiled(text, needed)


def _described(text: str) -> Any | None:
    """The file that a text describes in base64; None for another text."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    kind = _descriptors().FileDescriptorProto
    try:
        return kind.FromString(data)
    except Exception:
        raise ValueError("invalid FileDescriptorProto in base64") from None


def _descriptors() -> Any:
    try:
        from google.protobuf import descriptor_pb2
    except ImportError as error:
        raise ImportError(f'Protobuf needs more: pip install "odradek[schemas]" ({error})') from error
    return descriptor_pb2
