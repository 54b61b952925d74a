"""PLAIN (RFC 4616): name and password in clear text. The listener's JAAS configuration has the users."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.security.principal import ANONYMOUS, USER, Principal
from odradek.broker.security.sasl.jaas import login_options
from odradek.broker.security.sasl.server import OTHER_AUTHORIZATION_ID, NewSaslServer, SaslError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials

LOGIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_USER_PREFIX = "user_"
_MOST_PARTS = 4


def plain(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
    """See `server.Mechanism`: the users are the options `user_NAME="password"`."""
    options = login_options(config, LOGIN_MODULE)
    users = {
        name.removeprefix(_USER_PREFIX): value.encode("utf-8", "surrogatepass")
        for name, value in options.items()
        if name.startswith(_USER_PREFIX)
    }
    return lambda: PlainServer(users)


class PlainServer:
    """One log-in; see `server.SaslServer`. `users`: passwords by name."""

    mechanism = "PLAIN"
    expires_ms: int | None = None
    extensions: Mapping[str, str] = {}

    def __init__(self, users: Mapping[str, bytes]) -> None:
        self._users = users
        self.complete = False
        self.principal = ANONYMOUS

    def evaluate(self, token: bytes) -> bytes:
        """Check `authzid NUL name NUL password`; SaslError in Kafka's words."""
        parts = token.decode("utf-8", "replace").split("\0", _MOST_PARTS)[:_MOST_PARTS]
        if len(parts) != 3:
            raise SaslError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        act_as, name, password = parts
        if not name:
            raise SaslError("Authentication failed: username not specified")
        if not password:
            raise SaslError("Authentication failed: password not specified", name)
        expected = self._users.get(name)
        # An unknown user's password is compared too, so that the time does not show which users exist.
        right = hmac.compare_digest(password.encode(), b"" if expected is None else expected)
        if expected is None or not right:
            raise SaslError("Authentication failed: Invalid username or password", name)
        if act_as and act_as != name:
            raise SaslError(OTHER_AUTHORIZATION_ID, name)
        self.principal = Principal(USER, name)
        self.complete = True
        return b""
