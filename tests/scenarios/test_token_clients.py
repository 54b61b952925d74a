"""Client libraries that log in with tokens, good and bad."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from aiokafka.abc import AbstractTokenProvider as AsyncTokenProvider
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.conformance.real_kafka import java_command
from tests.scenarios.python_clients import kafka
from tests.scenarios.secured_listeners import Secured, java_jaas
from tests.scenarios.token_cases import claims


class AsyncTokens(AsyncTokenProvider):  # type: ignore[misc]  # aiokafka is not typed
    """aiokafka's way to ask for a token."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        return self._token


def tokens(secured: Secured) -> dict[str, tuple[str, str]]:
    """A good and a bad token for each kind of listener."""
    return {
        "OAUTH": (claims(), claims(exp=1000, iat=None)),
        "SIGNED": (secured.signer.token(), secured.signer.token(aud="other")),
    }


LISTENERS = pytest.mark.parametrize("listener", ["OAUTH", "SIGNED"])


@LISTENERS
def test_confluent_kafka_logs_in_with_tokens(secured: Secured, listener: str) -> None:
    good, bad = tokens(secured)[listener]

    def admin(token: str, errors: list[confluent_kafka.KafkaError]) -> AdminClient:
        config: dict[str, Any] = {
            "bootstrap.servers": secured.addresses[listener],
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "OAUTHBEARER",
            "oauth_cb": lambda config: (token, time.time() + 3600, "alice", {}),
            "error_cb": errors.append,
            "log_level": 0,
        }
        return AdminClient(config)

    accepted = admin(good, [])
    accepted.poll(1)  # serves the callback that gives the token
    assert accepted.list_topics(timeout=30).brokers
    errors: list[confluent_kafka.KafkaError] = []
    refused = admin(bad, errors)
    refused.poll(1)
    with pytest.raises(KafkaException):
        refused.list_topics(timeout=5)
    refused.poll(1)
    assert any(
        error.code() == confluent_kafka.KafkaError._AUTHENTICATION and "invalid_token" in error.str()
        for error in errors
    )


@LISTENERS
def test_kafka_python_logs_in_with_tokens(secured: Secured, listener: str) -> None:
    good, bad = tokens(secured)[listener]

    from kafka.net.sasl.oauth import AbstractTokenProvider

    class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python is not typed
        def __init__(self, token: str) -> None:
            self._token = token

        def token(self) -> str:
            return self._token

    def admin(token: str, timeout_ms: int = 30_000) -> Any:
        return kafka.KafkaAdminClient(
            bootstrap_servers=secured.addresses[listener],
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=Tokens(token),
            bootstrap_timeout_ms=timeout_ms,
        )

    client = admin(good)
    assert client.describe_cluster()["brokers"]
    client.close()
    with pytest.raises(kafka.errors.KafkaTimeoutError, match="Unable to bootstrap"):
        admin(bad, 2000)  # the reason is in its log only


@LISTENERS
def test_aiokafka_logs_in_with_tokens(secured: Secured, listener: str) -> None:
    good, bad = tokens(secured)[listener]

    async def brokers(token: str) -> Any:
        client = AIOKafkaAdminClient(
            bootstrap_servers=secured.addresses[listener],
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=AsyncTokens(token),
        )
        await client.start()
        try:
            return (await client.describe_cluster())["brokers"]
        finally:
            await client.close()

    assert asyncio.run(brokers(good))
    with pytest.raises(KafkaError, match="not ready"):
        asyncio.run(brokers(bad))  # it takes the broker's JSON for a success, and is cut


def java(
    secured: Secured, listener: str, properties: str, folder: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    file = folder / "client.properties"
    file.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n{properties}\n")
    command = java_command(
        "org.apache.kafka.tools.TopicCommand",
        *("--bootstrap-server", secured.addresses[listener], "--command-config", str(file), "--list"),
        extra=options,
    )
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.jdk
def test_java_with_an_unsecured_token(secured: Secured, tmp_path: Path) -> None:
    module = "oauthbearer.OAuthBearerLoginModule"
    good = java_jaas(module, unsecuredLoginStringClaim_sub="alice", unsecuredLoginListClaim_scope=",read,write")
    done = java(secured, "SCOPED", f"sasl.jaas.config={good}", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    bad = java_jaas(module, unsecuredLoginStringClaim_sub="alice", unsecuredLoginListClaim_scope=",read")
    refused = java(secured, "SCOPED", f"sasl.jaas.config={bad}", tmp_path)
    assert refused.returncode != 0
    assert '{"status":"insufficient_scope", "scope":"[read, write]"}' in refused.stdout + refused.stderr


@pytest.mark.jdk
def test_java_with_a_signed_token_from_a_file(secured: Secured, tmp_path: Path) -> None:
    file = tmp_path / "token"
    handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
    properties = (
        f"sasl.jaas.config={java_jaas('oauthbearer.OAuthBearerLoginModule')}\n"
        f"sasl.login.callback.handler.class={handler}\nsasl.oauthbearer.token.endpoint.url={file.as_uri()}"
    )
    allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={file.as_uri()}"
    file.write_text(secured.signer.token())
    done = java(secured, "SIGNED", properties, tmp_path, allowed)
    assert done.returncode == 0, done.stdout + done.stderr
    file.write_text(secured.signer.token(iss="https://other.invalid"))
    refused = java(secured, "SIGNED", properties, tmp_path, allowed)
    assert '{"status":"invalid_token"}' in refused.stdout + refused.stderr
