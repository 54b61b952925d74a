"""SaslHandshake and SaslAuthenticate where nobody logs in; tests/broker/net/test_login_gate.py has the log-ins."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_delegation_token import CreateDelegationTokenRequest
from odradek.protocol.generated.messages.describe_delegation_token import DescribeDelegationTokenRequest
from odradek.protocol.generated.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.protocol.generated.messages.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.renew_delegation_token import RenewDelegationTokenRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from tests.fakes.acls import SECURED
from tests.fakes.ask import ask
from tests.fakes.brokers import broker_fixture
from tests.fakes.vectors import recorded
from tests.fakes.wire_client import WireClient
from tests.scenarios.credential_conversations import CONVERSATIONS, Talk, transcribe
from tests.scenarios.login_conversation import Login
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties


@pytest.mark.parametrize(
    ("request_", "versions"), [(SaslHandshakeRequest("PLAIN"), 2), (SaslAuthenticateRequest(b"\0a\0b"), 3)]
)
def test_delegation_token_apis_on_a_plain_listener_are_refused(request_: Any, versions: int) -> None:
    with KafkaBroker() as broker, WireClient.at(broker.bootstrap_servers) as client:
        for version in range(versions):
            assert client.request(request_, version).error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.request(ListGroupsRequest()).error_code == 0
        assert broker.bugs == []


def test_describe_scram_of_all_users_without_the_right_is_answered() -> None:
    """A real Kafka fails on this refusal, and never answers: see DIFFERENCES.md."""
    answer = ask(Cluster(config=SECURED), DescribeUserScramCredentialsRequest(None), principal=Principal("User", "ann"))
    assert (answer.error_code, answer.results) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [])


# -- SCRAM users and delegation tokens with a broker of the test's own, held against those of a real Kafka 4.4.0.


RECORDED: dict[str, Any] = recorded("credential_conversations")
DAY_S = 86_400
broker = broker_fixture(config=sasl_properties(dict.fromkeys(LISTENERS, 0)))


def ports(broker: KafkaBroker) -> dict[str, int]:
    (node,) = broker.cluster.nodes.values()
    return {name: endpoint.port for name, endpoint in node.endpoints.items()}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_about_credentials_goes_as_with_kafka(name: str, broker: KafkaBroker) -> None:
    transcript = transcribe(name, ports(broker), broker.clock.advance)
    assert [pair for pair in zip_longest(transcript, RECORDED[name]) if pair[0] != pair[1]] == []
    assert broker.bugs == []


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


def test_delegation_tokens_are_refused_without_a_secret_key() -> None:
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
