"""A connection whose client has exceeded a quota: answered at once, read from when its time is over."""

from __future__ import annotations

import itertools
import struct

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.connection_states import ConnectionState
from odradek.broker.net.server import Server
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.security.quotas.quotas import Quotas
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.broker.conftest import Install, request_frame, response_of
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run
from tests.fakes.cluster import FakeCluster

MUTED = ConnectionState.MUTED


def throttling_cluster() -> FakeCluster:
    """Each request works for a second and may use a hundredth of one: it waits the longest time, a second."""
    cluster = FakeCluster()
    quotas = Quotas(cluster.config, cluster.clock)
    quotas.change({(("client-id", None),): {"request_percentage": 1.0}})
    cluster.dispatcher.set_meter(quotas)
    meter = cluster.dispatcher.meter
    assert meter is not None
    work = itertools.count(0, 1_000_000_000)
    meter.work_ns = lambda: next(work)
    return cluster


class Later(Parked):
    """Answered at its deadline."""

    __slots__ = ("_cluster",)

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster.clock.now_ms() + 100)
        self._cluster = cluster

    def resume(self) -> HeartbeatResponse | None:
        return HeartbeatResponse() if self._cluster.clock.now_ms() >= self.deadline_ms else None

    def abandon(self) -> None:
        """Nothing to leave."""


def at_once(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    return HeartbeatResponse()


async def waiting(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    await trio.lowlevel.checkpoint()
    return HeartbeatResponse()


async def reach(server: Server, *states: ConnectionState) -> None:
    """Wait until the connections are in these states."""
    while [each.state for each in server.connections] != list(states):
        await wait_all_tasks_blocked()


@pytest.mark.parametrize("kind", ["at once", "waiting", "parked"])
def test_the_next_request_is_read_when_the_throttle_time_is_over(
    install: Install, kind: str, poller: type | None
) -> None:
    cluster = throttling_cluster()
    waits = ConnectionState.WAITING if poller is None else ConnectionState.PARKED
    handlers = {"at once": at_once, "waiting": waiting, "parked": lambda ctx, request: Later(cluster)}
    install(HeartbeatRequest, handlers[kind])

    async def scenario(server: Server) -> None:
        cluster.clock.freeze()
        async with await dial(cluster) as stream:
            await stream.send_all(beat(correlation_id=1) + beat(correlation_id=2))
            if kind == "parked":
                await reach(server, waits)
                cluster.clock.advance(0.1)
            correlation_id, response = response_of(HeartbeatRequest(), 4, await read_frame(stream))
            assert (correlation_id, response.throttle_time_ms) == (1, 1000)
            await reach(server, MUTED)
            cluster.clock.advance(0.999)
            await wait_all_tasks_blocked()
            await reach(server, MUTED)
            cluster.clock.advance(0.001)
            if kind == "parked":
                await reach(server, waits)
                cluster.clock.advance(0.1)
            correlation_id, response = response_of(HeartbeatRequest(), 4, await read_frame(stream))
            assert (correlation_id, response.throttle_time_ms) == (2, 1000)
        cluster.clock.resume()

    run(cluster, scenario)


def test_a_clock_that_stands_still_holds_it_and_the_server_cuts_it(install: Install) -> None:
    install(HeartbeatRequest, at_once)
    cluster = throttling_cluster()

    async def scenario(server: Server) -> None:
        cluster.clock.freeze()
        async with await dial(cluster) as stream, await dial(cluster) as other:
            await stream.send_all(beat(correlation_id=1) + beat(correlation_id=2))
            await read_frame(stream)
            await other.send_all(beat())
            await read_frame(other)
            await reach(server, MUTED, MUTED)
            await server.close(0)
            assert await is_closed(stream)

    run(cluster, scenario)


def test_a_long_answer_is_sent_before_the_connection_is_muted(install: Install) -> None:
    long = bytes(24_000_000)
    install(SyncGroupRequest, lambda ctx, request: SyncGroupResponse(assignment=long))
    cluster = throttling_cluster()

    async def scenario(server: Server) -> None:
        cluster.clock.freeze()
        frame = request_frame(SyncGroupRequest(), 5, 7)
        async with await dial(cluster) as stream:
            await stream.send_all(frame + frame)
            await reach(server, ConnectionState.SENDING)
            answer = await read_frame(stream)
            assert len(answer) > len(long)
            await reach(server, MUTED)
            cluster.clock.advance(1)
            assert struct.unpack_from(">i", await read_frame(stream))[0] == 7
        cluster.clock.resume()

    run(cluster, scenario)


def test_a_muted_client_that_has_gone_is_noticed(install: Install) -> None:
    install(HeartbeatRequest, at_once)
    cluster = throttling_cluster()

    async def scenario(server: Server) -> None:
        cluster.clock.freeze()
        async with await dial(cluster) as stream:
            await stream.send_all(beat())
            await read_frame(stream)
        await reach(server, MUTED)
        cluster.clock.advance(1)
        await reach(server)
        cluster.clock.resume()

    run(cluster, scenario)


def test_one_connection_too_many_is_closed_late() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        cluster.clock.freeze()
        server.connection_delay_ms = lambda node_id, address: 700 if (node_id, address) == (1, "127.0.0.1") else 0
        async with await dial(cluster) as stream:
            await stream.send_all(beat())
            for _ in range(20):
                await wait_all_tasks_blocked()
            assert not server.connections
            cluster.clock.advance(0.7)
            assert await is_closed(stream)
        cluster.clock.resume()

    run(cluster, scenario)
