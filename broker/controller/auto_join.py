"""Controllers that become voters by themselves (`controller.quorum.auto.join.enable`, KIP-853)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.controller.quorum import Quorum
    from odradek.broker.metadata.node import Node

_PERIOD = "controller.quorum.fetch.timeout.ms"


async def join_voters(
    node: Node,
    quorum: Quorum,
    controller: Controller,
    config: BrokerConfig,
    clock: BrokerClock,
    reaches_leader: Callable[[int], bool],
    since_ms: int,
) -> None:
    """Let a controller that observes since `since_ms` vote after `controller.quorum.fetch.timeout.ms`.

    It tries again as often, while it does not reach the leader. One that goes down tries no more.
    """
    while True:
        since_ms += config.get_int(_PERIOD, node.id)
        await clock.sleep_until_ms(since_ms)
        if node not in quorum.controllers or node.votes or not node.runs or not controller.kraft_version:
            return
        if reaches_leader(node.id):
            quorum.add(node)
            return
