"""The recorded log-ins, and requests about users and tokens, are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.conformance.real_kafka import RELEASE, RealKafka, Unavailable, free_ports
from tests.fakes.vectors import recorded
from tests.scenarios import credential_conversations, login_conversations
from tests.scenarios.login_conversation import Ports, add_scram_users, remove_scram_users
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties


@pytest.fixture(scope="module")
def ports() -> Iterator[Ports]:
    """Of a Kafka of its own, on which users and tokens are not touched by others."""
    try:
        with sasl_kafka() as found:
            yield found
    except Unavailable as missing:
        pytest.skip(str(missing))


@contextmanager
def sasl_kafka() -> Iterator[Ports]:
    """The ports of a real Kafka with the listeners of `sasl_properties`."""
    controller, *others = free_ports(1 + len(LISTENERS))
    ports = dict(zip(LISTENERS, others, strict=True))
    with RealKafka(port=ports["PLAINTEXT"], config=sasl_properties(ports, ("CONTROLLER", controller))):
        yield ports


@pytest.mark.parametrize("name", credential_conversations.CONVERSATIONS)
def test_credentials(name: str, ports: Ports) -> None:
    assert credential_conversations.transcribe(name, ports) == recorded("credential_conversations", RELEASE)[name]


@pytest.mark.parametrize("name", login_conversations.CONVERSATIONS)
def test_log_ins(name: str, ports: Ports) -> None:
    add_scram_users(ports["PLAINTEXT"])
    try:
        told = login_conversations.transcribe(name, ports, release=RELEASE)
        assert told == recorded("login_conversations", RELEASE)[name]
    finally:
        remove_scram_users(ports["PLAINTEXT"])
