"""Connections that wait, are closed, or close others: on a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.net.connection_limits import ConnectionLimits

_OVERRIDES = "max.connections.per.ip.overrides"
_LOCAL, _OTHER = "127.0.0.1", "10.0.0.9"


class _Limits:
    """Limits of a node with two listeners, and what came of the connections that tried to enter."""

    def __init__(self, values: dict[str, str], listeners: tuple[str, ...] = ("IN", "OUT")) -> None:
        self.clock = BrokerClock()
        self.config = BrokerConfig(values)
        self.asked_to_close: list[int] = []
        self.limits = ConnectionLimits(self.config, self.clock, 1, listeners, self.asked_to_close.append)
        self.config.watchers.append(self.limits.changed)
        self.entered: list[tuple[str, bool]] = []

    async def enter(self, listener: str, host: str = _LOCAL) -> None:
        await self.limits.wait_for_room(listener)
        self.entered.append((listener, self.limits.enter(listener, host)))

    def run(self, scenario: Callable[[trio.Nursery], Awaitable[None]]) -> None:
        async def main() -> None:
            self.clock.attach()
            self.clock.freeze()
            async with trio.open_nursery() as nursery:
                await scenario(nursery)
                nursery.cancel_scope.cancel()

        trio.run(main, clock=self.clock)


def test_a_full_broker_lets_new_connections_wait() -> None:
    node = _Limits({"max.connections": "2"})

    async def scenario(nursery: trio.Nursery) -> None:
        await node.enter("OUT")
        await node.enter("OUT", _OTHER)
        nursery.start_soon(node.enter, "OUT")
        await wait_all_tasks_blocked()
        assert (node.limits.count, len(node.entered)) == (2, 2)
        node.limits.leave("OUT", _OTHER)
        await wait_all_tasks_blocked()
        assert (node.limits.count, node.entered[2:]) == (2, [("OUT", True)])
        assert node.asked_to_close == []

    node.run(scenario)


def test_connection_limit_lets_brokers_in_and_closes_a_client() -> None:
    node = _Limits({"max.connections": "1"})

    async def scenario(nursery: trio.Nursery) -> None:
        await node.enter("OUT")
        await node.enter("IN")
        assert node.limits.count == 2
        assert node.asked_to_close == [1]

    node.run(scenario)


def test_a_single_listener_is_not_protected() -> None:
    node = _Limits({"max.connections": "1"}, ("IN",))

    async def scenario(nursery: trio.Nursery) -> None:
        await node.enter("IN")
        nursery.start_soon(node.enter, "IN")
        await wait_all_tasks_blocked()
        assert node.limits.count == 1

    node.run(scenario)


def test_a_listener_has_its_own_limit() -> None:
    node = _Limits({"listener.name.in.max.connections": "1"})

    async def scenario(nursery: trio.Nursery) -> None:
        await node.enter("IN")
        nursery.start_soon(node.enter, "IN")
        await wait_all_tasks_blocked()
        await node.enter("OUT")
        assert node.entered == [("IN", True), ("OUT", True)]
        node.config.set_dynamic(1, {"listener.name.in.max.connections": "2"})
        await wait_all_tasks_blocked()
        assert node.entered[2:] == [("IN", True)]

    node.run(scenario)


def test_a_lower_limit_closes_the_idlest() -> None:
    node = _Limits({})

    async def scenario(nursery: trio.Nursery) -> None:
        for _ in range(5):
            await node.enter("OUT")
        node.config.set_dynamic(None, {"max.connections": "2"})
        assert node.asked_to_close == [3]

    node.run(scenario)


def test_one_address_may_not_have_more() -> None:
    node = _Limits({"max.connections.per.ip": "1", _OVERRIDES: "10.0.0.9:2,localhost:1"})

    async def scenario(nursery: trio.Nursery) -> None:
        for host in (_LOCAL, _LOCAL, _OTHER, _OTHER, _OTHER):
            await node.enter("OUT", host)
        assert [entered for _, entered in node.entered] == [True, False, True, True, False]
        node.limits.leave("OUT", _LOCAL)
        await node.enter("IN", _LOCAL)
        assert node.entered[-1] == ("IN", True)
        node.config.set_dynamic(None, {"max.connections.per.ip": "5", _OVERRIDES: "127.0.0.1:1"})
        await node.enter("OUT", _OTHER)
        await node.enter("OUT", _LOCAL)
        assert [entered for _, entered in node.entered[-2:]] == [True, False]

    node.run(scenario)


def test_a_name_that_nobody_resolves_counts_for_nobody() -> None:
    node = _Limits({_OVERRIDES: f"no-such-host.invalid:0,{'a' * 70}.com:0,..:0"})

    async def scenario(nursery: trio.Nursery) -> None:
        await node.enter("OUT")
        assert node.entered == [("OUT", True)]

    node.run(scenario)


def test_too_many_at_once_wait_for_the_rate_to_come_down() -> None:
    # 11 samples of a second: a rate of 2 in a second takes 20 connections in the first ones. The 21st is 0.1 above the
    # rate, which 10 seconds of waiting would undo: 0.1 / 2 * 10 s = 0.5 s.
    node = _Limits({"max.connection.creation.rate": "2"})

    async def scenario(nursery: trio.Nursery) -> None:
        for _ in range(20):
            await node.enter("OUT")
        nursery.start_soon(node.enter, "OUT")
        await wait_all_tasks_blocked()
        assert node.limits.count == 20
        await node.enter("IN")
        assert node.limits.count == 21
        node.clock.advance(0.499)
        await wait_all_tasks_blocked()
        assert node.limits.count == 21
        node.clock.advance(0.001)
        await wait_all_tasks_blocked()
        assert node.limits.count == 22

    node.run(scenario)


def test_nobody_waits_longer_than_a_sample() -> None:
    node = _Limits({"listener.name.out.max.connection.creation.rate": "1"})

    async def scenario(nursery: trio.Nursery) -> None:
        for _ in range(10):
            await node.enter("OUT")
        for _ in range(50):
            nursery.start_soon(node.enter, "OUT")
        await wait_all_tasks_blocked()
        node.clock.advance(seconds=1)
        await wait_all_tasks_blocked()
        assert node.limits.count == 60

    node.run(scenario)


def test_what_is_turned_away_counts_for_no_rate() -> None:
    node = _Limits({"max.connection.creation.rate": "2", "listener.name.out.max.connection.creation.rate": "2"})

    async def scenario(nursery: trio.Nursery) -> None:
        for _ in range(100):
            await node.limits.wait_for_room("OUT")
            node.limits.take_back("OUT")
        for _ in range(20):
            await node.enter("OUT")
        assert node.limits.count == 20

    node.run(scenario)
