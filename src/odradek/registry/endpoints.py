"""The requests and endpoints of the REST API: an endpoint takes a `Request` and returns the answer as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from odradek import __version__
from odradek.http_access import json_of
from odradek.registry import decisions
from odradek.registry.decisions import SchemaRequest
from odradek.registry.entries import DEFAULT_CONTEXT, Subject, Version, context_of, in_context, normal
from odradek.registry.errors import (
    RegistryError,
    bad_request,
    config_not_set,
    invalid_schema,
    invalid_version,
    mode_not_set,
    schema_not_found,
    subject_not_found,
    version_not_found,
)
from odradek.registry.parsing import TYPES, Parser
from odradek.registry.records import LARGEST, content_of, rule_types
from odradek.registry.registry import Registry
from odradek.registry.state import READONLY_OVERRIDE, RegistryState

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


Endpoint = Callable[[Registry, Request], Any]
Table = list[tuple[str, str, Endpoint]]
_MOST_SCHEMAS = 1000
"""The default of Confluent's schema.search.max.limit: a larger page, or all, is a page of so many."""
_MOST_TEXT = 64 * 1024 * 1024


def _looking(function: Callable[[RegistryState, Request], Any]) -> Endpoint:
    """An endpoint that reads the state only."""
    return lambda registry, request: registry.look(lambda state: function(state, request))


def _parsing(function: Callable[[RegistryState, Request, Parser], Any]) -> Endpoint:
    """An endpoint that reads the state and parses schemas."""
    return lambda registry, request: registry.look(lambda state: function(state, request, registry.parser))


def _changing(decide: Callable[[RegistryState, Request], decisions.Decision]) -> Endpoint:
    """An endpoint that appends what it decides."""
    return lambda registry, request: registry.change(lambda state: decide(state, request))


# -- schemas by id and GUID


def _schemas(state: RegistryState, request: Request) -> list[dict[str, Any]]:
    request.refuse("aliases", "resourceType", "associationType", "lifecycle")
    found = []
    for subject in state.subjects(request.prefix, deleted=request.flag("deleted")):
        versions = state.all_of(subject, deleted=request.flag("deleted"))
        found += versions[-1:] if request.flag("latestOnly") else versions
    kind = request.query.get("ruleType")
    if kind:
        found = [each for each in found if kind in rule_types(each.content.to_json().get("ruleSet"))]
    shown = request.page(found, _MOST_SCHEMAS)
    if sum(len(each.content.schema) for each in shown) > _MOST_TEXT:
        raise bad_request(f"these schemas have more than {_MOST_TEXT} characters: ask for fewer, with limit and offset")
    return [each.to_json() for each in shown]


def _with_id(state: RegistryState, request: Request) -> Version:
    found = state.with_id(request.number, request.subject_asked)
    if found is None:
        raise schema_not_found(f"with the id {request.number}")
    return found


