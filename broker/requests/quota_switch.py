"""Turns metering on with the first client quota and off with the last: without one nothing of it is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from odradek.broker.controller.topic_control import Quota, unlimited
from odradek.broker.metadata.image import MetadataDelta
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.requests.context import RequestContext
    from odradek.broker.requests.dispatch import Dispatcher
    from odradek.broker.requests.services import Services
    from odradek.broker.security.quotas.quotas import Quotas


class Accepts(Protocol):
    """The server, as far as quotas of addresses concern it."""

    connection_delay_ms: Callable[[int, str], int]


class QuotaSwitch:
    """Follows the quotas of the image. Owner: the cluster.

    `quotas` is None until there is a quota, and stays then: what clients have used is not forgotten when the last quota
    goes. `services.quotas` is set only while some user or client id has one.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._dispatchers: Sequence[Dispatcher] = ()
        self._server: Accepts | None = None
        self._serve_all: Callable[[int, str], int] | None = None
        self._of_addresses = False
        self.quotas: Quotas | None = None

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if self.quotas is None and not image.quotas:
            return
        services = self._services
        if self.quotas is None:
            from odradek.broker.security.quotas.quotas import Quotas

            self.quotas = Quotas(services.config, services.clock)
        services.quotas = self.quotas if self.quotas.change(image.quotas) else None
        self._of_addresses = self.quotas.addresses.change(image.quotas)
        self._turn()

    def forget_usage(self, image: MetadataImage) -> None:
        """Forget the usage of clients, because the clock shows another time."""
        if self.quotas is not None:
            self.quotas = self._services.quotas = None
            self._of_addresses = False
            self._turn()
            delta = MetadataDelta()
            delta.quotas = True
            self.publish(delta, image)

    def attach(self, dispatchers: Sequence[Dispatcher], server: Accepts) -> None:
        """Let them count requests and connections from now on, as far as there are quotas."""
        self._dispatchers, self._server = dispatchers, server
        self._serve_all = server.connection_delay_ms
        self._turn()

    def _turn(self) -> None:
        server = self._server
        if server is None or self._serve_all is None:
            return
        quotas = self._services.quotas
        for dispatcher in self._dispatchers:
            if quotas is not (None if dispatcher.meter is None else dispatcher.meter.quotas):
                dispatcher.set_meter(quotas)
        limited = self.quotas is not None and self._of_addresses
        server.connection_delay_ms = self.quotas.delay_ms if limited and self.quotas else self._serve_all


# -- The quota on controller mutations (KIP-599): partitions that a client creates and deletes.


def mutations_of(ctx: RequestContext, strict_from: int, *, told: bool = True) -> Quota:
    """A controller command calls this with the number of partitions that it is about to create or delete.

    From version `strict_from` on it raises THROTTLING_QUOTA_EXCEEDED while the client has used up its quota; clients
    of older versions only have to wait. `told`: whether the client has to wait at all; for a topic that is created on
    its way it does not.
    """
    quotas = ctx.services.quotas
    charge = getattr(ctx, "charge", None)
    if quotas is None or charge is None:
        return unlimited
    strict = ctx.api_version >= strict_from

    def take(partitions: int) -> None:
        taken, wait_ms = quotas.mutations.take(
            ctx.connection.principal.name, ctx.client_id, partitions, ctx.services.clock.now_ms(), strict=strict
        )
        if wait_ms and told:
            charge.mutations_ms = wait_ms
        if not taken:
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)

    return take
