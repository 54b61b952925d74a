"""Certificates and keys as PEM text, whatever they came in: PEM files, PEM text, PKCS12 stores."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from odradek.client_security.errors import SecurityOptionError
from odradek.client_security.options import TlsOptions

_PEM = b"-----BEGIN "
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_JKS = b"\xfe\xed\xfe\xed"


class KeyPair(NamedTuple):
    """A certificate chain and its key, as PEM; `password` opens the key if it is encrypted."""

    chain: str
    key: str
    password: str | None

    def __repr__(self) -> str:
        return "KeyPair(...)"


def trusted(options: TlsOptions) -> str | None:
    """The certificates to trust, as PEM; None leaves it to the system's. SecurityOptionError if they can't be read."""
    if options.ca_pem is not None:
        return _pem_text(options.ca_pem)
    if options.ca_location is None:
        return None
    data = _read(options.ca_location)
    if _PEM in data:
        return data.decode("ascii", "replace")
    return _from_pkcs12(data, options.ca_location, options.ca_password).chain


def own_pair(options: TlsOptions) -> KeyPair | None:
    """What the client shows when a broker asks who it is; None if there is nothing to show."""
    if options.keystore_location is not None:
        return _from_keystore(options, options.keystore_location)
    chain = _given(options.certificate_pem, options.certificate_location)
    key = _given(options.key_pem, options.key_location)
    if chain is None or key is None:
        return None
    return KeyPair(chain, key, options.key_password)


def _from_keystore(options: TlsOptions, location: str) -> KeyPair:
    data = _read(location)
    if _PEM not in data:
        return _from_pkcs12(data, location, options.keystore_password)
    text = data.decode("ascii", "replace")
    return KeyPair(text, text, options.key_password)


def _given(text: str | None, location: str | None) -> str | None:
    if text is not None:
        return _pem_text(text)
    if location is None:
        return None
    data = _read(location)
    if _PEM not in data:
        raise SecurityOptionError(f"{location} is not a PEM file")
    return data.decode("ascii", "replace")


def _pem_text(text: str) -> str:
    """PEM as it stands in a properties file: on one line, or with its line breaks written out."""
    blocks = _BLOCK.findall(text.replace("\\n", "\n"))
    return "".join(f"-----BEGIN {kind}-----\n{_body(body)}\n-----END {kind}-----\n" for kind, body in blocks)


def _body(text: str) -> str:
    if ":" in text:  # an old encrypted key, whose headers need their lines
        return text.strip()
    base64 = "".join(text.split())
    return "\n".join(base64[at : at + 64] for at in range(0, len(base64), 64))


def _read(location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise SecurityOptionError(f"{location}: {error.strerror or error}") from None


def _from_pkcs12(data: bytes, location: str, password: str | None) -> KeyPair:
    if data.startswith(_JKS):
        raise SecurityOptionError(
            f"{location} is a JKS store; convert it: keytool -importkeystore -srckeystore {location} "
            "-destkeystore store.p12 -deststoretype pkcs12"
        )
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError:
        raise SecurityOptionError(
            f"{location} is no PEM file; to read PKCS12 stores: pip install 'odradek[tls]'"
        ) from None
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise SecurityOptionError(f"{location} is neither PEM nor PKCS12, or its password is wrong") from None
    certificates = [each.certificate for each in (store.cert, *store.additional_certs) if each is not None]
    chain = "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)
    if store.key is None:
        return KeyPair(chain, "", None)
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return KeyPair(chain, key, None)
