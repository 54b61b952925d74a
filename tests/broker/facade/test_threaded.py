"""``KafkaBroker`` in its own thread."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import Any

import pytest

import odradek.types
from odradek.broker.facade.thread_bridge import BrokerClosedError
from tests.broker.conftest import request_frame
from tests.broker.probes import Wire, probes

PRODUCE = next(each for each in probes() if each.case == "produce-ok-v9")


def wire_to(broker: odradek.types.Broker) -> Wire:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    return Wire((host, int(port)))


def produce_three(broker: odradek.types.Broker) -> None:
    """Three records into p-data, partition 0, from a recorded frame of a real client."""
    with wire_to(broker) as wire:
        wire.send(PRODUCE.sent)
        assert wire.frame() is not None


class TestKafkaBroker:
    def test_a_threaded_broker_listens_and_knows_its_topics(self) -> None:
        topics: dict[str, Any] = {
            "orders": 6,
            "small": {"partitions": 2, "config": {"retention.ms": 1000, "cleanup.policy": ["compact", "delete"]}},
            "spec": odradek.TopicSpec(partitions=3),
        }
        with odradek.KafkaBroker(topics=topics) as broker:
            host, _, port = broker.bootstrap_servers.partition(":")
            assert host == "127.0.0.1"
            socket.create_connection((host, int(port))).close()
            shown = broker.topics
        assert {name: len(each.partitions) for name, each in shown.items()} == {"orders": 6, "small": 2, "spec": 3}
        assert shown["small"].config == {"retention.ms": "1000", "cleanup.policy": "compact,delete"}
        assert len(shown["orders"].topic_id) == 22
        with pytest.raises(OSError):
            socket.create_connection((host, int(port)), timeout=1)

    def test_errors_at_the_start_are_raised_in_the_caller(self) -> None:
        with pytest.raises(ValueError, match=r"no\.such\.config"):
            odradek.KafkaBroker(config={"no.such.config": 1})
        with pytest.raises(ValueError, match="at least one node"):
            odradek.KafkaBroker(nodes=0)
        with pytest.raises(ValueError, match="not partition"):
            odradek.KafkaBroker(topics={"a": {"partition": 1}})
        with pytest.raises(odradek.KafkaError):
            odradek.KafkaBroker(topics={"a": {"config": {"nonsense": "1"}}}).start()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with pytest.raises(OSError, match="in use"):
                odradek.KafkaBroker(port=taken.getsockname()[1]).start()

    def test_an_error_that_ends_the_broker_reaches_the_caller(self) -> None:
        broker = odradek.KafkaBroker().start()

        async def fail() -> None:
            raise OSError("the disk is gone")

        broker._call(lambda: broker.cluster.start(fail))
        assert broker._thread is not None
        broker._thread.join(30)
        with pytest.raises(BrokerClosedError, match="closed") as caught:
            _ = broker.topics
        assert "the disk is gone" in repr(caught.value.__cause__)
        with pytest.raises(BrokerClosedError, match="ended with an error"):
            broker.close()
        broker.close()

    def test_a_broker_that_does_not_run_says_so(self) -> None:
        broker = odradek.KafkaBroker()
        for ask in (lambda: broker.topics, lambda: broker.bootstrap_servers):
            with pytest.raises(BrokerClosedError, match="not been started"):
                ask()
        broker.close()
        with broker, pytest.raises(RuntimeError, match="starts once"):
            broker.start()
        for ask in (lambda: broker.topics, lambda: broker.bootstrap_servers):
            with pytest.raises(BrokerClosedError, match="is closed"):
                ask()

    def test_a_threaded_broker_shows_where_it_is(self) -> None:
        broker = odradek.KafkaBroker()
        assert repr(broker) == "<KafkaBroker: the broker has not been started; use `with` or start()>"
        with broker:
            assert repr(broker) == f"<KafkaBroker at {broker.bootstrap_servers}>"
            with broker.hold("tx", at="PrepareCommit") as hold:
                assert repr(hold) == "<TransactionHold of 'tx' at PrepareCommit, not reached>"
        assert repr(broker) == "<KafkaBroker: the broker is closed>"

    def test_closing_takes_less_than_a_second_with_clients_connected_and_a_frozen_clock(self) -> None:
        def closing() -> float:
            broker = odradek.KafkaBroker(topics={"p-data": 1}).start()
            clients = [wire_to(broker) for _ in range(20)]
            clients[0].send(probe_frame("fetch-max-wait"))
            broker.clock.freeze()
            begin = time.monotonic()
            broker.close()
            took = time.monotonic() - begin
            assert broker._thread is not None
            assert not broker._thread.is_alive()
            for each in clients:
                each.close()
            return took

        assert any(closing() < 1 for _ in range(5))  # once is enough: the machine may be busy

    def test_a_further_broker_starts_in_milliseconds(self) -> None:
        def starting() -> float:
            begin = time.perf_counter()
            broker = odradek.KafkaBroker(topics={"orders": 6}).start()
            took = time.perf_counter() - begin
            broker.close()
            return took

        starting()
        assert any(starting() < 0.025 for _ in range(200))  # 5 ms on an idle machine; a busy one has its moments

    def test_many_brokers_and_callers_at_once(self) -> None:
        failures: list[BaseException] = []

        def work() -> None:
            try:
                with odradek.KafkaBroker(topics={"p-data": 1}) as broker:
                    produce_three(broker)
                    assert len(list(broker.records("p-data"))) == 3
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not failures

    def test_a_threaded_broker_works_from_asyncio(self) -> None:
        async def main() -> int:
            with odradek.KafkaBroker(topics={"orders": 1}) as broker:
                host, _, port = broker.bootstrap_servers.partition(":")
                reader, writer = await asyncio.open_connection(host, int(port))
                from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest

                writer.write(request_frame(ApiVersionsRequest(), 0))
                answer = await asyncio.wait_for(reader.readexactly(8), 30)
                writer.close()
                await writer.wait_closed()
                return len(answer)

        assert asyncio.run(main()) == 8

    def test_the_clock_moves_from_the_callers_thread(self) -> None:
        with odradek.KafkaBroker() as broker:
            before = broker.clock.now_ms()
            broker.clock.advance(hours=5)
            assert broker.clock.now_ms() - before >= 5 * 3_600_000


def probe_frame(start: str) -> bytes:
    return next(each.sent for each in probes() if each.case.startswith(start))
