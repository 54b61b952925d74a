"""Tasks that ask the controller for something when it is time: expired tokens go, observers become voters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.broker.controller.token_control import sweep_tokens
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.controller.quorum import Quorum
    from odradek.broker.metadata.node import Node


async def remove_expired_tokens(controller: Controller, config: BrokerConfig, clock: BrokerClock) -> None:
    """Remove them each `delegation.token.expiry.check.interval.ms` on the broker's clock, until cancelled.

    A metadata log that takes nothing is tried again the next time.
    """
    while True:
        await clock.sleep(config.get_int("delegation.token.expiry.check.interval.ms") / 1000)
        try:
            while controller.ask(sweep_tokens):
                await clock.sleep(0)
        except KafkaError:
            continue


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
    """Let a controller that observes since `since_ms` vote after `controller.quorum.fetch.timeout.ms` (KIP-853).

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
