"""One name, two ways to call it: awaited in trio, or blocking."""

from __future__ import annotations

import gc
import inspect
import re
from collections.abc import Callable, Generator
from typing import Any

import pytest
import trio

import odradek.types
from odradek import matchers
from odradek.broker.facade.verb_base import Pending
from odradek.broker.facade.verbs.undo import TrioUndo


def test_a_pending_change_is_awaited_or_ends_with_its_block() -> None:
    done: list[str] = []

    async def back() -> None:
        done.append("back")

    async def make() -> TrioUndo:
        done.append("made")
        return TrioUndo(back)

    async def main() -> None:
        undo = await Pending(make())
        assert done == ["made"]
        await undo.undo()
        await undo.undo()
        assert done == ["made", "back"]
        with pytest.raises(ValueError, match="mine"):
            async with Pending(make()) as undo:
                raise ValueError("mine")
        assert repr(undo) == "<TrioUndo: undone>"
        assert done == ["made", "back"] * 2

    trio.run(main)


def test_one_that_is_dropped_is_told() -> None:
    async def make() -> TrioUndo:
        raise AssertionError

    def drop() -> None:
        Pending(make())
        gc.collect()

    with pytest.warns(RuntimeWarning, match="never awaited"):
        drop()


ONLY_IN_PROCESS = {"fork"}
"""A second broker: a `KafkaBroker` in one flavour, a block in the other; one that is reached over HTTP has none."""


def public(owner: type) -> dict[str, object]:
    return {name: member for name, member in inspect.getmembers_static(owner) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("awaited", "blocking"),
    [
        (odradek.types.TrioBroker, odradek.types.BlockingBroker),
        (odradek.types.TrioGroup, odradek.Group),
        (odradek.types.TrioTransactionHold, odradek.TransactionHold),
        (odradek.types.TrioUndo, odradek.Undo),
    ],
)
def test_both_have_the_same_names_and_arguments(awaited: type, blocking: type) -> None:
    here, there = public(awaited), public(blocking)
    assert here.keys() - ONLY_IN_PROCESS == there.keys()
    for name, member in here.items():
        if inspect.isfunction(member) and name not in ONLY_IN_PROCESS:
            twin = there[name]
            assert inspect.isfunction(twin)
            assert inspect.signature(member).parameters == inspect.signature(twin).parameters
            assert not inspect.iscoroutinefunction(twin)


def test_a_change_is_made_when_it_is_awaited_and_taken_back_at_the_end_of_a_block() -> None:
    async def main() -> None:
        async with odradek.open_broker(nodes=3) as broker:
            up = broker.bootstrap_servers
            async with broker.kill_node(2) as undo:
                assert repr(undo) == "<TrioUndo of kill_node: not undone yet>"
                assert broker.bootstrap_servers != up
            assert broker.bootstrap_servers == up
            pending = broker.stop_node(3)
            assert "await it" in repr(pending)
            assert broker.bootstrap_servers == up
            undo = await pending
            assert broker.bootstrap_servers != up
            await undo.undo()
            assert broker.bootstrap_servers == up

    trio.run(main)


def test_a_change_is_taken_back_though_the_task_is_cancelled() -> None:
    async def main() -> None:
        async with odradek.open_broker(nodes=3) as broker:
            up = broker.bootstrap_servers
            with trio.CancelScope() as scope:
                async with broker.kill_node(2):
                    assert broker.bootstrap_servers != up
                    scope.cancel()
                    await trio.sleep_forever()
            assert broker.bootstrap_servers == up
            with trio.CancelScope() as scope:
                scope.cancel()
                await broker.create_topic("never")
            assert broker.topics == {}

    trio.run(main)


