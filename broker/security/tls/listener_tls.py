"""TLS of one listener: its certificate, the certificates that it trusts, the names of its clients. Stores may change at
run time.
"""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import ListenerConfig, SecurityProtocol
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.tls.certificate_names import (
    NoMatchingRuleError,
    PrincipalRules,
    alternative_names,
    subject_of,
)
from odradek.broker.security.tls.contexts import (
    Terms,
    check_handshake,
    check_protocol,
    ciphers_of,
    client_context,
    server_context,
    versions_of,
)
from odradek.broker.security.tls.stores import (
    ChangeError,
    KeyStoreSettings,
    Store,
    StoreError,
    TrustStoreSettings,
    open_key_store,
    open_trust_store,
)
from odradek.protocol.errors import CorruptDataError

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.listeners import Listener


# -- The checked ssl.* configs of a listener.

_KEY_MANAGERS = frozenset({"SUNX509", "NEWSUNX509", "PKIX"})
_TRUST_MANAGERS = frozenset({"SUNX509", "PKIX", "SUNPKIX", "X509", "X.509"})


class TlsSettings(NamedTuple):
    """The configs of one listener.

    `modified`: the modification times of the store files, ns since 1970 (0: no file). Two settings are equal if they
    lead to the same context, unless a file is replaced within one tick of the file system's clock.
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


# -- Whether the certificates of a new key store may replace those of a running listener.


def check_compatible(new: Store, old: Store, *, allow_dn_changes: bool, allow_san_changes: bool) -> None:
    """ChangeError in Kafka's words unless the names stay (`ssl.allow.dn.changes`, `ssl.allow.san.changes`).

    Each entry must keep its distinguished name and all its alternative names.
    """
    if allow_dn_changes and allow_san_changes:
        return
    before, after = old.certificates(), new.certificates()
    if len(before) != len(after):
        raise ChangeError(
            f"Keystore entries do not match, existing store contains {len(before)} entries, "
            f"new store contains {len(after)} entries"
        )
    for (old_alias, was), (new_alias, now) in zip(sorted(before.items()), sorted(after.items()), strict=True):
        old_name, new_name = subject_of(was), subject_of(now)
        if not allow_dn_changes and old_name.lower() != new_name.lower():
            raise ChangeError(
                "Keystore DistinguishedName does not match:  "
                f"existing={{alias={old_alias}, DN={old_name}}}, new={{alias={new_alias}, DN={new_name}}}"
            )
        old_names, new_names = alternative_names(was), alternative_names(now)
        if not allow_san_changes and not old_names <= new_names:
            raise ChangeError(
                "Keystore SubjectAltNames do not match:  "
                f"existing={{alias={old_alias}, SAN=[{', '.join(sorted(old_names))}]}}, "
                f"new={{alias={new_alias}, SAN=[{', '.join(sorted(new_names))}]}}"
            )


# -- One listener.


_log = logging.getLogger("odradek.broker.security.tls")

_NO_HANDSHAKE = (
    "A client SSLEngine created with the provided settings can't connect to a server SSLEngine created with those "
    "settings."
)
_REFUSED = "Validation of dynamic config update of SSLFactory failed: "


class _Opened(NamedTuple):
    """The context and the stores that settings have led to."""

    settings: TlsSettings
    keys: Store
    trusted: Store | None
    context: ssl.SSLContext


class ListenerTls:
    """Gives each new connection the present context.

    Open connections keep theirs. `between_brokers`: brokers use the listener among themselves, so its own trust store
    has to trust its certificate. Owner: the cluster, one for each TLS listener of each node.
    """

    def __init__(self, config: ListenerConfig, protocol: SecurityProtocol, *, between_brokers: bool = False) -> None:
        """ConfigError for stores and settings that cannot be used."""
        self.name = config.name
        self._protocol = protocol
        self._between_brokers = between_brokers
        try:
            self._rules = PrincipalRules(config.get_text("ssl.principal.mapping.rules") or "DEFAULT")
            self._opened = _open(read_settings(config, protocol))
            if between_brokers:
                _check_between(self._opened, self._opened)
        except ConfigError as error:
            raise ConfigError(f"listener {config.name}: {error}") from None

    @property
    def context(self) -> ssl.SSLContext:
        """The context for the next connection."""
        return self._opened.context

    @property
    def only_suites(self) -> tuple[str, ...]:
        """The allowed suites of TLS 1.3; () if all are."""
        ciphers = self._opened.settings.terms.ciphers
        return () if ciphers is None else ciphers.tls13

    def principal_of(self, tls: ssl.SSLObject) -> Principal | None:
        """The client's principal by its certificate.

        None without one. ValueError if no rule maps it to a name, or if the connection uses a cipher suite that is not
        allowed.
        """
        cipher = tls.cipher()
        allowed = self.only_suites
        if allowed and cipher is not None and tls.version() == "TLSv1.3" and cipher[0] not in allowed:
            raise ValueError(f"no cipher suites in common: {cipher[0]} is not in ssl.cipher.suites")
        certificate = tls.getpeercert(binary_form=True)
        if certificate is None or self._protocol.sasl:
            return None
        try:
            return Principal(USER, self._rules.name_of(subject_of(certificate)))
        except (NoMatchingRuleError, CorruptDataError) as error:
            raise ValueError(f"no principal for the client's certificate: {error}") from None

    def check(self, config: ListenerConfig) -> None:
        """ConfigError, in Kafka's words, if a change to this configuration has to be refused.

        As in Kafka, files are read only when a config changes.
        """
        settings = self._stores_of(config)
        if settings._replace(modified=self._opened.settings.modified) != self._opened.settings:
            self._replacement(settings)

    def apply(self, config: ListenerConfig) -> bool:
        """Apply the configuration, and read files that have changed since.

        True if anything is new. If that fails the listener stays as it was.
        """
        try:
            settings = self._stores_of(config)
            if settings == self._opened.settings:
                return False
            self._opened = self._replacement(settings)
        except ConfigError as error:
            _log.error("listener %s keeps its certificates: %s", self.name, error)
            return False
        _log.info("listener %s has new stores: keys %r, trusted %r", self.name, settings.keys, settings.trusted)
        return True

    def _stores_of(self, config: ListenerConfig) -> TlsSettings:
        """The present settings with the stores of the configuration. Nothing else changes while a listener is open."""
        new = read_settings(config, self._protocol)
        return self._opened.settings._replace(keys=new.keys, trusted=new.trusted, modified=new.modified)

    def _replacement(self, settings: TlsSettings) -> _Opened:
        old = self._opened
        try:
            if settings.keys.location is None and settings.keys.key is None:
                raise ChangeError(
                    "Cannot remove the SSL keystore from an existing listener for which a keystore was configured."
                )
            new = _open(settings)
            if old.trusted is None and new.trusted is not None:
                raise ChangeError(
                    "Cannot add SSL truststore to an existing listener for which no truststore was configured."
                )
            check_compatible(
                new.keys,
                old.keys,
                allow_dn_changes=settings.allow_dn_changes,
                allow_san_changes=settings.allow_san_changes,
            )
            if self._between_brokers:
                _check_between(old, new)
                _check_between(new, old)
        except StoreError as error:
            raise ConfigError(f"{_REFUSED}{error.java}: {error}") from None
        return new


def _open(settings: TlsSettings) -> _Opened:
    keys = open_key_store(settings.keys)
    if keys is None:
        raise StoreError("it speaks TLS, so it needs a certificate: set ssl.keystore.location, or ssl.keystore.key")
    trusted = open_trust_store(settings.trusted)
    return _Opened(settings, keys, trusted, server_context(settings.terms, keys, trusted))


def _check_between(server: _Opened, client: _Opened) -> None:
    """StoreError if a client with one of the stores cannot connect to a server with the other."""
    try:
        check_handshake(server.context, client_context(client.settings.terms, client.keys, client.trusted))
    except ssl.SSLError:
        raise StoreError(_NO_HANDSHAKE) from None


# -- All TLS listeners of a cluster. Binding opens them, and changed configs reach them.


class TlsListeners:
    """A `Reconfigurable` of the broker's configuration. Owner: the cluster."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._open: dict[tuple[int, str], ListenerTls] = {}

    def open(self, node_id: int, listener: Listener, *, between_brokers: bool) -> ListenerTls:
        """Open the stores of a listener; ConfigError if they cannot be used."""
        config = self._config.for_listener(listener.name, node_id)
        opened = ListenerTls(config, listener.protocol, between_brokers=between_brokers)
        self._open[node_id, listener.name] = opened
        return opened

    def forget(self, node_id: int, name: str) -> None:
        """Drop a closed listener, if it is one of these."""
        self._open.pop((node_id, name), None)

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        for (owner, name), tls in self._open.items():
            if owner == node_id:
                tls.check(self._config.for_listener(name, node_id, values))

    def apply(self, node_id: int) -> None:
        for (owner, name), tls in self._open.items():
            if owner == node_id:
                tls.apply(self._config.for_listener(name, node_id))
