"""A streams group as its log has it (members, epochs, topology, target assignment), its timers, and the step that
changes it.

Only replay changes the group. A member may commit with an older epoch for source partitions of tasks that it has had
active since then (KIP-1251); a fetch has to name the present epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar

from odradek.broker.coordinator.group.assignment import timeline_order
from odradek.broker.coordinator.group.commands import CommitOffsets, GroupType, OffsetToCommit, TxnOffsetCommit
from odradek.broker.coordinator.group.epoch_group import (
    EMPTY,
    FIRST_EPOCH,
    STABLE,
    EpochGroup,
    known_member,
)
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.settings import StreamsConfigs
from odradek.broker.coordinator.group.streams.description import (
    NO_DESCRIPTION,
    NOT_STORED,
    UNCERTAIN,
    Description,
    DescriptionEpochs,
)
from odradek.broker.coordinator.group.streams.member import NO_TARGET, Member, Target, TaskOffsets
from odradek.broker.coordinator.group.streams.topology import ConfiguredTopology, Status, Topology
from odradek.broker.coordinator.group.target import count_down, count_up
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Outcome, R, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

_Counts = dict[str, dict[int, dict[str, int]]]


@mypyc_attr(allow_interpreted_subclasses=True)
class Holders:
    """Processes by task. Owner: the group, which tells it of each member that changes.

    For each task and process it counts the members that have the task. Never more than one member has it active, and
    never more than one of a process has a copy, while records come one by one. A log without its superseded records
    can show the next member before the one that gave the task up, and both may be of one process.
    """

    def __init__(self) -> None:
        self._active: _Counts = {}
        self._standby: _Counts = {}
        self._warmup: _Counts = {}

    def active(self, subtopology: str, partition: int) -> str | None:
        """The process that has the task active, or still has to revoke it; None without one."""
        processes = self._active.get(subtopology, {}).get(partition)
        return next(reversed(processes)) if processes else None

    def has_copy(self, process: str, subtopology: str, partition: int) -> bool:
        """Whether a process has the task as a standby or a warm-up."""
        return any(
            process in copies.get(subtopology, {}).get(partition, ()) for copies in (self._standby, self._warmup)
        )

    def add(self, member: Member) -> None:
        """The member has what it has."""
        for held in (member.assigned, member.revoking):
            _hold(self._active, held.active, member.process_id)
            _hold(self._standby, held.standby, member.process_id)
            _hold(self._warmup, held.warmup, member.process_id)

    def remove(self, member: Member) -> None:
        """The member has it no more. What another member has been given meanwhile stays with that one."""
        for held in (member.assigned, member.revoking):
            _release(self._active, held.active, member.process_id)
            _release(self._standby, held.standby, member.process_id)
            _release(self._warmup, held.warmup, member.process_id)


def _hold(counts: _Counts, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        holders = counts.setdefault(subtopology, {})
        for partition in partitions:
            count_up(holders.setdefault(partition, {}), (process,))


def _release(counts: _Counts, tasks: Mapping[str, Iterable[int]], process: str) -> None:
    for subtopology, partitions in tasks.items():
        holders = counts.get(subtopology, {})
        for partition in partitions:
            processes = holders.get(partition, {})
            count_down(processes, (process,))
            if not processes:
                holders.pop(partition, None)
        if not holders:
            counts.pop(subtopology, None)


def session_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer that removes a member without heartbeats."""
    return ("streams session", group_id, member_id)


def rebalance_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer that removes a member which has not revoked its tasks."""
    return ("streams rebalance", group_id, member_id)


def initial_delay_key(group_id: str) -> Hashable:
    """The key of the timer of a new group's first assignment."""
    return ("streams initial rebalance", group_id)


def member_timers(group_id: str, member_id: str) -> tuple[Hashable, ...]:
    """All timers of a member."""
    return (session_key(group_id, member_id), rebalance_key(group_id, member_id))


def _check_task(member: Member, readers: Mapping[str, str], offset: OffsetToCommit, epoch: int) -> None:
    subtopology = readers.get(offset.topic)
    if subtopology is None:
        raise _stale(f"Topic {offset.topic} is not in the topology.")
    task = f"{subtopology}-{offset.partition}"
    given = member.assigned.active.get(subtopology, {}).get(offset.partition)
    if given is None:
        given = member.revoking.active.get(subtopology, {}).get(offset.partition)
    if given is None:
        raise _stale(f"Task {task} is not assigned or pending revocation for member.")
    if epoch < given:
        raise _stale(f"Received member epoch {epoch} is older than assignment epoch {given} for task {task}.")


def _stale(text: str) -> KafkaError:
    return KafkaError(ErrorCode.STALE_MEMBER_EPOCH, text)


