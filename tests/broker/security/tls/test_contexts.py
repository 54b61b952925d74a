"""Contexts are judged by whether two ends of a handshake come together, in memory."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.tls.contexts import (
    TLS13_SUITES,
    Terms,
    check_handshake,
    check_protocol,
    check_tls13,
    ciphers_of,
    client_context,
    server_context,
    versions_of,
)
from odradek.broker.security.tls.stores import Store, StoreError, pem_key_store, pem_trust_store, read_jks
from tests.broker.security.tls.vectors import VECTORS, store_bytes
from tests.fakes.certificates import Certificate, issued_by, new_authority

# -- Names of suites and versions: Java's against what OpenSSL calls them.


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
        ("TLS_DHE_RSA_WITH_AES_256_CBC_SHA256", "DHE-RSA-AES256-SHA256"),
        ("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"),
    ],
)
def test_suites_of_tls_1_2(java: str, openssl: str) -> None:
    assert ciphers_of([java]).tls12 == (openssl,)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl)


def test_names_are_those_of_the_openssl_program() -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the openssl program")
    listed = subprocess.run([program, "ciphers", "-stdname", "ALL"], capture_output=True, text=True, check=True).stdout
    pairs = re.findall(
        r"^(TLS_(?:ECDHE_RSA|ECDHE_ECDSA|DHE_RSA|RSA)_WITH_(?:AES_\d+_(?:GCM|CBC)|CHACHA20_POLY1305)_SHA\d*)\s+- (\S+)",
        listed,
        re.M,
    )
    assert len(pairs) > 10
    for java, openssl in pairs:
        assert ciphers_of([java]).tls12 == (openssl,)


def test_suites_of_tls_1_3_keep_their_names() -> None:
    ciphers = ciphers_of([*TLS13_SUITES, "TLS_EMPTY_RENEGOTIATION_INFO_SCSV"])
    assert ciphers == ((), TLS13_SUITES)


def test_tls_cipher_suites_that_are_unknown_are_refused() -> None:
    with pytest.raises(ConfigError, match="Unsupported CipherSuite: TLS_FOO_WITH_BAR"):
        ciphers_of(["TLS_FOO_WITH_BAR"])


def test_the_first_choice_of_tls_1_3_must_be_allowed() -> None:
    check_tls13(TLS13_SUITES[:1])
    check_tls13(TLS13_SUITES)
    check_tls13(())
    with pytest.raises(ConfigError, match="TLS_AES_256_GCM_SHA384"):
        check_tls13(TLS13_SUITES[1:])


@pytest.mark.parametrize(
    ("enabled", "versions"),
    [
        ((), ("TLSv1.2", "TLSv1.3")),
        (("TLSv1.3", "TLSv1.2"), ("TLSv1.2", "TLSv1.3")),
        (("TLSv1.3",), ("TLSv1.3",)),
        (("TLSv1", "TLSv1.1", "TLSv1.2"), ("TLSv1.2",)),
    ],
)
def test_a_tls_listener_takes_the_enabled_versions(enabled: tuple[str, ...], versions: tuple[str, ...]) -> None:
    assert versions_of(enabled) == versions


@pytest.mark.parametrize(
    ("enabled", "words"), [(("TLSv1.4",), "Unsupported protocol: TLSv1.4"), (("TLSv1.1",), "TLSv1.2 and TLSv1.3 only")]
)
def test_tls_versions_that_are_not_served_are_refused(enabled: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        versions_of(enabled)


def test_the_default_protocol_must_be_one_that_java_knows() -> None:
    check_protocol("TLS")
    check_protocol("TLSv1.2")
    with pytest.raises(ConfigError, match="TLSv9 SSLContext not available"):
        check_protocol("TLSv9")


AUTHORITY = new_authority("Test CA")
FOREIGN = new_authority("Foreign CA")
SERVER = issued_by(AUTHORITY, "broker")
CLIENT = issued_by(AUTHORITY, "alice")
TRUSTED = pem_trust_store(AUTHORITY.pem)
MUTUAL = Terms(client_auth="required")


def _keys(certificate: Certificate) -> Store:
    return pem_key_store(certificate.key_pem, certificate.chain_pem, None)


def _client(certificate: Certificate | None = None, terms: Terms = Terms()) -> ssl.SSLContext:  # noqa: B008
    context = client_context(terms, _keys(certificate or CLIENT), TRUSTED)
    if certificate is None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(cadata=AUTHORITY.pem)
    return context


def test_a_tls_listener_serves_clients_without_a_certificate() -> None:
    check_handshake(server_context(Terms(), _keys(SERVER), None), _client())


def test_a_tls_listener_that_requires_a_certificate_gets_it() -> None:
    server = server_context(MUTUAL, _keys(SERVER), TRUSTED)
    check_handshake(server, _client(CLIENT))
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        check_handshake(server, _client())


@pytest.mark.parametrize(
    "certificate",
    [
        issued_by(FOREIGN, "mallory"),
        issued_by(AUTHORITY, "late", days=(-9, -1)),
        issued_by(AUTHORITY, "early", days=(1, 9)),
        issued_by(AUTHORITY, "server only", for_servers_only=True),
    ],
    ids=["foreign", "expired", "not yet valid", "for servers only"],
)
@pytest.mark.parametrize("client_auth", ["required", "requested"])
def test_certificates_that_are_not_good_are_refused(certificate: Certificate, client_auth: str) -> None:
    server = server_context(Terms(client_auth=client_auth), _keys(SERVER), TRUSTED)
    with pytest.raises(ssl.SSLCertVerificationError):
        check_handshake(server, _client(certificate))


def test_a_requested_certificate_may_be_missing() -> None:
    check_handshake(server_context(Terms(client_auth="requested"), _keys(SERVER), TRUSTED), _client())


def test_a_certificate_in_the_trust_store_is_trusted_for_itself() -> None:
    alone = pem_trust_store(issued_by(AUTHORITY, "other").pem + CLIENT.pem)
    check_handshake(server_context(MUTUAL, _keys(SERVER), alone), _client(CLIENT))
    with pytest.raises(ssl.SSLCertVerificationError):
        check_handshake(server_context(MUTUAL, _keys(SERVER), alone), _client(issued_by(AUTHORITY, "third")))


def test_an_expired_certificate_is_refused_even_in_the_trust_store() -> None:
    late = issued_by(AUTHORITY, "late", days=(-9, -1))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        check_handshake(server_context(MUTUAL, _keys(SERVER), pem_trust_store(late.pem)), _client(late))


def test_keys_are_loaded_where_there_are_no_files_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    check_handshake(server_context(Terms(), _keys(SERVER), None), _client())


def test_a_chain_through_another_authority_is_sent() -> None:
    between = issued_by(AUTHORITY, "Between CA", is_authority=True)
    leaf = issued_by(between, "broker")
    check_handshake(server_context(Terms(), _keys(leaf), None), _client())
    without_chain = pem_key_store(leaf.key_pem, leaf.pem, None)
    with pytest.raises(ssl.SSLCertVerificationError):
        check_handshake(server_context(Terms(), without_chain, None), _client())


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_version_that_is_not_offered_is_not_spoken(version: str) -> None:
    server = server_context(Terms(versions=(version,)), _keys(SERVER), None)
    check_handshake(server, _client(terms=Terms(versions=(version,))))
    other = {"TLSv1.2": "TLSv1.3", "TLSv1.3": "TLSv1.2"}[version]
    with pytest.raises(ssl.SSLError):
        check_handshake(server, _client(CLIENT, Terms(versions=(other,))))


def test_suites_of_tls_1_2_switch_tls_1_3_off() -> None:
    terms = Terms(ciphers=ciphers_of(["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]))
    server = server_context(terms, _keys(SERVER), None)
    assert server.maximum_version is ssl.TLSVersion.TLSv1_2
    check_handshake(server, _client())
    assert [suite["name"] for suite in server.get_ciphers() if suite["protocol"] == "TLSv1.2"] == [
        "ECDHE-ECDSA-AES128-GCM-SHA256"
    ]


def test_suites_must_fit_the_versions() -> None:
    with pytest.raises(StoreError, match="no suite for a version"):
        server_context(Terms(("TLSv1.2",), ciphers_of(["TLS_AES_256_GCM_SHA384"])), _keys(SERVER), None)


def test_an_encrypted_key_is_opened() -> None:
    keys = pem_key_store(SERVER.encrypted_key_pem("secret"), SERVER.chain_pem, "secret")
    check_handshake(server_context(Terms(), keys, None), _client())


def test_a_wrong_password_of_a_key_is_told_and_never_shown() -> None:
    keys = pem_key_store(SERVER.encrypted_key_pem("secret"), SERVER.chain_pem, "wr0ng")
    with pytest.raises(StoreError, match=r"ssl.key.password is wrong") as caught:
        server_context(Terms(), keys, None)
    assert "wr0ng" not in str(caught.value)


def test_the_key_must_belong_to_the_certificate() -> None:
    with pytest.raises(StoreError, match="does not belong to the certificate of CN=broker"):
        server_context(Terms(), pem_key_store(CLIENT.key_pem, SERVER.chain_pem, None), None)


def test_stores_with_nothing_of_use_are_refused() -> None:
    with pytest.raises(StoreError, match="no private key"):
        server_context(Terms(), TRUSTED, None)
    with pytest.raises(StoreError, match="no certificate"):
        server_context(MUTUAL, _keys(SERVER), Store())
    with pytest.raises(StoreError, match="cannot be read"):
        server_context(MUTUAL, _keys(SERVER), Store(trusted=(("odd", b"x"),)))


def test_keys_of_two_kinds_serve_clients_of_either_kind() -> None:
    rsa = issued_by(AUTHORITY, "broker", use_rsa=True)
    both = Store(_keys(rsa).keys + _keys(SERVER).keys)
    server = server_context(Terms(), both, None)
    for suite in ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"):
        client = client_context(Terms(ciphers=ciphers_of([suite])), _keys(CLIENT), TRUSTED)
        check_handshake(server, client)


@pytest.mark.parametrize("name", ["rsa.jks", "ec.jks"])
def test_stores_of_keytool_serve(name: str) -> None:
    vector = VECTORS[name]
    store = read_jks(store_bytes(name), vector["password"], vector["key_password"])
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.load_verify_locations(cadata=dict(store.trusted)["ca"])
    check_handshake(server_context(Terms(), store, None), client)
