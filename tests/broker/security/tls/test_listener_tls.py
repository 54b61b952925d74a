"""A listener's TLS: opened, checked, and replaced while it runs."""

from __future__ import annotations

import logging
import os
import ssl
from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import Listener, ListenerConfig, SecurityProtocol
from odradek.broker.security.tls.contexts import Ciphers, check_handshake
from odradek.broker.security.tls.listener_tls import (
    ListenerTls,
    TlsListeners,
    TlsSettings,
    check_compatible,
    read_settings,
)
from odradek.broker.security.tls.stores import KeyEntry, Store, StoreError
from tests.broker.security.tls.vectors import write_store
from tests.fakes.certificates import Certificate, issued_by, new_authority

# -- What the configs of a listener say.


def read(protocol: SecurityProtocol = SecurityProtocol.SSL, **config: str) -> TlsSettings:
    given = {name.replace("__", ".").replace("_", "."): value for name, value in config.items()}
    return read_settings(BrokerConfig(given).for_listener("SSL"), protocol)


def test_listener_tls_settings_default_to_kafkas() -> None:
    settings = read()
    assert settings.keys.type == settings.trusted.type == "JKS"
    assert settings.terms.versions == ("TLSv1.2", "TLSv1.3")
    assert settings.terms.ciphers is None
    assert settings.terms.client_auth == "none"
    assert not settings.allow_dn_changes
    assert settings.modified == (0, 0)


def test_the_algorithms_of_java_make_no_difference() -> None:
    assert read(ssl__keymanager__algorithm="pkix", ssl__trustmanager__algorithm="X.509") == read()


@pytest.mark.parametrize(
    ("name", "factory"),
    [
        ("ssl.keymanager.algorithm", "KeyManagerFactory"),
        ("listener.name.ssl.ssl.trustmanager.algorithm", "TrustManagerFactory"),
    ],
)
def test_an_algorithm_that_java_does_not_have_is_refused(name: str, factory: str) -> None:
    with pytest.raises(ConfigError, match=f"^X510 {factory} not available"):
        read_settings(BrokerConfig({name: "X510"}).for_listener("SSL"), SecurityProtocol.SSL)


def test_a_listeners_own_configs_go_first() -> None:
    given = {
        "ssl.client.auth": "required",
        "listener.name.ssl.ssl.client.auth": "requested",
        "ssl.cipher.suites": "TLS_AES_256_GCM_SHA384",
        "listener.name.ssl.ssl.enabled.protocols": "TLSv1.3",
    }
    settings = read_settings(BrokerConfig(given).for_listener("SSL"), SecurityProtocol.SSL)
    assert settings.terms.client_auth == "requested"
    assert settings.terms.versions == ("TLSv1.3",)
    assert settings.terms.ciphers == Ciphers((), ("TLS_AES_256_GCM_SHA384",))


def test_with_sasl_only_a_listeners_own_client_auth_counts() -> None:
    assert read(SecurityProtocol.SASL_SSL, ssl_client_auth="required").terms.client_auth == "none"
    given = {"listener.name.ssl.ssl.client.auth": "required"}
    own = read_settings(BrokerConfig(given).for_listener("SSL"), SecurityProtocol.SASL_SSL)
    assert own.terms.client_auth == "required"


def test_a_file_that_is_written_again_makes_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "keys.pem"
    path.write_text("1")
    os.utime(path, ns=(1, 1))
    before = read(ssl_keystore_location=str(path))
    assert before == read(ssl_keystore_location=str(path))
    os.utime(path, ns=(1, 2))
    assert before != read(ssl_keystore_location=str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.protocol", "TLSv7"),
        ("ssl.enabled.protocols", "TLSv7"),
        ("ssl.cipher.suites", "TLS_ROT13"),
    ],
)
def test_what_java_does_not_know_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read_settings(BrokerConfig({name: value}).for_listener("SSL"), SecurityProtocol.SSL)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.engine.factory.class", "com.example.Engines"),
        ("ssl.provider", "BC"),
        ("ssl.secure.random.implementation", "SHA1PRNG"),
    ],
)
def test_classes_of_java_are_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="not supported by odradek"):
        BrokerConfig({name: value})


def test_a_name_that_no_file_can_have_is_no_file() -> None:
    assert read(ssl_keystore_location="a\0b").modified == read(ssl_keystore_location="/nowhere").modified


# -- Which certificates may take the place of which.

AUTHORITY = new_authority("Test CA")
OLD = issued_by(AUTHORITY, "broker", hosts=["a", "b"])


