"""TLS around a connected socket, as `TlsOptions` say."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from odradek.client_security.options import ConnectionClosed, SecurityOptionError, TlsError, TlsOptions

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
    """The certificate that the client shows to a broker; None if it has none."""
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
            f"{location} is not a PEM file; to read PKCS12 stores: pip install 'odradek[tls]'"
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


_VERSIONS = {
    "TLSv1": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_ALERTS = {
    "CERTIFICATE_REQUIRED": "the broker asks for a client certificate",
    "UNKNOWN_CA": "the broker does not trust the client's certificate",
    "BAD_CERTIFICATE": "the broker asks for a client certificate, or refuses the one it got",
    "CERTIFICATE_UNKNOWN": "the broker does not trust the client's certificate",
    "CERTIFICATE_EXPIRED": "the client's certificate has expired",
    "CERTIFICATE_REVOKED": "the client's certificate has been revoked",
    "PROTOCOL_VERSION": "the broker speaks none of the offered versions of TLS",
    "UNSUPPORTED_PROTOCOL": "the broker speaks none of the offered versions of TLS",
    "HANDSHAKE_FAILURE": "broker and client have no version or cipher in common, or a client certificate is asked for",
    "WRONG_VERSION_NUMBER": "the broker answers something else than TLS: is it a plain-text listener?",
}
_CLOSED = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The other side has closed, at once or by TLS's own word; some OpenSSLs take the first for the second."""


def connect_tls(plain: socket.socket, host: str, options: TlsOptions, address: str) -> TlsSocket:
    """The handshake over a connected socket, which belongs to the result then. Raises TlsError, SecurityOptionError."""
    context = build_context(options)
    try:
        return TlsSocket(context.wrap_socket(plain, server_hostname=host), address)
    except OSError as error:
        raise TlsError(f"{address}: TLS handshake: {_handshake_problem(error, host)}") from error


class TlsSocket:
    """The part of a socket that `WireConnection` uses. Errors of TLS become TlsError: a refusal of the client's
    certificate comes with the first read.
    """

    def __init__(self, connection: ssl.SSLSocket, address: str) -> None:
        self._connection = connection
        self._address = address

    def sendall(self, data: bytes | memoryview) -> None:
        with self._named_errors():
            self._connection.sendall(data)

    def recv_into(self, buffer: memoryview) -> int:
        with self._named_errors():
            return self._connection.recv_into(buffer)

    def fileno(self) -> int:
        return self._connection.fileno()

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except _CLOSED as error:
            raise ConnectionClosed(f"{self._address} closed the connection") from error
        except ssl.SSLError as error:
            raise TlsError(f"{self._address}: TLS: {_problem(error)}") from error


def build_context(options: TlsOptions) -> ssl.SSLContext:
    """The context of a client; SecurityOptionError for certificates and keys that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = options.check_hostname
    context.verify_mode = ssl.CERT_REQUIRED if options.verify else ssl.CERT_NONE
    _trust(context, options)
    pair = own_pair(options)
    if pair is not None:
        _show(context, pair)
    versions = [_VERSIONS[name] for name in options.versions]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    if options.ciphers:
        try:
            context.set_ciphers(options.ciphers)
        except ssl.SSLError:
            raise SecurityOptionError("ssl.cipher.suites: OpenSSL knows none of these names") from None
    return context


def _trust(context: ssl.SSLContext, options: TlsOptions) -> None:
    certificates = trusted(options)
    if certificates is None:
        context.load_default_certs()
        return
    try:
        context.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError):
        place = options.ca_location or "ssl.truststore.certificates"
        raise SecurityOptionError(f"{place}: no certificates to trust") from None


def _show(context: ssl.SSLContext, pair: KeyPair) -> None:
    """Python's ssl reads keys from files only, so they lie in a folder of this user's for a moment."""
    with tempfile.TemporaryDirectory(prefix="odradek-tls-") as folder:
        chain, key = Path(folder, "chain.pem"), Path(folder, "key.pem")
        for path, text in ((chain, pair.chain), (key, pair.key)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
        try:
            context.load_cert_chain(chain, key, password=pair.password or "")
        except ssl.SSLError as error:
            reason = "the key does not belong to the certificate" if "MISMATCH" in str(error) else "not PEM, or locked"
            raise SecurityOptionError(f"the client's certificate and key cannot be used: {reason}") from None


def _handshake_problem(error: OSError, host: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code == 62 or error.verify_code == 64:
            return f"the broker's certificate is not for {host} ({error.verify_message})"
        return f"the broker's certificate is not trusted ({error.verify_message})"
    if isinstance(error, (*_CLOSED, ConnectionError)):
        return "the broker closed the connection: is it a plain-text listener?"
    if isinstance(error, TimeoutError):
        return "the broker does not answer: is it a plain-text listener?"
    return _problem(error)


def _problem(error: OSError) -> str:
    reason = (error.reason if isinstance(error, ssl.SSLError) else None) or str(error)
    return next((text for name, text in _ALERTS.items() if reason.endswith(name)), reason.lower().replace("_", " "))
