"""A broker with a control API, and a plain HTTP client."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import odradek
from odradek.control.server import ControlServer
from tests.fakes.brokers import broker_fixture

Answer = tuple[int, Any]
Ask = Callable[..., Answer]


def ask(url: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Status and JSON of an answer. ``body``: bytes as they are, anything else as JSON."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {} if data is None else {"Content-Type": "application/json"}
    connection.request(
        method, path, data, {**given, **{name.replace("_", "-"): each for name, each in headers.items()}}
    )
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text)


broker = broker_fixture(nodes=3, topics={"t": 2})


@pytest.fixture
def control(broker: odradek.KafkaBroker) -> Iterator[Ask]:
    """Asks the control API of ``broker``."""
    with ControlServer(broker) as server:
        yield lambda method, path, body=None, **headers: ask(server.url, method, path, body, **headers)
