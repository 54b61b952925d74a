"""The server around the connections: addresses, idleness, nodes that stop, the end."""

from __future__ import annotations

import gc
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from itertools import pairwise
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.config.listeners import Listener, SecurityProtocol
from odradek.broker.metadata.node import Endpoint
from odradek.broker.net import server as server_module
from odradek.broker.net.server import ConnectionTask, ConnectionTasks, Server
from odradek.broker.requests.context import RequestContext
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install, request_frame
from tests.broker.fast.test_poller import be_served, correlation_id, parking
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run, serving
from tests.fakes.cluster import FakeCluster
from tests.fakes.ports import ports_in_a_row


def test_a_connection_in_use_is_not_idle(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster(max_idle_ms=600_000)

    async def main() -> None:
        async with serving(cluster), await dial(cluster) as used, await dial(cluster) as idle:
            for _ in range(4):
                await used.send_all(beat())
                await read_frame(used)
                await wait_all_tasks_blocked()
                cluster.clock.advance(minutes=4)
            assert await is_closed(idle)
            await used.send_all(beat())
            await read_frame(used)

    trio.run(main, clock=cluster.clock)


def test_idle_connections_are_closed_on_the_broker_clock(install: Install) -> None:
    parked = trio.Event()

    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        await parked.wait()
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(max_idle_ms=600_000)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as idle, await dial(cluster) as waiting:
            await waiting.send_all(beat())
            await wait_all_tasks_blocked()
            cluster.clock.advance(minutes=5)
            await wait_all_tasks_blocked()
            assert len(server.connections) == 2
            cluster.clock.advance(minutes=6)
            assert await is_closed(idle)
            assert await is_closed(waiting), "as in Kafka a request that waits does not keep it"

    async def main() -> None:
        async with serving(cluster) as server:
            await scenario(server)

    trio.run(main, clock=cluster.clock)


@pytest.mark.long
def test_a_parked_request_ends_when_its_connection_breaks(install: Install) -> None:
    answered = trio.Event()

    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        await answered.wait()
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as ending, await dial(cluster) as breaking:
            await ending.send_all(beat())
            await ending.send_eof()
            await breaking.send_all(beat())
            await wait_all_tasks_blocked()
            breaking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            await breaking.aclose()
            assert len(server.connections) == 2
            cluster.clock.advance(minutes=2)
            await trio.sleep(0.01)
            await wait_all_tasks_blocked()
            assert len(server.connections) == 1
            answered.set()
            await read_frame(ending)
            assert await is_closed(ending)

    async def main() -> None:
        async with serving(cluster) as server:
            await scenario(server)

    trio.run(main, clock=cluster.clock)


def test_the_context_knows_both_ends(install: Install) -> None:
    seen: list[Any] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        seen.append((ctx.connection, ctx.node))
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(nodes=2)

    async def scenario(server: Server) -> None:
        async with await dial(cluster, 2) as stream:
            await stream.send_all(beat())
            await read_frame(stream)
            ours = stream.socket.getsockname()
        [(info, node)] = seen
        assert node is cluster.nodes[2]
        assert (info.host, info.port) == ("127.0.0.1", cluster.nodes[2].port)
        assert (info.peer_host, info.peer_port) == ours

    run(cluster, scenario)


def test_nodes_take_following_ports() -> None:
    base = ports_in_a_row(3)
    cluster = FakeCluster(nodes=3)

    async def main() -> None:
        server = cluster.server()
        async with trio.open_nursery() as nursery:
            await server.start(nursery, "127.0.0.1", base)
            assert [node.port for node in cluster.nodes.values()] == [base, base + 1, base + 2]
            nursery.cancel_scope.cancel()
        server.close_listeners()

    trio.run(main, clock=cluster.clock)


def test_a_port_in_use_is_an_error_and_leaves_nothing_open() -> None:
    cluster = FakeCluster()

    async def main() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            server = cluster.server()
            async with trio.open_nursery() as nursery:
                with pytest.raises(OSError, match="in use"):
                    await server.start(nursery, "127.0.0.1", taken.getsockname()[1])

    trio.run(main, clock=cluster.clock)


def test_closing_lets_the_request_under_way_finish(install: Install) -> None:
    started, finish = trio.Event(), trio.Event()

    async def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        started.set()
        await finish.wait()
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def main() -> None:
        server = cluster.server()
        async with trio.open_nursery() as nursery:
            await server.start(nursery, "127.0.0.1", 0)
            async with await dial(cluster) as busy, await dial(cluster) as idle:
                await busy.send_all(beat())
                await started.wait()
                async with trio.open_nursery() as closing:
                    closing.start_soon(server.close, 60)
                    assert await is_closed(idle)
                    finish.set()
                    await read_frame(busy)
                    assert await is_closed(busy)
                with pytest.raises(OSError):
                    await dial(cluster)
            nursery.cancel_scope.cancel()

    trio.run(main, clock=cluster.clock)


def test_a_node_that_stops_cuts_its_clients_and_no_others(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster(nodes=2)

    async def scenario(server: Server) -> None:
        async with await dial(cluster, 1) as first, await dial(cluster, 2) as second:
            await second.send_all(beat())
            await read_frame(second)
            await first.send_all(beat())
            await read_frame(first)
            server.stop_node(cluster.nodes[2])
            assert await is_closed(second)
            await first.send_all(beat())
            await read_frame(first)
            with pytest.raises(OSError):
                await dial(cluster, 2)

    run(cluster, scenario)


def _limited(nodes: int = 1, **values: str) -> FakeCluster:
    cluster = FakeCluster(nodes)
    cluster.config.static.update({name.replace("_", "."): value for name, value in values.items()})
    for node in cluster.nodes.values():
        plain = SecurityProtocol.PLAINTEXT
        node.endpoints = {name: Endpoint(Listener(name, plain)) for name in ("IN", "OUT")}
    return cluster


async def _dial(cluster: FakeCluster, listener: str, node_id: int = 1) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", cluster.nodes[node_id].endpoints[listener].port)


async def _answers(stream: trio.SocketStream) -> bool:
    await stream.send_all(beat())
    return bool(await read_frame(stream))


def test_one_address_too_many_is_closed(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = _limited(nodes=2, max_connections_per_ip="1")

    async def scenario(server: Server) -> None:
        async with await _dial(cluster, "IN") as first, await _dial(cluster, "OUT", 2) as elsewhere:
            assert await _answers(first)
            assert await _answers(elsewhere)
            async with await _dial(cluster, "OUT") as second:
                assert await is_closed(second)
        while server.connections:  # noqa: ASYNC110
            await trio.sleep(0.001)
        async with await _dial(cluster, "OUT") as third:
            assert await _answers(third)

    run(cluster, scenario)


def test_a_fault_in_admitting_one_connection_ends_no_other(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    def fails(node_id: int, address: str) -> int:
        raise ValueError(address)

    async def main() -> None:
        async with serving(cluster) as server, await dial(cluster) as first:
            assert await _answers(first)
            usual, server.connection_delay_ms = server.connection_delay_ms, fails
            async with await dial(cluster) as second:
                assert await is_closed(second)
            server.connection_delay_ms = usual
            async with await dial(cluster) as third:
                assert await _answers(third)
            assert await _answers(first)

    trio.run(main, clock=cluster.clock)
    assert [str(bug.error) for bug in cluster.bugs] == ["127.0.0.1"]


def test_a_connection_leaves_the_last_descriptors_to_others(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()
    reserved = {"from": 1 << 20}
    monkeypatch.setattr(server_module, "is_reserved", lambda descriptor: descriptor >= reserved["from"])

    async def main() -> None:
        async with serving(cluster), await dial(cluster) as first:
            assert await _answers(first)
            taken = [os.dup(0) for _ in range(20)]
            reserved["from"] = taken[-1]
            second = await dial(cluster)
            await second.send_all(beat())
            await wait_all_tasks_blocked()
            assert await _answers(first)
            for each in taken:
                os.close(each)
            async with second:
                assert await read_frame(second)

    trio.run(main, clock=cluster.clock)
    assert not cluster.bugs


def test_requests_that_are_not_whole_have_a_limit_together(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    install(DescribeGroupsRequest, lambda ctx, request: DescribeGroupsResponse())
    monkeypatch.setattr(server_module, "_MOST_RECEIVED_BYTES", 1_500_000)
    cluster = FakeCluster()
    large = request_frame(DescribeGroupsRequest(["g" * 30_000] * 25), 5)

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as idle, await dial(cluster) as first, await dial(cluster) as second:
            unfinished = struct.pack(">i", 900_000) + large[:700_000]
            await idle.send_all(large)
            await read_frame(idle)
            async with trio.open_nursery() as nursery:

                async def send(stream: trio.SocketStream) -> None:
                    with suppress(trio.BrokenResourceError):
                        await stream.send_all(unfinished)
                    assert await is_closed(stream)
                    nursery.cancel_scope.cancel()

                nursery.start_soon(send, first)
                nursery.start_soon(send, second)
            assert len(server.connections) == 2
            assert await _answers(idle), "it only gave its buffer back"

    run(cluster, scenario)


def test_a_connection_waits_for_room(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = _limited(max_connections="1")

    async def scenario(server: Server) -> None:
        async with await _dial(cluster, "OUT") as first:
            assert await _answers(first)
            second = await _dial(cluster, "OUT")
            await second.send_all(beat())
            await wait_all_tasks_blocked()
            assert len(server.connections) == 1
        async with second:
            assert await read_frame(second)

    run(cluster, scenario)


def test_a_brokers_connection_closes_the_idlest_of_the_clients(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = _limited(max_connections="2")

    async def scenario(server: Server) -> None:
        async with await _dial(cluster, "OUT") as older, await _dial(cluster, "OUT") as newer:
            assert await _answers(older)
            cluster.clock.advance(1)
            assert await _answers(newer)
            async with await _dial(cluster, "IN") as protected:
                assert await _answers(protected)
                assert await is_closed(older)
                assert await _answers(newer)

    run(cluster, scenario)


def test_connections_that_come_together_begin_in_order_and_let_others_run() -> None:
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        with ExitStack() as clients:
            dialled = []
            for _ in range(40):
                client = clients.enter_context(socket.create_connection(("127.0.0.1", cluster.nodes[1].port)))
                dialled.append(client.getsockname()[1])
            accepted = [0]
            while accepted[-1] < 40:
                await trio.lowlevel.checkpoint()
                accepted.append(len(server.connections))
            assert [connection.info.peer_port for connection in server.connections] == dialled
            assert len(accepted) < 20
            # Tasks of one turn run in any order, so of two turns' connections some may have been seen at once.
            assert max(later - earlier for earlier, later in pairwise(accepted)) <= 32

    run(cluster, scenario)


def open_sockets() -> list[socket.socket]:
    """The connected sockets of this process."""
    found = [each for each in gc.get_objects() if type(each) is socket.socket and each.fileno() >= 0]
    connected = []
    for each in found:
        with suppress(OSError):
            each.getpeername()
            connected.append(each)
    return connected


# -- The task of a connection: it begins when something has to be waited for, or with the connection.


class Stage:
    """Tasks by name, what has happened to them, and which were forgotten."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.tasks = ConnectionTasks(nursery)
        self.told: list[str] = []

    def task(self, name: str) -> ConnectionTask:
        async def work() -> None:
            self.told.append(f"{name} begins")
            try:
                await trio.sleep_forever()
            finally:
                self.told.append(f"{name} ends")

        return ConnectionTask(self.tasks, work, lambda: self.told.append(f"{name} is forgotten"))


def on_stage(test: Callable[[Stage], Awaitable[None]]) -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            await test(Stage(nursery))
            nursery.cancel_scope.cancel()

    trio.run(main)


def test_a_connection_task_begins_once() -> None:
    async def test(stage: Stage) -> None:
        task = stage.task("a")
        task.begin()
        task.begin()
        await wait_all_tasks_blocked()
        assert stage.told == ["a begins"]
        assert not task.cancel_called

    on_stage(test)


def test_tasks_of_one_turn_begin_in_their_order() -> None:
    async def test(stage: Stage) -> None:
        names = [str(number) for number in range(50)]
        for name in names:
            stage.task(name).begin()
        await wait_all_tasks_blocked()
        assert stage.told == [f"{name} begins" for name in names]

    on_stage(test)


def test_one_that_runs_is_cancelled() -> None:
    async def test(stage: Stage) -> None:
        task = stage.task("a")
        task.begin()
        await wait_all_tasks_blocked()
        task.cancel()
        task.cancel()
        assert task.cancel_called
        await wait_all_tasks_blocked()
        assert stage.told == ["a begins", "a ends"]

    on_stage(test)


def test_one_that_has_not_begun_begins_to_end() -> None:
    async def test(stage: Stage) -> None:
        task = stage.task("a")
        task.cancel()
        assert task.cancel_called
        await wait_all_tasks_blocked()
        assert stage.told == ["a is forgotten", "a begins", "a ends"]

    on_stage(test)


def running_tasks(server: Server) -> int:
    """How many of the connections have a task."""
    return sum(task._scope is not None for task in server._connections.values())


@pytest.fixture
def with_poller(poller: type | None) -> None:
    if poller is None:
        pytest.skip("each connection has a task from the beginning")


@pytest.mark.usefixtures("with_poller")
def test_a_connection_has_no_task_until_something_else_than_a_request_is_waited_for(install: Install) -> None:
    async def wait() -> HeartbeatResponse:
        await trio.lowlevel.checkpoint()
        return HeartbeatResponse()

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> object:
        return wait() if request.group_id == "slow" else HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream, await dial(cluster) as other:
            for each in (stream, other):
                await be_served(each)
            assert running_tasks(server) == 0
            await stream.send_all(beat("slow", correlation_id=1) + beat(correlation_id=2))
            assert [correlation_id(await read_frame(stream)) for _ in range(2)] == [1, 2]
            assert running_tasks(server) == 1
            await be_served(stream)
            await be_served(other)
            assert running_tasks(server) == 1
        while server.connections:
            await trio.lowlevel.checkpoint()

    run(cluster, scenario)


@pytest.mark.usefixtures("with_poller")
def test_a_parked_connection_without_a_task_is_cut_when_its_server_ends(install: Install) -> None:
    parked = parking(install)
    cluster = FakeCluster()

    async def main() -> None:
        async with serving(cluster) as server:
            stream = await dial(cluster)
            await stream.send_all(beat())
            left = await parked.receive()
            assert running_tasks(server) == 0
        assert await is_closed(stream)
        await stream.aclose()
        assert left.abandoned
        assert not server.connections

    trio.run(main, clock=cluster.clock)


@pytest.mark.usefixtures("with_poller")
def test_connections_without_a_task_are_closed_when_everything_is_cancelled(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def main() -> None:
        server = cluster.server()
        async with trio.open_nursery() as nursery:
            await server.start(nursery, "127.0.0.1", 0)
            stream = await dial(cluster)
            await be_served(stream)
            assert running_tasks(server) == 0
            nursery.cancel_scope.cancel()
        server.close_listeners()
        server.release()
        assert not server.connections
        assert await is_closed(stream)
        await stream.aclose()

    trio.run(main, clock=cluster.clock)
    gc.collect()  # a socket that was left open would be told of here


@pytest.mark.usefixtures("with_poller")
@pytest.mark.parametrize("served", [False, True])
def test_a_node_that_stops_cuts_connections_without_a_task(install: Install, *, served: bool) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            if served:
                await be_served(stream)
            else:
                await wait_all_tasks_blocked()
            assert len(server.connections) == 1
            server.stop_node(cluster.nodes[1])
            assert await is_closed(stream)
            assert not server.connections

    run(cluster, scenario)
