"""Schemas as the registry keeps them."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

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