def test_a_cancelled_transaction_of_many_records_is_aborted() -> None:
    async def main() -> None:
        async with odradek.open_broker(topics={"t": 1}) as broker:
            with trio.CancelScope() as scope:

                def values() -> Generator[str]:
                    for number in range(5000):
                        if number == 3500:
                            scope.cancel()
                        yield "x"

                await broker.produce_all("t", values(), transactional_id="tx")
            assert scope.cancelled_caught
            assert broker.transactions["tx"].state == "CompleteAbort"
            assert list(broker.records("t", isolation="read_committed")) == []
            assert 3000 <= len(list(broker.records("t"))) < 5000

    trio.run(main)


def test_everything_shows_what_it_is() -> None:
    async def main() -> None:
        async with odradek.open_broker() as broker:
            assert repr(broker) == f"<TrioBroker at {broker.bootstrap_servers}>"
            assert repr(broker.group("g")) == "<TrioGroup 'g'>"
            async with broker.hold("tx", at="PrepareCommit") as hold:
                assert repr(hold) == "<TrioTransactionHold of 'tx' at PrepareCommit, not reached>"
            broker.clock.freeze()
            assert repr(broker.clock).endswith("UTC, frozen>")

    trio.run(main)
    with odradek.KafkaBroker() as broker:
        assert repr(broker.group("g")) == "<Group 'g'>"
        assert repr(broker.clock).startswith("<BrokerClock 2")


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        (odradek.types.BlockingBroker.produce, "KafkaBroker.produce()"),
        (odradek.types.BlockingBroker.hold, "KafkaBroker.hold()"),
        (odradek.types.TrioBroker.hold, "TrioBroker.hold()"),
    ],
)
def test_an_unknown_argument_is_told_with_the_call_of_the_user(verb: Callable[..., object], call: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(call)} got an unexpected keyword argument 'topik'"):
        verb(None, topik="orders")


def test_an_undo_names_its_verb() -> None:
    with odradek.KafkaBroker(nodes=2, topics={"t": 1}, config={"default.replication.factor": 2}) as broker:
        moved = next(each for each in (1, 2) if each != broker.topic("t").partitions[0].leader)
        with broker.topic("t").move_leader(0, moved) as undo:
            assert repr(undo) == "<Undo of move_leader: not undone yet>"
        with broker.requests.follow(lambda request: None) as undo:
            assert repr(undo) == "<Undo of follow: not undone yet>"


WRONG_TYPES: dict[str, Callable[[Any], object]] = {
    "partitions='3': expected a whole number": lambda broker: broker.create_topic("x", "3"),
    "config=3: expected values by name": lambda broker: broker.create_topic("x", config=3),
    "name=None: expected text": lambda broker: broker.create_topic(None),
    "name=3: expected text": lambda broker: broker.topic(3),
    "topic=4: expected text": lambda broker: broker.produce(4, "x"),
    "topic=5: expected text": lambda broker: broker.records(5),
    "group_id=None: expected text": lambda broker: broker.group(None),
    "seconds='1': expected a number": lambda broker: broker.clock.advance("1"),
    "hours=None: expected a number": lambda broker: broker.clock.advance(hours=None),
    "now_ms='1': expected a whole number": lambda broker: broker.clock.set_ms("1"),
    "timeout='a': expected a number": lambda broker: broker.topic("t").wait(1, timeout="a"),
    "timeout='b': expected a number": lambda broker: broker.group("g").wait(timeout="b"),
    "timeout='c': expected a number": lambda broker: broker.requests.wait(timeout="c"),
    "timeout='d': expected a number": lambda broker: broker.wait(odradek.Fault(), timeout="d"),
    "timeout='e': expected a number": lambda broker: odradek.Fault().wait(timeout="e"),  # type: ignore[arg-type]
    "count='2': expected a whole number": lambda broker: broker.wait(odradek.Fault(), "2"),
    "start='x': expected a whole number": lambda broker: broker.records("t", start="x"),
    "members='2': expected a whole number": lambda broker: broker.group("g").wait(members="2"),
    "records='2': expected a whole number": lambda broker: broker.topic("t").wait("2"),
    "api=5: expected text": lambda broker: broker.requests.wait(5),
    "node='x': expected a whole number": lambda broker: broker.requests.filter(node="x"),
    "at=3: expected text": lambda broker: broker.hold("id", at=3),
    "replicas=[1, '2']: expected a list of whole numbers": lambda broker: broker.topic("t").reassign(0, [1, "2"]),
    "partition='x': expected a whole number": lambda broker: broker.reload_coordinator("x"),
    "topic=6: expected text": lambda broker: broker.hold_load(6),
    'offsets=3: expected offsets such as {("orders", 0): 5}': lambda broker: broker.group("g").set_offsets(3),
    "headers=3: expected names and values": lambda broker: broker.produce("t", "v", headers=3),
    "KafkaBroker.kill_node() missing 1 required positional argument: 'node_id'": lambda broker: broker.kill_node(),
    "KafkaBroker.create_topic() got an unexpected keyword argument 'partition' (did you mean 'partitions'?)": (
        lambda broker: broker.create_topic("x", partition=3)
    ),
    "BrokerClock.advance() got an unexpected keyword argument 'hour' (did you mean 'hours'?)": (
        lambda broker: broker.clock.advance(hour=1)
    ),
    "no condition is called 'client' (did you mean 'client_id'?); there are topic, partition, group, "
    "transactional_id, client_id, node, error, state, since, when": lambda broker: broker.requests.wait(client="x"),
    "values=3: expected a list": lambda broker: matchers.assert_records(broker, "t", 3),  # type: ignore[arg-type]
    "count='3': expected a whole number": lambda broker: matchers.assert_count(broker, "t", "3"),  # type: ignore[arg-type]
    "restore(3): expected what broker.snapshot() returned": lambda broker: broker.restore(3),
}


