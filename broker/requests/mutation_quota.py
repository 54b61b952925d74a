"""The quota on controller mutations (KIP-599): partitions that a client creates and deletes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.controller.commands import Quota, free
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.requests.context import RequestContext


def mutations_of(ctx: RequestContext, strict_from: int, *, told: bool = True) -> Quota:
    """A controller command calls this with the number of partitions that it is about to create or delete.

    From version `strict_from` on it raises THROTTLING_QUOTA_EXCEEDED while the client has used up its quota; clients
    of older versions only have to wait. `told`: whether the client has to wait at all; for a topic that is created on
    its way it does not.
    """
    quotas = ctx.services.quotas
    charge = getattr(ctx, "charge", None)
    if quotas is None or charge is None:
        return free
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
