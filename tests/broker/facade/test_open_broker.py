"""``open_broker`` in the caller's trio run."""

from __future__ import annotations

import asyncio

import pytest
import trio
from trio.testing import MockClock

import odradek
from tests.broker.facade.test_threaded import PRODUCE
from tests.broker.probes import frames


class TestOpenBroker:
    def test_open_broker_runs_in_the_callers_trio_run(self) -> None:
        async def main() -> None:
            async with odradek.open_broker(topics={"p-data": 1}) as broker:
                host, _, port = broker.bootstrap_servers.partition(":")
                stream = await trio.open_tcp_stream(host, int(port))
                await stream.send_all(PRODUCE.sent)
                assert frames(bytes(await stream.receive_some(1000)))
                assert [each.offset for each in broker.records("p-data")] == [0, 1, 2]
                await stream.aclose()

        trio.run(main)

    def test_errors_of_the_body_come_out_unwrapped(self) -> None:
        async def main() -> None:
            async with odradek.open_broker():
                raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            trio.run(main)

    def test_errors_of_the_start_come_out_unwrapped(self) -> None:
        async def main() -> None:
            async with odradek.open_broker(topics={"bad name": 1}):
                pass

        with pytest.raises(odradek.KafkaError):
            trio.run(main)

    def test_open_broker_ends_when_it_is_cancelled(self) -> None:
        async def main() -> bool:
            with trio.move_on_after(0.05) as scope:
                async with odradek.open_broker():
                    await trio.sleep_forever()
            return scope.cancelled_caught

        assert trio.run(main)

    def test_the_clock_of_open_broker_follows_a_test_clock_and_can_be_moved_alone(self) -> None:
        async def main() -> None:
            async with odradek.open_broker() as broker:
                before = broker.clock.now_ms()
                await trio.sleep(3600)
                assert 3_600_000 <= broker.clock.now_ms() - before < 3_700_000
                broker.clock.advance(days=1)
                assert broker.clock.now_ms() - before >= 25 * 3_600_000

        trio.run(main, clock=MockClock(autojump_threshold=0))


def test_open_broker_needs_trio_and_says_what_to_use_without_it() -> None:
    async def main() -> None:
        async with odradek.open_broker():
            raise AssertionError

    with pytest.raises(RuntimeError, match=r"odradek\.KafkaBroker"):
        asyncio.run(main())


def test_a_broker_in_the_callers_run_takes_neither_a_clock_nor_a_process() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="takes no clock"):
            await odradek.open_broker(clock=odradek.BrokerClock()).__aenter__()
        with pytest.raises(ValueError, match="only KafkaBroker starts a process"):
            await odradek.open_broker(process=True).__aenter__()

    trio.run(main)
