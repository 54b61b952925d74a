"""The quorum of the metadata log: who votes, who leads, and how far each node has the log (KIP-595)."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.protocol.message import ZERO_UUID

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.metadata.node import Node

UNKNOWN = -1
"""The values of a voter that has not fetched from the leader."""
_OBSERVER_SESSION_MS = 300_000


class Progress(NamedTuple):
    """How far a node has the metadata log, as its leader knows it. Times are those of its last fetches."""

    node_id: int
    directory_id: bytes
    end_offset: int
    fetched_ms: int
    caught_up_ms: int


class _Left(NamedTuple):
    """The end, epoch and time of the log when a node went down."""

    epoch: int
    end_offset: int
    at_ms: int


class Quorum:
    """The nodes that have the metadata log. Owner: the cluster.

    All are in one process, so a node that is up has the whole log. The log has a leader while one voter is up.
    """

    def __init__(self, controller: Controller, members: Mapping[int, Node], clock: BrokerClock) -> None:
        self._controller = controller
        self._members = members
        self._clock = clock
        self._left: dict[int, _Left] = {}
        self.on_observer: Callable[[Node], None] = lambda node: None
        """Called with a controller that has started or lost its vote, and only observes."""

    @property
    def voters(self) -> list[Node]:
        """The controllers that vote, in the order of their ids."""
        return [node for node in self._members.values() if node.votes]

    @property
    def controllers(self) -> list[Node]:
        """The controllers, whether they vote or not, in the order of their ids."""
        return [node for node in self._members.values() if node.is_controller]

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self._members)

    @property
    def leader_epoch(self) -> int:
        """The epoch of the leader."""
        log = self._controller.log
        return 0 if log is None else log.leader_epoch

    def is_last(self, node_id: int) -> bool:
        """Whether the other nodes that are up would have no controller without this one."""
        others = [node for node in self._members.values() if node.id != node_id]
        return any(node.up for node in others) and not any(node.controls for node in others)

    def left(self, node_id: int) -> None:
        """A node has gone down; the next voter that is up leads if it did."""
        log = self._controller.log
        if log is not None:
            self._left[node_id] = _Left(log.leader_epoch, log.end_offset, self._clock.now_ms())
        if self._controller.controller_id == node_id:
            self._controller.take_over(next((voter.id for voter in self.voters if voter.controls), node_id))

    def joined(self, node_id: int) -> None:
        """A node is back; it leads if it votes and no other voter is up."""
        self._left.pop(node_id, None)
        node = self._members[node_id]
        if node.is_controller and not node.votes:
            self.on_observer(node)
        if node.votes and not self._members[self._controller.controller_id].controls:
            self._controller.take_over(node_id)

    def remove(self, voter: Node) -> None:
        """A controller observes from now on (KIP-853); the next voter that is up leads if it did."""
        voter.votes = False
        self._controller.name_voters()
        if self._controller.controller_id == voter.id:
            self._controller.take_over(next(other.id for other in self.voters if other.controls))
        self.on_observer(voter)

    def add(self, controller: Node) -> None:
        """A controller votes from now on."""
        controller.votes = True
        self._controller.name_voters()

    def start_with(self, voters: Container[int]) -> None:
        """These controllers vote, whoever did before."""
        for node in self._members.values():
            node.votes = node.is_controller and node.id in voters
        for node in self.controllers:
            if not node.votes:
                self.on_observer(node)

    def progress(self) -> tuple[list[Progress], list[Progress]]:
        """Voters and observers."""
        voters = [self._of_voter(node) for node in self.voters]
        observers = [self._of_observer(node) for node in self._members.values() if not node.votes]
        return voters, [each for each in observers if each is not None]

    def _of_voter(self, node: Node) -> Progress:
        # A static quorum knows its voters by their ids alone (KIP-853).
        directory_id = node.metadata_directory if self._controller.kraft_version else ZERO_UUID
        left = self._left.get(node.id)
        if left is None:
            return self._up_to_date(node.id, directory_id)
        if left.epoch != self.leader_epoch:
            return Progress(node.id, directory_id, UNKNOWN, UNKNOWN, UNKNOWN)
        return Progress(node.id, directory_id, left.end_offset, left.at_ms, left.at_ms)

    def _of_observer(self, node: Node) -> Progress | None:
        """None for one that the leader has forgotten."""
        left = self._left.get(node.id)
        if left is None:
            return self._up_to_date(node.id, node.metadata_directory)
        if left.epoch != self.leader_epoch or self._clock.now_ms() - left.at_ms >= _OBSERVER_SESSION_MS:
            return None
        return Progress(node.id, node.metadata_directory, left.end_offset, left.at_ms, left.at_ms)

    def _up_to_date(self, node_id: int, directory_id: bytes) -> Progress:
        now_ms = self._clock.now_ms()
        return Progress(node_id, directory_id, self._controller.next_offset, now_ms, now_ms)


# -- Observers become voters by themselves.

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
