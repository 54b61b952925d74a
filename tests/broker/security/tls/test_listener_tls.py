"""A listener's TLS: opened, checked, and replaced while it runs."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listener_config import ListenerConfig
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.security.tls.contexts import check_handshake
from odradek.broker.security.tls.listener_tls import ListenerTls
from tests.broker.security.tls.vectors import write_store
from tests.fakes.certificates import Certificate, issued_by, new_authority

AUTHORITY = new_authority("Test CA")
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


def test_bad_rules_are_refused() -> None:
    with pytest.raises(ConfigError, match="listener SECURE: Invalid rule"):
        opened(configured(principal_mapping_rules="RULE:x"))


def test_brokers_have_to_trust_each_other() -> None:
    foreign = configured(truststore_type="PEM", truststore_certificates=new_authority("Foreign CA").pem)
    with pytest.raises(ConfigError, match="A client SSLEngine created with the provided settings can't connect"):
        opened(foreign, between_brokers=True)
    trusting = configured(truststore_type="PEM", truststore_certificates=AUTHORITY.pem, client_auth="required")
    opened(trusting, between_brokers=True)


def test_stores_of_keytool(tmp_path: Path) -> None:
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


def test_secrets_are_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
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
