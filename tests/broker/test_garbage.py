"""Requests leave nothing to the garbage collector: what they made goes with its last reference.

A process that only serves counts on that (`odradek.broker.fast.collector`).
"""

from __future__ import annotations

import gc
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from threading import Thread
from types import FrameType

import pytest

from odradek.broker.api.served import SERVED
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.attack.doors import DOORS, bad_bytes, dial, hang_up_hard, log_in_frames, prepare, secured, sized
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire
from tests.broker.test_data_plane_over_tcp import connect, fetch, produce, until_it_waits, values
from tests.fakes.filled import asking
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.long("plain")


@pytest.fixture(params=["true", "false"], ids=["fast", "plain"])
def broker(request: pytest.FixtureRequest) -> Iterator[KafkaBroker]:
    config = {"odradek.fast": request.param, "group.initial.rebalance.delay.ms": "0"}
    with KafkaBroker(topics={"a": 1}, config=config) as broker:
        yield broker


def is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("odradek.")


@contextmanager
def left_to_the_collector() -> Iterator[Counter[str]]:
    """Counts objects of ours that only the collector would find, by their types; frames by their functions."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        frames = [each for each in gc.garbage if isinstance(each, FrameType)]
        kinds = [type(each) for each in gc.garbage]
        found.update(kind.__name__ for kind in kinds if kind.__module__.startswith("odradek."))
        found.update(each.f_code.co_qualname for each in frames if is_ours(each))
        frames.clear()
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


def test_fetch_that_waited_leaves_no_garbage(broker: KafkaBroker) -> None:
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


def test_group_that_rebalanced_leaves_no_garbage(broker: KafkaBroker) -> None:
    broker.group("g").set_offsets({("a", 0): 0})  # the coordinator is there
    rebalance(broker)
    with left_to_the_collector() as found:
        for _ in range(3):
            rebalance(broker)
    assert found == {}


# --- requests that are refused ----------------------------------------------------------------------------------------

APIS = [API_BY_KEY[key] for key in sorted(SERVED.all())]
DOORS_BY_NAME = {door.name: door for door in DOORS}


@pytest.fixture
def secured_ports() -> Iterator[dict[str, int]]:
    with KafkaBroker(topics={"p-data": 1}, config=secured()) as broker:
        yield prepare(broker)
        assert broker.bugs == []


def refused() -> Iterator[bytes]:
    """Requests of all APIs, in their oldest and newest versions, about things that are nowhere."""
    for spec, small in product(APIS, (0, 2)):
        for version in sorted({spec.min_version, spec.max_version}):
            yield request_frame(asking(spec.request, version, 2, small), version)


def unreadable() -> Iterator[bytes]:
    """Requests that end too early, in the body and in the header."""
    for frame in refused():
        for size in (len(frame) - 5, len(frame) // 2, 12, 6):
            yield struct.pack(">i", size) + frame[4 : 4 + size]


def unserved() -> Iterator[bytes]:
    """Requests in versions and of APIs that are nowhere."""
    for key in (*SERVED.all(), 999):
        yield struct.pack(">ihhihh", 12, key, 99, 1, 0, 0)


def ask_each(door: str, ports: Mapping[str, int], frames: Iterable[bytes]) -> None:
    """Send them one after the other, each on the connection of the one before where that is still open."""
    with ExitStack() as stack:
        wire: Wire | None = None
        for frame in frames:
            wire = wire or stack.enter_context(dial(DOORS_BY_NAME[door], ports))
            wire.send(frame)
            if wire.frame() is None:
                wire = None


@pytest.mark.parametrize(
    ("door", "requests"),
    [
        *product(("plain", "SASL as guest", "SASL before the log-in"), (refused, unreadable, unserved)),
        ("SASL over TLS as guest", refused),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
@pytest.mark.long
def test_refused_requests_of_all_apis(
    secured_ports: dict[str, int], door: str, requests: Callable[[], Iterable[bytes]]
) -> None:
    ask_each(door, secured_ports, requests())
    with left_to_the_collector() as found:
        ask_each(door, secured_ports, requests())
    assert found == {}


SAMPLES = [request_frame(ApiVersionsRequest(), 0)[4:]]


def until_the_end(wire: Wire) -> None:
    """Say that nothing more comes, and read to the end."""
    with suppress(OSError):
        wire.finish()
    while wire.frame() is not None:
        pass


def failed_log_ins(ports: Mapping[str, int]) -> None:
    rng = random.Random(7)
    for name in ("SASL before the log-in", "SASL over TLS before the log-in"):
        for _ in range(20):
            with dial(DOORS_BY_NAME[name], ports) as wire:
                for frame in log_in_frames(SAMPLES, rng):
                    wire.send(sized(frame))
                until_the_end(wire)
    for _ in range(20):
        with Wire(("127.0.0.1", ports["SSL"])) as wire:
            wire.send(bad_bytes(rng))
            until_the_end(wire)


@pytest.mark.long
def test_a_long_request_that_ends_too_early(secured_ports: dict[str, int]) -> None:
    names = [f"none-{number}" for number in range(5000)]
    whole = request_frame(DeleteGroupsRequest(names), 2)
    cut = struct.pack(">i", len(whole) - 100) + whole[4:-96]
    ask_each("plain", secured_ports, [whole, cut])
    with left_to_the_collector() as found:
        ask_each("plain", secured_ports, 3 * [whole, cut])
    assert found == {}


@pytest.mark.long
def test_log_ins_and_handshakes_that_fail(secured_ports: dict[str, int]) -> None:
    failed_log_ins(secured_ports)
    with left_to_the_collector() as found:
        failed_log_ins(secured_ports)
    assert found == {}


def test_connections_that_are_cut_leave_no_garbage(secured_ports: dict[str, int]) -> None:
    def cut() -> None:
        for door in DOORS:
            if not door.raw:
                wire = dial(door, secured_ports)
                wire.send(request_frame(ApiVersionsRequest(), 0)[:9])
                hang_up_hard(wire)
        with dial(DOORS_BY_NAME["plain"], secured_ports) as wire:
            wire.send(request_frame(ApiVersionsRequest(), 0))
            assert wire.frame() is not None

    cut()
    with left_to_the_collector() as found:
        cut()
    assert found == {}
