"""Requests that wait for what other requests do, without a task of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from collections.abc import Callable

    from odradek.broker.clock import BrokerClock


@mypyc_attr(allow_interpreted_subclasses=True)
class Parked:
    """A handler returns one if it cannot give the response yet.

    Its holder sets `wake`. It calls `resume` after each wake-up and at `deadline_ms` (on the broker's clock) until
    `resume` returns the response, or `abandon` when nobody wants the response any more. A wake-up may come at any time
    after the handler has returned, so `wake` must only take note of it.
    """

    __slots__ = ("deadline_ms", "wake")

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.wake: Callable[[], None] = _nothing

    def resume(self) -> Any:
        """The response, or None to wait on. A KafkaError is answered like one that a handler raises."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Leave nothing behind; fine when it is over already."""
        raise NotImplementedError

    async def response(self, clock: BrokerClock) -> Any:
        """Wait for the response in the calling task."""
        try:
            while True:
                woken = trio.Event()
                self.wake = woken.set
                response = self.resume()
                if response is not None:
                    return response
                with clock.move_on_after((self.deadline_ms - clock.now_ms()) / 1000):
                    await woken.wait()
        finally:
            self.abandon()


def _nothing() -> None:
    """Nobody waits yet."""
