"""The recorded log-ins, and requests about users and tokens, are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import RELEASE, RealKafka, free_ports
from tests.fakes.vectors import recorded
from tests.scenarios import credential_conversations, login_conversations
from tests.scenarios.login_conversation import Ports
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties


@pytest.fixture(scope="module")
def ports() -> Iterator[Ports]:
    """Of a Kafka with the listeners of `sasl_properties`, on which users and tokens are not touched by others."""
    controller, *others = free_ports(1 + len(LISTENERS))
    ports = dict(zip(LISTENERS, others, strict=True))
    with RealKafka(port=ports["PLAINTEXT"], config=sasl_properties(ports, ("CONTROLLER", controller))):
        yield ports


@pytest.mark.parametrize("name", credential_conversations.CONVERSATIONS)
def test_requests_about_credentials_are_answered_as_recorded(name: str, ports: Ports) -> None:
    assert credential_conversations.transcribe(name, ports) == recorded("credential_conversations", RELEASE)[name]


@pytest.mark.parametrize("name", login_conversations.CONVERSATIONS)
def test_log_ins_are_answered_as_recorded(name: str, ports: Ports) -> None:
    told = login_conversations.transcribe(name, ports, release=RELEASE)
    assert told == recorded("login_conversations", RELEASE)[name]
