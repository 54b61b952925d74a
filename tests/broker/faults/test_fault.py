"""Faults: what a test may make the broker do, and what it is told when that makes no sense."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
import trio

from odradek.broker.faults.fault import (
    Fault,
    FaultSet,
    api_key,
    check_choice,
    check_counts,
    check_waited,
    checked_faults,
    error_code,
)
from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame
from tests.broker.requests.test_dispatch import heartbeat, served
from tests.fakes.cluster import FakeCluster


def faulty(install: Install, *faults: Fault) -> tuple[FakeCluster, list[str]]:
    calls: list[str] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        calls.append(request.group_id)
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()
    cluster.dispatcher.faults = FaultSet(list(faults))
    return cluster, calls


def test_answer_for_a_number_of_times(install: Install) -> None:
    fault = Fault(api="Heartbeat", answer=ErrorCode.NOT_COORDINATOR, times=2)
    cluster, calls = faulty(install, fault)
    assert [heartbeat(cluster).error_code for _ in range(3)] == [16, 16, 0]
    assert (fault.hits, len(calls)) == (2, 1)


def test_drop_serves_nothing_and_lose_serves_without_an_answer(install: Install) -> None:
    cluster, calls = faulty(install, Fault(drop=True, times=1), Fault(lose=True, times=1))
    assert heartbeat(cluster) is None
    assert not calls
    assert heartbeat(cluster) is None
    assert calls == ["g"]
    assert heartbeat(cluster).error_code == 0


def test_the_fault_cut_closes_the_connection(install: Install) -> None:
    cluster, calls = faulty(install, Fault(cut=True))
    with pytest.raises(CloseConnection):
        heartbeat(cluster)
    assert not calls


def test_other_apis_and_conditions_pass_by(install: Install) -> None:
    cluster, calls = faulty(
        install,
        Fault(api=0, cut=True),
        Fault(node=2, cut=True),
        Fault(cut=True, when=lambda ctx, request: request.group_id == "other"),
    )
    assert heartbeat(cluster).error_code == 0
    assert calls == ["g"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"api": "Prodduce"}, "no API is called 'Prodduce' (did you mean 'Produce'?)"),
        ({"api": "produce"}, "(did you mean 'Produce'?)"),
        ({"api": 999}, "no API has the key 999"),
        ({"cut": True, "drop": True}, "one of answer, drop, lose, cut"),
        ({"answer": "SOMETHING_ELSE"}, "no error is called 'SOMETHING_ELSE'"),
        ({"answer": "NOT_LEADER_OR_FOLOWER"}, "(did you mean 'NOT_LEADER_OR_FOLLOWER'?)"),
        ({"answer": ErrorCode.NONE}, "answer=NONE is not an error"),
        ({"times": 0}, "at least once"),
        ({"delay_ms": -1}, "not negative"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Fault(**arguments)


@pytest.mark.parametrize("arguments", [{"answer": 6}, {"when": True}])
def test_fault_with_wrong_types_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Fault(**arguments)


def test_an_error_may_be_named() -> None:
    assert Fault(answer="NOT_LEADER_OR_FOLLOWER").answer is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_a_user_gives_is_checked() -> None:
    one, two = Fault("Produce"), Fault(node=2)
    assert checked_faults([one, [two]], [1, 2]) == [one, two]
    with pytest.raises(TypeError, match=r"expected odradek\.Fault objects, not 'Produce'"):
        checked_faults(["Produce"], [1])
    with pytest.raises(ValueError, match=r"Fault\(node=2\): no node 2; the cluster has 1$"):
        checked_faults([two], [1])


def test_faults_that_only_count_let_others_act(install: Install) -> None:
    seen = Fault("Heartbeat")
    cluster, _ = faulty(install, seen, Fault(answer="NOT_COORDINATOR", times=1))
    assert [heartbeat(cluster).error_code for _ in range(2)] == [16, 0]
    assert seen.hits == 2


def test_a_condition_that_raises_is_the_tests_mistake(install: Install) -> None:
    cluster, calls = faulty(install, Fault("Heartbeat", when=lambda ctx, request: request.topics))
    assert heartbeat(cluster).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert not calls
    (bug,) = cluster.bugs
    assert str(bug).startswith("not a bug in the broker: the condition of Fault(api='Heartbeat', when=<function")
    assert "'HeartbeatRequest' object has no attribute 'topics'" in str(bug)


def test_delay_follows_the_broker_clock(install: Install) -> None:
    cluster, _ = faulty(install, Fault(delay_ms=3_600_000))
    before = cluster.clock.now_ms()

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            frame = request_frame(HeartbeatRequest(group_id="g"), 4)
            nursery.start_soon(served, cluster, frame)
            await trio.testing.wait_all_tasks_blocked()
            cluster.clock.advance(hours=1)

    trio.run(run, clock=cluster.clock)
    assert cluster.clock.now_ms() - before >= 3_600_000


@pytest.mark.parametrize(
    ("given", "met"),
    [
        ({"group": "g"}, True),
        ({"group": "h"}, False),
        ({"client_id": "test"}, True),
        ({"client_id": "other"}, False),
        ({"topic": "orders"}, False),
        ({"transactional_id": "t"}, False),
    ],
)
def test_fault_meets_requests_by_meaning(install: Install, given: dict[str, Any], met: bool) -> None:
    fault = Fault("Heartbeat", answer="NOT_COORDINATOR", **given)
    cluster, _ = faulty(install, fault)
    assert (heartbeat(cluster).error_code == ErrorCode.NOT_COORDINATOR) == met
    assert fault.hits == int(met)


def test_a_partition_belongs_to_a_topic() -> None:
    with pytest.raises(ValueError, match="name the topic too"):
        Fault("Produce", partition=0)
    assert repr(Fault("Produce", topic="a", partition=0)) == "Fault(api='Produce', topic='a', partition=0)"


def test_waiting_for_a_fault_to_be_met(install: Install) -> None:
    fault = Fault("Heartbeat", delay_ms=0)
    cluster, _ = faulty(install, fault)
    with pytest.raises(TimeoutError, match="met by 0 requests"):
        fault.wait(timeout=0)
    heartbeat(cluster)
    fault.wait()


def test_a_wait_for_a_fault_refuses_to_block_the_loop_of_its_broker() -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match=r"would block the trio run: await broker.wait\(fault\)"):
            Fault("Fetch").wait()

    trio.run(main)

    async def elsewhere() -> None:
        with pytest.raises(TimeoutError, match=r"blocked the running event loop: await asyncio.to_thread"):
            Fault("Fetch").wait(timeout=0)

    asyncio.run(elsewhere())


def test_a_wait_for_a_fault_of_another_process_names_the_one_that_works() -> None:
    fault = Fault("Fetch")
    fault.count_elsewhere(lambda: 1)
    with pytest.raises(RuntimeError, match=r"another process: broker.wait\(fault\)"):
        fault.wait()


def test_only_faults_are_waited_for() -> None:
    check_waited(Fault("Fetch"))
    with pytest.raises(TypeError, match=r'takes a fault, not .parcels.; .*: broker.topic\("parcels"\).wait\(1\)'):
        check_waited("parcels")
    with pytest.raises(TypeError, match=r'takes a fault, not 1; .*: broker.topic\("orders"\).wait\(1\)'):
        check_waited(1)


def test_apis_by_name_and_key() -> None:
    assert (api_key("Fetch"), api_key(1), api_key(None)) == (1, 1, None)
    with pytest.raises(ValueError, match=r"no API is called 'Ftch' .did you mean 'Fetch'"):
        api_key("Ftch")
    with pytest.raises(ValueError, match="no API has the key 999"):
        api_key(999)


def test_errors_by_name_and_themselves() -> None:
    assert error_code("NOT_LEADER_OR_FOLLOWER") is error_code(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert error_code(None) is None
    with pytest.raises(ValueError, match=r"did you mean 'NOT_LEADER_OR_FOLLOWER'"):
        error_code("NOT_LEADER_OR_FOLOWER")
    with pytest.raises(ValueError, match="answer=NONE is not an error"):
        error_code("NONE")
    with pytest.raises(TypeError, match=r"answer=6: expected an odradek.ErrorCode or its name"):
        error_code(6)


def test_fault_with_wrong_counts_or_choices_is_refused() -> None:
    check_counts(1, 0, 0)
    check_choice("how", "reset", ("reset", "close"))
    for times, skip, delay_ms, message in ((0, 0, 0, "times=0"), (1, -1, 0, "skip=-1"), (1, 0, -1, "delay_ms=-1")):
        with pytest.raises(ValueError, match=message):
            check_counts(times, skip, delay_ms)
    with pytest.raises(ValueError, match=r"how='rest': expected one of reset, close .did you mean 'reset'"):
        check_choice("how", "rest", ("reset", "close"))


def test_requests_of_the_registry_are_chosen_by_method_and_path() -> None:
    fault = Fault(registry="post /subjects/orders", answer=50001)
    assert not fault.matches_registry("GET", "/subjects/orders-value/versions")
    assert not fault.matches_registry("POST", "/subjects/other")
    assert fault.matches_registry("POST", "/subjects/orders-value/versions")
    assert Fault(registry=True).matches_registry("GET", "/subjects")
    assert Fault(registry="GET").matches_registry("GET", "/subjects")
    assert Fault(registry="/subjects").matches_registry("PUT", "/subjects/a")
    assert not Fault(api="Heartbeat").matches_registry("GET", "/subjects")
    assert repr(fault) == "Fault(registry='post /subjects/orders', answer=50001)"


def test_requests_of_the_registry_are_counted() -> None:
    fault = Fault(registry=True, times=1, answer=503, skip=1)
    assert [fault.matches_registry("GET", "/") for _ in range(2)] == [False, True]
    fault.note_hit()
    assert not fault.matches_registry("GET", "/")


def test_a_fault_of_the_registry_leaves_kafka_alone(install: Install) -> None:
    cluster, calls = faulty(install, Fault(registry=True, drop=True))
    assert heartbeat(cluster).error_code == 0
    assert calls == ["g"]


@pytest.mark.parametrize(
    ("arguments", "kind", "why"),
    [
        ({"answer": 200}, ValueError, "answer=200: expected an HTTP status"),
        ({"answer": 60000}, ValueError, "answer=60000"),
        ({"answer": ErrorCode.NOT_COORDINATOR}, TypeError, "expected a number"),
        ({"answer": "NOT_COORDINATOR"}, TypeError, "expected a number"),
        ({"registry": "FETCH /subjects"}, ValueError, "registry='FETCH /subjects'"),
        ({"registry": "subjects"}, ValueError, "beginning of a path"),
        ({"registry": "GET subjects"}, ValueError, "beginning of a path"),
        ({"times": 0}, ValueError, "at least once"),
        ({"topic": "orders"}, ValueError, "topic: a fault of the schema registry has no such condition"),
        ({"api": "Fetch"}, ValueError, "api: a fault of the schema registry"),
        ({"answer": 500, "cut": True}, ValueError, "does one of"),
    ],
)
def test_no_fault_of_the_registry(arguments: dict[str, Any], kind: type[Exception], why: str) -> None:
    with pytest.raises(kind, match=re.escape(why)):
        Fault(**{"registry": True, **arguments})


def test_a_number_is_an_answer_of_the_registry_only() -> None:
    with pytest.raises(TypeError, match="answer=50001"):
        Fault(answer=50001)
