"""Connections and the server around them: order, limits, idleness, isolation, stopping."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.server import Server
from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from odradek.protocol.generated.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame, response_of
from tests.fakes.cluster import FakeCluster


@asynccontextmanager
async def serving(cluster: FakeCluster) -> AsyncIterator[Server]:
    server = cluster.server()
    async with trio.open_nursery() as nursery:
        await server.start(nursery, "127.0.0.1", 0)
        try:
            yield server
        finally:
            server.close_listeners()
        await server.close(0.2)
        nursery.cancel_scope.cancel()
    server.release()


def run(cluster: FakeCluster, test: Callable[[Server], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(60):
            async with serving(cluster) as server:
                await test(server)

    trio.run(main, clock=cluster.clock)
    assert not cluster.bugs, cluster.bugs[0]


async def dial(cluster: FakeCluster, node: int = 1) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", cluster.nodes[node].port)


async def read_frame(stream: trio.SocketStream) -> bytes:
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack_from(">i", data)[0]:
        # exactly one answer is expected, so reading on never takes bytes of the next
        wanted = 4 - len(data) if len(data) < 4 else 4 + struct.unpack_from(">i", data)[0] - len(data)
        piece = await stream.receive_some(wanted)
        assert piece, "closed"
        data += bytes(piece)
    return data[4:]


async def is_closed(stream: trio.SocketStream) -> bool:
    try:
        return await stream.receive_some(1) == b""
    except trio.BrokenResourceError:
        return True


def beat(group: str = "g", correlation_id: int = 1) -> bytes:
    return request_frame(HeartbeatRequest(group_id=group), 4, correlation_id)


def test_requests_are_answered_in_order_one_at_a_time(install: Install) -> None:
    under_way: list[str] = []
    order: list[str] = []

    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        assert not under_way
        under_way.append(request.group_id)
        await trio.sleep(0.02 if request.group_id == "slow" else 0)
        under_way.pop()
        order.append(request.group_id)
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(beat("slow", 1) + beat("b", 2) + beat("c", 3))
            ids = [struct.unpack_from(">i", await read_frame(stream))[0] for _ in range(3)]
        assert ids == [1, 2, 3]
        assert order == ["slow", "b", "c"]

    run(cluster, scenario)


def test_a_frame_may_come_byte_by_byte(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            for byte in beat():
                await stream.send_all(bytes([byte]))
                await trio.lowlevel.checkpoint()
            await read_frame(stream)

    run(cluster, scenario)


def test_connections_do_not_hold_each_other_up(install: Install) -> None:
    release = trio.Event()

    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        if request.group_id == "parked":
            await release.wait()
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as parked, await dial(cluster) as other:
            await parked.send_all(beat("parked"))
            for _ in range(40):
                await other.send_all(beat())
                await read_frame(other)
            release.set()
            await read_frame(parked)

    run(cluster, scenario)


def test_a_flood_of_pipelined_requests_leaves_room_for_others(install: Install) -> None:
    served: list[str] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        served.append(request.group_id)
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as flood, await dial(cluster) as other:
            await flood.send_all(beat("flood") * 100)
            await other.send_all(beat("other"))
            await read_frame(other)
            for _ in range(100):
                await read_frame(flood)
        assert served.index("other") <= 64

    run(cluster, scenario)


def test_large_answers_of_many_parts_arrive_whole(install: Install) -> None:
    parts = [bytes([number % 256]) * 700 for number in range(3000)]  # more than IOV_MAX, more than a socket buffer

    def handler(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
        partition = PartitionData(partition_index=0, high_watermark=1, records=list(parts))
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])

    install(FetchRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        request = FetchRequest(max_wait_ms=0, min_bytes=0)
        async with await dial(cluster) as stream:
            await stream.send_all(request_frame(request, 12))
            await wait_all_tasks_blocked()
            answer = await read_frame(stream)
        _, response = response_of(request, 12, answer)
        assert bytes(response.responses[0].partitions[0].records) == b"".join(parts)

    run(cluster, scenario)


@pytest.mark.parametrize("junk", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", struct.pack(">ihhih", 10, 999, 0, 1, -1)])
def test_bad_input_ends_that_connection_only(install: Install, junk: bytes) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as bad, await dial(cluster) as good:
            await bad.send_all(junk)
            assert await is_closed(bad)
            await good.send_all(beat())
            await read_frame(good)

    run(cluster, scenario)


def test_the_log_says_why_a_connection_was_cut(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "odradek.broker.net")
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(struct.pack(">ihhih", 10, 999, 0, 1, -1))
            assert await is_closed(stream)

    run(cluster, scenario)
    _, opened, cut = (each for each in caplog.records if each.name == "odradek.broker.net")
    assert opened.getMessage().endswith("opened")
    assert (cut.levelname, "API key 999 is not served" in cut.getMessage()) == ("INFO", True)


def test_the_frame_limit_is_the_configured_one(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster(max_request_bytes=1000)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(struct.pack(">i", 1001))
            assert await is_closed(stream)
        async with await dial(cluster) as stream:
            await stream.send_all(beat("g" * 900))
            await read_frame(stream)

    run(cluster, scenario)


def test_a_handler_can_cut_its_connection(install: Install) -> None:
    def cut(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        raise CloseConnection

    install(HeartbeatRequest, cut)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(beat())
            assert await is_closed(stream)
        await wait_all_tasks_blocked()
        assert server.connections == []

    run(cluster, scenario)


def test_a_client_that_goes_away_leaves_nothing_behind(install: Install) -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        for _ in range(20):
            sock = socket.create_connection(("127.0.0.1", cluster.nodes[1].port))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()  # a reset
        await trio.sleep(0.01)
        await wait_all_tasks_blocked()
        assert server.connections == []

    run(cluster, scenario)


@pytest.mark.parametrize("reset", [True, False])
def test_a_client_that_goes_away_ends_its_long_request(install: Install, reset: bool) -> None:
    cluster = FakeCluster()
    served: list[int] = []
    left = trio.Event()

    def handler(ctx: RequestContext, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
        served.append(len(request.groups))
        if len(served) == 1:
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            left.set()
        return DescribeGroupsResponse()

    install(DescribeGroupsRequest, handler, in_parts=True)

    client = socket.socket()

    async def scenario(server: Server) -> None:
        client.connect(("127.0.0.1", cluster.nodes[1].port))
        await trio.to_thread.run_sync(client.sendall, request_frame(DescribeGroupsRequest(["g"] * 10_000), 5))
        await left.wait()
        await wait_all_tasks_blocked()
        assert server.connections == []

    run(cluster, scenario)
    assert sum(served) < 10_000


def test_a_client_that_does_not_read_does_not_stop_the_others(install: Install) -> None:
    blob = bytes(8_000_000)

    def handler(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
        partition = PartitionData(partition_index=0, records=blob)
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])

    install(FetchRequest, handler)
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as deaf, await dial(cluster) as good:
            await deaf.send_all(request_frame(FetchRequest(), 12))
            await good.send_all(beat())
            await read_frame(good)

    run(cluster, scenario)


def test_answers_that_nobody_reads_have_a_limit_together(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    records = bytes(20_000_000)

    def handler(ctx: RequestContext, request: FetchRequest) -> FetchResponse:
        partition = PartitionData(partition_index=0, records=records)
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])

    install(FetchRequest, handler)
    cluster = FakeCluster()
    cluster.config.static["odradek.memory.bytes"] = "1000000"

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as first, await dial(cluster) as second:
            await first.send_all(request_frame(FetchRequest(), 12))
            await wait_all_tasks_blocked()
            await second.send_all(request_frame(FetchRequest(), 12))
            await wait_all_tasks_blocked()
            assert len(server.connections) == 1
            assert len(await read_frame(second)) > len(records)
            await second.send_all(request_frame(FetchRequest(), 12))
            assert len(await read_frame(second)) > len(records), "what was sent counts no longer"

    run(cluster, scenario)
    assert "answers that nobody reads" in caplog.text
