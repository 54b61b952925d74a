"""The reader of JKS against stores of keytool, and against damage."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate

from odradek.broker.security.tls.entries import StoreError
from odradek.broker.security.tls.jks import read_jks
from tests.broker.security.tls.vectors import VECTORS, digests, store_bytes


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("name", ["rsa.jks", "ec.jks", "trust.JKS"])
def test_the_entries_are_what_keytool_lists(name: str) -> None:
    vector = VECTORS[name]
    store = read_jks(store_bytes(name), vector["password"], vector["key_password"])
    assert {key.alias: [_sha256(c) for c in key.chain] for key in store.keys} == digests(name, "PrivateKeyEntry")
    assert {alias: [_sha256(c)] for alias, c in store.trusted} == digests(name, "trustedCertEntry")


@pytest.mark.parametrize("name", ["rsa.jks", "ec.jks"])
def test_the_key_belongs_to_its_certificate(name: str) -> None:
    vector = VECTORS[name]
    (key,) = read_jks(store_bytes(name), vector["password"], vector["key_password"]).keys
    private = load_der_private_key(key.key, None)
    assert private.public_key() == load_der_x509_certificate(key.chain[0]).public_key()


def test_a_wrong_password_is_told_and_never_shown() -> None:
    with pytest.raises(StoreError, match="password was incorrect") as caught:
        read_jks(store_bytes("rsa.jks"), "wr0ng-secret", "keypass1")
    assert "wr0ng-secret" not in str(caught.value)


def test_a_wrong_password_of_the_key_is_told() -> None:
    with pytest.raises(StoreError, match="Cannot recover key"):
        read_jks(store_bytes("rsa.jks"), "storepass", "storepass")


def test_certificates_can_be_read_without_a_password() -> None:
    store = read_jks(store_bytes("trust.JKS"), None, None)
    assert {alias for alias, _ in store.trusted} == digests("trust.JKS", "trustedCertEntry").keys()


def test_every_cut_is_told() -> None:
    data = store_bytes("rsa.jks")
    for end in range(4, len(data) - 20, 7):
        with pytest.raises(StoreError):
            read_jks(data[:end], None, "keypass1")


def test_every_changed_byte_is_noticed_with_the_password() -> None:
    data = store_bytes("trust.JKS")
    for at in range(0, len(data), 31):
        with pytest.raises(StoreError, match="tampered"):
            read_jks(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], "trustpass", None)


@pytest.mark.long
def test_changed_bytes_never_do_more_than_refuse_without_the_password() -> None:
    data = store_bytes("rsa.jks")
    for at in range(len(data) - 20):
        changed = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        try:
            read_jks(changed, None, "keypass1")
        except StoreError:
            continue


@pytest.mark.jdk
def test_a_store_of_the_keytool_at_hand(tmp_path: Path) -> None:
    keytool = shutil.which("keytool")
    if keytool is None:
        pytest.skip("needs a JDK: no `keytool` on the PATH")
    path = tmp_path / "own.jks"
    made = [keytool, "-genkeypair", "-alias", "Own", "-keyalg", "EC", "-dname", "CN=own", "-storetype", "JKS"]
    secrets = ["-storepass", "storepass", "-keypass", "keypass"]
    subprocess.run([*made, "-keystore", str(path), *secrets], check=True, capture_output=True)
    (key,) = read_jks(path.read_bytes(), "storepass", "keypass").keys
    assert key.alias == "own"
    assert load_der_private_key(key.key, None).key_size == 256  # type: ignore[union-attr]
