"""SCRAM users with a broker of the test's own, held against those of a real Kafka 4.4.0."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from tests.broker.api.test_delegation_tokens import TOKENS, broker, check
from tests.fakes.acls import SECURED
from tests.fakes.ask import ask
from tests.scenarios.credential_conversations import CONVERSATIONS

__all__ = ["broker"]


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if name not in TOKENS])
def test_a_conversation_goes_as_with_kafka(name: str, broker: KafkaBroker) -> None:
    check(name, broker)


def test_who_asks_for_all_users_without_the_right_is_answered() -> None:
    """A real Kafka fails on this refusal, and never answers: see DIFFERENCES.md."""
    answer = ask(Cluster(config=SECURED), DescribeUserScramCredentialsRequest(None), principal=Principal("User", "ann"))
    assert (answer.error_code, answer.results) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [])
