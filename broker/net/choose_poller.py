"""Which poller a server gets."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

from odradek.broker.net.poller import EpollPoller, Poller, TaskPoller
from odradek.broker.net.sleeping_poller import SleepingPoller, event_loop

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock


def new_poller(clock: BrokerClock) -> Poller:
    """The poller for this platform and the trio run of the caller."""
    if not hasattr(select, "epoll"):
        return TaskPoller(clock)
    return EpollPoller(clock) if event_loop(clock) is None else SleepingPoller(clock)
