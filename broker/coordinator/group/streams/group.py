"""A streams group: its commands, its members and their tasks, its records, its state, and the replay of the records.

A task is a subtopology and a partition. Each is active, a standby or a warm-up at some member. Only replay changes the
group. A member may commit with an older epoch for source partitions of tasks that it has had active since then
(KIP-1251); a fetch has to name the present epoch.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, Final, NamedTuple

from odradek.broker.coordinator.group.assignment import count_down, count_up
from odradek.broker.coordinator.group.epoch_group import (
    FIRST_EPOCH,
    LEAVING,
    STABLE,
    EpochGroup,
    MemberHeartbeat,
    Step,
    replay_target_epoch,
    replays_of,
)
from odradek.broker.coordinator.group.groups import CommitOffsets, GroupCommand, GroupType, OffsetToCommit
from odradek.broker.coordinator.group.records import EpochRecords, encode_key, new_record
from odradek.broker.coordinator.group.streams.topology import (
    NO_DESCRIPTION,
    NOT_STORED,
    UNCERTAIN,
    ConfiguredTopology,
    DescriptionEpochs,
    Status,
    Topology,
    java_text,
    sources_of,
)
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.streams_group_describe import TopologyDescription
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TaskIds,
)
from odradek.protocol.generated.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from odradek.protocol.generated.stored import streams_group_member_metadata as stored_member
from odradek.protocol.generated.stored import streams_group_metadata as group_metadata
from odradek.protocol.generated.stored import streams_group_target_assignment_member as target
from odradek.protocol.generated.stored import streams_group_target_assignment_metadata as target_epoch
from odradek.protocol.generated.stored import streams_group_topology as stored_topology
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class StreamsGroupHeartbeat(MemberHeartbeat):
    """See `MemberHeartbeat`."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = ()
    reply: StreamsGroupHeartbeatResponse

    @property
    def speaks_v1(self) -> bool:
        """Whether its version has the tags that the member lacks, and requests for a description of the topology."""
        return self.sender.api_version >= 1

    @property
    def owned(self) -> Owned | None:
        """The tasks that the member owns; None if they are unchanged."""
        request: StreamsGroupHeartbeatRequest = self.request
        active, standby, warmup = request.active_tasks, request.standby_tasks, request.warmup_tasks
        if active is None or standby is None or warmup is None:
            return None
        return Owned(_owned_tasks(active), _owned_tasks(standby), _owned_tasks(warmup))

    def check_named_once(self) -> None:
        """UNKNOWN_SERVER_ERROR if a list of tasks names a subtopology twice: Kafka trips over it, too."""
        for rows in (self.request.active_tasks, self.request.standby_tasks, self.request.warmup_tasks):
            if rows and len({row.subtopology_id for row in rows}) < len(rows):
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)

    @property
    def says_nothing(self) -> bool:
        """Whether it says nothing of the member, apart from where it is and which endpoints it knows."""
        request: StreamsGroupHeartbeatRequest = self.request
        return (
            request.active_tasks is None
            and request.task_offsets is None
            and request.task_end_offsets is None
            and request.topology is None
            and request.user_endpoint is None
            and request.client_tags is None
            and request.process_id is None
            and request.rack_id is None
            and request.rebalance_timeout_ms == -1
            and not request.shutdown_application
        )


def _owned_tasks(rows: Iterable[TaskIds]) -> dict[str, list[int]]:
    tasks: dict[str, list[int]] = {}
    for row in rows:
        tasks.setdefault(row.subtopology_id, []).extend(row.partitions)
    return tasks


@mypyc_attr(allow_interpreted_subclasses=True)
class UpdateDescription(GroupCommand):
    """A member describes the topology of an epoch (KIP-1331)."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    reply: StreamsGroupTopologyDescriptionUpdateResponse

    def __init__(self, request: StreamsGroupTopologyDescriptionUpdateRequest) -> None:
        self.group_id = request.group_id
        self.request = request


# -- what only the coordinator tells itself


@mypyc_attr(allow_interpreted_subclasses=True)
class StoreDescription(GroupCommand):
    """The group's record says that this description is being stored."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    reply: None

    def __init__(self, group_id: str, topology_epoch: int, description: TopologyDescription) -> None:
        self.group_id = group_id
        self.topology_epoch = topology_epoch
        self.description = description


