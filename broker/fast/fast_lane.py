"""The lane of this package: which of its parts a cluster gets on this platform and in this run."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from odradek.broker.fast.encoded_answers import KeptAnswers
from odradek.broker.fast.held_appends import HeldAppends, HoldingJournal
from odradek.broker.fast.pacing import do_not_pace
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.fast.sleeping_poller import SleepingPoller, event_loop
from odradek.broker.lane import Lane
from odradek.protocol.apis import PRODUCE_KEY

if TYPE_CHECKING:
    import socket

    from odradek.broker.clock import BrokerClock
    from odradek.broker.net.connection import Poller
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.requests.dispatch import AnswerWriter
    from odradek.broker.runtime.journal import PartitionJournal

ChoosePoller = Callable[["BrokerClock", HeldAppends], "Poller | None"]


def choose_poller(clock: BrokerClock, held_appends: HeldAppends) -> Poller | None:
    """The poller for this platform and the trio run of the caller; None where there is no epoll."""
    if not hasattr(select, "epoll"):
        return None
    if event_loop(clock) is None:
        return EpollPoller(clock, held_appends)
    return SleepingPoller(clock, held_appends)


_FIRST_PRODUCE: Final = 3
"""The lowest version whose answers are written here; only releases before 4.0 have lower ones."""


class FastLane(Lane):
    """See `odradek.broker.lane`. `held_appends` joins the poller, which tells of its turns, with the journals."""

    def __init__(self, choose_poller: ChoosePoller = choose_poller) -> None:
        self.held_appends = HeldAppends()
        self._choose_poller = choose_poller

    def new_poller(self, clock: BrokerClock) -> Poller | None:
        return self._choose_poller(clock, self.held_appends)

    def tune_local(self, sock: socket.socket) -> None:
        do_not_pace(sock)

    def answer_writer(self, api_key: int, version: int) -> AnswerWriter | None:
        if api_key == PRODUCE_KEY and version >= _FIRST_PRODUCE:
            from odradek.broker.fast.produce_answer import UsualProduceAnswer

            return UsualProduceAnswer(version).frame
        return None

    def new_answer_cache(self) -> KeptAnswers:
        return KeptAnswers()

    def new_journal(self, partition: Partition, *, base_sequence: int, keyed: bool) -> PartitionJournal:
        return HoldingJournal(partition, self.held_appends, base_sequence=base_sequence, keyed=keyed)