@pytest.mark.parametrize("process", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["here", "in a process"])
def test_an_argument_of_the_wrong_type_is_told_in_one_line(process: bool) -> None:
    with odradek.KafkaBroker(topics={"t": 1}, process=process) as broker:
        for text, call in WRONG_TYPES.items():
            with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
                call(broker)


WRONG_VALUES: dict[str, Callable[[Any], object]] = {
    "partition=3: __transaction_state does not exist yet": lambda broker: broker.reload_coordinator(
        3, "__transaction_state"
    ),
    "partition=50: __consumer_offsets has 50 partitions, counted from 0": lambda broker: broker.hold_load(
        "__consumer_offsets", 50
    ),
    "members=-1: expected 0 or more": lambda broker: broker.group("g").wait(members=-1),
    "isolation='x': expected read_uncommitted or read_committed": lambda broker: broker.records("t", isolation="x"),
    "transaction='x': expected one of commit, abort, open": lambda broker: broker.produce("t", transaction="x"),
    "client='x': expected one of confluent, kcat, kafka-python, aiokafka, java, kafkajs, franz-go-env": (
        lambda broker: broker.client_config(client="x")
    ),
    "no listener 'PLAINTEX' (did you mean 'PLAINTEXT'?); the listeners: PLAINTEXT": (
        lambda broker: broker.bootstrap_servers_of("PLAINTEX")
    ),
    "the offset of t-0 must be a number from 0 on, not -1": lambda broker: broker.group("g").set_offsets(
        {("t", 0): -1}
    ),
}


@pytest.mark.parametrize("process", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["here", "in a process"])
def test_a_wrong_value_is_told_in_one_line(process: bool) -> None:
    with odradek.KafkaBroker(topics={"t": 1}, process=process) as broker:
        for text, call in WRONG_VALUES.items():
            with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
                call(broker)


@pytest.mark.parametrize("process", [False, True], ids=["here", "in a process"])
def test_a_wrong_argument_of_a_start_is_told_at_once(process: bool) -> None:
    settings: Any = {"node": 3}
    with pytest.raises(TypeError, match=r"argument 'node' \(did you mean 'nodes'\?\)$"):
        odradek.KafkaBroker(**settings, process=process)