@mypyc_attr(allow_interpreted_subclasses=True)
class EndInitialDelay(GroupCommand):
    """A new group has waited for its first members."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class TopicsRefused(GroupCommand):
    """Internal topics could not be created: the reason for each, by name; to be tried again after ``retry_ms``."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    reply: None

    def __init__(self, group_id: str, reasons: Mapping[str, str], retry_ms: int) -> None:
        self.group_id = group_id
        self.reasons = reasons
        self.retry_ms = retry_ms


Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology id; no subtopology is without partitions."""

TaskEpochs = Mapping[str, Mapping[int, int]]
"""The same, with the epoch in which each task was assigned."""

NO_TASKS: Tasks = {}
NO_EPOCHS: TaskEpochs = {}


class Target(NamedTuple):
    """The tasks of a member's target."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS


class Held(NamedTuple):
    """Tasks that a member has, or must give up."""

    active: TaskEpochs = NO_EPOCHS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not any(self)

    def as_target(self) -> Target:
        """The same tasks without their epochs."""
        active = {subtopology: frozenset(partitions) for subtopology, partitions in self.active.items()}
        return Target(active, self.standby, self.warmup)


class Owned(NamedTuple):
    """The tasks that a member reports as its own."""

    active: Mapping[str, Sequence[int]]
    standby: Mapping[str, Sequence[int]]
    warmup: Mapping[str, Sequence[int]]

    def any_of(self, held: Held) -> bool:
        """Whether it has any of these."""
        return any(_meet(own, tasks) for own, tasks in zip(self, held, strict=True))

    def all_in(self, held: Held) -> bool:
        """Whether it has none but these."""
        return all(_within(own, tasks) for own, tasks in zip(self, held, strict=True))


NO_TARGET = Target()
NOTHING_HELD = Held()


def in_map_order(subtopologies: Iterable[str]) -> list[str]:
    """Subtopology ids as Kafka walks them."""
    return java_order(sorted(subtopologies), hash_of_text)


