"""What a store holds; which settings of stores may stand together, and what is said of those that may not."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import load_der_x509_certificate

from odradek.broker.security.tls.stores import (
    KeyEntry,
    Store,
    StoreError,
    open_key_store,
    open_trust_store,
    pem_key_store,
    pem_trust_store,
    read_jks,
    read_pkcs12,
    to_pem,
)
from odradek.broker.security.tls.stores import KeyStoreSettings as Keys
from odradek.broker.security.tls.stores import TrustStoreSettings as Trusted
from tests.broker.security.tls.vectors import VECTORS, digests, store_bytes, write_store
from tests.fakes.certificates import issued_by, new_authority


def test_pem_is_what_openssl_writes() -> None:
    leaf = issued_by(new_authority("Test CA"), "broker")
    assert to_pem("CERTIFICATE", leaf.der) == leaf.pem


def test_a_trust_store_trusts_keys_own_certificates_too() -> None:
    store = Store((KeyEntry("own", b"key", (b"leaf", b"ca")),), (("other", b"root"),))
    assert store.certificates() == {"own": b"leaf", "other": b"root"}


def test_key_store_repr_shows_no_key() -> None:
    entry = KeyEntry("own", b"secret-key", (b"leaf",), "secret-password")
    assert "secret" not in repr(Store((entry,)))


# -- PEM stores: what Kafka takes, and its words for what it does not take.

AUTHORITY = new_authority("Test CA")
LEAF = issued_by(AUTHORITY, "broker")


def test_a_key_and_its_chain() -> None:
    (key,) = pem_key_store(LEAF.key_pem, LEAF.chain_pem, None).keys
    assert key.alias == "kafka"
    assert key.chain == (LEAF.der, AUTHORITY.der)
    assert key.pem() == LEAF.key_pem + LEAF.chain_pem
    assert "PRIVATE" not in repr(key)


def test_an_encrypted_key_keeps_its_password() -> None:
    (key,) = pem_key_store(LEAF.encrypted_key_pem("secret"), LEAF.chain_pem, "secret").keys
    assert key.pem().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert "secret" not in repr(key)


def test_one_text_may_hold_key_certificates_and_other_things() -> None:
    text = f"subject=CN = broker\n\nBag Attributes: x\n{LEAF.chain_pem}Key Attributes\n{LEAF.key_pem}the end"
    (key,) = pem_key_store(text, text, None).keys
    assert key.chain == (LEAF.der, AUTHORITY.der)


def test_headers_and_lost_line_ends_do_not_matter() -> None:
    body = to_pem("CERTIFICATE", LEAF.der).splitlines()
    text = "\r\n".join([body[0], "Proc-Type: 4", "", *body[1:]])
    assert pem_trust_store(text.rstrip()).trusted == (("kafka0", LEAF.der),)


def test_trusted_certificates_are_numbered() -> None:
    assert pem_trust_store(LEAF.chain_pem).trusted == (("kafka0", LEAF.der), ("kafka1", AUTHORITY.der))


@pytest.mark.parametrize(
    ("key", "chain", "password", "words"),
    [
        ("", LEAF.chain_pem, None, "No matching PRIVATE KEY entries in PEM file"),
        (LEAF.key_pem, "", None, "No matching CERTIFICATE entries in PEM file"),
        (LEAF.key_pem * 2, LEAF.chain_pem, None, "Expected one private key, but found 2"),
        (LEAF.old_key_pem, LEAF.chain_pem, None, "not in PKCS#8"),
        (LEAF.encrypted_key_pem("secret"), LEAF.chain_pem, None, "it is encrypted"),
        (LEAF.key_pem, LEAF.chain_pem, "secret", "the private key is not encrypted"),
        (to_pem("PRIVATE KEY", b"12345"), LEAF.chain_pem, None, "not in PKCS#8"),
        ("-----BEGIN PRIVATE KEY-----\nAAAAA\n-----END PRIVATE KEY-----\n", LEAF.chain_pem, None, "not base64"),
    ],
)
def test_what_kafka_does_not_take_is_refused(key: str, chain: str, password: str | None, words: str) -> None:
    with pytest.raises(StoreError, match=words) as caught:
        pem_key_store(key, chain, password)
    assert "secret" not in str(caught.value)


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return bytes((tag, 0x82)) + len(content).to_bytes(2, "big") + content


@pytest.mark.parametrize("rounds", [1_000_001, 2**31 - 1, 2**64])
def test_a_key_whose_encryption_takes_long_is_refused(rounds: int) -> None:
    """PBES2 with PBKDF2, as RFC 8018 has them: to try the password alone would take the broker hours."""
    derivation = der(0x30, der(0x04, b"salt"), der(0x02, rounds.to_bytes(9, "big")))
    methods = der(0x30, der(0x30, bytes.fromhex("06092a864886f70d01050c"), derivation), der(0x30, der(0x04, bytes(16))))
    algorithm = der(0x30, bytes.fromhex("06092a864886f70d01050d"), methods)
    key = to_pem("ENCRYPTED PRIVATE KEY", der(0x30, algorithm, der(0x04, bytes(32))))
    with pytest.raises(StoreError, match="takes more than 1000000 rounds"):
        pem_key_store(key, LEAF.chain_pem, "secret")


@pytest.mark.parametrize(
    "unit",
    ["-", "-BEGIN ", "-BEGIN PRIVATE KEY", "-BEGIN PRIVATE KEY- ", "-BEGIN PRIVATE KEY-\n:\n", "-BEGIN PRIVATE ", " :"],
)
def test_a_text_of_beginnings_has_no_key(unit: str) -> None:
    """A client may set the key. Backtracking over 32 KiB, the most that a config has, took hours."""
    with pytest.raises(StoreError, match="No matching PRIVATE KEY entries"):
        pem_key_store(unit * (32_767 // len(unit)), LEAF.chain_pem, None)


def test_titles_may_have_other_words_and_dashes() -> None:
    for title in ("X-509 TRUSTED CERTIFICATE", "TRUSTED  CERTIFICATE of a-b CERTIFICATE", "CERTIFICATE REQUEST"):
        body = "\n".join(to_pem("CERTIFICATE", LEAF.der).splitlines()[1:-1])
        text = f"-BEGIN {title}-\nProc: a:b\n\n{body}\n---END {title}--- \n"
        assert pem_trust_store(text).trusted == (("kafka0", LEAF.der),)


# -- The reader of JKS against stores of keytool, and against damage.


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


def test_jks_store_that_is_cut_is_refused() -> None:
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


# -- The reader of PKCS#12 against stores of keytool.


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
def test_a_wrong_password_is_told_and_never_shown_of_pkcs12(password: str | None) -> None:
    with pytest.raises(StoreError, match="password was incorrect") as caught:
        read_pkcs12(store_bytes("rsa.p12"), password)
    assert "wr0ng-secret" not in str(caught.value)


def test_pkcs12_store_that_is_damaged_is_refused() -> None:
    data = store_bytes("rsa.p12")
    for at in range(0, len(data), 97):
        with pytest.raises(StoreError):
            read_pkcs12(data[:at], "storepass")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization.pkcs12", None)
    with pytest.raises(StoreError, match=r"need the extra odradek\[tls\]"):
        read_pkcs12(store_bytes("rsa.p12"), "storepass")


# -- the settings

ENCRYPTED = LEAF.encrypted_key_pem("secret")


def test_no_settings_are_no_store() -> None:
    assert open_key_store(Keys("JKS")) is None
    assert open_trust_store(Trusted("JKS")) is None


def test_trust_store_is_read_from_pem_in_the_settings() -> None:
    store = open_key_store(Keys("PEM", key=LEAF.key_pem, chain=LEAF.chain_pem))
    assert store is not None
    assert store.keys[0].chain == (LEAF.der, AUTHORITY.der)
    trusted = open_trust_store(Trusted("PEM", certificates=AUTHORITY.pem))
    assert trusted is not None
    assert trusted.certificates() == {"kafka0": AUTHORITY.der}


def test_trust_store_is_read_from_pem_files(tmp_path: Path) -> None:
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


def test_trust_stores_of_java_are_read(tmp_path: Path) -> None:
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
