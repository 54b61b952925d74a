"""The server's side of SASL, and the table of mechanisms.

A mechanism is a function in a module of its own, which is imported when a listener enables it. It checks the
configuration of the listener once, and returns a factory of `SaslServer`s, one for each log-in.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.principal import ANONYMOUS
from odradek.protocol.jaas import JaasError, parse
from odradek.protocol.java_maps import in_set_order

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials


OTHER_AUTHORIZATION_ID = "Authentication failed: Client requested an authorization id that is different from username"
"""Kafka's own text."""


class Refusal(Exception):
    """A log-in is refused. `reason`: for the broker's log; `claimed`: the name that the client gave, if any."""

    def __init__(self, reason: str, claimed: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.claimed = claimed


class SaslError(Refusal):
    """A refusal whose reason the client gets, so the reason must contain no secret."""

    @property
    def message(self) -> str:
        """The text for the client."""
        return self.reason


class InvalidCredentials(Refusal):
    """A refusal whose reason the client does not get: it only learns that its credentials are invalid."""


class MalformedToken(Refusal):
    """Kafka's mechanism fails on this token: the connection is closed without an answer."""


class SaslServer:
    """One log-in by one mechanism.

    `complete`: whether the client has logged in. Then `principal` is whom it acts as, `expires_ms` the end of its
    credential (milliseconds since 1970, None for never), `extensions` its SASL extensions. `waits`: whether it may have
    to wait for another server or a thread; the gate calls `evaluate_async` then.
    """

    mechanism: str
    waits = False

    def __init__(self) -> None:
        self.complete = False
        self.principal = ANONYMOUS
        self.expires_ms: int | None = None
        self.extensions: Mapping[str, str] = {}

    def evaluate(self, token: bytes) -> bytes:
        """The answer to the client's next token. Raises SaslError, InvalidCredentials, MalformedToken."""
        raise NotImplementedError

    async def evaluate_async(self, token: bytes) -> bytes:
        """As `evaluate`."""
        return self.evaluate(token)


NewSaslServer = Callable[[], SaslServer]
Mechanism = Callable[["ListenerConfig", "Credentials", "BrokerClock"], NewSaslServer]
"""Takes a listener's configuration of the mechanism; ConfigError if odradek cannot serve it."""

_MECHANISMS: Mapping[str, tuple[str, str]] = {
    "PLAIN": ("odradek.broker.security.sasl.passwords", "plain"),
    "SCRAM-SHA-256": ("odradek.broker.security.sasl.passwords", "scram_sha_256"),
    "SCRAM-SHA-512": ("odradek.broker.security.sasl.passwords", "scram_sha_512"),
    "GSSAPI": ("odradek.broker.security.sasl.gssapi", "gssapi"),
    "OAUTHBEARER": ("odradek.broker.security.sasl.oauthbearer", "oauthbearer"),
}


def mechanism(name: str) -> Mechanism:
    """The mechanism of this name, imported with its first use; ConfigError if there is none."""
    found = _MECHANISMS.get(name)
    if found is None:
        raise ConfigError(f"SASL mechanism {name} is not served; there are {', '.join(_MECHANISMS)}")
    function: Mechanism = getattr(importlib.import_module(found[0]), found[1])
    return function


_LONGEST_MS = (2**63 - 1) // 1_000_000


class SaslListener:
    """The mechanisms of one listener, by its configuration at the start.

    `mechanisms`: their names, in the order of Kafka's answer. `max_receive_bytes`: the largest frame of a log-in.
    """

    def __init__(self, config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> None:
        """ConfigError, with the listener's name, if odradek cannot serve the configuration."""
        self.name = config.name
        self.mechanisms = in_set_order(config.get_list("sasl.enabled.mechanisms"))
        self.max_receive_bytes = config.get_int("sasl.server.max.receive.size")
        self._longest_ms: dict[str, int] = {}
        self._new: dict[str, NewSaslServer] = {}
        if not self.mechanisms:
            raise ConfigError(f"listener {self.name}: No SASL mechanisms are enabled")
        for each in self.mechanisms:
            try:
                own = config.for_mechanism(each)
                self._longest_ms[each] = own.get_int("connections.max.reauth.ms")
                self._new[each] = mechanism(each)(own, credentials, clock)
            except ConfigError as error:
                raise ConfigError(f"listener {self.name}, {each}: {error}") from None

    def new_server(self, mechanism: str) -> SaslServer | None:
        """The server of one log-in; None for a mechanism that is not enabled."""
        new = self._new.get(mechanism)
        return None if new is None else new()

    def session_ms(self, mechanism: str, expires_ms: int | None, now_ms: int) -> int | None:
        """The length of a session that begins now: up to the end of its credential, and up to
        `connections.max.reauth.ms`. None for a session without an end. MalformedToken for one of 292 years, whose
        nanoseconds Kafka cannot count.
        """
        longest = self._longest_ms[mechanism]
        limits = [longest] if longest > 0 else []
        if expires_ms is not None:
            limits.append(expires_ms - now_ms)
        if limits and min(limits) > _LONGEST_MS:
            raise MalformedToken(f"the session would last {min(limits)} ms")
        return max(0, min(limits)) if limits else None


def login_options(config: ListenerConfig, module: str) -> Mapping[str, str]:
    """The options of the single login module in a mechanism's configuration, which must be `module`.

    ConfigError in Kafka's words, without any text of the configuration.
    """
    text = config.get_text("sasl.jaas.config")
    if text is None:
        raise ConfigError(
            f"Could not find a 'KafkaServer' or '{config.name.lower()}.KafkaServer' entry in the JAAS configuration: "
            f"set listener.name.{config.name.lower()}.<mechanism>.sasl.jaas.config"
        )
    try:
        modules = parse(text)
    except JaasError as error:
        raise ConfigError(str(error)) from None
    if len(modules) != 1:
        raise ConfigError(f"JAAS config property contains {len(modules)} login modules, should be 1 module")
    if modules[0].name != module:
        raise ConfigError(f"the login module of this mechanism is {module}; odradek runs no others")
    return modules[0].options
