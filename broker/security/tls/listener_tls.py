"""TLS of one listener: its certificate, the certificates that it trusts, the names of its clients. Stores may change at
run time.
"""

from __future__ import annotations

import logging
import ssl
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listener_config import ListenerConfig
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.tls.certificate_names import subject_of
from odradek.broker.security.tls.compatibility import check_compatible
from odradek.broker.security.tls.contexts import check_handshake, client_context, server_context
from odradek.broker.security.tls.entries import ChangeError, Store, StoreError
from odradek.broker.security.tls.principal_rules import NoMatchingRuleError, PrincipalRules
from odradek.broker.security.tls.settings import TlsSettings, read_settings
from odradek.broker.security.tls.stores import open_key_store, open_trust_store
from odradek.protocol.errors import CorruptDataError

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
