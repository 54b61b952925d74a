"""A broker with a listener for each way to connect, started with one `server.properties` wherever it runs."""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.wire_client import WireClient
from tests.conformance.real_kafka import free_ports
from tests.scenarios.authority import Authority, TokenSigner
from tests.scenarios.target import served

PASSWORDS: Mapping[str, str] = {"alice": "alice-secret", "bob": 'bob="s, secret'}
"""Users of PLAIN and SCRAM."""

PROTOCOLS: Mapping[str, str] = {
    "PLAINTEXT": "PLAINTEXT",
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "NAMED": "SSL",
    "LOGIN": "SASL_SSL",
    "OAUTH": "SASL_PLAINTEXT",
    "SIGNED": "SASL_PLAINTEXT",
    "SCOPED": "SASL_PLAINTEXT",
    "FETCHED": "SASL_PLAINTEXT",
    "BRIEF": "SASL_PLAINTEXT",
}
"""Listener to its protocol. NAMED has another host's certificate, LOGIN takes passwords, OAUTH unsecured tokens, SIGNED
signed ones by a file of keys, FETCHED by a server's, and SCOPED those with two scopes; sessions on BRIEF end."""

_JAAS = "org.apache.kafka.common.security"
VALIDATOR = f"{_JAAS}.oauthbearer.OAuthBearerValidatorCallbackHandler"


@dataclass(frozen=True)
class Secured:
    """A running broker: `addresses` has host:port by listener."""

    addresses: Mapping[str, str]
    authority: Authority
    signer: TokenSigner

    def address(self, listener: str) -> tuple[str, int]:
        host, _, port = self.addresses[listener].rpartition(":")
        return host, int(port)


def server_properties(
    authority: Authority, signer: TokenSigner, jwks_url: str, ports: Mapping[str, int]
) -> dict[str, str]:
    """The listeners' part of `server.properties`."""
    server = authority.issue("broker", "localhost", "127.0.0.1")
    users = "".join(f' user_{user}="{_quoted(password)}"' for user, password in PASSWORDS.items())
    properties = {
        "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items()),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(server),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.ca),
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.named.ssl.keystore.location": str(authority.issue("named", "broker.invalid")),
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.login.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required{users};",
        "listener.name.brief.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.brief.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required{users};",
        "listener.name.brief.plain.connections.max.reauth.ms": "60000",
    }
    for size in ("256", "512"):
        properties[f"listener.name.login.scram-sha-{size}.sasl.jaas.config"] = (
            f"{_JAAS}.scram.ScramLoginModule required;"
        )
    scopes = ' unsecuredLoginStringClaim_sub="broker" unsecuredValidatorRequiredScope="read write"'
    for name, options in (("oauth", ""), ("signed", ""), ("fetched", ""), ("scoped", scopes)):
        properties[f"listener.name.{name}.sasl.enabled.mechanisms"] = "OAUTHBEARER"
        module = f"{_JAAS}.oauthbearer.OAuthBearerLoginModule required{options};"
        properties[f"listener.name.{name}.oauthbearer.sasl.jaas.config"] = module
    for name, url in (("signed", signer.jwks.as_uri()), ("fetched", jwks_url)):
        prefix = f"listener.name.{name}.oauthbearer.sasl"
        properties[f"{prefix}.server.callback.handler.class"] = VALIDATOR
        properties[f"{prefix}.oauthbearer.jwks.endpoint.url"] = url
        properties[f"{prefix}.oauthbearer.expected.audience"] = "kafka"
        properties[f"{prefix}.oauthbearer.expected.issuer"] = "https://issuer.invalid"
    return properties


@contextmanager
def served_keys(signer: TokenSigner) -> Iterator[str]:
    """The address of a server that gives the signer's file of keys as it is."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(signer.jwks.read_bytes())

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/keys"
        finally:
            server.shutdown()
            thread.join()


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@contextmanager
def secured_broker(side: str, folder: Path) -> Iterator[Secured]:
    """A broker of a side with all listeners, and the users in its metadata log."""
    authority, signer = Authority(folder / "certificates"), TokenSigner(folder)
    ports = dict(zip(PROTOCOLS, free_ports(len(PROTOCOLS)), strict=True))
    with served_keys(signer) as jwks_url:
        properties = server_properties(authority, signer, jwks_url, ports)
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={signer.jwks.as_uri()},{jwks_url}"
        with served(side, properties, jvm_options=[allowed]):
            add_users(ports["PLAINTEXT"])
            yield Secured({name: f"127.0.0.1:{port}" for name, port in ports.items()}, authority, signer)


def add_users(port: int) -> None:
    """Give each user a password for both mechanisms of SCRAM, one request each."""
    with WireClient("127.0.0.1", port) as client:
        for mechanism, hash_name in ((1, "sha256"), (2, "sha512")):
            upsertions = []
            for user, password in PASSWORDS.items():
                salt = os.urandom(20)
                salted = hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, 4096)
                upsertions.append(ScramCredentialUpsertion(user, mechanism, 4096, salt, salted))
            answer = client.request(AlterUserScramCredentialsRequest([], upsertions))
            assert not any(result.error_code for result in answer.results), answer


def java_jaas(module: str, **options: str) -> str:
    """A `sasl.jaas.config`: ``java_jaas("plain.PlainLoginModule", username="alice", ...)``."""
    given = "".join(f' {name}="{_quoted(value)}"' for name, value in options.items())
    return f"{_JAAS}.{module} required{given};"


def without_signature(claims: bytes) -> str:
    """A token of algorithm none around these claims, JSON or not."""
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    return f"{head}.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}."
