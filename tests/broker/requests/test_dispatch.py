"""One request through the dispatcher: header, handler, answer, and what becomes of errors."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.dispatch import Disturbed, Parts, Pending, Unreached, skip_tagged_fields
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.recent_requests import Exchange
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame, response_of
from tests.fakes.cluster import FakeCluster


async def served(cluster: FakeCluster, frame: bytes, info: ConnectionInfo | None = None) -> Parts | None:
    """The answer's parts, waited for if need be, to a request frame with its size."""
    begun = cluster.dispatcher.begin(cluster.nodes[1], info or ConnectionInfo(id="c1"), memoryview(frame)[4:])
    answer = await cluster.dispatcher.finish(begun) if isinstance(begun, Pending) else begun
    assert not isinstance(answer, Pending), "nobody is throttled here"
    return answer


def exchange(cluster: FakeCluster, frame: bytes, info: ConnectionInfo | None = None) -> bytes | None:
    """The answer frame (without size) to a request frame with its size."""

    async def run() -> bytes | None:
        parts = await served(cluster, frame, info)
        if parts is None:
            return None
        answer = joined(parts)
        assert struct.unpack_from(">i", answer)[0] == len(answer) - 4
        return answer[4:]

    return trio.run(run, clock=cluster.clock)


def heartbeat(cluster: FakeCluster, version: int = 4, **fields: Any) -> Any:
    request = HeartbeatRequest(group_id="g", member_id="m", **fields)
    answer = exchange(cluster, request_frame(request, version, correlation_id=77))
    if answer is None:
        return None
    correlation_id, response = response_of(request, version, answer)
    assert correlation_id == 77
    return response


@pytest.mark.parametrize("version", [0, 4])
def test_a_handler_sees_request_and_context(install: Install, version: int) -> None:
    seen: list[tuple[RequestContext, HeartbeatRequest]] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        seen.append((ctx, request))
        return HeartbeatResponse(throttle_time_ms=5)

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()
    heartbeat(cluster, version)
    [(ctx, request)] = seen
    assert (request.group_id, request.member_id) == ("g", "m")
    assert (ctx.api_key, ctx.api_version, ctx.correlation_id, ctx.client_id) == (12, version, 77, "test")
    assert ctx.node is cluster.nodes[1]
    assert ctx.connection.id == "c1"


