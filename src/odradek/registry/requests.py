"""A request of the REST API, and what its path, query and body say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odradek.http_text import json_of
from odradek.registry.decisions import SchemaRequest
from odradek.registry.errors import RegistryError, bad_request, invalid_schema, invalid_version
from odradek.registry.records import LARGEST, content_of
from odradek.registry.subjects import in_context, normal

_OF_SCHEMA = ("schema", "schemaType", "references", "metadata", "ruleSet", "id", "version")


@dataclass(frozen=True, slots=True)
class Request:
    """``context``: that of a path ``/contexts/NAME/...``, or None. ``repeated``: the query as pairs, as names may come
    several times."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    context: str | None = None
    repeated: Sequence[tuple[str, str]] = ()

    def refuse(self, *names: str) -> None:
        """RegistryError (422) for a parameter that Confluent's registry has and this one lacks."""
        for name in names:
            value = self.query.get(name, "")
            if value.strip().lower() not in ("", "false"):
                raise bad_request(f"the parameter {name} is not supported")

    @property
    def subject(self) -> str:
        """The subject in the path."""
        return self._qualified(self.path["subject"]) or ""

    @property
    def subject_or_all(self) -> str | None:
        """The subject in the path. Without one: the context in the path, or None."""
        return self._qualified(self.path.get("subject"))

    @property
    def subject_asked(self) -> str | None:
        """The subject in the query."""
        return self._qualified(self.query.get("subject") or None)

    @property
    def prefix(self) -> str:
        """The prefix of the subjects to list; the default ``:*:`` lists all contexts."""
        given = self.query.get("subjectPrefix")
        if self.context is None:
            return ":*:" if given is None else given
        return self._qualified(given or None) or ""

    def _qualified(self, subject: str | None) -> str | None:
        if self.context is not None:
            return in_context(self.context, subject)
        return None if subject is None else normal(subject)

    @property
    def number(self) -> int:
        """The id in the path. RegistryError (404) if it is not an id."""
        text = self.path["id"]
        if not _is_number(text) or not 0 <= int(text) <= LARGEST:
            raise RegistryError(404, f"invalid id {text!r}: expected 0 to {LARGEST}")
        return int(text)

    @property
    def version(self) -> int:
        """The version in the path, -1 for the latest. RegistryError (42202) if it is not a version."""
        text = self.path["version"].strip()
        if text.lower() == "latest" or text == "-1":
            return -1
        if not _is_number(text) or not 1 <= int(text) <= LARGEST:
            raise invalid_version(text)
        return int(text)

    def flag(self, name: str) -> bool:
        """Whether a flag in the query is set."""
        return self.query.get(name, "").lower() == "true"

    def every(self, name: str) -> list[str]:
        """The values of a name that may come several times in a query."""
        return [value for each, value in self.repeated if each == name]

    @property
    def format(self) -> str:
        """The format in which to answer schemas; empty without one."""
        return self.query.get("format", "").strip()

    def page(self, items: list[Any], most: int | None = None) -> list[Any]:
        """The page of ``limit`` items that begins at ``offset``; of ``most``, where the limit is none or larger."""
        offset, limit = (self._count(name, default) for name, default in (("offset", 0), ("limit", -1)))
        start = max(offset, 0)
        if limit <= 0 or (most is not None and limit > most):
            return items[start:] if most is None else items[start : start + most]
        return items[start : start + limit]

    def _count(self, name: str, default: int) -> int:
        text = self.query.get(name, str(default))
        if not _is_number(text.removeprefix("-")):
            raise RegistryError(404, f"{name}={text}: expected a number")
        return int(text)

    @property
    def object(self) -> dict[str, Any]:
        """The JSON object in the body. RegistryError: 400 if it is not JSON, 422 if it is not an object."""
        if not self.body.strip():
            raise bad_request("the request has no body")
        try:
            found = json_of(self.body)
        except ValueError as error:
            raise RegistryError(400, str(error)) from None
        if not isinstance(found, dict):
            raise bad_request("the body is not a JSON object")
        return found

    @property
    def schema_request(self) -> SchemaRequest:
        """The schema in the body. RegistryError (422, 42201) if it is not a schema."""
        data = self.object
        for name in data:
            if name not in _OF_SCHEMA:
                raise bad_request(f"unknown field {name!r}: expected {', '.join(_OF_SCHEMA)}")
        version, number = data.get("version") or 0, data.get("id")
        number = -1 if number is None else number
        for name, value, least in (("version", version, -1), ("id", number, -1)):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
                raise bad_request(f"invalid {name} {value!r}: expected a number up to {LARGEST}")
        try:
            return SchemaRequest(content_of(data), version, number)
        except ValueError as error:
            raise invalid_schema(str(error)) from None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20