NOT_READY = "NotReady"

STREAMS_PROTOCOL = "streams"
_NOT_VALIDATED = 0


@mypyc_attr(allow_interpreted_subclasses=True)
class SoftState:
    """The soft state of a group, which no record has. A coordinator that loads the group begins with a new one.

    ``configured``: the topology compared with the topics. ``topics_checked``: they have not changed since.
    ``shutdown_by``: the member that asked for the application's end. ``refused``: why internal topics could not be
    created, and until when (milliseconds) that is not tried again. ``taskless_epoch``: the epoch in which nobody gets
    tasks (see `Release.keeps_refused_assignments`). ``offsets`` and ``end_offsets``: what members have told of their
    tasks, by member id. ``description``: of the topology; members were asked for it ``description_requests`` times in
    vain, and nobody is before ``description_wanted_from_ms``.
    """

    __slots__ = (
        "configured",
        "description",
        "description_requests",
        "description_wanted_from_ms",
        "end_offsets",
        "endpoint_epoch",
        "offsets",
        "refused",
        "shutdown_by",
        "taskless_epoch",
        "topics_checked",
        "waits_for_first",
    )

    def __init__(self) -> None:
        self.configured: ConfiguredTopology | None = None
        self.topics_checked = False
        self.endpoint_epoch = 0
        self.shutdown_by: str | None = None
        self.waits_for_first = False
        self.refused: dict[str, tuple[str, int]] = {}
        self.taskless_epoch = 0
        self.offsets: dict[str, TaskOffsets] = {}
        self.end_offsets: dict[str, TaskOffsets] = {}
        self.description: Description | None = None
        self.description_requests = 0
        self.description_wanted_from_ms = 0

    def note_offsets(self, member_id: str, offsets: TaskOffsets | None, end_offsets: TaskOffsets | None) -> None:
        """Store the offsets that a member reports for its tasks; None keeps the earlier ones."""
        if offsets is not None:
            self.offsets[member_id] = offsets
        if end_offsets is not None:
            self.end_offsets[member_id] = end_offsets

    def forget_offsets(self, member_id: str) -> None:
        """The member has gone."""
        self.offsets.pop(member_id, None)
        self.end_offsets.pop(member_id, None)

    def refused_at(self, now_ms: int) -> dict[str, tuple[str, int]]:
        """The internal topics that are not tried again yet."""
        return {name: refusal for name, refusal in self.refused.items() if refusal[1] > now_ms}


