"""A connection's task begins once, in its order, and is cancelled whether it has begun or not."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.connection_task import ConnectionTask, ConnectionTasks
from odradek.broker.net.server import Server
from odradek.broker.requests.context import RequestContext
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install
from tests.broker.fast.test_poller import be_served, correlation_id, parking
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run, serving
from tests.fakes.cluster import FakeCluster


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


def test_it_begins_once() -> None:
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
    return sum(task._scope is not None for task in server.tasks.values())


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
