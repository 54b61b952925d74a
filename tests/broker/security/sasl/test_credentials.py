"""Credentials out of the metadata image."""

from __future__ import annotations

import base64

from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.credentials import (
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    ImageCredentials,
    ScramCredential,
    token_hmac,
)
from odradek.broker.security.sasl.scram import ScramServer
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from tests.scenarios.scram_client import ScramClient

TOKEN = DelegationTokenRecord("User:alice", "User:admin", [], 1, 1000, 500, "token-1")


def test_a_user_has_one_credential_for_each_mechanism() -> None:
    writer = ImageWriter()
    credentials = ImageCredentials(writer.image, lambda: None)
    assert credentials.user("alice", SCRAM_SHA_256) is None
    writer.replay(UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096), 0, 1)
    assert credentials.user("alice", SCRAM_SHA_256) == ScramCredential(b"salt", b"stored", b"server", 4096)
    assert credentials.user("alice", SCRAM_SHA_512) is None
    assert credentials.user("Alice", SCRAM_SHA_256) is None


def test_a_credential_shows_nothing_of_itself() -> None:
    shown = repr(ScramCredential(b"salt", b"stored", b"server", 4096))
    assert not any(secret in shown for secret in ("salt", "stored", "server"))


def test_a_tokens_password_is_its_hmac_in_base64() -> None:
    writer = ImageWriter()
    writer.replay(TOKEN, 0, 1)
    credentials = ImageCredentials(writer.image, lambda: "key")
    password = base64.b64encode(token_hmac("key", "token-1")).decode()
    for kind in (SCRAM_SHA_256, SCRAM_SHA_512):
        server = ScramServer(kind, credentials)
        client = ScramClient("token-1", password, kind.mechanism, extensions=",tokenauth=true")
        assert client.server_is_right(server.evaluate(client.final(server.evaluate(client.first()))))
        assert server.principal == Principal("User", "alice")
        assert server.expires_ms == 500


def test_tokens_need_a_key_and_another_key_makes_another_secret() -> None:
    writer = ImageWriter()
    writer.replay(TOKEN, 0, 1)
    key: str | None = "key"
    credentials = ImageCredentials(writer.image, lambda: key)
    first = credentials.token("token-1", SCRAM_SHA_256)
    assert first is not None
    assert credentials.token("token-1", SCRAM_SHA_256) == first
    assert credentials.token("token-2", SCRAM_SHA_256) is None
    key = "another"
    second = credentials.token("token-1", SCRAM_SHA_256)
    assert second is not None
    assert second.credential.stored_key != first.credential.stored_key
    key = ""
    assert credentials.token("token-1", SCRAM_SHA_256) is None
    key = None
    assert credentials.token("token-1", SCRAM_SHA_256) is None
