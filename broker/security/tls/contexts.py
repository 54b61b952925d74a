"""Makes ssl contexts from stores and settings. No other module configures OpenSSL."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from odradek.broker.security.tls.certificate_names import key_algorithm, subject_of
from odradek.broker.security.tls.ciphers import Ciphers, check_tls13
from odradek.broker.security.tls.store_formats import KeyEntry, Store, StoreError

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class Terms(NamedTuple):
    """The TLS parameters of a listener. `ciphers`: None for all; `client_auth`: a key of CLIENT_AUTH."""

    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    ciphers: Ciphers | None = None
    client_auth: str = "none"


def server_context(terms: Terms, keys: Store, trusted: Store | None) -> ssl.SSLContext:
    """The context of a listener; ConfigError if OpenSSL refuses the settings."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    versions = _set_ciphers(context, terms)
    context.minimum_version = _VERSIONS[versions[0]]
    context.maximum_version = _VERSIONS[versions[-1]]
    context.verify_mode = CLIENT_AUTH[terms.client_auth]
    _load_keys(context, keys)
    if context.verify_mode is not ssl.CERT_NONE:
        _load_trusted(context, trusted)
    return context


def client_context(terms: Terms, keys: Store, trusted: Store | None) -> ssl.SSLContext:
    """The context of a client with the same stores. It does not check host names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    versions = _set_ciphers(context, terms)
    context.minimum_version = _VERSIONS[versions[0]]
    context.maximum_version = _VERSIONS[versions[-1]]
    _load_keys(context, keys)
    _load_trusted(context, trusted)
    return context


def check_handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """ssl.SSLError if a client with the one context cannot connect to a server with the other."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(to_server, to_client, server_side=True),
        client.wrap_bio(to_client, to_server, server_side=False),
    ]
    while ends:
        for end in list(ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            ends.remove(end)


def _set_ciphers(context: ssl.SSLContext, terms: Terms) -> tuple[str, ...]:
    """Set the suites; returns the versions that remain."""
    wanted, versions = terms.ciphers, terms.versions
    if wanted is None:
        return versions
    left = tuple(name for name in versions if (wanted.tls13 if name == "TLSv1.3" else wanted.tls12))
    if not left:
        raise StoreError("ssl.cipher.suites has no suite for a version in ssl.enabled.protocols")
    if "TLSv1.3" in left:
        check_tls13(wanted.tls13)
    if wanted.tls12:
        try:
            context.set_ciphers(":".join(wanted.tls12))
        except ssl.SSLError:
            raise StoreError("ssl.cipher.suites: OpenSSL has none of these suites") from None
    return left


def _load_keys(context: ssl.SSLContext, keys: Store) -> None:
    """Load the first key of each type: OpenSSL keeps one for RSA and one for EC, and chooses by the client's offer."""
    loaded: set[bytes] = set()
    for entry in keys.keys:
        kind = _kind_of_key(entry)
        if kind not in loaded:
            loaded.add(kind)
            _load_key(context, entry)
    if not loaded:
        raise StoreError("the SSL key store has no private key")


def _kind_of_key(entry: KeyEntry) -> bytes:
    return key_algorithm(entry.chain[0]) if entry.chain else b""


def _load_key(context: ssl.SSLContext, entry: KeyEntry) -> None:
    def password() -> str:
        return entry.password or ""

    with _as_file(entry.pem()) as path:
        try:
            context.load_cert_chain(path, password=password)
        except ssl.SSLError as error:
            raise StoreError(_why_key_fails(entry, error)) from None


def _why_key_fails(entry: KeyEntry, error: ssl.SSLError) -> str:
    reason = error.reason or ""
    if reason == "KEY_VALUES_MISMATCH":
        return f"the private key does not belong to the certificate of {subject_of(entry.chain[0])}"
    if reason in ("EE_KEY_TOO_SMALL", "CA_MD_TOO_WEAK"):
        return f"OpenSSL refuses the certificate of {subject_of(entry.chain[0])} as too weak ({reason})"
    if entry.password is not None:
        return "Private key could not be loaded: ssl.key.password is wrong, or OpenSSL cannot decrypt it"
    return f"Private key could not be loaded ({reason or 'OpenSSL does not understand it'})"


def _load_trusted(context: ssl.SSLContext, trusted: Store | None) -> None:
    # As in Java each certificate of the store is trusted itself, whoever signed it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if trusted is None:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
        return
    certificates = list(trusted.certificates().values())
    if not certificates:
        raise StoreError("the SSL trust store has no certificate")
    try:
        context.load_verify_locations(cadata=b"".join(certificates))
    except ssl.SSLError:
        raise StoreError("a certificate of the SSL trust store cannot be read") from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A path from which OpenSSL reads the text. The file is in memory where the system supports that."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("odradek-key", os.MFD_CLOEXEC)
        path = f"/proc/self/fd/{descriptor}"
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            if os.path.exists(path):
                yield path
                return
    with tempfile.TemporaryDirectory(prefix="odradek-") as folder:
        path = os.path.join(folder, "key.pem")
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as target:
            target.write(text)
        yield path
