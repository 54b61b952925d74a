"""Reads a whole schema registry over its REST API, as the records of a `_schemas` topic; ids and versions stay."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from odradek.registry.entries import DEFAULT_CONTEXT, context_subject
from odradek.registry.records import (
    LEVEL,
    RegistryRecord,
    config_record,
    context_record,
    mode_record,
    schema_record,
    version_of,
)
from odradek.registry.state import READONLY_OVERRIDE, RegistryState

_TIMEOUT_S = 30
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_NOT_SERVED = (404, 405)


class RegistrySourceError(Exception):
    """The source registry does not answer, or its answer is not one of a schema registry."""


class RegistrySource:
    """A registry to copy: Confluent's, or another with its API.

    ``url``: with ``user:password@`` for basic authentication. ``token``: shown as a bearer token instead.
    RegistrySourceError for a URL that is not HTTP or HTTPS.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url)
        try:
            port = "" if parts.port is None else f":{parts.port}"
        except ValueError as error:
            raise RegistrySourceError(f"{url}: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RegistrySourceError(f"{url}: expected http://HOST:PORT or https://HOST:PORT")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self._url = f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"
        self._headers = {"Accept": _ACCEPT}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        elif parts.username is not None:
            user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"

    def __repr__(self) -> str:
        return f"<RegistrySource {self._url}>"

    def get(self, path: str) -> Any:
        """The answer as JSON, None for 404 and 405. RegistrySourceError for other errors."""
        try:
            with urlopen(Request(self._url + path, headers=self._headers), timeout=_TIMEOUT_S) as answer:
                return json.loads(answer.read())
        except HTTPError as error:
            if error.code in _NOT_SERVED:
                return None
            raise RegistrySourceError(f"{self._url}{path}: {error.code} {_message(error)}") from None
        except (URLError, HTTPException, OSError) as error:
            raise RegistrySourceError(f"{self._url}{path}: {getattr(error, 'reason', error)}") from None
        except ValueError:
            raise RegistrySourceError(f"{self._url}{path}: the answer is not JSON") from None

    def error(self, path: str, why: str) -> RegistrySourceError:
        """The error for an answer that is not one of a schema registry."""
        return RegistrySourceError(f"{self._url}{path}: {why}")


def registry_records(source: RegistrySource, progress: Callable[[str], None] = print) -> list[RegistryRecord]:
    """All subjects with all versions, soft-deleted ones too, and configs and modes, in the order of a log.

    RegistrySourceError for a registry that does not answer, or whose versions contradict each other.
    """
    contexts = [each for each in _texts(source, "/contexts", optional=True) if each != DEFAULT_CONTEXT]
    subjects = list(dict.fromkeys([*_texts(source, "/subjects?deleted=true"), *_texts(source, "/subjects")]))
    records = [context_record(each) for each in contexts]
    versions = []
    for subject in subjects:
        found = list(_versions(source, subject))
        versions += found
        progress(f"{subject}: {len(found)} version{'' if len(found) == 1 else 's'}")
    state = RegistryState()
    for each in sorted(versions, key=lambda each: (each.value or {})["id"]):
        try:
            state.replay(each)
        except ValueError as error:
            raise source.error("", f"version {each.version} of {each.subject!r}: {error}") from None
        records.append(each)
    scopes: list[str | None] = [None, *map(context_subject, contexts), *subjects]
    return [*records, *(each for scope in scopes for each in _settings(source, scope))]


def _versions(source: RegistrySource, subject: str) -> Iterator[RegistryRecord]:
    path = f"/subjects/{quote(subject, safe='')}/versions"
    live = _numbers(source, path)
    for number in sorted({*live, *_numbers(source, f"{path}?deleted=true")}):
        told = source.get(f"{path}/{number}?deleted=true")
        if told is None:
            continue  # it was deleted for good meanwhile
        if not isinstance(told, dict):
            raise source.error(f"{path}/{number}", "the answer is not a schema")
        try:
            version = version_of({**told, "subject": subject, "version": number, "deleted": number not in live})
        except ValueError as error:
            raise source.error(f"{path}/{number}", str(error)) from None
        yield schema_record(version)


def _settings(source: RegistrySource, subject: str | None) -> Iterator[RegistryRecord]:
    """The own config and mode of a subject, of a context, or of all (None)."""
    place = "" if subject is None else f"/{quote(subject, safe='')}"
    config = source.get(f"/config{place}")
    if isinstance(config, dict):
        kept = {LEVEL if name == "compatibility" else name: each for name, each in config.items()}
        yield config_record(subject, {name: each for name, each in kept.items() if each is not None})
    mode = source.get(f"/mode{place}")
    if isinstance(mode, dict) and isinstance(mode.get("mode"), str):
        if subject is not None and mode["mode"] == READONLY_OVERRIDE:
            return  # the global mode, which hides all others
        yield mode_record(subject, mode["mode"])


def _texts(source: RegistrySource, path: str, *, optional: bool = False) -> list[str]:
    found = source.get(path)
    if found is None and optional:
        return []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise source.error(path, "the answer is not a list of names: is this a schema registry?")
    return found


def _numbers(source: RegistrySource, path: str) -> list[int]:
    found = source.get(path)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
        raise source.error(path, "the answer is not a list of versions")
    return found


def _message(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)
