"""Which settings of stores may stand together, and what is said of those that may not: Kafka's sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.security.tls.store_formats import StoreError
from odradek.broker.security.tls.stores import KeyStoreSettings as Keys
from odradek.broker.security.tls.stores import TrustStoreSettings as Trusted
from odradek.broker.security.tls.stores import open_key_store, open_trust_store
from tests.broker.security.tls.vectors import write_store
from tests.fakes.certificates import issued_by, new_authority

AUTHORITY = new_authority("Test CA")
LEAF = issued_by(AUTHORITY, "broker")
ENCRYPTED = LEAF.encrypted_key_pem("secret")


def test_no_settings_are_no_store() -> None:
    assert open_key_store(Keys("JKS")) is None
    assert open_trust_store(Trusted("JKS")) is None


def test_pem_in_the_settings() -> None:
    store = open_key_store(Keys("PEM", key=LEAF.key_pem, chain=LEAF.chain_pem))
    assert store is not None
    assert store.keys[0].chain == (LEAF.der, AUTHORITY.der)
    trusted = open_trust_store(Trusted("PEM", certificates=AUTHORITY.pem))
    assert trusted is not None
    assert trusted.certificates() == {"kafka0": AUTHORITY.der}


def test_pem_files(tmp_path: Path) -> None:
    keys, trusted = tmp_path / "keys.pem", tmp_path / "trusted.pem"
    keys.write_text(LEAF.chain_pem + ENCRYPTED)
    trusted.write_text(AUTHORITY.pem)
    store = open_key_store(Keys("PEM", str(keys), key_password="secret"))
    assert store is not None
    assert store.keys[0].chain == (LEAF.der, AUTHORITY.der)
    found = open_trust_store(Trusted("PEM", str(trusted)))
    assert found is not None
    assert found.certificates() == {"kafka0": AUTHORITY.der}


@pytest.mark.parametrize("kind", ["JKS", "PKCS12", "jks", "pkcs12"])
@pytest.mark.parametrize(
    ("name", "password", "key_password"), [("rsa.jks", "storepass", "keypass1"), ("rsa.p12", "storepass", None)]
)
def test_both_formats_of_java_are_read_under_both_names(
    tmp_path: Path, kind: str, name: str, password: str, key_password: str | None
) -> None:
    store = open_key_store(Keys(kind, write_store(name, tmp_path), password, key_password))
    assert store is not None
    assert len(store.keys[0].chain) == 2


def test_trust_stores_of_java(tmp_path: Path) -> None:
    for kind in ("JKS", "PKCS12"):
        store = open_trust_store(Trusted(kind, write_store(f"trust.{kind}", tmp_path), "trustpass"))
        assert store is not None
        assert store.certificates().keys() == {"one", "two"}


REFUSED_KEYS = [
    (Keys("JKS", key="k", chain="c"), "SSL private key can be specified only for PEM, but key store type is JKS."),
    (Keys("PEM", key="k"), "SSL private key is specified, but certificate chain is not specified."),
    (Keys("PEM", "/x", key="k", chain="c"), "Both SSL key store location and separate private key are specified."),
    (
        Keys("PEM", None, "secret", key="k", chain="c"),
        "SSL key store password cannot be specified with PEM format, only key password may be specified.",
    ),
    (Keys("PEM", chain="c"), "SSL certificate chain is specified, but private key is not specified"),
    (
        Keys("PEM", "/x", "secret"),
        "SSL key store password cannot be specified with PEM format, only key password may be specified",
    ),
    (Keys("JKS", None, "secret"), "SSL key store is not specified, but key store password is specified."),
    (Keys("JKS", "/x"), "SSL key store is specified, but key store password is not specified."),
    (Keys("JKS", "/none", "secret"), "Failed to load SSL keystore /none of type JKS: No such file or directory"),
    (Keys("PEM", "/none"), "Failed to load PEM SSL keystore /none: No such file or directory"),
    (
        Keys("BCFKS", "/none", "secret"),
        "Failed to load SSL keystore /none of type BCFKS: BCFKS not found (odradek knows the types PEM, JKS and "
        "PKCS12)",
    ),
    (
        Keys("pem", "/none", "secret"),
        "Failed to load SSL keystore /none of type pem: pem not found (odradek knows the types PEM, JKS and PKCS12)",
    ),
    (
        Keys("PEM", key="k", chain="c"),
        "Invalid PEM keystore configs: No matching PRIVATE KEY entries in PEM file",
    ),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED_KEYS)
def test_what_cannot_be_a_key_store(settings: Keys, words: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_key_store(settings)
    assert str(caught.value) == words


REFUSED_TRUST = [
    (
        Trusted("JKS", certificates="c"),
        "SSL trust store certs can be specified only for PEM, but trust store type is JKS.",
    ),
    (
        Trusted("PEM", "/x", certificates="c"),
        "Both SSL trust store location and separate trust certificates are specified.",
    ),
    (
        Trusted("PEM", None, "secret", "c"),
        "SSL trust store password cannot be specified for PEM format.",
    ),
    (Trusted("PEM", "/x", "secret"), "SSL trust store password cannot be specified for PEM format."),
    (Trusted("JKS", None, "secret"), "SSL trust store is not specified, but trust store password is specified."),
    (Trusted("PEM", certificates="c"), "Invalid PEM truststore configs: No matching CERTIFICATE entries in PEM file"),
    (Trusted("PKCS12", "/none"), "Failed to load SSL keystore /none of type PKCS12: No such file or directory"),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED_TRUST)
def test_what_cannot_be_a_trust_store(settings: Trusted, words: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_trust_store(settings)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("name", "password", "key_password", "words"),
    [
        ("rsa.jks", "wr0ng", None, "password was incorrect"),
        ("rsa.jks", "storepass", None, "Cannot recover key"),
        ("rsa.p12", "wr0ng", None, "password was incorrect"),
        ("rsa.p12", "storepass", "wr0ng", "ssl.key.password differs"),
        ("rsa.jceks", "storepass", None, "a JCEKS store, which odradek does not read"),
    ],
)
def test_wrong_passwords_are_told_and_never_shown(
    tmp_path: Path, name: str, password: str, key_password: str | None, words: str
) -> None:
    settings = Keys("JKS", write_store(name, tmp_path), password, key_password)
    with pytest.raises(StoreError, match=words) as caught:
        open_key_store(settings)
    for text in (str(caught.value), repr(settings)):
        assert "wr0ng" not in text
        assert "storepass" not in text


@pytest.mark.parametrize("kind", ["PEM", "JKS", "PKCS12"])
def test_what_is_no_regular_file_is_not_opened(kind: str) -> None:
    password = None if kind == "PEM" else "secret"
    for path in ("/dev/zero", "/dev/stdin", "/", "\0"):
        with pytest.raises(StoreError, match="Failed to load"):
            open_key_store(Keys(kind, path, password))
        with pytest.raises(StoreError, match="Failed to load"):
            open_trust_store(Trusted(kind, path, password))
