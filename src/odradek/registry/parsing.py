"""Parses a schema together with the schemas that it references, and keeps what was parsed."""

from __future__ import annotations

import importlib
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from odradek.registry.effort import Effort
from odradek.registry.entries import Content, Reference, Version
from odradek.registry.errors import invalid_schema, version_text
from odradek.registry.formats import Parsed, Prepare, reasons_against
from odradek.registry.state import RegistryState, in_context_of

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_EACH = 256
"""What a value counts besides its size, so that many small ones count."""


class Kept(Generic[K, V]):
    """By key; those that were not asked for longest make room. Any thread may call.

    ``largest``: the sum of the sizes that are given to `put`.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0

    def __repr__(self) -> str:
        return f"<Kept: {len(self._values)} of the size {self.size}>"

    def get(self, key: K) -> V | None:
        """The value, None if it is not kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value. One that is larger than all may be is not kept."""
        size += _EACH
        if size > self._largest:
            return
        with self._lock:
            self.size += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self.size > self._largest:
                self.size -= self._values.popitem(last=False)[1][1]


_FORMATS = {
    "JSON": "odradek.registry.formats.json_schema",
    "PROTOBUF": "odradek.registry.formats.protobuf",
    "AVRO": "odradek.registry.formats.avro",
}
TYPES = tuple(_FORMATS)
_KEPT_CHARACTERS = 2 * 1024 * 1024
"""Of the texts whose parsed schemas are kept. Parsed they take up to 25 times as many bytes."""
_MOST_REFERENCED = 4 * 1024 * 1024
"""Characters of all schemas that one refers to."""

Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""A schema with all that it needs: its type, its text, names and texts of what it refers to."""


def key_of(content: Content, needed: dict[str, str]) -> Key:
    """The key of a schema."""
    return content.kind, content.schema, tuple(needed.items())


def size_of(key: Key) -> int:
    """Characters of all its texts."""
    return len(key[1]) + sum(len(text) for _, text in key[2])


class Parser:
    """Caches parsed schemas: every request about a subject meets its schemas again. Any thread may call."""

    def __init__(self, effort: Effort | None = None) -> None:
        self._effort = effort or Effort()
        self._known: Kept[Key, Parsed] = Kept(_KEPT_CHARACTERS)

    def parsed(self, state: RegistryState, subject: str, content: Content, *, keep: bool = True) -> Parsed:
        """The schema of a subject. RegistryError: 42201 if the schema is invalid or a reference is missing, 422 if it
        is too expensive. ``keep``: it may be met again."""
        if content.kind not in _FORMATS:
            raise invalid_schema(f"unknown schema type {content.kind!r}: expected {', '.join(TYPES)}")
        needed = needed_by(state, subject, content)
        key = key_of(content, needed)
        found = self._known.get(key)
        if found is None:
            try:
                prepare: Prepare = importlib.import_module(_FORMATS[content.kind]).prepared
                found = self._effort.of("parsing the schema", prepare(content.schema, needed))
            except RecursionError:
                raise invalid_schema("the schema is nested too deeply") from None
            except (ValueError, ImportError) as error:
                raise invalid_schema(str(error)) from None
            if keep:
                self._known.put(key, found, size_of(key))
        return found

    def reasons_against(self, new: Parsed, level: str, earlier: Sequence[tuple[int, Parsed]]) -> list[str]:
        """As the function of this name. RegistryError (422) for a comparison that is too expensive."""
        return self._effort.of("the comparison of the schemas", lambda: reasons_against(new, level, earlier))


def needed_by(state: RegistryState, subject: str, content: Content) -> dict[str, str]:
    """The texts of all references by name; each text comes after the texts that it needs.

    RegistryError (42201) if a reference is missing, or there are too many. Each referenced schema is visited once,
    whichever ways lead to it.
    """
    needed: dict[str, str] = {}
    size = 0
    visited: set[tuple[str, int]] = set()
    way = [_Visit("", Version(subject, 0, 0, content), iter(content.references))]
    under_way: set[tuple[str, int]] = set()
    while True:
        visit = way[-1]
        each = next(visit.references, None)
        if each is not None:
            found = _referenced(state, visit.version, each)
            place = found.subject, found.version
            if place in under_way:
                raise invalid_schema(f"version {found.version} of {found.subject!r} refers to itself")
            under_way.add(place)
            way.append(_Visit(each.name, found, iter(() if place in visited else found.content.references)))
            visited.add(place)
            continue
        way.pop()
        if not way:
            return needed
        name, text = visit.name, visit.version.content.schema
        under_way.discard((visit.version.subject, visit.version.version))
        if needed.get(name, text) != text:
            raise invalid_schema(f"two referenced schemas have the name {name!r}")
        size += 0 if name in needed else len(text)
        if size > _MOST_REFERENCED:
            raise invalid_schema(f"it refers to schemas of more than {_MOST_REFERENCED} characters")
        needed[name] = text


class _Visit(NamedTuple):
    """A referenced version, by the name with which it is referred to, and the references in it that are left."""

    name: str
    version: Version
    references: Iterator[Reference]


def _referenced(state: RegistryState, by: Version, each: Reference) -> Version:
    """The version that a reference names. RegistryError (42201) if there is none, or one of another type."""
    there = in_context_of(by.subject, each.subject)
    found = state.version(there, each.version, deleted=True)
    if found is None:
        version = version_text(each.version)
        raise invalid_schema(f"{each.name!r} refers to version {version} of {there!r}, which does not exist")
    if found.content.kind != by.content.kind:
        raise invalid_schema(f"{each.name!r} refers to a schema of the type {found.content.kind}")
    return found
