"""The recorded log-ins, and requests about users and tokens, are still what a real Kafka says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.real_kafka import RealKafka, Unavailable, free_ports
from tests.scenarios import credential_conversations, login_conversations
from tests.scenarios.login_conversation import Ports, add_scram_users, remove_scram_users
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties

VECTORS = Path(__file__).parents[1] / "vectors"


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


def recorded(kind: str) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((VECTORS / f"{kind}_conversations.json.gz").read_bytes()))
    return found


@pytest.mark.parametrize("name", credential_conversations.CONVERSATIONS)
def test_credentials(name: str, ports: Ports) -> None:
    assert credential_conversations.transcribe(name, ports) == recorded("credential")[name]


@pytest.mark.parametrize("name", login_conversations.CONVERSATIONS)
def test_log_ins(name: str, ports: Ports) -> None:
    add_scram_users(ports["PLAINTEXT"])
    try:
        assert login_conversations.transcribe(name, ports) == recorded("login")[name]
    finally:
        remove_scram_users(ports["PLAINTEXT"])
