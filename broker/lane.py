"""The seam between the plain path of a request and what makes it faster.

The plain path serves everything: each connection waits in its own task, reads frames, has the dispatcher answer them,
and sends each answer; a coordinator appends what it decides. A lane may put something else in the place of some of
these parts. `odradek.broker.fast` is the other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.requests.services import AnswerCache
from odradek.broker.runtime.journal import PartitionJournal

if TYPE_CHECKING:
    import socket

    from odradek.broker.clock import BrokerClock
    from odradek.broker.net.connection import Poller
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.requests.dispatch import AnswerWriter


class Lane:
    """The source of a cluster's replaceable parts: those of the plain path. Each cluster has a lane of its own."""

    def new_poller(self, clock: BrokerClock) -> Poller | None:
        """The poller for connections that wait for a request, in the trio run of the caller.

        None: each connection waits in its own task.
        """
        return None

    def tune_local(self, sock: socket.socket) -> None:
        """Set up a connection within this machine: it is a connection like any other."""

    def answer_writer(self, api_key: int, version: int) -> AnswerWriter | None:
        """The writer of an API's usual answer; None: the codec writes all answers."""
        return None

    def new_answer_cache(self) -> AnswerCache:
        """The cache in which handlers keep answers: each is made anew."""
        return AnswerCache()

    def new_journal(self, partition: Partition, *, base_sequence: int, keyed: bool) -> PartitionJournal:
        """The journal of a coordinator."""
        return PartitionJournal(partition, base_sequence=base_sequence, keyed=keyed)
