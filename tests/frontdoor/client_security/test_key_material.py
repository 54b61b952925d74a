"""Certificates and keys in every form that a client may have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.client_security import SecurityOptionError
from odradek.client_security.key_material import KeyPair, own_pair, trusted
from odradek.client_security.options import TlsOptions
from tests.scenarios.authority import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.issue("client")
    made.pkcs12("client", "hush")
    return made


def blocks(text: str | None) -> list[str]:
    """The PEM blocks without their white space."""
    return ["".join(block.split()) for block in (text or "").split("-----END")]


def test_nothing_given_trusts_the_system_and_shows_nothing() -> None:
    assert trusted(TlsOptions()) is None
    assert own_pair(TlsOptions()) is None


@pytest.mark.parametrize("line_break", ["\n", " ", "", "\\n"])
def test_pem_text_may_have_lost_its_lines(authority: Authority, line_break: str) -> None:
    text = authority.ca.read_text()
    given = line_break.join(text.strip().split("\n"))
    assert blocks(trusted(TlsOptions(ca_pem=given))) == blocks(text.strip() + "\n")


def test_a_store_of_key_and_chain_as_pem_and_as_pkcs12(authority: Authority) -> None:
    pem = own_pair(TlsOptions(keystore_location=str(authority.folder / "client.pem"), key_password="p"))
    text = (authority.folder / "client.pem").read_text()
    assert pem == KeyPair(text, text, "p")
    store = own_pair(TlsOptions(keystore_location=str(authority.folder / "client.p12"), keystore_password="hush"))
    assert store is not None
    assert blocks(store.key)[0] == blocks(text)[0]
    assert blocks(store.chain)[0] in "".join(text.split())


def test_a_pkcs12_store_of_authorities(authority: Authority) -> None:
    options = TlsOptions(ca_location=str(authority.folder / "client.p12"), ca_password="hush")
    assert "-----BEGIN CERTIFICATE-----" in (trusted(options) or "")


def test_what_cannot_be_read_is_named_without_its_password(authority: Authority, tmp_path: Path) -> None:
    java_store = tmp_path / "store.jks"
    java_store.write_bytes(b"\xfe\xed\xfe\xed" + bytes(40))
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(b"nothing of the kind")
    for options, message in (
        (TlsOptions(keystore_location=str(java_store), keystore_password="hush"), "is a JKS store; convert it"),
        (TlsOptions(keystore_location=str(rubbish), keystore_password="hush"), "neither PEM nor PKCS12"),
        (
            TlsOptions(keystore_location=str(authority.folder / "client.p12"), keystore_password="not-hush"),
            "password is wrong",
        ),
        (TlsOptions(keystore_location=str(tmp_path / "none")), "No such file"),
        (TlsOptions(certificate_location=str(rubbish), key_pem="x"), "is not a PEM file"),
    ):
        with pytest.raises(SecurityOptionError, match=message) as caught:
            own_pair(options)
        assert "hush" not in str(caught.value)
