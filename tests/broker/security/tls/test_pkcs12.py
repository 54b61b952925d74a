"""The reader of PKCS#12 against stores of keytool."""

from __future__ import annotations

import hashlib
import sys

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate

from odradek.broker.security.tls.entries import StoreError
from odradek.broker.security.tls.pkcs12 import read_pkcs12
from tests.broker.security.tls.vectors import VECTORS, digests, store_bytes


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", ["rsa.p12", "ec.p12", "legacy.p12"])
def test_the_key_and_its_chain_are_what_keytool_lists(name: str) -> None:
    (key,) = read_pkcs12(store_bytes(name), VECTORS[name]["password"]).keys
    assert {key.alias: [_sha256(c) for c in key.chain]} == digests(name, "PrivateKeyEntry")
    private = load_der_private_key(key.key, None)
    assert private.public_key() == load_der_x509_certificate(key.chain[0]).public_key()


def test_trusted_certificates_are_what_keytool_lists() -> None:
    store = read_pkcs12(store_bytes("trust.PKCS12"), "trustpass")
    assert store.keys == ()
    assert {alias: [_sha256(c)] for alias, c in store.trusted} == digests("trust.PKCS12", "trustedCertEntry")


@pytest.mark.parametrize("password", ["wr0ng-secret", "", None])
def test_a_wrong_password_is_told_and_never_shown(password: str | None) -> None:
    with pytest.raises(StoreError, match="password was incorrect") as caught:
        read_pkcs12(store_bytes("rsa.p12"), password)
    assert "wr0ng-secret" not in str(caught.value)


def test_damage_is_told() -> None:
    data = store_bytes("rsa.p12")
    for at in range(0, len(data), 97):
        with pytest.raises(StoreError):
            read_pkcs12(data[:at], "storepass")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization.pkcs12", None)
    with pytest.raises(StoreError, match=r"need the extra odradek\[tls\]"):
        read_pkcs12(store_bytes("rsa.p12"), "storepass")
