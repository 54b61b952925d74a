"""Arguments out of requests."""

from __future__ import annotations

import pytest

import odradek
from odradek.broker.facade.remote.operations import operation_of
from odradek.control.arguments import of_body, of_query

KILL = operation_of(odradek.BlockingBroker, "kill_node")
RECORDS = operation_of(odradek.BlockingBroker, "records")
PRODUCE_ALL = operation_of(odradek.BlockingBroker, "produce_all")


def test_a_body_is_an_object_of_arguments() -> None:
    assert of_body(KILL, b'{"node_id": 2}') == {"node_id": 2}
    assert of_body(operation_of(odradek.BlockingBroker, "heal"), b" ") == {}


def test_records_are_values_or_objects() -> None:
    found = of_body(PRODUCE_ALL, b'{"topic": "t", "records": ["a", {"value": "b", "key": {"base64": "/w=="}}, null]}')
    assert found["records"] == ["a", odradek.ProducerRecord("b", b"\xff"), None]


def test_a_query_is_all_text() -> None:
    asked = {"topic": "7", "partition": "0", "control": "true", "isolation": "read_committed"}
    assert of_query(RECORDS, asked) == {
        "topic": "7",
        "partition": 0,
        "control": True,
        "isolation": "read_committed",
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is no JSON: Expecting"),
        (b'{"node_id": NaN}', "NaN is no number"),
        (b"[" * 100_000, "no JSON: nested too deeply"),
        (b"[]", "expected a JSON object"),
        (b"{}", "kill-node needs node_id"),
        (b'{"node": 1}', "kill-node has no argument 'node'.*it takes node_id"),
        (b'{"node_id": "1"}', "node_id: expected a whole number, not '1'"),
        (b"\xff", "no JSON"),
    ],
)
def test_mistakes_are_told_in_words(body: bytes, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        of_body(KILL, body)


def test_a_query_has_fractions() -> None:
    tail = operation_of(odradek.Transcript, "tail")
    assert of_query(tail, {"since": "1.5", "limit": "3"}) == {"since": 1.5, "limit": 3}
    with pytest.raises(TypeError, match="since: expected a number, not 'x'"):
        of_query(tail, {"since": "x"})


def test_a_query_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(TypeError, match="partition: expected a whole number, not 'x'"):
        of_query(RECORDS, {"topic": "t", "partition": "x"})
