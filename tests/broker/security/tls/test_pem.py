"""PEM stores: what Kafka takes, and its words for what it does not take."""

from __future__ import annotations

import pytest

from odradek.broker.security.tls.entries import StoreError, to_pem
from odradek.broker.security.tls.pem import key_store, trust_store
from tests.fakes.certificates import issued_by, new_authority

AUTHORITY = new_authority("Test CA")
LEAF = issued_by(AUTHORITY, "broker")


def test_a_key_and_its_chain() -> None:
    (key,) = key_store(LEAF.key_pem, LEAF.chain_pem, None).keys
    assert key.alias == "kafka"
    assert key.chain == (LEAF.der, AUTHORITY.der)
    assert key.pem() == LEAF.key_pem + LEAF.chain_pem
    assert "PRIVATE" not in repr(key)


def test_an_encrypted_key_keeps_its_password() -> None:
    (key,) = key_store(LEAF.encrypted_key_pem("secret"), LEAF.chain_pem, "secret").keys
    assert key.pem().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert "secret" not in repr(key)


def test_one_text_may_hold_key_certificates_and_other_things() -> None:
    text = f"subject=CN = broker\n\nBag Attributes: x\n{LEAF.chain_pem}Key Attributes\n{LEAF.key_pem}the end"
    (key,) = key_store(text, text, None).keys
    assert key.chain == (LEAF.der, AUTHORITY.der)


def test_headers_and_lost_line_ends_do_not_matter() -> None:
    body = to_pem("CERTIFICATE", LEAF.der).splitlines()
    text = "\r\n".join([body[0], "Proc-Type: 4", "", *body[1:]])
    assert trust_store(text.rstrip()).trusted == (("kafka0", LEAF.der),)


def test_trusted_certificates_are_numbered() -> None:
    assert trust_store(LEAF.chain_pem).trusted == (("kafka0", LEAF.der), ("kafka1", AUTHORITY.der))


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
        key_store(key, chain, password)
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
        key_store(key, LEAF.chain_pem, "secret")


@pytest.mark.parametrize(
    "unit",
    ["-", "-BEGIN ", "-BEGIN PRIVATE KEY", "-BEGIN PRIVATE KEY- ", "-BEGIN PRIVATE KEY-\n:\n", "-BEGIN PRIVATE ", " :"],
)
def test_a_text_of_beginnings_has_no_key(unit: str) -> None:
    """A client may set the key. Backtracking over 32 KiB, the most that a config has, took hours."""
    with pytest.raises(StoreError, match="No matching PRIVATE KEY entries"):
        key_store(unit * (32_767 // len(unit)), LEAF.chain_pem, None)


def test_titles_may_have_other_words_and_dashes() -> None:
    for title in ("X-509 TRUSTED CERTIFICATE", "TRUSTED  CERTIFICATE of a-b CERTIFICATE", "CERTIFICATE REQUEST"):
        body = "\n".join(to_pem("CERTIFICATE", LEAF.der).splitlines()[1:-1])
        text = f"-BEGIN {title}-\nProc: a:b\n\n{body}\n---END {title}--- \n"
        assert trust_store(text).trusted == (("kafka0", LEAF.der),)
