"""Credentials out of the metadata image."""

from __future__ import annotations

import base64

import pytest

from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.credentials import (
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    Credentials,
    ScramCredential,
    scram_record,
    token_hmac,
)
from odradek.broker.security.sasl.passwords import ScramServer
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from tests.scenarios.scram_client import ScramClient

TOKEN = DelegationTokenRecord("User:alice", "User:admin", [], 1, 1000, 500, "token-1")


def test_a_user_has_one_credential_for_each_mechanism() -> None:
    writer = ImageWriter()
    credentials = Credentials(writer.image, lambda: None)
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
    credentials = Credentials(writer.image, lambda: "key")
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
    credentials = Credentials(writer.image, lambda: key)
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


def signed(numbers: str) -> bytes:
    """Bytes as Java prints them."""
    return bytes(int(number) % 256 for number in numbers.split(", "))


def test_a_user_with_a_password() -> None:
    record = scram_record('SCRAM-SHA-256=[name=alice,salt="c2FsdA==",iterations=8192,password=pencil]')
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("alice", 1, b"salt", 8192)
    assert record.stored_key == signed(
        "-107, 69, -101, -80, -60, -95, 117, -33, 35, -69, -122, 94, -2, -71, -15, 56, 111, -84, -50, 123, 61, -35, "
        "-41, 54, -84, -57, 68, -109, 104, 89, -106, -36"
    )
    assert record.server_key == signed(
        "-34, 125, 51, -126, 102, -48, 50, 60, 108, 99, -114, -21, -64, 26, -105, -94, 2, -51, 13, -1, 55, 67, 81, "
        "-33, -100, -79, 35, 48, -35, -128, -34, -10"
    )


def test_a_user_with_a_salted_password() -> None:
    record = scram_record(' SCRAM-SHA-512=[name="b c",salt=c2FsdA==,saltedpassword=cGFzc3dvcmQ=] ')
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("b c", 2, b"salt", 4096)
    assert record.stored_key[:8] == signed("-66, -57, -118, 35, 17, 104, 78, -47")
    assert record.server_key[:8] == signed("59, 106, -72, -70, 20, 10, -27, 5")
    assert len(record.stored_key) == len(record.server_key) == 64


def test_without_a_salt_it_is_random() -> None:
    one, other = (scram_record("SCRAM-SHA-256=[name=alice,password=pencil]") for _ in range(2))
    assert one.salt != other.salt
    assert len(one.salt) == 16


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("topsecret", "no '='"),
        ("SCRAM-SHA-1=[name=a,password=topsecret]", "SCRAM-SHA-1 is not supported"),
        ("SCRAM-SHA-256=name=a,password=topsecret]", r"enclosed in \[ and \]"),
        ("SCRAM-SHA-256=[name=a,password=topsecret", r"enclosed in \[ and \]"),
        ("SCRAM-SHA-256=[", r"enclosed in \[ and \]"),
        ("SCRAM-SHA-256=[password=topsecret]", "needs a 'name'"),
        ("SCRAM-SHA-256=[name=a,topsecret]", "has no '='"),
        ("SCRAM-SHA-256=[name=a]", "one of 'password' and 'saltedpassword'"),
        ("SCRAM-SHA-256=[name=a,saltedpassword=dG9wc2VjcmV0]", "needs its 'salt'"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,x=y]", "unknown parts of a SCRAM user: x"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,salt=!]", "'salt' of a SCRAM user is not base64"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,iterations=many]", "are not a number"),
        ("SCRAM-SHA-256=[name=a,password=topsecret,iterations=4095]", "are 4096 to 16384"),
        ("SCRAM-SHA-512=[name=a,password=topsecret,iterations=16385]", "are 4096 to 16384"),
    ],
)
def test_what_is_refused_shows_no_secret(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as error:
        scram_record(text)
    assert "topsecret" not in str(error.value)