def _store(*certificates: Certificate) -> Store:
    return Store(tuple(KeyEntry(str(number), b"", (each.der,)) for number, each in enumerate(certificates)))


def _check(new: Store, *, dn: bool = False, san: bool = False) -> None:
    check_compatible(new, _store(OLD), allow_dn_changes=dn, allow_san_changes=san)


@pytest.mark.parametrize(
    ("name", "hosts"), [("broker", ["a", "b"]), ("BROKER", ["b", "a"]), ("broker", ["a", "b", "c"])]
)
def test_the_same_names_and_more_are_fine(name: str, hosts: list[str]) -> None:
    _check(_store(issued_by(AUTHORITY, name, hosts=hosts)))


def test_keystore_with_another_name_is_refused_unless_allowed() -> None:
    new = _store(issued_by(AUTHORITY, "other", hosts=["a", "b"]))
    with pytest.raises(
        StoreError,
        match=r"DistinguishedName does not match:  existing={alias=0, DN=CN=broker}, new={alias=0, DN=CN=other}",
    ):
        _check(new)
    _check(new, dn=True)


def test_a_lost_alternative_name_needs_leave() -> None:
    new = _store(issued_by(AUTHORITY, "broker", hosts=["a", "c"]))
    with pytest.raises(StoreError, match="Keystore SubjectAltNames do not match"):
        _check(new)
    _check(new, san=True)


def test_the_number_of_entries_stays() -> None:
    new = _store(OLD, OLD)
    with pytest.raises(StoreError, match="existing store contains 1 entries, new store contains 2 entries"):
        _check(new, dn=True)
    _check(new, dn=True, san=True)


BROKER = issued_by(AUTHORITY, "broker", hosts=["localhost"])


def configured(certificate: Certificate | None = BROKER, **more: str) -> ListenerConfig:
    given = {f"ssl.{name.replace('_', '.')}": value for name, value in more.items()}
    if certificate is not None:
        given |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": certificate.key_pem,
            "ssl.keystore.certificate.chain": certificate.chain_pem,
        }
    return BrokerConfig(given).for_listener("SECURE")


def opened(config: ListenerConfig, *, between_brokers: bool = False) -> ListenerTls:
    return ListenerTls(config, SecurityProtocol.SSL, between_brokers=between_brokers)


def served(tls: ListenerTls) -> bytes:
    """The certificate that a new client sees."""
    context = ssl.create_default_context(cadata=AUTHORITY.pem)
    context.check_hostname = False
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server)
    server = tls.context.wrap_bio(to_server, to_client, server_side=True)
    for end in (client, server, client):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            pass
    certificate = client.getpeercert(binary_form=True)
    assert certificate is not None
    return certificate


def test_a_tls_listener_needs_a_certificate() -> None:
    with pytest.raises(ConfigError, match=r"listener SECURE: it speaks TLS, so it needs a certificate"):
        opened(configured(None))


def test_listener_tls_with_bad_mapping_rules_is_refused() -> None:
    with pytest.raises(ConfigError, match="listener SECURE: Invalid rule"):
        opened(configured(principal_mapping_rules="RULE:x"))


def test_brokers_have_to_trust_each_other() -> None:
    foreign = configured(truststore_type="PEM", truststore_certificates=new_authority("Foreign CA").pem)
    with pytest.raises(ConfigError, match="A client SSLEngine created with the provided settings can't connect"):
        opened(foreign, between_brokers=True)
    trusting = configured(truststore_type="PEM", truststore_certificates=AUTHORITY.pem, client_auth="required")
    opened(trusting, between_brokers=True)


def test_listener_tls_opens_stores_of_keytool(tmp_path: Path) -> None:
    config = configured(
        None,
        keystore_location=write_store("rsa.jks", tmp_path),
        keystore_password="storepass",
        key_password="keypass1",
        truststore_location=write_store("trust.PKCS12", tmp_path),
        truststore_password="trustpass",
        client_auth="required",
    )
    opened(config, between_brokers=True)


def test_a_new_certificate_is_taken_over() -> None:
    renewed = issued_by(AUTHORITY, "broker", hosts=["localhost", "more"])
    tls = opened(configured())
    assert served(tls) == BROKER.der
    tls.check(configured(renewed))
    assert served(tls) == BROKER.der
    assert tls.apply(configured(renewed))
    assert served(tls) == renewed.der
    assert not tls.apply(configured(renewed))


