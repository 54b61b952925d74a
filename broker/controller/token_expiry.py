"""Removes expired delegation tokens from the metadata log.

It uses the controller, which uses `token_control`: in one module they would be a circle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.controller.commands import SweepTokens
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller


async def remove_expired_tokens(controller: Controller, config: BrokerConfig, clock: BrokerClock) -> None:
    """Remove them each `delegation.token.expiry.check.interval.ms` on the broker's clock, until cancelled.

    A metadata log that takes nothing is tried again the next time.
    """
    while True:
        await clock.sleep(config.get_int("delegation.token.expiry.check.interval.ms") / 1000)
        try:
            while controller.ask(SweepTokens()):
                await clock.sleep(0)
        except KafkaError:
            continue
