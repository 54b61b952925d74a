"""The vocabulary in which messages are declared; `odradek.protocol.message_codec` makes a version of one executable.

A declaration is a list of `Field`s: constructs with the versions they are for. It serves all versions; `fold` gives the
construct of one version, with no version test left in it, and `odradek.protocol.compiler` the code for that.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from construct import Construct

from odradek.protocol.message import ZERO_UUID, Message, VersionedMessage, check_version
from odradek.protocol.primitives import (
    BOOLEAN,
    COMPACT_LENGTH,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT16,
    UINT32,
    UUID,
    Blob,
    ListOf,
    Member,
    NullableStruct,
    RecordData,
    StructBody,
    Text,
)

Boolean, Float64, Uuid = BOOLEAN, FLOAT64, UUID
Int8, Int16, Int32, Int64, UInt16, UInt32 = INT8, INT16, INT32, INT64, UINT16, UINT32

_BY_TYPE: Final = object()
_FIXED_DEFAULTS: Final = {id(BOOLEAN): False, id(FLOAT64): 0.0, id(UUID): ZERO_UUID}


class Unfolded(Construct):  # type: ignore[misc]
    """A type whose encoding depends on the version."""

    default: Any = None

    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        raise NotImplementedError


class _String(Unfolded):
    default = ""

    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        return Text(COMPACT_LENGTH if compact else INT16, nullable)


class _Bytes(Unfolded):
    default = b""

    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        return Blob(COMPACT_LENGTH if compact else INT32, nullable)


class _Records(Unfolded):
    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        return RecordData(COMPACT_LENGTH if compact else INT32, nullable)


String, Bytes, Records = _String(), _Bytes(), _Records()


class ArrayOf(Unfolded):
    """An array of `element`; elements are never null."""

    def __init__(self, element: Construct) -> None:
        super().__init__()
        self.element = element
        self.default: list[Any] = []

    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        element = fold_type(self.element, version, compact)
        return ListOf(COMPACT_LENGTH if compact else INT32, element, nullable)


class StructOf(Unfolded):
    """A struct, declared by its class."""

    def __init__(self, message: type[Message]) -> None:
        super().__init__()
        self.message = message
        self.default = message

    def fold(self, version: int, compact: bool, nullable: bool, tagged: bool) -> Construct:
        body = fold_struct(self.message, version, compact)
        return NullableStruct(body, tagged) if nullable else body


class Versions:
    """A range of versions in Kafka's notation: `3+`, `0-12`, `4` or `none`."""

    def __init__(self, text: str) -> None:
        low, dash, high = text.removesuffix("+").partition("-")
        self.low = -1 if text == "none" else int(low)
        self.high = int(high) if dash else None if text.endswith("+") else self.low

    def __contains__(self, version: int) -> bool:
        return 0 <= self.low <= version and (self.high is None or version <= self.high)


class Field:
    """A named construct and the versions it is for.

    `nullable` and `tagged` are the versions in which it may be null, or is a tagged field with `tag`. A field that is
    not `ignorable` may only have its default in versions that lack it. `compact=False`: plain in flexible versions too.
    """

    def __init__(
        self,
        named: Construct,
        versions: str,
        *,
        nullable: str = "none",
        tag: int | None = None,
        tagged: str = "none",
        default: Any = _BY_TYPE,
        ignorable: bool = False,
        compact: bool = True,
    ) -> None:
        self.name: str = named.name
        self.type: Construct = named.subcon
        self.versions = Versions(versions)
        self.nullable = Versions(nullable)
        self.tag = tag
        self.tagged = Versions(tagged)
        self.ignorable = ignorable
        self.compact = compact
        if default is not _BY_TYPE:
            self.default = default
        elif isinstance(self.type, Unfolded):
            self.default = self.type.default
        else:
            self.default = _FIXED_DEFAULTS.get(id(self.type), 0)

    def fold(self, version: int, flexible: bool) -> Member:
        if version not in self.versions:
            return Member(self.name, self.default, None, None, self.ignorable)
        tag = self.tag if version in self.tagged else None
        body = fold_type(self.type, version, flexible and self.compact, version in self.nullable, tag is not None)
        return Member(self.name, self.default, body, tag, self.ignorable)


Declaration: TypeAlias = list[Field]


def fold_type(
    declared: Construct, version: int, compact: bool, nullable: bool = False, tagged: bool = False
) -> Construct:
    return declared.fold(version, compact, nullable, tagged) if isinstance(declared, Unfolded) else declared


def fold_struct(message: type[Any], version: int, flexible: bool) -> StructBody:
    return StructBody(message, [field.fold(version, flexible) for field in message.declare()], flexible)


def is_flexible(message: type[VersionedMessage], version: int) -> bool:
    return message.FLEXIBLE_FROM is not None and version >= message.FLEXIBLE_FROM


def fold(message: type[VersionedMessage], version: int) -> StructBody:
    """The construct of one version of a message. Raises ProtocolError for a version that the message does not have."""
    check_version(message, version)
    return fold_struct(message, version, is_flexible(message, version))
