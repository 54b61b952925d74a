"""Subjects, and schemas as the registry keeps them."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

DEFAULT_CONTEXT = "."
_RESERVED = ("__GLOBAL", "__EMPTY")
_EVERY_CONTEXT = ":*:"


class Subject(NamedTuple):
    """A context, which begins with a dot, and a name in it. An empty name means the context itself."""

    context: str
    name: str

    @classmethod
    def of(cls, text: str) -> Subject:
        """Parse a text; without a context it is in the default one."""
        if text.startswith(":."):
            context, _, name = text[1:].partition(":")
            return cls(context, name)
        return cls(DEFAULT_CONTEXT, text)

    def __str__(self) -> str:
        """The stored text, without the default context."""
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"


def normal(text: str) -> str:
    """A subject as it is stored."""
    return str(Subject.of(text))


def is_valid(text: str) -> bool:
    """Whether a subject may have this name."""
    name = Subject.of(text).name
    return bool(name) and name not in _RESERVED and not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in text)


def context_of(subject: str | None) -> str:
    """The context of a subject; None is in the default one."""
    return DEFAULT_CONTEXT if subject is None else Subject.of(subject).context


def context_subject(context: str) -> str | None:
    """The subject of a context's config and mode; None for the default context, whose settings are the global ones."""
    return None if context == DEFAULT_CONTEXT else str(Subject(context, ""))


def in_context(context: str, subject: str | None) -> str | None:
    """The full subject of a request below ``/contexts/NAME``; the context itself for None."""
    if subject is not None and subject.startswith((":.", _EVERY_CONTEXT)):
        return normal(subject)
    named = context if context.startswith(".") else f".{context}"
    if subject is None:
        return context_subject(named)
    return str(Subject(named, subject))


def begins(subject: str, prefix: str) -> bool:
    """Whether a subject has a prefix; ``:*:`` stands for any context."""
    if prefix.startswith(_EVERY_CONTEXT):
        return Subject.of(subject).name.startswith(prefix.removeprefix(_EVERY_CONTEXT))
    return subject.startswith(normal(prefix) if prefix.startswith(":.:") else prefix)


AVRO = "AVRO"
JSON_OR_NONE = dict[str, Any] | None


class Reference(NamedTuple):
    """A reference to another schema, and the name by which the schema text uses it."""

    name: str
    subject: str
    version: int


@dataclass(frozen=True)
class Content:
    """The content of a schema: equal contents have one id in a context.

    ``metadata`` and ``rules``: JSON texts with sorted names, or None.
    """

    schema: str
    kind: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: str | None = None
    rules: str | None = None

    @cached_property
    def digest(self) -> bytes:
        """MD5 of the content, computed as in Confluent's registry: 16 bytes."""
        digest = hashlib.md5(self.schema.encode(), usedforsecurity=False)
        for each in self.references:
            digest.update(each.name.encode() + each.subject.encode() + each.version.to_bytes(4, "big", signed=True))
        for text, pieces in ((self.metadata, _metadata_pieces), (self.rules, _rule_pieces)):
            if text is not None:
                digest.update(b"\x01")
                digest.update("".join(pieces(json.loads(text))).encode())
        return digest.digest()

    @property
    def guid(self) -> str:
        """The digest as a UUID."""
        return str(uuid.UUID(bytes=self.digest))

    def to_json(self) -> dict[str, Any]:
        """As JSON, without fields that have their default."""
        told: dict[str, Any] = {} if self.kind == AVRO else {"schemaType": self.kind}
        if self.references:
            told["references"] = [each._asdict() for each in self.references]
        if self.metadata is not None:
            told["metadata"] = json.loads(self.metadata)
        if self.rules is not None:
            told["ruleSet"] = json.loads(self.rules)
        return {**told, "schema": self.schema}

    def with_extras(self, metadata: JSON_OR_NONE, rules: JSON_OR_NONE) -> Content:
        """The same schema with other metadata and rules."""
        return replace(self, metadata=sorted_text(metadata), rules=sorted_text(rules))


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a subject. ``deleted``: it is soft-deleted, so its id still finds it."""

    subject: str
    version: int
    id: int
    content: Content
    deleted: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the API answers it."""
        place = {"subject": self.subject, "version": self.version, "id": self.id, "guid": self.content.guid}
        return {**place, **self.content.to_json()}


def sorted_text(data: JSON_OR_NONE) -> str | None:
    """The text of a JSON object, as `Content` keeps it."""
    return None if data is None else json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _metadata_pieces(data: dict[str, Any]) -> list[str]:
    pieces: list[str] = []
    for name, tags in sorted((data.get("tags") or {}).items()):
        pieces += [name, *sorted(tags)]
    for name, value in sorted((data.get("properties") or {}).items()):
        pieces += [name, value]
    return pieces + sorted(data.get("sensitive") or [])


def _rule_pieces(data: dict[str, Any]) -> list[str]:
    pieces: list[str] = []
    for rule in (rule for kind in RULE_KINDS for rule in data.get(kind) or []):
        pieces += [rule.get(name) or "" for name in ("name", "doc", "kind", "mode", "type")]
        pieces += sorted(rule.get("tags") or [])
        for name, value in sorted((rule.get("params") or {}).items()):
            pieces += [name, value]
        pieces += [rule.get(name) or "" for name in ("expr", "onSuccess", "onFailure")]
        pieces += ["\x01"] if rule.get("disabled") else []
    return pieces


RULE_KINDS = ("migrationRules", "domainRules", "encodingRules")
