"""One request through the dispatcher: header, handler, answer, and what becomes of errors."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.dispatch import Parts, Pending, skip_tagged_fields
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.file_slice import joined
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


def test_unknown_header_tags_are_skipped() -> None:
    assert skip_tagged_fields(memoryview(b"\x02\x63\x02ab\x64\x01cREST"), 0) == 8
    with pytest.raises(ProtocolError):
        skip_tagged_fields(memoryview(b"\x01\x63\x0aab"), 0)


def test_unknown_versions_are_answered_in_v0() -> None:
    answer = exchange(FakeCluster(), struct.pack(">ihhihb", 11, 18, 99, 5, -1, 0))
    assert answer is not None
    assert answer == bytes.fromhex("00000005002300000001001200000005")
