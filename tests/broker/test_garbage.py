"""Requests leave nothing to the garbage collector: what they made goes with its last reference.

A process that only serves counts on that (`odradek.broker.fast.collector`).
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.broker.test_data_plane_over_tcp import connect, fetch, produce, until_it_waits, values
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.long("plain")


@pytest.fixture(params=["true", "false"], ids=["fast", "plain"])
def broker(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    config = {"odradek.fast": request.param, "group.initial.rebalance.delay.ms": "0"}
    with KafkaBroker(topics={"a": 1}, config=config) as broker:
        yield broker


@contextmanager
def left_to_the_collector() -> Iterator[Counter[str]]:
    """Counts objects of ours that only the collector would find, by their types."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        kinds = [type(each) for each in gc.garbage]
        found.update(kind.__name__ for kind in kinds if kind.__module__.startswith("odradek."))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def wait_and_fetch(broker: KafkaBroker, offset: int, *, wait_ms: int = 60_000) -> list[list[bytes | None]]:
    """Begin a fetch that waits. The list gets the values that it returns, when the thread has ended."""
    answers: list[list[bytes | None]] = []

    def run() -> None:
        with connect(broker) as consumer:
            answers.append(values(consumer.request(fetch(0, offset, wait_ms=wait_ms), 12)))

    thread = Thread(target=run)
    thread.start()
    until_it_waits(broker, 0)
    with connect(broker) as producer:
        producer.request(produce(0, b"%d" % offset), 9)
    thread.join()
    return answers


def test_a_fetch_that_waited(broker: KafkaBroker) -> None:
    assert wait_and_fetch(broker, 0) == [[b"0"]]
    with left_to_the_collector() as found:
        for offset in range(1, 4):
            assert wait_and_fetch(broker, offset) == [[b"%d" % offset]]
    assert found == {}


def test_a_fetch_whose_time_is_over(broker: KafkaBroker) -> None:
    with connect(broker) as consumer:
        assert values(consumer.request(fetch(0, 0, wait_ms=1), 12)) == []
        with left_to_the_collector() as found:
            for _ in range(3):
                assert values(consumer.request(fetch(0, 0, wait_ms=1), 12)) == []
    assert found == {}


def test_a_fetch_whose_client_has_gone(broker: KafkaBroker) -> None:
    def leave() -> None:
        topic = broker.cluster.topics.get("a")
        assert topic is not None
        waiters = topic.partitions[0].waiters
        with connect(broker) as consumer:
            consumer.send(fetch(0, 0, wait_ms=60_000), 12)
            until_it_waits(broker, 0)
        broker.clock.advance(minutes=1)
        wait_until("nobody waits", lambda: broker._call(lambda: not waiters))

    leave()
    with left_to_the_collector() as found:
        for _ in range(3):
            leave()
    assert found == {}


def rebalance(broker: KafkaBroker) -> None:
    """A member joins, gets its assignment and leaves."""
    with connect(broker) as member:
        join = JoinGroupRequest("g", 60_000, 60_000, protocol_type="consumer")
        join.protocols = [JoinGroupRequestProtocol("range", b"")]
        join.member_id = member.request(join, 9).member_id
        joined = member.request(join, 9)
        assert joined.error_code == ErrorCode.NONE
        sync = SyncGroupRequest("g", joined.generation_id, join.member_id)
        sync.assignments = [SyncGroupRequestAssignment(join.member_id, b"all")]
        assert member.request(sync, 3).assignment == b"all"
        member.request(LeaveGroupRequest("g", members=[MemberIdentity(join.member_id)]), 4)


def test_a_group_that_rebalanced(broker: KafkaBroker) -> None:
    broker.set_offsets("g", {("a", 0): 0})  # the coordinator is there
    rebalance(broker)
    with left_to_the_collector() as found:
        for _ in range(3):
            rebalance(broker)
    assert found == {}
