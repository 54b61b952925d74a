"""Contexts from options, and what a failed handshake says. Real listeners: tests/scenarios/wire_security.py."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path

import pytest

from odradek.client_security import ClientSecurity, SecurityOptionError, TlsError
from odradek.client_security.options import TlsOptions
from odradek.client_security.tls import build_context, connect_tls
from odradek.wire_client import WireConnection, WireError
from tests.scenarios.authority import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def test_the_default_trusts_only_who_can_show_a_certificate_for_the_host() -> None:
    context = build_context(TlsOptions())
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert (context.minimum_version, context.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def test_versions_and_ciphers() -> None:
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
