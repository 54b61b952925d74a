"""Key material, and TLS of a client."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path

import pytest

from odradek.client_security.options import ClientSecurity, SecurityOptionError, TlsError, TlsOptions
from odradek.client_security.tls import KeyPair, build_context, connect_tls, own_pair, trusted
from odradek.wire_client import WireConnection, WireError
from tests.scenarios.authority import Authority


@pytest.fixture(scope="module")
def store_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
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
def test_pem_text_may_have_lost_its_lines(store_authority: Authority, line_break: str) -> None:
    text = store_authority.ca.read_text()
    given = line_break.join(text.strip().split("\n"))
    assert blocks(trusted(TlsOptions(ca_pem=given))) == blocks(text.strip() + "\n")


def test_a_store_of_key_and_chain_as_pem_and_as_pkcs12(store_authority: Authority) -> None:
    pem = own_pair(TlsOptions(keystore_location=str(store_authority.folder / "client.pem"), key_password="p"))
    text = (store_authority.folder / "client.pem").read_text()
    assert pem == KeyPair(text, text, "p")
    store = own_pair(TlsOptions(keystore_location=str(store_authority.folder / "client.p12"), keystore_password="hush"))
    assert store is not None
    assert blocks(store.key)[0] == blocks(text)[0]
    assert blocks(store.chain)[0] in "".join(text.split())


def test_a_pkcs12_store_of_authorities(store_authority: Authority) -> None:
    options = TlsOptions(ca_location=str(store_authority.folder / "client.p12"), ca_password="hush")
    assert "-----BEGIN CERTIFICATE-----" in (trusted(options) or "")


def test_what_cannot_be_read_is_named_without_its_password(store_authority: Authority, tmp_path: Path) -> None:
    java_store = tmp_path / "store.jks"
    java_store.write_bytes(b"\xfe\xed\xfe\xed" + bytes(40))
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(b"nothing of the kind")
    for options, message in (
        (TlsOptions(keystore_location=str(java_store), keystore_password="hush"), "is a JKS store; convert it"),
        (TlsOptions(keystore_location=str(rubbish), keystore_password="hush"), "neither PEM nor PKCS12"),
        (
            TlsOptions(keystore_location=str(store_authority.folder / "client.p12"), keystore_password="not-hush"),
            "password is wrong",
        ),
        (TlsOptions(keystore_location=str(tmp_path / "none")), "No such file"),
        (TlsOptions(certificate_location=str(rubbish), key_pem="x"), "is not a PEM file"),
    ):
        with pytest.raises(SecurityOptionError, match=message) as caught:
            own_pair(options)
        assert "hush" not in str(caught.value)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def test_the_default_trusts_only_who_can_show_a_certificate_for_the_host() -> None:
    context = build_context(TlsOptions())
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def test_client_tls_context_has_the_versions_and_ciphers_given() -> None:
    context = build_context(TlsOptions(versions=("TLSv1.2",), ciphers="ECDHE-RSA-AES256-GCM-SHA384"))
    assert context.minimum_version == context.maximum_version == ssl.TLSVersion.TLSv1_2
    assert "ECDHE-RSA-AES256-GCM-SHA384" in {cipher["name"] for cipher in context.get_ciphers()}
    with pytest.raises(SecurityOptionError, match="OpenSSL knows none"):
        build_context(TlsOptions(ciphers="ROT13"))


def test_a_key_of_another_certificate_and_no_certificates_at_all(authority: Authority, tmp_path: Path) -> None:
    first, second = authority.issue("first"), authority.issue("second")
    with pytest.raises(SecurityOptionError, match="does not belong to the certificate"):
        build_context(TlsOptions(certificate_location=str(first), key_location=str(second)))
    with pytest.raises(SecurityOptionError, match="no certificates to trust"):
        build_context(TlsOptions(ca_pem="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))


def test_a_key_is_not_left_on_disk(authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = authority.issue("mine")
    build_context(TlsOptions(certificate_location=str(mine), key_location=str(mine)))
    assert list(tmp_path.iterdir()) == []


def answered_by(reply: bytes, options: dict[str, str]) -> WireError:
    """What a client says of a server that answers its first bytes with these and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError), listener.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(reply)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(4096)

    def ask() -> None:
        security = ClientSecurity.parse(options)
        with WireConnection("127.0.0.1", listener.getsockname()[1], security=security) as connection:
            connection.send_frame(b"\0\0\0\1x")
            connection.receive_frame()

    thread = threading.Thread(target=serve)
    thread.start()
    with listener, pytest.raises(WireError) as caught:
        ask()
    thread.join()
    return caught.value


def test_a_server_that_does_not_speak_tls_is_called_so() -> None:
    close_notify = b"\x15\x03\x03\x00\x02\x01\x00"
    for reply in (b"", close_notify, b"HTTP/1.1 400 Bad Request\r\n\r\n"):
        error = answered_by(reply, {"security.protocol": "SSL"})
        assert isinstance(error, TlsError)
        assert "is it a plain-text listener?" in str(error)


def test_a_tls_alert_on_a_plain_connection_is_called_so() -> None:
    error = answered_by(b"\x15\x03\x03\x00\x02\x02\x16", {})
    assert "speaks TLS, and security.protocol is PLAINTEXT" in str(error)


def test_a_silent_server_is_left_after_the_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        plain = socket.create_connection(listener.getsockname(), timeout=0.05)
        with pytest.raises(TlsError, match="does not answer"):
            connect_tls(plain, "127.0.0.1", TlsOptions(verify=False, check_hostname=False), "here:1")
        plain.close()