def _meet(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return any(
        partition in other[subtopology]
        for subtopology, partitions in one.items()
        if subtopology in other
        for partition in partitions
    )


def _within(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return all(
        subtopology in other and all(partition in other[subtopology] for partition in partitions)
        for subtopology, partitions in one.items()
    )


TaskOffsets = tuple[tuple[str, int, int], ...]
"""Subtopology, partition and offset."""


class MemberState(IntEnum):
    """The states of a member's reconciliation, numbered as in the log."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


MemberMetadata = stored_member.StreamsGroupMemberMetadataValue
"""Who a member is and where, as the log has it, with the tags in the order of their keys. Do not change one."""

NO_METADATA: Final = MemberMetadata(None, None, topology_epoch=-1)


class Member(NamedTuple):
    """An immutable member.

    ``assigned``: the tasks that it has or may take up; ``revoking``: those that it must give up first.
    """

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    metadata: MemberMetadata = NO_METADATA
    assigned: Held = NOTHING_HELD
    revoking: Held = NOTHING_HELD

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all that it was given in that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch


def epoch_record(
    group_id: str,
    epoch: int,
    metadata_hash: int,
    validated: int,
    configs: Mapping[str, str],
    described: DescriptionEpochs = NO_DESCRIPTION,
) -> NewRecord:
    """The group in a new epoch, or with another description of its topology."""
    rows = [group_metadata.LastAssignmentConfig(key, value) for key, value in sorted(configs.items())]
    value = group_metadata.StreamsGroupMetadataValue(epoch, metadata_hash, validated, rows, *described)
    return new_record(encode_key(group_metadata.StreamsGroupMetadataKey(group_id)), value)


def member_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's metadata."""
    return new_record(RECORDS.member.of(group_id, member.member_id), member.metadata)


def topology_record(group_id: str, topology: Topology) -> NewRecord:
    """The topology as its first member has declared it."""
    value = stored_topology.StreamsGroupTopologyValue(topology.epoch, list(topology.subtopologies.values()))
    return new_record(encode_key(stored_topology.StreamsGroupTopologyKey(group_id)), value)


def target_record(group_id: str, member_id: str, tasks: Target) -> NewRecord:
    """The record of a member's target."""
    active, standby, warmup = (
        [target.TaskIds(name, sorted(role[name])) for name in _in_text_order(role)] for role in tasks
    )
    value = target.StreamsGroupTargetAssignmentMemberValue(active, standby, warmup)
    return new_record(RECORDS.target.of(group_id, member_id), value)


def current_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's present tasks."""
    value = current.StreamsGroupCurrentMemberAssignmentValue(
        member.epoch,
        member.previous_epoch,
        member.state,
        _active_rows(member.assigned.active),
        _copy_rows(member.assigned.standby),
        _copy_rows(member.assigned.warmup),
        _active_rows(member.revoking.active),
        _copy_rows(member.revoking.standby),
        _copy_rows(member.revoking.warmup),
    )
    return new_record(RECORDS.current.of(group_id, member.member_id), value)


def _active_rows(tasks: TaskEpochs) -> list[current.TaskIds]:
    rows: list[current.TaskIds] = []
    for name in _in_text_order(tasks):
        partitions = sorted(tasks[name])
        rows.append(current.TaskIds(name, partitions, [tasks[name][each] for each in partitions]))
    return rows


def _copy_rows(tasks: Tasks) -> list[current.TaskIds]:
    return [current.TaskIds(name, sorted(tasks[name])) for name in _in_text_order(tasks)]


def _in_text_order(subtopologies: Iterable[str]) -> list[str]:
    return sorted(subtopologies, key=java_text)


def group_tombstones(group_id: str, members: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group."""
    return [
        *RECORDS.tombstones(group_id, members),
        NewRecord(encode_key(group_metadata.StreamsGroupMetadataKey(group_id))),
        NewRecord(encode_key(stored_topology.StreamsGroupTopologyKey(group_id))),
    ]


RECORDS: Final = EpochRecords(
    current.StreamsGroupCurrentMemberAssignmentKey,
    target.StreamsGroupTargetAssignmentMemberKey,
    stored_member.StreamsGroupMemberMetadataKey,
    target_epoch.StreamsGroupTargetAssignmentMetadataKey,
    target_epoch.StreamsGroupTargetAssignmentMetadataValue,
)


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
        self._roles = (self._active, self._standby, self._warmup)

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
            for counts, tasks in zip(self._roles, held, strict=True):
                _hold(counts, tasks, member.metadata.process_id)

    def remove(self, member: Member) -> None:
        """The member has it no more. What another member has been given meanwhile stays with that one."""
        for held in (member.assigned, member.revoking):
            for counts, tasks in zip(self._roles, held, strict=True):
                _release(counts, tasks, member.metadata.process_id)


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


def initial_delay_key(group_id: str) -> Hashable:
    """The key of the timer of a new group's first assignment."""
    return ("streams initial rebalance", group_id)


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
        self.description: TopologyDescription | None = None
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
    """See `Group`. Owner: the streams kind. Everything but ``soft`` comes from records."""

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

    def _compute_state(self) -> str:
        if self.members and (self.topology is None or self.topology.epoch != self.validated_topology_epoch):
            return NOT_READY
        return super()._compute_state()

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`. Kafka filters by ``not_ready``, which it shows as NotReady."""
        name = self.state_name
        return ("not_ready" if name == NOT_READY else name.lower()) in names

    def is_subscribed_to(self, topic: str) -> bool:
        if not self.members or self.topology is None:
            return False
        return any(topic in sources_of(each) for each in self.topology.subtopologies.values())

    def _check_age(self, member: Member, command: CommitOffsets) -> None:
        """Raise unless the member has had the tasks of all partitions of the commit since the epoch that it names."""
        epoch = command.epoch
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
        return self.description_epochs.stored != NOT_STORED

    def tombstones(self) -> list[NewRecord]:
        """See `Group`. Before them, that the description is being deleted, if nothing says so yet."""
        records = group_tombstones(self.group_id, self.members)
        described = self.description_epochs
        if described.stored in (NOT_STORED, UNCERTAIN):
            return records
        return [self.record(self.epoch, described._replace(stored=UNCERTAIN)), *records]

    def record(self, epoch: int, described: DescriptionEpochs) -> NewRecord:
        """The group's record with these epochs, and otherwise as it is."""
        hashed, validated = self.metadata_hash, self.validated_topology_epoch
        return epoch_record(self.group_id, epoch, hashed, validated, self.assignment_configs, described)

    def on_removed(self) -> Sequence[Effect]:
        return [*super().on_removed(), Cancel(initial_delay_key(self.group_id))]

    def check_topics_again(self) -> None:
        """Have the topics checked again: one that the topology needs has changed."""
        self.soft.topics_checked = False

    # -- reading

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
            and topology.epoch <= member.metadata.topology_epoch
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

    @property
    def described(self) -> TopologyDescription | None:
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
        self.note_static(before, member)
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


class StreamsStep(Step):
    """``epoch``: of the group once the records are stored.

    Soft state that does not belong to the records is changed at once; that of a new group ends with the step.
    ``replaced``: the id of the static member whose place another one takes.
    """

    __slots__ = ("epoch", "group", "replaced", "statuses")

    def __init__(self, group: StreamsGroup, now_ms: int, records: Sequence[NewRecord] = ()) -> None:
        super().__init__(group, now_ms, records)
        self.group = group
        self.epoch = group.epoch
        self.statuses: list[Status] = []
        self.replaced: str | None = None

    def target_of(self, member: Member) -> Target:
        """The member's target, or that of the one whose place it takes."""
        return self.group.target_of(member.member_id if self.replaced is None else self.replaced)


def _epoch(group: StreamsGroup, key: Any, value: group_metadata.StreamsGroupMetadataValue) -> None:
    configs = {row.key: row.value for row in value.last_assignment_configs or ()}
    described = DescriptionEpochs(value.stored_description_topology_epoch, value.failed_description_topology_epoch)
    group.set_epoch(value.epoch, value.metadata_hash, value.validated_topology_epoch, configs, described)


def _member(
    group: StreamsGroup,
    key: stored_member.StreamsGroupMemberMetadataKey,
    value: stored_member.StreamsGroupMemberMetadataValue | None,
) -> None:
    if value is None:
        group.remove_member(key.member_id)
        return
    group.put_member((group.members.get(key.member_id) or Member(key.member_id))._replace(metadata=value))


def _topology(group: StreamsGroup, key: Any, value: stored_topology.StreamsGroupTopologyValue | None) -> None:
    if value is None:
        group.set_topology(None)
        return
    group.set_topology(Topology(value.epoch, {each.subtopology_id: each for each in value.subtopologies}))


def _target(
    group: StreamsGroup,
    key: target.StreamsGroupTargetAssignmentMemberKey,
    value: target.StreamsGroupTargetAssignmentMemberValue | None,
) -> None:
    if value is None:
        group.targets.pop(key.member_id, None)
        return
    rows = value.active_tasks, value.standby_tasks, value.warmup_tasks
    group.targets[key.member_id] = Target(*map(_tasks, rows))


def _current(
    group: StreamsGroup,
    key: current.StreamsGroupCurrentMemberAssignmentKey,
    value: current.StreamsGroupCurrentMemberAssignmentValue | None,
) -> None:
    present = group.members.get(key.member_id)
    if value is not None:
        group.put_member(_with_current(present or Member(key.member_id), value))
    elif present is not None:
        left = present._replace(epoch=LEAVING, previous_epoch=LEAVING, assigned=NOTHING_HELD, revoking=NOTHING_HELD)
        group.put_member(left)


def _with_current(member: Member, value: current.StreamsGroupCurrentMemberAssignmentValue) -> Member:
    epoch = value.member_epoch
    return member._replace(
        epoch=epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state),
        assigned=Held(_active(value.active_tasks, epoch), _tasks(value.standby_tasks), _tasks(value.warmup_tasks)),
        revoking=Held(
            _active(value.active_tasks_pending_revocation, epoch),
            _tasks(value.standby_tasks_pending_revocation),
            _tasks(value.warmup_tasks_pending_revocation),
        ),
    )


def _tasks(rows: Sequence[current.TaskIds] | Sequence[target.TaskIds]) -> dict[str, frozenset[int]]:
    return {row.subtopology_id: frozenset(row.partitions) for row in rows}


def _active(rows: Sequence[current.TaskIds], epoch: int) -> dict[str, dict[int, int]]:
    """Records of older releases have no assignment epochs: the member's own epoch takes their place."""
    tasks: dict[str, dict[int, int]] = {}
    for row in rows:
        epochs = row.assignment_epochs
        if epochs is None or len(epochs) != len(row.partitions):
            epochs = [epoch] * len(row.partitions)
        tasks[row.subtopology_id] = dict(zip(row.partitions, epochs, strict=True))
    return tasks


REPLAYS = replays_of(
    (group_metadata.StreamsGroupMetadataKey, group_metadata.StreamsGroupMetadataValue, _epoch),
    (stored_member.StreamsGroupMemberMetadataKey, stored_member.StreamsGroupMemberMetadataValue, _member),
    (stored_topology.StreamsGroupTopologyKey, stored_topology.StreamsGroupTopologyValue, _topology),
    (target.StreamsGroupTargetAssignmentMemberKey, target.StreamsGroupTargetAssignmentMemberValue, _target),
    (
        target_epoch.StreamsGroupTargetAssignmentMetadataKey,
        target_epoch.StreamsGroupTargetAssignmentMetadataValue,
        replay_target_epoch,
    ),
    (current.StreamsGroupCurrentMemberAssignmentKey, current.StreamsGroupCurrentMemberAssignmentValue, _current),
)