@mypyc_attr(allow_interpreted_subclasses=True)
class StreamsGroup(EpochGroup):
    """See `kinds.Group`. Owner: the streams kind. Everything but ``soft`` comes from records."""

    group_type: ClassVar[GroupType] = GroupType.STREAMS
    protocol_type: ClassVar[str] = STREAMS_PROTOCOL

    def __init__(self, group_id: str, first_assignment_epoch: int = FIRST_EPOCH) -> None:
        super().__init__(group_id)
        self.assignment_epoch = first_assignment_epoch
        self.members: dict[str, Member] = {}
        self.validated_topology_epoch = _NOT_VALIDATED
        self.assignment_configs: Mapping[str, str] = {}
        self.description_epochs = NO_DESCRIPTION
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

    def _check_age(self, member: Member, command: CommitOffsets | TxnOffsetCommit) -> None:
        """Raise unless the member has had the tasks of all partitions of the commit since the epoch that it names."""
        epoch = command.generation_id
        if epoch > member.epoch:
            raise _stale(f"Received member epoch {epoch} is newer than current member epoch {member.epoch}.")
        topology = self.topology
        if topology is None:
            raise _stale("Topology is not available for offset commit validation.")
        readers = topology.readers()
        for offset in command.offsets:
            _check_task(member, readers, offset, epoch)

    @property
    def is_described(self) -> bool:
        """See `Group`."""
        return self.description_epochs.stored != NOT_STORED

    def tombstones(self) -> list[NewRecord]:
        """See `Group`. Before them, that the description is being deleted, if nothing says so yet."""
        from odradek.broker.coordinator.group.streams.records import group_tombstones

        records = group_tombstones(self.group_id, self.members)
        described = self.description_epochs
        if described.stored in (NOT_STORED, UNCERTAIN):
            return records
        return [self.record(self.epoch, described._replace(stored=UNCERTAIN)), *records]

    def record(self, epoch: int, described: DescriptionEpochs) -> NewRecord:
        """The group's record with these epochs, and otherwise as it is."""
        from odradek.broker.coordinator.group.streams.records import epoch_record

        hashed, validated = self.metadata_hash, self.validated_topology_epoch
        return epoch_record(self.group_id, epoch, hashed, validated, self.assignment_configs, described)

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(key) for member_id in self.members for key in member_timers(self.group_id, member_id)]
        return [*timers, Cancel(initial_delay_key(self.group_id)), GroupChanged(self.group_id)]

    # -- reading

    def member(self, member_id: str | None) -> Member:
        """The member with that id; raises UNKNOWN_MEMBER_ID without one."""
        return known_member(self.group_id, self.members, member_id)

    def in_map_order(self) -> list[Member]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in timeline_order(list(self.members), self.peak)]

    def rests(self, member: Member) -> bool:
        """Whether a heartbeat of an unchanged member has no consequences and no news, while the assignor's configs are
        the same.
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
            and self.assignment_epoch != soft.taskless_epoch
            and member.is_reconciled_to(self.assignment_epoch)
        )

    def target_of(self, member_id: str) -> Target:
        """The tasks that a member is to have."""
        return self.targets.get(member_id, NO_TARGET)

    def withholds_from(self, member_id: str) -> bool:
        """Whether all members have come into an epoch that gives them nothing, and this one is to have tasks."""
        return (
            self.assignment_epoch == self.soft.taskless_epoch
            and self.state_name == STABLE
            and self.target_of(member_id) != NO_TARGET
        )

    def static_member(self, instance_id: str) -> Member | None:
        """The member with that instance id."""
        member = self.members.get(self.static_ids.get(instance_id, ""))
        return member if member is not None and member.instance_id == instance_id else None

    @property
    def described(self) -> Description | None:
        """The description of the topology, if the group's record says that it is stored, and it is still there."""
        topology = self.topology
        stored = topology is not None and topology.epoch == self.description_epochs.stored
        return self.soft.description if stored else None

    def topics(self) -> Iterable[str]:
        """The topics that its topology needs."""
        return () if self.topology is None else self.topology.required_topics()

    # -- changing, from records

    def set_epoch(
        self,
        epoch: int,
        metadata_hash: int,
        validated: int,
        configs: Mapping[str, str],
        described: DescriptionEpochs = NO_DESCRIPTION,
    ) -> None:
        """Set the group's epoch, and what belongs to it."""
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated
        self.assignment_configs = configs
        self.description_epochs = described
        self._state = None

    def set_topology(self, topology: Topology | None) -> None:
        """Set the topology; None: it is deleted with the group."""
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
        self.note_static(member)
        self._state = None

    def remove_member(self, member_id: str) -> None:
        """Remove a member. The last one takes its requests about the application with it."""
        before = self.members.pop(member_id, None)
        if before is not None:
            self.holders.remove(before)
        self.forget_static(before)
        self.soft.forget_offsets(member_id)
        if not self.members:
            self.soft.shutdown_by = None
        self._state = None


class Step:
    """``group`` is the live group, or for one that comes into being (``is_new``) what ``records`` will make.

    ``epoch``: of the group once the records are stored. ``later``: changes of soft state that belong to the records:
    made once they are stored, on the group that then lives. Other soft state is changed at once; that of a new group
    ends with the step. ``replaced``: the id of the static member whose place another one takes.
    """

    __slots__ = ("effects", "epoch", "group", "is_new", "later", "now_ms", "records", "replaced", "statuses")

    def __init__(self, group: StreamsGroup, now_ms: int, *, is_new: bool = False) -> None:
        self.group = group
        self.epoch = group.epoch
        self.now_ms = now_ms
        self.is_new = is_new
        self.records: list[NewRecord] = []
        self.effects: list[Effect] = []
        self.statuses: list[Status] = []
        self.later: list[Callable[[SoftState], None]] = []
        self.replaced: str | None = None

    def target_of(self, member: Member) -> Target:
        """The member's target, or that of the one whose place it takes."""
        return self.group.target_of(member.member_id if self.replaced is None else self.replaced)

    def outcome(self, reply: R, groups: Groups) -> Outcome[R]:
        """The outcome with all that was gathered."""
        group_id, later = self.group.group_id, self.later
        if self.records:
            self.effects.append(GroupChanged(group_id))
        if not later:
            return make_outcome(self.records, reply=reply, effects=self.effects)

        def settle() -> Sequence[Effect]:
            group = groups.find_live(group_id, StreamsGroup)
            if group is not None:
                for change in later:
                    change(group.soft)
            return ()

        return make_outcome(self.records, reply=reply, effects=self.effects, then=settle)


def new_group(configs: StreamsConfigs, group_id: str) -> StreamsGroup:
    """A group that no record has yet."""
    return StreamsGroup(group_id, configs.release.first_group_epoch)