def _schema_of_id(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    found = _with_id(state, request)
    told = found.to_json()
    del told["id"]
    told["schema"] = _formatted(state, request, parser, found)
    if request.flag("fetchMaxId"):
        told["maxId"] = state.largest_id(context_of(found.subject))
    return told


def _text_of_id(state: RegistryState, request: Request, parser: Parser) -> str:
    return _formatted(state, request, parser, _with_id(state, request))


def _formatted(state: RegistryState, request: Request, parser: Parser, version: Version) -> str:
    """The text of a schema, in the requested format. RegistryError (422) for a format that its type lacks."""
    request.refuse("referenceFormat", "findTags")
    if not request.format:
        return version.content.schema
    formats = parser.parsed(state, version.subject, version.content).formats
    if request.format not in formats:
        raise RegistryError(422, f"a schema of the type {version.content.kind} has no format {request.format!r}")
    return formats[request.format]()


def _places(state: RegistryState, request: Request) -> list[Version]:
    found = _with_id(state, request)
    places = state.places(context_of(found.subject), found.id)
    wanted = Subject.of(request.subject_asked or "").name
    return [
        each
        for each in sorted(places, key=lambda each: (each.subject, each.version))
        if (not each.deleted or request.flag("deleted")) and (not wanted or Subject.of(each.subject).name == wanted)
    ]


def _subjects_of_id(state: RegistryState, request: Request) -> list[str]:
    return request.page(list(dict.fromkeys(each.subject for each in _places(state, request))))


def _versions_of_id(state: RegistryState, request: Request) -> list[dict[str, Any]]:
    return request.page([{"subject": each.subject, "version": each.version} for each in _places(state, request)])


def _with_guid(state: RegistryState, request: Request) -> list[Version]:
    found = state.with_guid(request.path["guid"].lower())
    if not found:
        raise schema_not_found(f"with the GUID {request.path['guid']}")
    return found


def _schema_of_guid(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    found = _with_guid(state, request)[0]
    told = {**found.content.to_json(), "guid": found.content.guid}
    return {**told, "schema": _formatted(state, request, parser, found)}


def _ids_of_guid(state: RegistryState, request: Request) -> list[dict[str, Any]]:
    return [{"context": context_of(each.subject), "id": each.id} for each in _with_guid(state, request)]


# -- subjects and versions


def _subjects(state: RegistryState, request: Request) -> list[str]:
    deleted, only = request.flag("deleted"), request.flag("deletedOnly")
    return request.page(state.subjects(request.prefix, deleted=deleted, deleted_only=only))


def _version(state: RegistryState, request: Request, *, deleted: bool | None = None) -> Version:
    """The version that the path names; a subject without a context is looked for in other contexts, too."""
    subject, number = request.subject, request.version
    shown = request.flag("deleted") if deleted is None else deleted
    found = state.version(subject, number, deleted=shown)
    if found is None and context_of(subject) == DEFAULT_CONTEXT:
        others = (state.version(str(Subject(each, subject)), number, deleted=shown) for each in state.contexts[1:])
        found = next(filter(None, others), None)
    if found is None:
        raise version_not_found(subject, number) if state.has(subject, deleted=shown) else subject_not_found(subject)
    return found


def _versions(state: RegistryState, request: Request) -> list[int]:
    only = request.flag("deletedOnly")
    deleted = only or request.flag("deleted")
    if not state.has(request.subject, deleted=deleted):
        raise subject_not_found(request.subject)
    found = state.all_of(request.subject, deleted=deleted)
    return request.page([each.version for each in found if each.deleted or not only])


def _whole(state: RegistryState, request: Request, parser: Parser, version: Version) -> dict[str, Any]:
    """A version with its text in the requested format."""
    return {**version.to_json(), "schema": _formatted(state, request, parser, version)}


def _schema_of_version(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    return _whole(state, request, parser, _version(state, request))


def _text_of_version(state: RegistryState, request: Request, parser: Parser) -> str:
    return _formatted(state, request, parser, _version(state, request))


def _referenced_by(state: RegistryState, request: Request) -> list[int]:
    found = _version(state, request, deleted=True)
    return request.page(state.referencing(found.subject, found.version))


def _with_metadata(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    wanted = dict(zip(request.every("key"), request.every("value"), strict=False))
    deleted = request.flag("deleted")
    for each in reversed(state.all_of(request.subject, deleted=deleted)):
        properties = (each.to_json().get("metadata") or {}).get("properties") or {}
        if wanted.items() <= properties.items():
            return _whole(state, request, parser, each)
    known = state.has(request.subject, deleted=deleted)
    raise schema_not_found(f"with the properties {wanted}") if known else subject_not_found(request.subject)


def _register(registry: Registry, request: Request) -> Any:
    subject, asked, normalize = request.subject, request.schema_request, request.flag("normalize")
    told = registry.change(lambda state: decisions.register(state, registry.parser, subject, asked, normalize))
    if "schema" in told and request.format:
        number = told["version"]

        def text(state: RegistryState) -> str:
            found = state.version(subject, number, deleted=True)
            if found is None:
                raise version_not_found(subject, number)
            return _formatted(state, request, registry.parser, found)

        return {**told, "schema": registry.look(text)}
    return told


def _look_up(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    subject, asked, deleted = request.subject, request.schema_request, request.flag("deleted")
    if not state.has(subject, deleted=deleted):
        raise subject_not_found(subject)
    normalize = request.flag("normalize") or state.config_in_scope(subject).get("normalize") is True
    content = decisions.understood(state, parser, subject, asked.content, normalize)[1]
    for each in reversed(state.all_of(subject, deleted=deleted)):
        if each.content == content:
            return _whole(state, request, parser, each)
    raise schema_not_found(f"like this one under {subject!r}")


def _compatibility(state: RegistryState, request: Request, parser: Parser) -> dict[str, Any]:
    subject, asked = request.subject, request.schema_request
    earlier = state.all_of(subject, deleted=False)
    if "version" in request.path:
        found = state.version(subject, request.version)
        if found is None and request.version > 0:
            raise version_not_found(subject, request.version)
        earlier = [] if found is None else [found]
    reasons = decisions.compatibility(state, parser, subject, asked, earlier, request.flag("normalize"))
    told = {"messages": reasons} if request.flag("verbose") else {}
    return {"is_compatible": not reasons, **told}


# -- config, mode, contexts


def _config(state: RegistryState, request: Request) -> dict[str, Any]:
    subject = request.subject_or_all
    if subject is None or request.flag("defaultToGlobal"):
        return state.config_in_scope(subject)
    found = state.configs.get(subject)
    if found is None:
        raise config_not_set(subject)
    return found


def _mode(state: RegistryState, request: Request) -> dict[str, str]:
    subject = request.subject_or_all
    if subject is None or request.flag("defaultToGlobal") or state.modes.get(None) == READONLY_OVERRIDE:
        return {"mode": state.mode_in_scope(subject)}
    found = state.modes.get(subject)
    if found is None:
        raise mode_not_set(subject)
    return {"mode": found}


def _contexts(state: RegistryState, request: Request) -> list[str]:
    prefix = request.query.get("contextPrefix", "")
    return request.page([each for each in state.contexts if each.startswith(prefix)])


def _cluster(registry: Registry, request: Request) -> Any:
    clusters = {"kafka-cluster": registry.cluster_id, "schema-registry-cluster": "schema-registry"}
    return {"scope": {"path": [], "clusters": clusters}}


def _associations(registry: Registry, request: Request) -> list[Any]:
    """An empty list: clients ask for the associations of their topics, and none can be made here."""
    return []


_delete_subject = _changing(
    lambda state, request: decisions.delete_subject(state, request.subject, request.flag("permanent"))
)
_delete_version = _changing(
    lambda state, request: decisions.delete_version(state, request.subject, request.version, request.flag("permanent"))
)
_set_config = _changing(lambda state, request: decisions.set_config(state, request.subject_or_all, request.object))
_delete_config = _changing(lambda state, request: decisions.delete_config(state, request.subject_or_all))
_set_mode = _changing(
    lambda state, request: decisions.set_mode(state, request.subject_or_all, request.object, request.flag("force"))
)
_delete_mode = _changing(
    lambda state, request: decisions.delete_mode(state, request.subject_or_all, request.flag("recursive"))
)
_delete_context = _changing(
    lambda state, request: decisions.delete_context(state, f".{request.path['context'].removeprefix('.')}")
)

_VERSION = "/subjects/{subject}/versions/{version}"
ENDPOINTS: Table = [
    ("GET", "/", lambda registry, request: {}),
    ("GET", "/schemas/types", lambda registry, request: list(TYPES)),
    ("GET", "/schemas", _looking(_schemas)),
    ("GET", "/schemas/ids/{id}", _parsing(_schema_of_id)),
    ("GET", "/schemas/ids/{id}/schema", _parsing(_text_of_id)),
    ("GET", "/schemas/ids/{id}/subjects", _looking(_subjects_of_id)),
    ("GET", "/schemas/ids/{id}/versions", _looking(_versions_of_id)),
    ("GET", "/schemas/guids/{guid}", _parsing(_schema_of_guid)),
    ("GET", "/schemas/guids/{guid}/ids", _looking(_ids_of_guid)),
    ("GET", "/subjects", _looking(_subjects)),
    ("POST", "/subjects/{subject}", _parsing(_look_up)),
    ("DELETE", "/subjects/{subject}", _delete_subject),
    ("GET", "/subjects/{subject}/metadata", _parsing(_with_metadata)),
    ("GET", "/subjects/{subject}/versions", _looking(_versions)),
    ("POST", "/subjects/{subject}/versions", _register),
    ("GET", _VERSION, _parsing(_schema_of_version)),
    ("GET", f"{_VERSION}/schema", _parsing(_text_of_version)),
    ("GET", f"{_VERSION}/referencedby", _looking(_referenced_by)),
    ("DELETE", _VERSION, _delete_version),
    ("POST", "/compatibility/subjects/{subject}/versions", _parsing(_compatibility)),
    ("POST", f"/compatibility{_VERSION}", _parsing(_compatibility)),
    *(
        (method, f"/{noun}{rest}", endpoint)
        for noun, look, change, delete in (
            ("config", _looking(_config), _set_config, _delete_config),
            ("mode", _looking(_mode), _set_mode, _delete_mode),
        )
        for rest in ("", "/{subject}")
        for method, endpoint in (("GET", look), ("PUT", change), ("DELETE", delete))
    ),
    ("GET", "/contexts", _looking(_contexts)),
    ("DELETE", "/contexts/{context}", _delete_context),
    ("GET", "/associations/resources/{id}", _associations),
    ("GET", "/associations/resources/{namespace}/{name}", _associations),
    ("GET", "/associations/subjects/{subject}", _associations),
    ("GET", "/v1/metadata/id", _cluster),
    ("GET", "/v1/metadata/version", lambda registry, request: {"version": f"odradek {__version__}", "commitId": ""}),
]
"""Method, path and function of each."""
