"""What one task for many connections must keep: order, isolation, nothing missed, nothing left behind."""

from __future__ import annotations

import os
import select
import socket
import struct
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import odradek
from odradek.broker.clock import BrokerClock
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.net.server import Server
from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.broker.requests.parked_request import Parked
from odradek.broker.requests.recent_requests import Exchange, RawExchange
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.broker.conftest import Install, request_frame, response_of
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run, serving
from tests.fakes.cluster import FakeCluster


def correlation_id(frame: bytes) -> int:
    (number,) = struct.unpack_from(">i", frame)
    return int(number)


async def be_served(stream: trio.SocketStream) -> None:
    """One request and its answer: the poller has the connection then."""
    await stream.send_all(beat())
    await read_frame(stream)


def send_now(stream: trio.SocketStream, data: bytes) -> None:
    """Bytes into the socket, without giving the broker's tasks a turn."""
    with socket.socket(fileno=os.dup(stream.socket.fileno())) as twin:
        assert twin.send(data) == len(data)


def hold_for(server: Server, longest_ns: int) -> None:
    """Let answers wait for the others of their turn for so long."""
    assert isinstance(server._poller, EpollPoller)
    server._poller.longest_hold_ns = longest_ns


def is_readable(stream: trio.SocketStream) -> bool:
    """Whether something has come that nobody has read."""
    watch = select.poll()
    watch.register(stream.socket.fileno(), select.POLLIN)
    return bool(watch.poll(0))


