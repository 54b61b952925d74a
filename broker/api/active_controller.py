"""The active controller: who it is for clients of brokers, and what only it may do for those of controllers."""

from __future__ import annotations

from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError

THE_LEADER = "The active controller appears to be node {}."
_NOBODY = -1


def told_controller(ctx: RequestContext) -> int:
    """The node that a broker names as the controller: clients must be able to reach it as a broker.

    Where controllers are no brokers Kafka names any broker that is up, which forwards what it gets.
    """
    services = ctx.services
    leader_id = services.controller.controller_id
    if leader_id in services.nodes:
        return leader_id
    return next((node.id for node in services.up_nodes()), _NOBODY)


def check_leads(ctx: RequestContext, why: str | None = THE_LEADER) -> None:
    """NOT_CONTROLLER, with Kafka's text, unless the asked node is the active controller."""
    leader_id = ctx.services.controller.controller_id
    if ctx.node.id != leader_id:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, None if why is None else why.format(leader_id))
