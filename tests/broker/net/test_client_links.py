"""Frozen nodes, slow and cut links, over real sockets."""

from __future__ import annotations

import struct

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.client_links import ClientLink, Way
from odradek.broker.net.server import Server
from odradek.broker.net.wire import Pace, Terms
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run
from tests.fakes.cluster import FakeCluster
from tests.fakes.lanes import poller as poller


@pytest.fixture(autouse=True)
def heartbeats(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())


def beat_of(client_id: str, correlation_id: int = 1) -> bytes:
    return request_frame(HeartbeatRequest(group_id="g"), 4, correlation_id, client_id=client_id)


async def has_nothing(stream: trio.SocketStream) -> bool:
    await wait_all_tasks_blocked()
    try:
        stream.socket._sock.recv(1)  # type: ignore[attr-defined]
    except BlockingIOError:
        return True
    return False


async def asked(stream: trio.SocketStream, frame: bytes) -> int:
    await stream.send_all(frame)
    found: int = struct.unpack_from(">i", await read_frame(stream))[0]
    return found


def test_a_frozen_node_answers_when_it_thaws() -> None:
    cluster = FakeCluster(nodes=2)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as old, await dial(cluster, 2) as other:
            assert await asked(old, beat(correlation_id=1)) == 1
            server.freeze(cluster.nodes[1])
            async with await dial(cluster) as new:
                await old.send_all(beat(correlation_id=2) + beat(correlation_id=3))
                await new.send_all(beat(correlation_id=4))
                assert await asked(other, beat(correlation_id=5)) == 5
                assert await has_nothing(old)
                assert await has_nothing(new)
                assert len(server.connections) == 2
                server.thaw(cluster.nodes[1])
                answers = [struct.unpack_from(">i", await read_frame(old))[0] for _ in range(2)]
                assert answers == [2, 3]
                assert struct.unpack_from(">i", await read_frame(new))[0] == 4
            await wait_all_tasks_blocked()
            assert all(connection.wire is None for connection in server.connections)
            assert await asked(old, beat(correlation_id=6)) == 6

    run(cluster, scenario)


def test_a_frozen_node_does_not_notice_that_clients_are_idle_or_gone() -> None:
    cluster = FakeCluster(max_idle_ms=5_000)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as idle:
            assert await asked(idle, beat()) == 1
            gone = await dial(cluster)
            await wait_all_tasks_blocked()
            server.freeze(cluster.nodes[1])
            await gone.aclose()
            cluster.clock.advance(seconds=20)
            await wait_all_tasks_blocked()
            assert len(server.connections) == 2
            server.thaw(cluster.nodes[1])
            cluster.clock.advance(seconds=20)
            assert await is_closed(idle)

    run(cluster, scenario)


def test_a_frozen_node_can_be_killed() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            assert await asked(stream, beat()) == 1
            server.freeze(cluster.nodes[1])
            await stream.send_all(beat())
            server.stop_node(cluster.nodes[1])
            assert await is_closed(stream)

    run(cluster, scenario)


def test_answers_to_one_client_are_late() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as slow, await dial(cluster) as fast:
            assert await asked(slow, beat_of("app-1", 1)) == 1
            cluster.clock.freeze()
            server.links.add(ClientLink("app-*", None, None, terms=Terms(answers=Pace(delay_ms=50))))
            await slow.send_all(beat_of("app-1", 2))
            assert await asked(fast, beat_of("other", 3)) == 3
            assert await has_nothing(slow)
            cluster.clock.advance(seconds=0.05)
            assert struct.unpack_from(">i", await read_frame(slow))[0] == 2
            server.links.clear()
            assert await asked(slow, beat_of("app-1", 4)) == 4

    run(cluster, scenario)


def test_a_silent_client_is_answered_when_its_link_is_mended() -> None:
    cluster = FakeCluster(nodes=2)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as known, await dial(cluster) as new, await dial(cluster, 2) as other:
            assert await asked(known, beat_of("app", 1)) == 1
            server.links.add(ClientLink("app", 1, None, way=Way.SILENT))
            await known.send_all(beat_of("app", 2))
            await new.send_all(beat_of("app", 3) + beat_of("app", 4))
            assert await asked(other, beat_of("app", 5)) == 5
            assert await has_nothing(known)
            assert await has_nothing(new)
            server.links.clear()
            assert struct.unpack_from(">i", await read_frame(known))[0] == 2
            assert [struct.unpack_from(">i", await read_frame(new))[0] for _ in range(2)] == [3, 4]

    run(cluster, scenario)


@pytest.mark.parametrize("way", [Way.RESET, Way.CLOSE])
def test_connections_of_a_client_are_cut(way: Way) -> None:
    cluster = FakeCluster()

    async def ends(stream: trio.SocketStream) -> str:
        try:
            return "close" if await stream.receive_some(1) == b"" else "goes on"
        except trio.BrokenResourceError:
            return "reset"

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as known, await dial(cluster) as new, await dial(cluster) as other:
            assert await asked(known, beat_of("app", 1)) == 1
            server.links.add(ClientLink("app", None, None, way=way))
            assert await ends(known) == way.value
            await new.send_all(beat_of("app", 2))
            assert await ends(new) == way.value
            assert await asked(other, beat_of("other", 3)) == 3

    run(cluster, scenario)


def test_only_clients_of_one_listener() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            server.links.add(ClientLink("*", None, "OTHER", way=Way.RESET))
            assert await asked(stream, beat(correlation_id=1)) == 1
            server.links.add(ClientLink("*", None, "PLAINTEXT", way=Way.RESET))
            assert await is_closed(stream)

    run(cluster, scenario)


def test_the_newest_of_two_links_between_the_same_ends_counts() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        for delay_ms in (50, 70):
            server.links.add(ClientLink("*", None, None, terms=Terms(answers=Pace(delay_ms=delay_ms))))
        [link] = server.links.client_links
        assert link.terms.answers.delay_ms == 70

    run(cluster, scenario)
