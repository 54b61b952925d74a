"""The lane of this package: which of its parts a cluster gets on this platform and in this run."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from odradek.broker.fast.held_appends import HeldAppends, HoldingJournal
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.fast.sleeping_poller import SleepingPoller, event_loop
from odradek.broker.lane import Lane
from odradek.broker.requests.services import AnswerCache
from odradek.protocol.apis import PRODUCE_KEY

if TYPE_CHECKING:
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


_MAX_KEPT = 64
MAX_BYTES = 16 * 1024 * 1024
"""Of the answers of one API and their keys."""


class KeptAnswers(AnswerCache):
    """The encoded answers to Metadata and ApiVersions, by API and request. A newer version of the metadata empties the
    cache.

    Owner: the cluster's `Services`. Clients of large clusters ask for the same again and again. `topics`: see
    `AnswerCache`. Gains 94 % of the CPU of Metadata of 1,000 partitions, 75 % of ApiVersions.
    """

    __slots__ = ("_sizes", "_tables", "topics")

    def __init__(self) -> None:
        self.topics: dict[Any, tuple[Any, Any]] = {}
        self._tables: dict[str, tuple[int, dict[Hashable, Any]]] = {}
        self._sizes: dict[str, int] = {}

    def of(self, api: str, version: int) -> Mapping[Hashable, Any]:
        known = self._tables.get(api)
        if known is not None and known[0] == version:
            return known[1]
        table: dict[Hashable, Any] = {}
        self._tables[api] = (version, table)
        self._sizes[api] = 0
        return table

    def keep(self, api: str, key: Hashable, answer: Any, size: int) -> None:
        _, table = self._tables[api]
        if len(table) >= _MAX_KEPT or self._sizes[api] + size > MAX_BYTES:
            table.clear()
            self._sizes[api] = 0
        if size <= MAX_BYTES:
            table[key] = answer
            self._sizes[api] += size


_CONGESTION: int | None = getattr(socket, "TCP_CONGESTION", None)  # Linux and FreeBSD


def do_not_pace(sock: socket.socket) -> None:
    """Turn off pacing for a connection within this machine, if the system allows it.

    Some systems pace all connections (BBR), with a timer and a model of the path for each answer. `sendfile` hands over
    64 KiB at once, and each piece waits for its time: 190 MB/s instead of 7,350. Gains a third of the CPU of a large
    fetch there.
    """
    if _CONGESTION is not None:
        with suppress(OSError):  # a system may allow what is its default only
            sock.setsockopt(socket.IPPROTO_TCP, _CONGESTION, b"reno")


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
