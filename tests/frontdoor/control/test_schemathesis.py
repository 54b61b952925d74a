"""The control API against its own OpenAPI document: whatever is sent, the answer is one that the document names.

Each operation gets examples that fit the document, and as many that do not: those are refused. They are drawn when
the test runs: schemathesis' own parametrization draws some forty for each while tests are collected, which takes
longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

import odradek
from odradek.control.openapi import document
from odradek.control.server import ControlServer
from odradek.control.streams import STREAMS
from tests.fakes.examples import examples

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 10
FOLLOWED = {each.path for each in STREAMS}  # these do not end; test_stream and test_record_stream have them
schema = schemathesis.openapi.from_dict(document())
OPERATIONS = [
    (path, method) for path, methods in document()["paths"].items() if path not in FOLLOWED for method in methods
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A control API whose broker has a bit of everything."""
    with odradek.KafkaBroker(nodes=2, topics={"t": 2}) as broker, ControlServer(broker) as server:
        broker.produce_all("t", ["a", b"\xff", None], transactional_id="tx", transaction="open")
        broker.group("g").set_offsets({("t", 0): 0})
        yield server.url
        assert broker.bugs == []


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """One connection for all."""
    with requests.Session() as opened:
        yield opened


def short(case: schemathesis.Case[Any]) -> None:
    """Let nothing take long: nothing happens that would be worth a wait, and no topic needs a million partitions."""
    if case.path.endswith("/wait") and not isinstance(case.body, dict):
        case.body, case.media_type = {"timeout": 0.01}, "application/json"  # nothing would be a wait of 30 s
    body: Any = case.body
    if not isinstance(body, dict):
        return
    if isinstance(body.get("timeout", 30), int | float) and case.path.endswith("/wait"):
        body["timeout"] = 0.01
    if isinstance(body.get("partitions"), int):
        body["partitions"] = min(body["partitions"], 20)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "other"])
def test_every_answer_is_one_of_the_document(
    path: str, method: str, mode: GenerationMode, url: str, session: requests.Session
) -> None:
    checks = [*CHECKS, negative_data_rejection] if mode is GenerationMode.NEGATIVE else CHECKS
    operation = schema[path][method.upper()]
    described = document()["paths"][path][method]
    takes = [each for each in described.get("parameters", ()) if each["in"] != "path"]
    if mode is GenerationMode.NEGATIVE and "requestBody" not in described and not takes:
        return  # it takes nothing that could be wrong: the id of a group is any text

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=examples(EXAMPLES), deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def ask(case: schemathesis.Case[Any]) -> None:
        short(case)
        case.call_and_validate(base_url=url, session=session, checks=checks, timeout=60)

    ask()
