"""Expired tokens go on the broker's clock."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.token_expiry import remove_expired_tokens
from odradek.protocol.errors import ErrorCode, KafkaError


class Swept:
    """A controller that has so many thousands of expired tokens, and fails at first."""

    def __init__(self, thousands: int) -> None:
        self.asked = 0
        self._left = thousands

    def ask(self, command: object) -> bool:
        self.asked += 1
        if self.asked == 1:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        self._left -= 1
        return self._left > 0


def test_all_of_them_go_at_each_interval() -> None:
    trio.run(_intervals)


async def _intervals() -> None:
    clock = BrokerClock()
    clock.attach()
    clock.freeze()
    controller: Any = Swept(3)
    config = BrokerConfig({"delegation.token.expiry.check.interval.ms": "60000"})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove_expired_tokens, controller, config, clock)
        for seconds, asked in ((59, 0), (1, 1), (60, 4), (60, 5)):
            await trio.testing.wait_all_tasks_blocked()
            clock.advance(seconds)
            await trio.testing.wait_all_tasks_blocked()
            assert controller.asked == asked
        nursery.cancel_scope.cancel()
