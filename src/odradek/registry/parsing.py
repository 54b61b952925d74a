"""Parses a schema together with the schemas that it references."""

from __future__ import annotations

import importlib

from odradek.registry.entries import Content
from odradek.registry.errors import invalid_schema, version_text
from odradek.registry.formats.parsed import Parse, Parsed
from odradek.registry.state import RegistryState, in_context_of

_FORMATS = {
    "JSON": ("odradek.registry.formats.json_schema", "JsonSchema"),
    "PROTOBUF": ("odradek.registry.formats.protobuf", "ProtobufSchema"),
    "AVRO": ("odradek.registry.formats.avro", "AvroSchema"),
}
TYPES = tuple(_FORMATS)
_KEPT = 1000


class Parser:
    """Caches parsed schemas: every request about a subject meets its schemas again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, tuple[tuple[str, str], ...]], Parsed] = {}

    def parsed(self, state: RegistryState, subject: str, content: Content) -> Parsed:
        """The schema of a subject. RegistryError (42201) if the schema is invalid or a reference is missing."""
        if content.kind not in _FORMATS:
            raise invalid_schema(f"unknown schema type {content.kind!r}: expected {', '.join(TYPES)}")
        needed = needed_by(state, subject, content)
        key = content.kind, content.schema, tuple(needed.items())
        found = self._known.get(key)
        if found is None:
            try:
                found = _parse(content.kind)(content.schema, needed)
            except (ValueError, ImportError) as error:
                raise invalid_schema(str(error)) from None
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = found
        return found


def _parse(kind: str) -> Parse:
    module, name = _FORMATS[kind]
    parse: Parse = getattr(importlib.import_module(module), name)
    return parse


def needed_by(state: RegistryState, subject: str, content: Content) -> dict[str, str]:
    """The texts of all references by name; each text comes after the texts that it needs.

    RegistryError (42201) if a reference is missing.
    """
    needed: dict[str, str] = {}
    _collect(state, subject, content, needed, ())
    return needed


def _collect(
    state: RegistryState, subject: str, content: Content, needed: dict[str, str], way: tuple[tuple[str, int], ...]
) -> None:
    """Collect the references depth first. ``way``: the references that led here, to find cycles."""
    for each in content.references:
        there = in_context_of(subject, each.subject)
        found = state.version(there, each.version, deleted=True)
        if found is None:
            version = version_text(each.version)
            raise invalid_schema(f"{each.name!r} refers to version {version} of {there!r}, which does not exist")
        if found.content.kind != content.kind:
            raise invalid_schema(f"{each.name!r} refers to a schema of the type {found.content.kind}")
        place = found.subject, found.version
        if place in way:
            raise invalid_schema(f"version {found.version} of {found.subject!r} refers to itself")
        _collect(state, found.subject, found.content, needed, (*way, place))
        known = needed.setdefault(each.name, found.content.schema)
        if known != found.content.schema:
            raise invalid_schema(f"two referenced schemas have the name {each.name!r}")
