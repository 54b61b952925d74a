"""What a listener offers those who log in: its mechanisms, and how long their sessions may last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.server import MalformedToken, NewSaslServer, SaslServer, mechanism
from odradek.protocol.java_hash_table import in_set_order

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listener_config import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials

_LONGEST_MS = (2**63 - 1) // 1_000_000


class SaslListener:
    """The mechanisms of one listener, as its configuration has them when the broker starts.

    `mechanisms`: in the order in which Kafka tells them. `max_receive_bytes`: the largest frame of a log-in.
    """

    __slots__ = ("_longest_ms", "_new", "max_receive_bytes", "mechanisms", "name")

    def __init__(self, config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> None:
        """ConfigError, with the listener's name, for what cannot be served."""
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
        """For one log-in; None for a mechanism that is not enabled."""
        new = self._new.get(mechanism)
        return None if new is None else new()

    def session_ms(self, mechanism: str, expires_ms: int | None, now_ms: int) -> int | None:
        """How long a session that begins now may last: up to the end of its credential, and to
        `connections.max.reauth.ms`. None for one without an end. MalformedToken for one of 292 years: Kafka fails to
        count its nanoseconds."""
        longest = self._longest_ms[mechanism]
        limits = [longest] if longest > 0 else []
        if expires_ms is not None:
            limits.append(expires_ms - now_ms)
        if limits and min(limits) > _LONGEST_MS:
            raise MalformedToken(f"the session would last {min(limits)} ms")
        return max(0, min(limits)) if limits else None
