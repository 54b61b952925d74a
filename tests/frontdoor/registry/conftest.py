"""A broker with a registry, a plain HTTP client, and a registry without either."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

import odradek
from odradek.registry.application import MEDIA_TYPE
from odradek.registry.decisions import Decision, SchemaRequest, register
from odradek.registry.entries import Content
from odradek.registry.parsing import Parser
from odradek.registry.records import RegistryRecord, parsed
from odradek.registry.state import RegistryState
from tests.fakes.brokers import broker_fixture

Ask = Callable[..., tuple[int, Any]]


def ask(url: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Status and JSON of an answer, None without content. ``body``: bytes as they are, anything else as JSON."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {} if data is None else {"Content-Type": MEDIA_TYPE}
    names = {name.replace("_", "-"): each for name, each in headers.items()}
    connection.request(method, path, data, {**given, **names})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


broker = broker_fixture(topics=["orders"], registry=True)


@pytest.fixture
def registry(broker: odradek.KafkaBroker) -> Ask:
    """Asks the registry of ``broker``."""
    return lambda method, path, body=None, **headers: ask(broker.schema_registry_url, method, path, body, **headers)


class Pure:
    """A registry that is a list of records: each decision is replayed, as bytes, and checked against a fresh replay."""

    def __init__(self) -> None:
        self.state = RegistryState()
        self.parser = Parser()
        self.log: list[RegistryRecord] = []

    def take(self, decision: Decision) -> Any:
        for each in decision.records:
            stored = parsed(each.key_bytes, each.value_bytes)
            self.state.replay(stored)
            self.log.append(stored)
        fresh = RegistryState()
        for each in self.log:
            fresh.replay(each)
        assert vars(fresh).keys() == vars(self.state).keys()
        assert (fresh.versions, fresh.configs, fresh.modes) == (
            self.state.versions,
            self.state.configs,
            self.state.modes,
        )
        return decision.answer

    def register(self, subject: str, schema: str, *, normalize: bool = False, **asked: Any) -> Any:
        place = {name: asked.pop(name) for name in ("version", "id") if name in asked}
        return self.take(
            register(self.state, self.parser, subject, SchemaRequest(Content(schema, **asked), **place), normalize)
        )


@pytest.fixture
def pure() -> Pure:
    return Pure()
