"""SCRAM users and delegation tokens with a broker of the test's own, held against those of a real Kafka 4.4.0."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_delegation_token import CreateDelegationTokenRequest
from odradek.protocol.generated.messages.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.protocol.generated.messages.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.protocol.generated.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.scenarios.credential_conversations import CONVERSATIONS, Talk, transcribe
from tests.scenarios.login_conversation import Login
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties

VECTORS = Path(__file__).parents[2] / "vectors" / "credential_conversations.json.gz"
RECORDED: dict[str, Any] = json.loads(gzip.decompress(VECTORS.read_bytes()))
TOKENS = [name for name in CONVERSATIONS if "user" not in name and "password" not in name]
DAY_S = 86_400


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(config=sasl_properties(dict.fromkeys(LISTENERS, 0))) as started:
        yield started


def ports(broker: KafkaBroker) -> dict[str, int]:
    (node,) = broker.cluster.nodes.values()
    return {name: endpoint.port for name, endpoint in node.endpoints.items()}


def check(name: str, broker: KafkaBroker) -> None:
    """Hold a conversation, and see that every word of it is as recorded."""
    transcript = transcribe(name, ports(broker), broker.clock.advance)
    assert [pair for pair in zip_longest(transcript, RECORDED[name]) if pair[0] != pair[1]] == []
    assert broker.bugs == []


@pytest.mark.parametrize("name", TOKENS)
def test_a_conversation_goes_as_with_kafka(name: str, broker: KafkaBroker) -> None:
    check(name, broker)


def test_expired_tokens_go_when_they_are_looked_for(broker: KafkaBroker) -> None:
    talk = Talk(ports(broker), broker.clock.advance)
    alice = talk.of("alice")
    short, long = talk.creates(alice, life_ms=1000), talk.creates(alice)
    tokens = broker.cluster.image.delegation_tokens
    broker.clock.advance(60)
    assert set(tokens) == {short.token_id, long.token_id}
    broker.clock.advance(hours=1)
    assert set(tokens) == {long.token_id}
    broker.clock.advance(days=2)
    assert set(tokens) == set()
    talk.close()


def test_without_a_key_there_are_no_tokens() -> None:
    config = sasl_properties(dict.fromkeys(LISTENERS, 0))
    del config["delegation.token.secret.key"]
    with KafkaBroker(config=config) as broker:
        client = Login(ports(broker))
        client.logs_in("alice")
        for request in (
            CreateDelegationTokenRequest(),
            RenewDelegationTokenRequest(b"x"),
            ExpireDelegationTokenRequest(b"x"),
            DescribeDelegationTokenRequest(None),
        ):
            answer = client.asks(request, request.MAX_VERSION)
            assert answer.error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        client.close()
