"""The gates of a cluster's listeners. Imported only where clients log in at one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from odradek.broker.net.failed_logins import FailedLogins
from odradek.broker.net.login_bytes import LoginBytes
from odradek.broker.net.login_gate import LoginGate, NewGate
from odradek.broker.security.sasl.credentials import ImageCredentials
from odradek.broker.security.sasl.server import SaslListener

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.listener_config import ListenerConfig
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.requests.dispatch import Dispatcher
    from odradek.broker.security.denials import Denials


class Gates:
    """Makes what makes the gates of a listener's connections. Owner: the cluster, whose listeners share its limits."""

    def __init__(self, config: BrokerConfig, image: MetadataImage, clock: BrokerClock, denials: Denials) -> None:
        self._credentials = ImageCredentials(image, lambda: _text(config, "delegation.token.secret.key"))
        self._failures = FailedLogins(
            clock, lambda: config.get_int("connection.failed.authentication.delay.ms"), denials
        )
        self._login_bytes = LoginBytes()
        self._clock = clock

    def open(self, config: ListenerConfig, dispatcher: Dispatcher) -> NewGate:
        """For a listener where clients log in; ConfigError if one cannot be. `dispatcher`: of its requests."""
        return partial(
            LoginGate,
            listener=SaslListener(config, self._credentials, self._clock),
            dispatcher=dispatcher,
            clock=self._clock,
            failures=self._failures,
            login_bytes=self._login_bytes,
        )


def _text(config: BrokerConfig, key: str) -> str | None:
    value = config.get(key)
    return value if isinstance(value, str) else None