def test_async_handlers_and_sync_ones_that_return_a_coroutine(install: Install) -> None:
    async def later(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        await trio.lowlevel.checkpoint()
        return HeartbeatResponse(error_code=27)

    install(HeartbeatRequest, later)
    assert heartbeat(FakeCluster()).error_code == 27
    install(HeartbeatRequest, lambda ctx, request: later(ctx, request))
    assert heartbeat(FakeCluster()).error_code == 27


def test_dispatch_of_none_sends_no_answer(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: None)
    assert heartbeat(FakeCluster()) is None


def test_a_kafka_error_becomes_its_code(install: Install) -> None:
    def refuse(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)

    install(HeartbeatRequest, refuse)
    cluster = FakeCluster()
    assert heartbeat(cluster).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert not cluster.bugs


def test_any_other_exception_is_a_bug_that_is_remembered(install: Install) -> None:
    def broken(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        raise ZeroDivisionError("oh no")

    install(HeartbeatRequest, broken)
    cluster = FakeCluster()
    assert heartbeat(cluster).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    [bug] = cluster.bugs
    assert bug.where == "Heartbeat v4"
    assert "ZeroDivisionError: oh no" in str(bug)
    assert "in broken" in bug.traceback
    assert len(bug.last_requests) == 1


def test_an_answer_that_cannot_be_encoded_is_a_bug(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse(error_code=70_000))
    cluster = FakeCluster()
    with pytest.raises(CloseConnection):
        heartbeat(cluster)
    assert "70000" in cluster.bugs[0].where


def test_dispatch_lets_close_connection_pass(install: Install) -> None:
    def cut(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        raise CloseConnection

    install(HeartbeatRequest, cut)
    cluster = FakeCluster()
    with pytest.raises(CloseConnection):
        heartbeat(cluster)
    assert not cluster.bugs


def test_versions_out_of_the_registered_range_close(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse(), max_version=3)
    cluster = FakeCluster()
    heartbeat(cluster, 3)
    with pytest.raises(CloseConnection):
        heartbeat(cluster, 4)


def test_client_ids_of_any_bytes_and_null() -> None:
    cluster = FakeCluster()
    for raw in (b"\xff\xfe", "é".encode(), b""):
        exchange(cluster, struct.pack(">ihhih", 10 + len(raw), 18, 0, 1, len(raw)) + raw)
    exchange(cluster, struct.pack(">ihhih", 10, 18, 0, 1, -1))
    assert [each[6] for each in cluster.recent.entries] == ["\ufffd\ufffd", "é", "", None]


@pytest.mark.parametrize("tail", [b"", b"\x01", b"\x01\x05\x7fab", b"\xff\xff\xff\xff\xff\xff"])
def test_dispatch_of_a_cut_tag_buffer_closes_the_connection(install: Install, tail: bytes) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    frame = struct.pack(">hhih", 12, 4, 1, -1) + tail
    with pytest.raises(CloseConnection):
        exchange(FakeCluster(), struct.pack(">i", len(frame)) + frame)


@pytest.mark.parametrize(
    "frame", [b"", b"\0\x0c", struct.pack(">hhi", 12, 0, 1), struct.pack(">hhih", 12, 0, 1, 3) + b"ab"]
)
def test_dispatch_of_a_frame_shorter_than_its_header_closes_the_connection(install: Install, frame: bytes) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    with pytest.raises(CloseConnection):
        exchange(FakeCluster(), struct.pack(">i", len(frame)) + frame)


def test_any_number_of_client_ids_is_read_and_few_are_kept(install: Install) -> None:
    seen: list[str | None] = []
    install(HeartbeatRequest, lambda ctx, request: seen.append(ctx.client_id))
    cluster = FakeCluster()
    names = ["x" * 5000, *(f"client-{number}" for number in range(4200))]
    body = request_frame(HeartbeatRequest(group_id="g"), 0)[18:]
    for name in names:
        frame = struct.pack(">hhih", 12, 0, 1, len(name)) + name.encode() + body
        cluster.dispatcher.begin(cluster.nodes[1], ConnectionInfo(id="c1"), memoryview(frame))
    assert seen == names
    assert len(cluster.dispatcher._client_ids) <= 4096
    assert not any(len(name) > 4096 for name in cluster.dispatcher._client_ids)


def test_a_client_that_is_cut_before_its_first_request_is_a_denial() -> None:
    cluster = Cluster()
    info = ConnectionInfo(id="c1", peer_host="10.0.0.7", listener="SSL")
    cluster.dispatcher.refused_login(info, "no certificate")
    (denial,) = cluster.services.denials.entries
    assert (denial.host, denial.listener, denial.operation, denial.reason) == (
        "10.0.0.7",
        "SSL",
        "LOGIN",
        "no certificate",
    )


def test_before_a_log_in_a_request_has_a_thousand_elements_at_most() -> None:
    cluster = FakeCluster()
    asked: list[int] = []

    def refuse(ctx: RequestContext, request: DescribeGroupsRequest) -> None:
        asked.append(len(request.groups))

    def begin(count: int) -> None:
        frame = memoryview(request_frame(DescribeGroupsRequest(["g"] * count), 5))[4:]
        cluster.dispatcher.begin_refused(cluster.nodes[1], ConnectionInfo(id="c1"), frame, refuse)

    begin(1000)
    with pytest.raises(CloseConnection):
        begin(1001)
    assert asked == [1000]
    unknown = memoryview(struct.pack(">hhih", 999, 0, 1, -1))
    with pytest.raises(CloseConnection):
        cluster.dispatcher.begin_refused(cluster.nodes[1], ConnectionInfo(id="c1"), unknown, refuse)


def test_unknown_header_tags_are_skipped() -> None:
    assert skip_tagged_fields(memoryview(b"\x02\x63\x02ab\x64\x01cREST"), 0) == 8
    with pytest.raises(ProtocolError):
        skip_tagged_fields(memoryview(b"\x01\x63\x0aab"), 0)


def test_unknown_versions_are_answered_in_v0() -> None:
    answer = exchange(FakeCluster(), struct.pack(">ihhihb", 11, 18, 99, 5, -1, 0))
    assert answer is not None
    assert answer == bytes.fromhex("00000005002300000001001200000005")


# -- What is parked, what waits until appends are durable, and what a fault that a test has set does to an answer.


class Waits(Parked):
    """A request that is over when it has something to give: a response, or an exception to raise."""

    def __init__(self) -> None:
        super().__init__(deadline_ms=1 << 60)
        self.gives: Any = None
        self.left = 0

    def resume(self) -> Any:
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives

    def abandon(self) -> None:
        self.left += 1


def parked(cluster: FakeCluster, install: Install) -> tuple[Waits, Pending]:
    waits = Waits()
    install(HeartbeatRequest, lambda ctx, request: waits)
    frame = memoryview(request_frame(HeartbeatRequest(group_id="g"), 4))[4:]
    pending = cluster.dispatcher.begin(cluster.nodes[1], ConnectionInfo(id="c1"), frame)
    assert isinstance(pending, Pending)
    return waits, pending


def code_of(parts: Any) -> int:
    _, response = response_of(HeartbeatRequest(), 4, joined(parts)[4:])
    return int(response.error_code)


def test_a_parked_request_is_answered_when_it_gives_a_response(install: Install) -> None:
    cluster = FakeCluster()
    waits, pending = parked(cluster, install)
    assert cluster.dispatcher.resume(pending) is pending
    waits.gives = HeartbeatResponse(error_code=27)
    assert code_of(cluster.dispatcher.resume(pending)) == 27
    assert waits.left == 0


def test_a_parked_request_that_fails_is_left_and_answered(install: Install) -> None:
    cluster = FakeCluster()
    waits, pending = parked(cluster, install)
    waits.gives = KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
    assert code_of(cluster.dispatcher.resume(pending)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert (waits.left, cluster.bugs) == (1, [])
    waits.gives = CloseConnection("enough")
    with pytest.raises(CloseConnection, match="enough"):
        cluster.dispatcher.resume(pending)


def test_a_request_whose_client_has_gone_says_so(install: Install) -> None:
    cluster = FakeCluster()
    _, pending = parked(cluster, install)
    cluster.dispatcher.abandoned(pending)
    assert Exchange._make(cluster.recent.entries[-1]).cut == "the client has gone"
    cluster.dispatcher.abandoned(Unreached(b""))


class Watch:
    """Appends, the last of which are not durable yet."""

    def __init__(self) -> None:
        self.appended = 0
        self.flushes = 0
        self.durable = 0

    def must_wait(self, before: int) -> bool:
        return self.appended > max(before, self.durable)

    async def flushed(self) -> None:
        self.flushes += 1
        self.durable = self.appended


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("appends", "answer", "waits"), [(True, True, 1), (True, False, 0), (False, True, 0)])
def test_an_answer_waits_until_what_it_appended_is_durable(
    install: Install, appends: bool, answer: bool, waits: int, later: bool
) -> None:
    cluster, watch = FakeCluster(), Watch()
    cluster.dispatcher.append_watch = watch  # type: ignore[assignment]

    def serve(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | None:
        watch.appended += appends
        return HeartbeatResponse() if answer else None

    async def serve_later(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | None:
        return serve(ctx, request)

    install(HeartbeatRequest, serve_later if later else serve)
    for number in (1, 2):
        found = exchange(cluster, request_frame(HeartbeatRequest(group_id="g"), 4))
        assert (found is not None, watch.flushes) == (answer, waits * number)


def test_a_parked_answer_waits_until_what_it_appended_is_durable(install: Install) -> None:
    cluster, watch = FakeCluster(), Watch()
    cluster.dispatcher.append_watch = watch  # type: ignore[assignment]
    waits, pending = parked(cluster, install)
    waits.gives, watch.appended = HeartbeatResponse(error_code=27), 1
    assert cluster.dispatcher.resume(pending) is pending
    assert code_of(trio.run(cluster.dispatcher.finish, pending)) == 27
    assert watch.flushes == 1


class Acting:
    """A fault that acts on each request, and the `FaultSet` that has it."""

    def __init__(self, *, drop: bool = False, tampers: bool = False) -> None:
        self.drop, self.tampers = drop, tampers
        self.faults = [self]

    async def apply(self, context: RequestContext, request: Any, clock: BrokerClock) -> Acting:
        return self

    def steps_of(self, parts: Parts, response: Any) -> list[Any]:
        return [code_of(parts), response.error_code]


class Idle(Acting):
    """A set of faults none of which acts."""

    async def apply(self, context: RequestContext, request: Any, clock: BrokerClock) -> Any:
        return None


@pytest.mark.parametrize(
    ("faults", "served", "found"),
    [
        (Idle(), HeartbeatResponse(error_code=27), 27),
        (Idle(), KafkaError(ErrorCode.UNKNOWN_MEMBER_ID), 25),
        (Acting(drop=True), HeartbeatResponse(), None),
        (Acting(), HeartbeatResponse(), None),
        (Acting(), KafkaError(ErrorCode.UNKNOWN_MEMBER_ID), 25),
        (Acting(tampers=True), HeartbeatResponse(error_code=27), [27, 27]),
        (Acting(tampers=True), KafkaError(ErrorCode.UNKNOWN_MEMBER_ID), [25, 25]),
        (Acting(tampers=True), None, None),
    ],
)
def test_a_fault_loses_or_disturbs_an_answer(install: Install, faults: Acting, served: Any, found: Any) -> None:
    calls: list[str | None] = []

    def serve(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        calls.append(ctx.client_id)
        if isinstance(served, Exception):
            raise served
        return served  # type: ignore[no-any-return]

    install(HeartbeatRequest, serve)
    cluster = FakeCluster()
    cluster.dispatcher.faults = faults
    frame = memoryview(request_frame(HeartbeatRequest(group_id="g"), 4))[4:]
    pending = cluster.dispatcher.begin(cluster.nodes[1], ConnectionInfo(id="c1"), frame)
    assert isinstance(pending, Pending)
    answer = trio.run(cluster.dispatcher.finish, pending, clock=cluster.clock)
    if isinstance(answer, Disturbed):
        assert (answer.steps, answer.until_ms) == (found, 0)
    else:
        assert (None if answer is None else code_of(answer)) == found
    assert calls == ([] if faults.drop else ["test"])


def test_a_handler_that_closes_the_connection_does_so_under_a_fault(install: Install) -> None:
    def cut(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        raise CloseConnection

    install(HeartbeatRequest, cut)
    cluster = FakeCluster()
    cluster.dispatcher.faults = Acting(tampers=True)
    with pytest.raises(CloseConnection):
        heartbeat(cluster)
