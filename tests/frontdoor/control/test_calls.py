"""Arguments of operations, and carrying them out."""

from __future__ import annotations

from typing import Any

import pytest

import odradek.types
from odradek.broker.facade.remote.operations import ForkOperations, operation_of
from odradek.control.calls import Calls, UnknownHandleError, of_body, of_query
from tests.fakes.brokers import broker_fixture

KILL = operation_of(odradek.types.BlockingBroker, "kill_node")
RECORDS = operation_of(odradek.types.BlockingBroker, "records")
PRODUCE_ALL = operation_of(odradek.types.BlockingBroker, "produce_all")


def test_a_body_is_an_object_of_arguments() -> None:
    assert of_body(KILL, b'{"node_id": 2}') == {"node_id": 2}
    assert of_body(operation_of(odradek.types.BlockingBroker, "heal"), b"") == {}


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
        (b"{", "the body is not JSON: Expecting"),
        (b'{"node_id": NaN}', "NaN is not a JSON number"),
        (b"[" * 100_000, "not JSON: nested too deeply"),
        (b"[]", "expected a JSON object"),
        (b"{}", "kill-node needs node_id"),
        (b'{"node": 1}', "kill-node has no argument 'node'.*it takes node_id"),
        (b'{"node_id": "1"}', "node_id='1': expected a whole number"),
        (b"\xff", "not JSON"),
        (b"\n", "not JSON"),
    ],
)
def test_mistakes_are_told_in_words(body: bytes, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        of_body(KILL, body)


def test_control_query_takes_fractions() -> None:
    tail = operation_of(odradek.Transcript, "tail")
    assert of_query(tail, {"since": "1.5", "limit": "3"}) == {"since": 1.5, "limit": 3}
    with pytest.raises(TypeError, match="since='x': expected a number"):
        of_query(tail, {"since": "x"})


def test_a_query_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(TypeError, match="partition='x': expected a whole number"):
        of_query(RECORDS, {"topic": "t", "partition": "x"})


broker = broker_fixture(nodes=3, topics={"t": 1})


def run(calls: Calls, owner: type, member: str, identity: str | None = None, **arguments: Any) -> Any:
    return calls.run(operation_of(owner, member), identity, arguments)


def test_looks_verbs_groups_and_the_clock(broker: odradek.KafkaBroker) -> None:
    calls = Calls(broker, ForkOperations())
    assert list(run(calls, odradek.types.BlockingBroker, "topics")) == ["t"]
    assert run(calls, odradek.types.BlockingBroker, "produce", topic="t", value="v")["offset"] == 0
    assert [each["value"] for each in run(calls, odradek.types.BlockingBroker, "records", topic="t")] == ["v"]
    run(calls, odradek.Group, "set_offsets", "g", offsets={("t", 0): 1})
    assert run(calls, odradek.Group, "lag", "g") == 0
    before = run(calls, odradek.BrokerClock, "now_ms")
    assert run(calls, odradek.BrokerClock, "advance", hours=1) >= before + 3_600_000
    assert run(calls, odradek.BrokerClock, "frozen") is False


def test_a_change_is_undone_by_its_id(broker: odradek.KafkaBroker) -> None:
    calls = Calls(broker, ForkOperations())
    undo = run(calls, odradek.types.BlockingBroker, "kill_node", node_id=2)
    assert len(broker.bootstrap_servers.split(",")) == 2
    assert undo["path"] == f"/v1/undos/{undo['id']}"
    run(calls, odradek.Undo, "undo", undo["id"])
    assert len(broker.bootstrap_servers.split(",")) == 3
    with pytest.raises(UnknownHandleError):
        run(calls, odradek.Undo, "undo", "nothing")
    with pytest.raises(UnknownHandleError):
        run(calls, odradek.TransactionHold, "release", undo["id"])


def test_faults_are_named_by_their_place(broker: odradek.KafkaBroker) -> None:
    calls = Calls(broker, ForkOperations())
    run(calls, odradek.types.BlockingBroker, "set_faults", faults=[odradek.Fault("Produce"), odradek.Fault("Fetch")])
    broker.faults[1].note_hit()
    run(calls, odradek.types.BlockingBroker, "wait", fault=1)
    assert [each["hits"] for each in run(calls, odradek.types.BlockingBroker, "faults")] == [0, 1]
    with pytest.raises(TimeoutError, match="0 requests"):
        run(calls, odradek.types.BlockingBroker, "wait", fault=0, timeout=0.01)
    with pytest.raises(ValueError, match="no fault 2: 2 are set"):
        run(calls, odradek.types.BlockingBroker, "wait", fault=2)
