"""Makes ssl contexts from stores and settings. No other module configures OpenSSL."""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.tls.certificate_names import key_algorithm, subject_of
from odradek.broker.security.tls.stores import KeyEntry, Store, StoreError

# -- Translates cipher suites and protocol versions from Java's (IANA's) names to OpenSSL's.

TLS13_SUITES = ("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256")
"""The suites of TLS 1.3 in OpenSSL's order of preference. Python cannot select them before 3.15."""

_PLACEHOLDER = "TLS_EMPTY_RENEGOTIATION_INFO_SCSV"
_SUITE = re.compile(r"TLS_(?P<exchange>(?:ECDHE|DHE)_\w+?|RSA)_WITH_(?P<cipher>\w+)_(?P<digest>SHA\d*)")
_EXCHANGES = {
    "ECDHE_RSA": "ECDHE-RSA-",
    "ECDHE_ECDSA": "ECDHE-ECDSA-",
    "DHE_RSA": "DHE-RSA-",
    "DHE_DSS": "DHE-DSS-",
    "RSA": "",
}
_CIPHERS = {
    "AES_128_GCM": ("AES128-GCM", True),
    "AES_256_GCM": ("AES256-GCM", True),
    "AES_128_CBC": ("AES128", True),
    "AES_256_CBC": ("AES256", True),
    "CHACHA20_POLY1305": ("CHACHA20-POLY1305", False),
}
"""OpenSSL's name of a cipher, and whether the suite's name includes the digest."""

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_OLD_VERSIONS = ("SSLv2Hello", "SSLv3", "TLSv1", "TLSv1.1")
_CONTEXTS = ("DEFAULT", "SSL", "TLS", "TLSV1", "TLSV1.1", "TLSV1.2", "TLSV1.3")


class Ciphers(NamedTuple):
    """`tls12`: OpenSSL's names, () for none. `tls13`: the names allowed."""

    tls12: tuple[str, ...]
    tls13: tuple[str, ...]


def ciphers_of(names: Sequence[str]) -> Ciphers:
    """The ciphers in `ssl.cipher.suites`. ConfigError for a name that neither Java nor OpenSSL knows."""
    old: list[str] = []
    new: list[str] = []
    for name in names:
        if name in TLS13_SUITES:
            new.append(name)
        elif name != _PLACEHOLDER:
            old.append(_openssl_name(name))
    return Ciphers(tuple(old), tuple(new))


def _openssl_name(name: str) -> str:
    match = _SUITE.fullmatch(name)
    exchange = None if match is None else _EXCHANGES.get(match["exchange"])
    cipher = None if match is None else _CIPHERS.get(match["cipher"])
    if match is None or exchange is None or cipher is None:
        raise ConfigError(f"ssl.cipher.suites: Unsupported CipherSuite: {name}")
    return exchange + cipher[0] + (f"-{match['digest']}" if cipher[1] else "")


def check_tls13(suites: Sequence[str]) -> None:
    """ConfigError for a selection of TLS 1.3 suites that OpenSSL would ignore, because Python cannot pass it on.

    The server takes the first suite of its own list that the client offers. So the first suite must be allowed. If a
    client forces another one that is not allowed, the connection is cut after the handshake.
    """
    if suites and TLS13_SUITES[0] not in suites:
        raise ConfigError(
            f"ssl.cipher.suites: of TLS 1.3 odradek can only offer lists with {TLS13_SUITES[0]} "
            "(Python's ssl does not choose among them)"
        )


def versions_of(enabled: Sequence[str]) -> tuple[str, ...]:
    """The enabled versions of TLSv1.2 and TLSv1.3 in `ssl.enabled.protocols`.

    Both if it is empty. Older versions are accepted and never used, as in a current JDK. ConfigError for a name that
    Java does not know, and if no version is left.
    """
    for name in enabled:
        if name not in (*_VERSIONS, *_OLD_VERSIONS):
            raise ConfigError(f"ssl.enabled.protocols: Unsupported protocol: {name}")
    versions = tuple(name for name in _VERSIONS if name in enabled or not enabled)
    if not versions:
        raise ConfigError("ssl.enabled.protocols: odradek speaks TLSv1.2 and TLSv1.3 only")
    return versions


def check_protocol(name: str) -> None:
    """ConfigError if Java has no such SSL context. On a server the config has no other effect."""
    if name.upper() not in _CONTEXTS:
        raise ConfigError(f"ssl.protocol: {name} SSLContext not available")


# -- The contexts.

CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


class Terms(NamedTuple):
    """The TLS parameters of a listener. `ciphers`: None for all; `client_auth`: a key of CLIENT_AUTH."""

    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    ciphers: Ciphers | None = None
    client_auth: str = "none"


def server_context(terms: Terms, keys: Store, trusted: Store | None) -> ssl.SSLContext:
    """The context of a listener; ConfigError if OpenSSL refuses the settings."""
    context = _context(ssl.PROTOCOL_TLS_SERVER, terms)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.verify_mode = CLIENT_AUTH[terms.client_auth]
    _load_keys(context, keys)
    if context.verify_mode is not ssl.CERT_NONE:
        _load_trusted(context, trusted)
    return context


def client_context(terms: Terms, keys: Store, trusted: Store | None) -> ssl.SSLContext:
    """The context of a client with the same stores. It does not check host names."""
    context = _context(ssl.PROTOCOL_TLS_CLIENT, terms)
    context.check_hostname = False
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


def _context(protocol: int, terms: Terms) -> ssl.SSLContext:
    """A context with the suites of the terms, and with those of their versions that have one."""
    context = ssl.SSLContext(protocol)
    wanted, versions = terms.ciphers, terms.versions
    if wanted is not None:
        versions = tuple(name for name in versions if (wanted.tls13 if name == "TLSv1.3" else wanted.tls12))
        if not versions:
            raise StoreError("ssl.cipher.suites has no suite for a version in ssl.enabled.protocols")
        if "TLSv1.3" in versions:
            check_tls13(wanted.tls13)
        if wanted.tls12:
            try:
                context.set_ciphers(":".join(wanted.tls12))
            except ssl.SSLError:
                raise StoreError("ssl.cipher.suites: OpenSSL has none of these suites") from None
    context.minimum_version = _VERSIONS[versions[0]]
    context.maximum_version = _VERSIONS[versions[-1]]
    return context


def _load_keys(context: ssl.SSLContext, keys: Store) -> None:
    """Load the first key of each type: OpenSSL keeps one for RSA and one for EC, and chooses by the client's offer."""
    loaded: set[bytes] = set()
    for entry in keys.keys:
        kind = key_algorithm(entry.chain[0]) if entry.chain else b""
        if kind not in loaded:
            loaded.add(kind)
            _load_key(context, entry)
    if not loaded:
        raise StoreError("the SSL key store has no private key")


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
