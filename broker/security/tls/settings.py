"""The checked ssl.* configs of a listener."""

from __future__ import annotations

import os
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listener_config import ListenerConfig
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.security.tls.ciphers import check_protocol, ciphers_of, versions_of
from odradek.broker.security.tls.contexts import Terms
from odradek.broker.security.tls.stores import KeyStoreSettings, TrustStoreSettings

_KEY_MANAGERS = frozenset({"SUNX509", "NEWSUNX509", "PKIX"})
_TRUST_MANAGERS = frozenset({"SUNX509", "PKIX", "SUNPKIX", "X509", "X.509"})


class TlsSettings(NamedTuple):
    """The configs of one listener. `modified`.

    The modification times of the store files, ns since 1970 (0: no file). Two settings are equal if they lead to the
    same context, unless a file is replaced within one tick of the file system's clock.
    """

    keys: KeyStoreSettings
    trusted: TrustStoreSettings
    terms: Terms
    allow_dn_changes: bool
    allow_san_changes: bool
    modified: tuple[int, int]


def read_settings(config: ListenerConfig, protocol: SecurityProtocol) -> TlsSettings:
    """The settings in force; ConfigError for settings that Kafka or odradek does not support."""
    check_protocol(config.get_text("ssl.protocol") or "TLSv1.3")
    _check_algorithm(config.get_text("ssl.keymanager.algorithm"), _KEY_MANAGERS, "KeyManagerFactory")
    _check_algorithm(config.get_text("ssl.trustmanager.algorithm"), _TRUST_MANAGERS, "TrustManagerFactory")
    suites = config.get_list("ssl.cipher.suites")
    terms = Terms(
        versions_of(config.get_list("ssl.enabled.protocols")),
        ciphers_of(suites) if suites else None,
        _client_auth(config, protocol),
    )
    keys = KeyStoreSettings(
        config.get_text("ssl.keystore.type") or "JKS",
        config.get_text("ssl.keystore.location"),
        config.get_text("ssl.keystore.password"),
        config.get_text("ssl.key.password"),
        config.get_text("ssl.keystore.key"),
        config.get_text("ssl.keystore.certificate.chain"),
    )
    trusted = TrustStoreSettings(
        config.get_text("ssl.truststore.type") or "JKS",
        config.get_text("ssl.truststore.location"),
        config.get_text("ssl.truststore.password"),
        config.get_text("ssl.truststore.certificates"),
    )
    return TlsSettings(
        keys,
        trusted,
        terms,
        config.get_bool("ssl.allow.dn.changes"),
        config.get_bool("ssl.allow.san.changes"),
        (_modified(keys.location), _modified(trusted.location)),
    )


def _client_auth(config: ListenerConfig, protocol: SecurityProtocol) -> str:
    """The `ssl.client.auth` of a listener. A SASL listener uses only its own value, as in Kafka."""
    if protocol.sasl and not config.is_set("ssl.client.auth"):
        return "none"
    return (config.get_text("ssl.client.auth") or "none").lower()


def _check_algorithm(name: str | None, known: frozenset[str], factory: str) -> None:
    """ConfigError if Java has no such algorithm. With one key and no lists of revoked certificates all do the same."""
    if name is not None and name.upper() not in known:
        raise ConfigError(f"{name} {factory} not available")


def _modified(path: str | None) -> int:
    if path is None:
        return 0
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):  # ValueError: a null character in the name
        return 0
