"""`Security`: what it refuses, what it makes of a broker's configuration."""

from __future__ import annotations

from typing import Any

import pytest

from odradek import Acl, Security
from odradek.broker.facade.certificates import Certificates


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"mechanisms": ["CRAM"]}, ValueError, "mechanisms"),
        ({"client_certificates": "maybe"}, ValueError, "none, requested or required"),
        ({"client_certificates": "required"}, ValueError, "tls=True"),
        ({"users": {"a": "b"}, "mechanisms": []}, ValueError, "at least one mechanism"),
        ({"acls": ["alice may read"]}, TypeError, r"odradek\.Acl"),
        ({"authorizer": False, "acls": [Acl("a", "READ", topic="t")]}, ValueError, "without effect"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Security(**given)


@pytest.mark.parametrize(
    ("given", "protocol"),
    [
        ({}, "PLAINTEXT"),
        ({"tls": True}, "SSL"),
        ({"users": {"a": "b"}}, "SASL_PLAINTEXT"),
        ({"users": {"a": "b"}, "tls": True}, "SASL_SSL"),
        ({"mechanisms": ["OAUTHBEARER"]}, "SASL_PLAINTEXT"),
    ],
)
def test_the_protocol_is_what_is_asked_for(given: dict[str, Any], protocol: str) -> None:
    assert Security(**given).protocol == protocol


def test_an_authorizer_comes_with_rights() -> None:
    assert not Security().authorizes
    assert Security(acls=[Acl("a", "READ", topic="t")]).authorizes
    assert Security(super_users=["admin"]).authorizes
    config = Security(authorizer=True, super_users=["admin", "User:CN=x"]).config("127.0.0.1", 0, None)
    assert config["super.users"] == "User:admin;User:CN=x"
    assert config["authorizer.class.name"].endswith("StandardAuthorizer")


def test_passwords_are_quoted_for_jaas_and_never_shown() -> None:
    security = Security(users={"alice": 'a"b\\c'}, mechanisms=["PLAIN"])
    config = security.config("::1", 9092, None)
    assert config["listeners"] == "SASL_PLAINTEXT://[::1]:9092"
    assert config["listener.name.sasl_plaintext.plain.sasl.jaas.config"].endswith('user_alice="a\\"b\\\\c";')
    assert 'a"b' not in repr(security)


def test_certificates_become_stores() -> None:
    certificates = Certificates("127.0.0.1")
    config = Security(tls=True, client_certificates="required").config("127.0.0.1", 0, certificates)
    assert config["ssl.keystore.key"] == certificates.server_key
    assert config["listener.name.ssl.ssl.client.auth"] == "required"
    assert config["ssl.principal.mapping.rules"].startswith("RULE:")


def test_who_logs_in_must_be_known() -> None:
    security = Security(users={"alice": "x"}, mechanisms=["PLAIN", "SCRAM-SHA-256"])
    assert security.access("a:1", None, "alice", None).mechanism == "PLAIN"
    assert security.access("a:1", None, "alice", "SCRAM-SHA-256").mechanism == "SCRAM-SHA-256"
    with pytest.raises(ValueError, match="needs a user: one of alice"):
        security.access("a:1", None, None, None)
    with pytest.raises(ValueError, match="no user bob"):
        security.access("a:1", None, "bob", None)
    with pytest.raises(ValueError, match="takes PLAIN, SCRAM-SHA-256"):
        security.access("a:1", None, "alice", "SCRAM-SHA-512")
