"""Certificates, generated for brokers that a test starts with TLS."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.config.listeners import LOOPBACK

if TYPE_CHECKING:
    from trustme import CA, LeafCert

_ALWAYS = ("localhost", "127.0.0.1", "::1")


class Certificates:
    """The certificate authority of one broker, its server certificate, and the certificates of its users.

    Keys and certificates are PEM. The files are in a private temporary directory, which is removed with the object.
    """

    def __init__(self, host: str) -> None:
        """`host` is the address that the broker listens on; localhost is always in the certificate.

        Raises ImportError if trustme is not installed.
        """
        self._authority = _new_authority()
        names = _ALWAYS if host in LOOPBACK or host in _ALWAYS else (*_ALWAYS, host)
        self._server = self._authority.issue_cert(*names)
        self._users: dict[str, tuple[Path, Path]] = {}
        self._folder = tempfile.mkdtemp(prefix="odradek-certificates-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def __repr__(self) -> str:
        return f"<Certificates in {self._folder}>"

    @property
    def authority(self) -> str:
        """The authority's certificate."""
        return self._authority.cert_pem.bytes().decode()

    @property
    def server_key(self) -> str:
        """The broker's private key."""
        return _key(self._server)

    @property
    def server_chain(self) -> str:
        """The broker's certificate chain."""
        return _chain(self._server)

    @property
    def authority_file(self) -> Path:
        """The authority's certificate as a file."""
        return self._file("ca.pem", self.authority)

    def files_of(self, user: str) -> tuple[Path, Path]:
        """Certificate and private key of a user, whose name is the certificate's common name."""
        known = self._users.get(user)
        if known is None:
            leaf = self._authority.issue_cert(common_name=user)
            number = len(self._users)
            known = self._users[user] = (
                self._file(f"user-{number}.pem", _chain(leaf)),
                self._file(f"user-{number}-key.pem", _key(leaf)),
            )
        return known

    def _file(self, name: str, text: str) -> Path:
        path = Path(self._folder, name)
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(text)
        return path


def _new_authority() -> CA:
    try:
        from trustme import CA
    except ImportError as missing:
        raise ImportError(
            "Security(tls=True) makes certificates with trustme, which is not installed: "
            "pip install 'odradek[security]'"
        ) from missing
    return CA()


def _key(leaf: LeafCert) -> str:
    """The private key in PKCS#8, the one form that Java reads."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _chain(leaf: LeafCert) -> str:
    return b"".join(part.bytes() for part in leaf.cert_chain_pems).decode()
