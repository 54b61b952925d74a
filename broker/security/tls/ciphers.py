"""Translates cipher suites and protocol versions from Java's (IANA's) names to OpenSSL's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError

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

_VERSIONS = ("TLSv1.2", "TLSv1.3")
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
        if name not in _VERSIONS + _OLD_VERSIONS:
            raise ConfigError(f"ssl.enabled.protocols: Unsupported protocol: {name}")
    versions = tuple(name for name in _VERSIONS if name in enabled or not enabled)
    if not versions:
        raise ConfigError("ssl.enabled.protocols: odradek speaks TLSv1.2 and TLSv1.3 only")
    return versions


def check_protocol(name: str) -> None:
    """ConfigError if Java has no such SSL context. On a server the config has no other effect."""
    if name.upper() not in _CONTEXTS:
        raise ConfigError(f"ssl.protocol: {name} SSLContext not available")
