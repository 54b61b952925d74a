"""The base of all generated message classes. Imports nothing heavy: message modules load in microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self, TypeAlias

from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.native import mypyc_attr

Buffer: TypeAlias = bytes | bytearray | memoryview
RecordsParts: TypeAlias = Sequence[Part]
"""Record data in pieces, sent one after the other without being joined (a list or tuple)."""
Records: TypeAlias = bytes | bytearray | memoryview | RecordsParts
"""A `records` field: decoding gives a `memoryview` slice of the frame, encoding takes any of these."""
UnknownTaggedFields: TypeAlias = tuple[tuple[int, bytes], ...]
"""Tagged fields (KIP-482) that this version of the protocol does not know, as (tag, data) in ascending order."""

ZERO_UUID: Final = bytes(16)
"""The UUID that stands for "none"."""
NO_ITEMS: Final[list[Any]] = []
"""Default of array fields in signatures; replaced by a new list, never shared. (`None` is a value of its own: null.)"""


class NewStruct:
    """The type of NEW_STRUCT."""

    __slots__ = ()


NEW_STRUCT: Final = NewStruct()
"""Default of a struct that may be null and yet is not by default; replaced by a new struct."""


_field_names: dict[type[Any], tuple[str, ...]] = {}


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    return kind(**fields)


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Message:
    """Base of the generated messages and of the structs inside them.

    Plain classes with `__slots__` and a written-out `__init__`: that is the fastest to import and to create. Two
    messages are equal when they are of one class and all their fields are equal.
    """

    __slots__: Sequence[str] = ()
    unknown_tagged_fields: UnknownTaggedFields

    @staticmethod
    def declare() -> list[Any]:
        """The fields, as `odradek.protocol.schema` declares them."""
        raise NotImplementedError

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The attributes: the fields in their order, `unknown_tagged_fields` last. (Compiled classes have no slots.)"""
        names = _field_names.get(cls)
        if names is None:
            names = (*[str(field.name) for field in cls.declare()], "unknown_tagged_fields")
            _field_names[cls] = names
        return names

    def _values(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.field_names()]

    def replace(self, **changes: Any) -> Self:
        """A copy (shallow) with some fields changed."""
        return type(self)(**{**dict(self._values()), **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles: by themselves they know no fields of a class that inherits from a compiled one."""
        return _made, (type(self), dict(self._values()))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(value == getattr(other, name) for name, value in self._values())

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Without secrets: who prints a request has not asked for a password."""
        from odradek.protocol.shown import HIDDEN, is_secret

        shown = (
            f"{name}={HIDDEN if value and is_secret(name, self) else repr(value)}"
            for name, value in self._values()
            if name != "unknown_tagged_fields" or value
        )
        return f"{type(self).__name__}({', '.join(shown)})"


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class VersionedMessage(Message):
    """A message of its own, not a struct inside one: all its versions in one class."""

    __slots__ = ()
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_FROM: ClassVar[int | None]
    """The first version with compact lengths and tagged fields, None if there is none."""


def check_version(message: type[VersionedMessage], version: int) -> None:
    """Raise ProtocolError for a version that the message does not have."""
    if not message.MIN_VERSION <= version <= message.MAX_VERSION:
        known = f"{message.MIN_VERSION} to {message.MAX_VERSION}"
        raise ProtocolError(f"{message.__name__} has the versions {known}, not {version}")


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ApiMessage(VersionedMessage):
    """A request or a response."""

    __slots__ = ()
    API_KEY: ClassVar[int]


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class DataMessage(VersionedMessage):
    """A message that is stored or exchanged between clients, not sent as a request: its version travels with it."""

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class CoordinatorRecord(DataMessage):
    """The key or the value of a record in an internal topic; `RECORD_TYPE` ties keys to their values."""

    __slots__ = ()
    RECORD_TYPE: ClassVar[int]


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class MetadataRecord(DataMessage):
    """A record of a log whose values are frames of type, version and fields, as in `__cluster_metadata` (KIP-631)."""

    __slots__ = ()
    RECORD_TYPE: ClassVar[int]
