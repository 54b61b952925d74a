"""Operations carried out on a broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import odradek
from odradek.broker.facade.remote.operations import ForkOperations, operation_of
from odradek.control.calls import Calls, UnknownHandleError


@pytest.fixture
def broker() -> Iterator[odradek.KafkaBroker]:
    with odradek.KafkaBroker(nodes=3, topics={"t": 1}) as started:
        yield started


def run(calls: Calls, owner: type, member: str, identity: str | None = None, **arguments: Any) -> Any:
    return calls.run(operation_of(owner, member), identity, arguments)


def test_looks_verbs_groups_and_the_clock(broker: odradek.KafkaBroker) -> None:
    calls = Calls(broker, ForkOperations())
    assert list(run(calls, odradek.BlockingBroker, "topics")) == ["t"]
    assert run(calls, odradek.BlockingBroker, "produce", topic="t", value="v")["offset"] == 0
    assert [each["value"] for each in run(calls, odradek.BlockingBroker, "records", topic="t")] == ["v"]
    run(calls, odradek.BlockingBroker, "set_offsets", group_id="g", offsets={("t", 0): 1})
    assert run(calls, odradek.Group, "lag", "g") == 0
    before = run(calls, odradek.BrokerClock, "now_ms")
    assert run(calls, odradek.BrokerClock, "advance", hours=1) >= before + 3_600_000
    assert run(calls, odradek.BrokerClock, "frozen") is False


def test_a_change_is_undone_by_its_id(broker: odradek.KafkaBroker) -> None:
    calls = Calls(broker, ForkOperations())
    undo = run(calls, odradek.BlockingBroker, "kill_node", node_id=2)
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
    run(calls, odradek.BlockingBroker, "set_faults", faults=[odradek.Fault("Produce"), odradek.Fault("Fetch")])
    broker.faults[1].note_hit()
    run(calls, odradek.BlockingBroker, "wait_hit", fault=1)
    assert [each["hits"] for each in run(calls, odradek.BlockingBroker, "faults")] == [0, 1]
    with pytest.raises(TimeoutError, match="0 requests"):
        run(calls, odradek.BlockingBroker, "wait_hit", fault=0, timeout=0.01)
    with pytest.raises(ValueError, match="no fault 2: 2 are set"):
        run(calls, odradek.BlockingBroker, "wait_hit", fault=2)