def test_all_that_came_before_the_end_of_the_stream_is_answered(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await be_served(stream)
            await stream.send_all(b"".join(beat(correlation_id=number) for number in range(50)))
            await stream.send_eof()
            assert [correlation_id(await read_frame(stream)) for _ in range(50)] == list(range(50))
            assert await is_closed(stream)
        assert not server.connections

    run(cluster, scenario)


def test_requests_of_many_connections_in_one_turn_are_answered_each_on_its_own(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        streams = [await dial(cluster) for _ in range(40)]
        for stream in streams:
            await be_served(stream)
        for number, stream in enumerate(streams):
            send_now(stream, beat(correlation_id=2 * number) + beat(correlation_id=2 * number + 1))
        for number, stream in enumerate(streams):
            answered = [correlation_id(await read_frame(stream)) for _ in range(2)]
            assert answered == [2 * number, 2 * number + 1]
            await be_served(stream)
            await stream.aclose()

    run(cluster, scenario)


def test_a_request_and_the_end_of_the_stream_in_one_turn_are_both_seen(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await be_served(stream)
            send_now(stream, beat(correlation_id=5))
            stream.socket.shutdown(socket.SHUT_WR)
            assert correlation_id(await read_frame(stream)) == 5
            assert await is_closed(stream)
        assert not server.connections

    run(cluster, scenario)


def test_a_client_that_is_lost_before_its_answer_leaves_harms_nobody_else_of_the_turn(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        lost, other = await dial(cluster), await dial(cluster)
        await be_served(lost)
        await be_served(other)
        send_now(lost, beat())
        lost.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        lost.socket.close()  # with a reset
        send_now(other, beat(correlation_id=8))
        assert correlation_id(await read_frame(other)) == 8
        await be_served(other)
        await other.aclose()
        while server.connections:
            await trio.lowlevel.checkpoint()

    run(cluster, scenario)


def test_nothing_held_back_leaves_on_a_connection_that_was_cut_in_the_same_turn(
    install: Install, poller: type | None
) -> None:
    if poller is None:
        pytest.skip("it holds nothing back")
    cluster = FakeCluster()
    found: list[Any] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        if request.group_id == "cut the first":
            found[0].cut("for a test")
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)

    async def scenario(server: Server) -> None:
        first = await dial(cluster)
        await be_served(first)
        found.extend(server.connections)
        second = await dial(cluster)
        await be_served(second)
        hold_for(server, 1 << 62)
        send_now(first, beat(correlation_id=1))
        send_now(second, beat("cut the first", correlation_id=2))
        assert correlation_id(await read_frame(second)) == 2
        assert await is_closed(first)
        await first.aclose()
        await second.aclose()

    run(cluster, scenario)


def test_an_answer_that_has_waited_long_enough_leaves_before_the_turn_is_over(
    install: Install, poller: type | None
) -> None:
    if poller is None:
        pytest.skip("it holds nothing back")
    cluster = FakeCluster()
    has_left: list[bool] = []

    async def scenario(server: Server) -> None:
        first, second = await dial(cluster), await dial(cluster)

        def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
            if request.group_id == "look":
                has_left.append(is_readable(first))
            return HeartbeatResponse()

        install(HeartbeatRequest, handler)
        await be_served(first)
        await be_served(second)
        for longest_ns in (0, 1 << 62):
            hold_for(server, longest_ns)
            send_now(first, beat(correlation_id=1))
            send_now(second, beat("look", correlation_id=2))
            assert correlation_id(await read_frame(second)) == 2
            assert correlation_id(await read_frame(first)) == 1
        assert has_left == [True, False]
        await first.aclose()
        await second.aclose()

    run(cluster, scenario)


def test_half_a_request_and_the_end_of_the_stream_end_the_connection(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await be_served(stream)
            await stream.send_all(beat()[:-1])
            await wait_all_tasks_blocked()
            await stream.send_eof()
            assert await is_closed(stream)
        assert not server.connections

    run(cluster, scenario)


class TaskNames(trio.abc.Instrument):
    """The names of tasks that begin."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self.names.append(task.name)


@pytest.mark.parametrize("whole", [True, False], ids=["a request", "half a request"])
def test_a_connection_that_never_waits_has_no_task(install: Install, *, whole: bool) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        begun = TaskNames()
        trio.lowlevel.add_instrument(begun)
        async with await dial(cluster) as stream:
            await be_served(stream)
            if not whole:
                await stream.send_all(beat()[:-1])
        while server.connections:
            await wait_all_tasks_blocked()
        own = [name for name in begun.names if "ConnectionTasks" in name]
        assert len(own) == (0 if isinstance(server._poller, EpollPoller) else 1)

    run(cluster, scenario)


class Later(Parked):
    """A response that is there when it has been woken, or at its deadline."""

    def __init__(self, clock: BrokerClock, wait_ms: int) -> None:
        super().__init__(clock.now_ms() + wait_ms)
        self.clock = clock
        self.ready = False
        self.abandoned = False

    def resume(self) -> HeartbeatResponse | None:
        over = self.ready or self.clock.now_ms() >= self.deadline_ms
        return HeartbeatResponse() if over else None

    def abandon(self) -> None:
        self.abandoned = True

    def be_ready(self) -> None:
        self.ready = True
        self.wake()


def test_a_connection_goes_between_the_poller_and_its_task(install: Install) -> None:
    """Each request is answered once and in order, in any mixture of those that wait, that park, and that do neither."""

    async def later() -> HeartbeatResponse:
        await trio.sleep(0.001)
        return HeartbeatResponse()

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> Any:
        if request.group_id == "parked":
            return Later(ctx.services.clock, 1)
        return later() if request.group_id == "slow" else HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            number = 0
            for pauses in range(12):
                kinds = {0: "slow", 2: "parked"}
                frames = [beat(kinds.get(each % 5, "fast"), number + each) for each in range(pauses + 1)]
                await stream.send_all(b"".join(frames))
                for _ in frames:
                    assert correlation_id(await read_frame(stream)) == number
                    number += 1

    run(cluster, scenario)


def parking(install: Install) -> trio.MemoryReceiveChannel[Later]:
    """From now on heartbeats are parked for a day; gives them in their order."""
    put, take = trio.open_memory_channel[Later](10)

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> Any:
        parked = Later(ctx.services.clock, 86_400_000)
        put.send_nowait(parked)
        return parked

    install(HeartbeatRequest, handler)
    return take


def test_what_comes_behind_a_parked_request_is_answered_after_it(install: Install) -> None:
    parked = parking(install)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(beat(correlation_id=1))
            first = await parked.receive()
            await stream.send_all(beat(correlation_id=2) + beat(correlation_id=3))
            await stream.send_eof()
            await wait_all_tasks_blocked()
            first.be_ready()
            assert correlation_id(await read_frame(stream)) == 1
            for number in (2, 3):
                (await parked.receive()).be_ready()
                assert correlation_id(await read_frame(stream)) == number
            assert await is_closed(stream)
        assert not server.connections

    run(cluster, scenario)


def test_requests_and_the_end_that_come_while_the_poller_has_parked_a_connection_are_seen(install: Install) -> None:
    parked = parking(install)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            for number in range(0, 6, 2):  # from the second on the poller reads, all there is with one call
                await stream.send_all(beat(correlation_id=number))
                first = await parked.receive()
                await wait_all_tasks_blocked()
                send_now(stream, beat(correlation_id=number + 1))
                await wait_all_tasks_blocked()
                first.be_ready()
                assert correlation_id(await read_frame(stream)) == number
                second = await parked.receive()
                if number == 4:
                    await stream.send_eof()
                    await wait_all_tasks_blocked()
                second.be_ready()
                assert correlation_id(await read_frame(stream)) == number + 1
            assert await is_closed(stream)
        assert not server.connections

    run(cluster, scenario)


def test_a_parked_request_of_a_client_that_has_gone_is_forgotten(install: Install) -> None:
    parked = parking(install)
    cluster = FakeCluster()

    async def main() -> None:
        async with serving(cluster) as server:
            async with await dial(cluster) as stream:
                await stream.send_all(beat())
                request = await parked.receive()
            while server.connections:
                cluster.clock.advance(minutes=1)
                await wait_all_tasks_blocked()
            assert request.abandoned
            request.be_ready()

    trio.run(main, clock=cluster.clock)
    assert not cluster.bugs


def test_a_parked_request_may_be_answered_while_the_server_closes(install: Install) -> None:
    parked = parking(install)
    cluster = FakeCluster()

    async def main() -> None:
        server = cluster.server()
        async with trio.open_nursery() as nursery:
            await server.start(nursery, "127.0.0.1", 0)
            async with await dial(cluster) as stream:
                await stream.send_all(beat())
                request = await parked.receive()
                async with trio.open_nursery() as closing:
                    closing.start_soon(server.close, 60)
                    await wait_all_tasks_blocked()
                    request.be_ready()
                    await read_frame(stream)
                    assert await is_closed(stream)
            nursery.cancel_scope.cancel()
        server.release()

    trio.run(main, clock=cluster.clock)


def test_an_error_of_a_parked_request_is_answered(install: Install) -> None:
    class Failing(Later):
        def resume(self) -> HeartbeatResponse | None:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)

    install(HeartbeatRequest, lambda ctx, request: Failing(ctx.services.clock, 0))
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(beat())
            _, response = response_of(HeartbeatRequest(), 4, await read_frame(stream))
            assert response.error_code == ErrorCode.REBALANCE_IN_PROGRESS

    run(cluster, scenario)


@pytest.mark.parametrize("cut", [False, True])
def test_connections_that_are_cancelled_as_requests_arrive(install: Install, cut: bool, poller: type | None) -> None:
    if cut and poller is None:
        pytest.skip("the tasks of the others may come first")
    served: list[int] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        served.append(ctx.correlation_id)
        if cut and ctx.correlation_id == 1:
            server_of_test.stop_node(cluster.nodes[2])  # the others' requests came with this one
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(nodes=2)
    server_of_test: Server

    async def scenario(server: Server) -> None:
        nonlocal server_of_test
        server_of_test = server
        first = await dial(cluster)
        others = [await dial(cluster, 2) for _ in range(5)]
        for stream in (first, *others):
            await stream.send_all(beat(correlation_id=0))
            await read_frame(stream)
        for number, stream in enumerate((first, *others), 1):
            send_now(stream, beat(correlation_id=number))
        await read_frame(first)
        for stream in others:
            if cut:
                assert await is_closed(stream)
            else:
                await read_frame(stream)
            await stream.aclose()
        assert sorted(served) == [0] * 6 + ([1] if cut else [1, 2, 3, 4, 5, 6])
        await first.aclose()

    run(cluster, scenario)


def test_a_handler_that_stops_its_own_node_cuts_its_own_connection(install: Install) -> None:
    servers: list[Server] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> Any:
        if request.group_id == "stop":
            servers[0].stop_node(cluster.nodes[2])
            raise CloseConnection
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster(nodes=2)

    async def scenario(server: Server) -> None:
        servers.append(server)
        async with await dial(cluster, 2) as stopping, await dial(cluster) as good:
            for stream in (stopping, good):
                await be_served(stream)
            await stopping.send_all(beat("stop"))
            assert await is_closed(stopping)
            await be_served(good)

    run(cluster, scenario)


def test_a_record_that_comes_right_behind_a_fetch_is_not_missed() -> None:
    """Fetch and Produce are found readable together: the fetch is not waiting yet when the record is appended."""
    batch = build_batch([Record(0, 0, None, b"v", ())])
    data = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=batch)])
    produce = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[data])
    topic = FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)])
    fetch = FetchRequest(max_wait_ms=60_000, min_bytes=1, max_bytes=1 << 20, topics=[topic])

    async def main() -> None:
        async with odradek.open_broker(topics={"t": 1}) as broker:
            host, _, port = broker.bootstrap_servers.rpartition(":")
            reader = await trio.open_tcp_stream(host, int(port))
            writer = await trio.open_tcp_stream(host, int(port))
            async with reader, writer:
                for stream in (reader, writer):  # the poller has them both
                    await be_served(stream)
                await wait_all_tasks_blocked()
                # Without a checkpoint in between, so that one look finds both.
                send_now(reader, request_frame(fetch, 11))
                send_now(writer, request_frame(produce, 9))
                with trio.fail_after(60):
                    _, answer = response_of(fetch, 11, await read_frame(reader))
        assert len(answer.responses[0].partitions[0].records) == len(batch)

    trio.run(main)


def test_a_bug_outside_of_a_handler_ends_one_connection(install: Install) -> None:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    cluster = FakeCluster()

    def failing(answered: RawExchange) -> None:
        if Exchange._make(answered).correlation_id == 13:
            raise ZeroDivisionError("a bug")

    cluster.dispatcher.recent.watchers.append(failing)
    cluster.dispatcher.watchers_changed()

    async def scenario(server: Server) -> None:
        async with await dial(cluster) as bad, await dial(cluster) as good:
            for stream in (bad, good):
                await be_served(stream)
            await bad.send_all(beat(correlation_id=13))
            assert await is_closed(bad)
            await be_served(good)
        assert [type(bug.error) for bug in cluster.bugs] == [ZeroDivisionError]
        cluster.bugs.clear()

    run(cluster, scenario)
