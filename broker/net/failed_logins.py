"""Log-ins that failed: who is told, and how long the client has to wait for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.broker.security.denials import Denial, Denials, one_line, shortened
from odradek.broker.security.principal import USER

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.requests.context import ConnectionInfo

_log = logging.getLogger("odradek.broker.net")


class FailedLogins:
    """Where gates report to. Owner: the cluster.

    `delay_ms`: `connection.failed.authentication.delay.ms`. A client that guesses passwords gets each answer so much
    later, on the broker's clock.
    """

    def __init__(self, clock: BrokerClock, delay_ms: Callable[[], int], denials: Denials) -> None:
        self._clock = clock
        self._delay_ms = delay_ms
        self._denials = denials

    async def delay(self) -> None:
        """Return when the client may have its answer."""
        await self._clock.sleep(self._delay_ms() / 1000)

    def tell(
        self, client: ConnectionInfo, what: str, told: str, *, api: str = "", more: str = "", claimed: str = ""
    ) -> None:
        """Log it in Kafka's words, and keep it among the denials.

        `what`: authentication or re-authentication. `told`: what the client is told, and `more`: what it is not.
        `claimed`: the name that it gave.
        """
        _log.info(
            "Failed %s with /%s (channelId=%s) (%s)", what, client.peer_host, client.id, one_line(shortened(told))
        )
        self.keep(client, told + more, api=api, claimed=claimed)

    def keep(self, client: ConnectionInfo, reason: str, *, api: str = "", claimed: str = "") -> None:
        """Keep it among the denials."""
        self._denials.keep(
            Denial(
                when_ms=self._clock.now_ms(),
                principal=f"{USER}:{claimed}" if claimed else str(client.principal),
                host=client.peer_host,
                operation="LOGIN",
                resource_type="LISTENER",
                resource_name=client.listener,
                api=api,
                listener=client.listener,
                reason=reason,
            )
        )