def test_a_certificate_of_another_name_is_refused_and_nothing_changes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    other = issued_by(AUTHORITY, "other", hosts=["localhost"])
    tls = opened(configured())
    with pytest.raises(
        ConfigError, match=r"Validation of dynamic config update of SSLFactory failed: .*: Keystore Distinguished"
    ):
        tls.check(configured(other))
    assert not tls.apply(configured(other))
    assert served(tls) == BROKER.der
    assert "listener SECURE keeps its certificates" in caplog.text
    tls = opened(configured(allow_dn_changes="true"))
    tls.check(configured(other, allow_dn_changes="true"))


def test_only_stores_change_while_a_listener_is_open() -> None:
    tls = opened(configured())
    changed = configured(client_auth="required", enabled_protocols="TLSv1.2", allow_dn_changes="true")
    tls.check(changed)
    assert not tls.apply(changed)
    assert tls.context.verify_mode is ssl.CERT_NONE


def test_a_trust_store_cannot_be_added() -> None:
    tls = opened(configured())
    with pytest.raises(ConfigError, match="Cannot add SSL truststore to an existing listener"):
        tls.check(configured(truststore_type="PEM", truststore_certificates=AUTHORITY.pem))


def test_the_key_store_cannot_be_removed() -> None:
    with pytest.raises(ConfigError, match="Cannot remove the SSL keystore from an existing listener"):
        opened(configured()).check(configured(None))


def test_files_are_read_anew_only_when_they_are_applied(tmp_path: Path) -> None:
    renewed = issued_by(AUTHORITY, "broker", hosts=["localhost"])
    path = tmp_path / "keys.pem"
    path.write_text(BROKER.key_pem + BROKER.chain_pem)
    config = configured(None, keystore_type="PEM", keystore_location=str(path))
    tls = opened(config)
    path.write_text(renewed.key_pem + renewed.chain_pem)
    assert tls.apply(config)
    assert served(tls) == renewed.der
    path.write_text("damaged")
    tls.check(config)  # as in Kafka: no config changes
    assert not tls.apply(config)
    assert served(tls) == renewed.der


def test_listener_tls_logs_no_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    path = write_store("rsa.jks", tmp_path)
    good = configured(None, keystore_location=path, keystore_password="storepass", key_password="keypass1")
    bad = configured(None, keystore_location=path, keystore_password="wr0ng-secret", key_password="keypass1")
    tls = opened(good)
    with pytest.raises(ConfigError) as caught:
        tls.check(bad)
    tls.apply(bad)
    Path(path).touch()
    tls.apply(good)
    for text in (str(caught.value), caplog.text, repr(tls), repr(tls._opened)):
        assert "wr0ng-secret" not in text
        assert "storepass" not in text
        assert "PRIVATE KEY" not in text


def test_a_suite_of_tls_1_3_that_is_not_allowed_is_not_served() -> None:
    tls = opened(configured(cipher_suites="TLS_AES_256_GCM_SHA384"))

    class Met:
        def cipher(self) -> tuple[str, str, int]:
            return ("TLS_AES_128_GCM_SHA256", "TLSv1.3", 128)

        def version(self) -> str:
            return "TLSv1.3"

    with pytest.raises(ValueError, match="no cipher suites in common"):
        tls.principal_of(Met())  # type: ignore[arg-type]


def test_contexts_of_both_kinds_come_together() -> None:
    client = ssl.create_default_context(cadata=AUTHORITY.pem)
    client.check_hostname = False
    check_handshake(opened(configured()).context, client)


# -- The TLS listeners of a cluster follow the configs of their node.


def _values(certificate: Certificate) -> dict[str, str]:
    return {
        "listener.name.ssl.ssl.keystore.type": "PEM",
        "listener.name.ssl.ssl.keystore.key": certificate.key_pem,
        "listener.name.ssl.ssl.keystore.certificate.chain": certificate.chain_pem,
    }


def test_each_node_has_its_own_certificate() -> None:
    config = BrokerConfig(_values(issued_by(AUTHORITY, "broker")), node_ids=(1, 2))
    listeners = TlsListeners(config)
    listener = Listener("SSL", SecurityProtocol.SSL)
    first = listeners.open(1, listener, between_brokers=False)
    second = listeners.open(2, listener, between_brokers=False)
    contexts = first.context, second.context
    renewed = _values(issued_by(AUTHORITY, "broker"))
    listeners.check(1, renewed)
    config.set_dynamic(1, renewed)
    listeners.apply(1)
    assert first.context is not contexts[0]
    assert second.context is contexts[1]
    with pytest.raises(ConfigError):
        listeners.check(2, _values(issued_by(AUTHORITY, "other")))
    listeners.check(1, {})  # back to what was given at the start
