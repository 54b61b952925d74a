"""The limits of the gate: how soon a failed log-in is answered, and how many bytes log-ins may hold."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from odradek.broker.security.denials import Denial, Denials, shortened
from odradek.broker.security.principal import USER
from odradek.protocol.shown import one_line
from odradek.storage.byte_budget import ByteBudget

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.requests.context import ConnectionInfo

_log = logging.getLogger("odradek.broker.net")


class FailedLogins:
    """Delays and logs failed log-ins, for the gates.

    Owner: the cluster. `delay_ms`: `connection.failed.authentication.delay.ms`, by which each answer to a client that
    guesses passwords is delayed, on the broker's clock.
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


_MOST_BYTES = 32 * 1024 * 1024


class Holder(Protocol):
    """One log-in under way. Hashable by identity."""

    def cut(self, reason: str) -> None:
        """End its connection."""


def login_budget(limit: int = _MOST_BYTES) -> ByteBudget[Holder]:
    """The budget of the large receive buffers of a cluster's log-ins.

    A buffer follows what its client has really sent, up to `sasl.server.max.receive.size`, so a thousand clients can
    have half a gigabyte. Beyond the limit, the log-in that grew least recently is cut. An ordinary one fits into a
    connection's first buffer and counts for nothing.
    """
    return ByteBudget(limit, lambda login: login.cut(f"the log-ins under way hold more than {limit} bytes"))
