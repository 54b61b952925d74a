"""Listeners of a running Kafka come and go; what is left in its metadata log, odradek has on the same directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from odradek import KafkaBroker
from tests.conformance.real_kafka import RealKafka, free_ports
from tests.scenarios.listeners import HOST
from tests.scenarios.live_listeners import CHECKS, DONE, Ports, brokers, is_open
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk


@pytest.fixture(scope="module")
def kafka() -> Iterator[tuple[RealKafka, Ports]]:
    ports = Ports(*free_ports(4))
    node = RealKafka(port=ports.plain, config=ports.properties())
    node.start()
    try:
        yield node, ports
    finally:
        node.stop()


@pytest.mark.parametrize("check", CHECKS)
def test_listeners_of_a_running_kafka_change(kafka: tuple[RealKafka, Ports], check: Callable[[Ports], None]) -> None:
    check(kafka[1])


def test_both_have_what_is_left_in_the_log() -> None:
    ports = Ports(*free_ports(4))
    node = RealKafka(port=ports.plain, config=ports.properties())
    try:
        node.start()
        assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.extra}")) == DONE
        wait_until("the new listener", lambda: is_open(ports.extra))
        node.halt()
        with KafkaBroker(config_file=node.folder / "server.properties"):
            assert brokers(ports.extra) == []
            assert brokers(ports.plain) == [ports.plain]
            assert ports.alter(listeners=ports.listeners(f"NEW://{HOST}:{ports.extra}"))[0] == 42
        node.start()
        wait_until("the listener", lambda: is_open(ports.extra))
        assert brokers(ports.extra) == []
    finally:
        node.stop()
