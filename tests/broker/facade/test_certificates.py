"""Certificates made on the fly."""

from __future__ import annotations

import builtins
import ssl
from typing import Any

import pytest

from odradek.broker.facade.certificates import Certificates


def test_the_servers_certificate_is_good_for_localhost_and_its_address() -> None:
    certificates = Certificates("127.0.0.9")
    client = ssl.create_default_context(cafile=str(certificates.authority_file))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    folder = certificates.authority_file.parent
    (folder / "chain.pem").write_text(certificates.server_chain)
    (folder / "key.pem").write_text(certificates.server_key)
    server.load_cert_chain(folder / "chain.pem", folder / "key.pem")
    for name in ("localhost", "127.0.0.1", "::1", "127.0.0.9"):
        _handshake(client, server, name)
    with pytest.raises(ssl.SSLCertVerificationError):
        _handshake(client, server, "127.0.0.8")


def test_a_user_has_one_certificate_with_its_name() -> None:
    certificates = Certificates("127.0.0.1")
    certificate, key = certificates.files_of("alice")
    assert certificates.files_of("alice") == (certificate, key)
    assert certificates.files_of("bob")[0] != certificate
    assert "BEGIN PRIVATE KEY" in key.read_text(), "Java reads PKCS#8 only"
    assert (key.stat().st_mode & 0o077) == 0
    assert "PRIVATE" not in repr(certificates)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "trustme":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'odradek\[security\]'"):
        Certificates("127.0.0.1")


def _handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> None:
    """A handshake in memory; SSLError if either side refuses the other."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=name)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [ours, theirs]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(side)
