"""A streams group as its log has it: members, epochs, topology, target assignment. Changed by replay only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar

from odradek.broker.coordinator.group.assignment import timeline_order
from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.epoch_group import EMPTY, EpochGroup, known_member
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.streams import commits
from odradek.broker.coordinator.group.streams.configured import ConfiguredTopology
from odradek.broker.coordinator.group.streams.holders import Holders
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import NO_TARGET, Target
from odradek.broker.coordinator.group.streams.timers import initial_delay_key, member_timers
from odradek.broker.coordinator.group.streams.topology import Topology
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord
from odradek.protocol.native import mypyc_attr

NOT_READY = "NotReady"

STREAMS_PROTOCOL = "streams"
_NOT_VALIDATED = 0


@mypyc_attr(allow_interpreted_subclasses=True)
class SoftState:
    """What no record of a group expresses; a coordinator that loads the group begins anew.

    ``configured``: the topology held against the topics. ``topics_checked``: they have not changed since.
    ``shutdown_by``: the member that asked for the application's end. ``refused``: why internal topics could not be
    created, and until when (milliseconds) that is not tried again.
    """

    __slots__ = ("configured", "endpoint_epoch", "refused", "shutdown_by", "topics_checked", "waits_for_first")

    def __init__(self) -> None:
        self.configured: ConfiguredTopology | None = None
        self.topics_checked = False
        self.endpoint_epoch = 0
        self.shutdown_by: str | None = None
        self.waits_for_first = False
        self.refused: dict[str, tuple[str, int]] = {}

    def refused_at(self, now_ms: int) -> dict[str, tuple[str, int]]:
        """The internal topics that are not tried again yet."""
        return {name: refusal for name, refusal in self.refused.items() if refusal[1] > now_ms}


@mypyc_attr(allow_interpreted_subclasses=True)
class StreamsGroup(EpochGroup):
    """See `kinds.Group`. Owner: the streams kind. Everything but ``soft`` comes from records."""

    group_type: ClassVar[GroupType] = GroupType.STREAMS
    protocol_type: ClassVar[str] = STREAMS_PROTOCOL

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.members: dict[str, Member] = {}
        self.validated_topology_epoch = _NOT_VALIDATED
        self.assignment_configs: Mapping[str, str] = {}
        self.topology: Topology | None = None
        self.targets: dict[str, Target] = {}
        self.holders = Holders()
        self.soft = SoftState()

    # -- Group

    def _by_id(self) -> Mapping[str, Member]:
        return self.members

    def _compute_state(self) -> str:
        if not self.members:
            return EMPTY
        if self.topology is None or self.topology.epoch != self.validated_topology_epoch:
            return NOT_READY
        return self._progress()

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`. Kafka filters by ``not_ready``, which it shows as NotReady."""
        name = self.state_name
        return ("not_ready" if name == NOT_READY else name.lower()) in names

    def is_subscribed_to(self, topic: str) -> bool:
        """See `Group`."""
        if not self.members or self.topology is None:
            return False
        return any(topic in each.sources for each in self.topology.subtopologies.values())

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`. A commit is no heartbeat here."""
        commits.check_commit(self.members, self.topology, command)
        return ()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`."""
        commits.check_transactional_commit(self.members, self.topology, command)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`."""
        commits.check_fetch(self.group_id, self.members, member_id, member_epoch)

    def tombstones(self) -> list[NewRecord]:
        """See `Group`."""
        from odradek.broker.coordinator.group.streams.records import group_tombstones

        return group_tombstones(self.group_id, self.members)

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(key) for member_id in self.members for key in member_timers(self.group_id, member_id)]
        return [*timers, Cancel(initial_delay_key(self.group_id)), GroupChanged(self.group_id)]

    # -- reading

    def member(self, member_id: str | None) -> Member:
        """The member of that id; UNKNOWN_MEMBER_ID if there is none."""
        return known_member(self.group_id, self.members, member_id)

    def in_map_order(self) -> list[Member]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in timeline_order(list(self.members), self.peak)]

    def rests(self, member: Member) -> bool:
        """Whether nothing can follow from a heartbeat of a member that has not changed, and there is nothing to tell.

        That holds while the assignor's configs are as they were.
        """
        topology, soft = self.topology, self.soft
        return (
            topology is not None
            and soft.topics_checked
            and soft.configured is not None
            and soft.configured.is_ready
            and soft.shutdown_by is None
            and not soft.waits_for_first
            and topology.epoch == self.validated_topology_epoch
            and topology.epoch <= member.topology_epoch
            and self.epoch <= self.assignment_epoch
            and member.is_reconciled_to(self.assignment_epoch)
        )

    def target_of(self, member_id: str) -> Target:
        """What a member is to have."""
        return self.targets.get(member_id, NO_TARGET)

    def topics(self) -> Iterable[str]:
        """The topics that its topology needs."""
        return () if self.topology is None else self.topology.required_topics()

    # -- changing, from records

    def set_epoch(self, epoch: int, metadata_hash: int, validated: int, configs: Mapping[str, str]) -> None:
        """The group has got a new epoch."""
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated
        self.assignment_configs = configs
        self._state = None

    def set_topology(self, topology: Topology | None) -> None:
        """The topology is initialised, or gone with the group."""
        self.topology = topology
        self._state = None

    def put_member(self, member: Member) -> None:
        """A member is new or has changed."""
        before = self.members.get(member.member_id)
        if before is not None:
            self.holders.remove(before)
        self.members[member.member_id] = member
        self.peak = max(self.peak, len(self.members) + 1)
        self.holders.add(member)
        self._state = None

    def remove_member(self, member_id: str) -> None:
        """A member is gone; with the last one, what it had asked the application for."""
        before = self.members.pop(member_id, None)
        if before is not None:
            self.holders.remove(before)
        if not self.members:
            self.soft.shutdown_by = None
        self._state = None
