"""StreamsGroupHeartbeat: members join and live, the topology is configured, tasks are assigned; and descriptions.

Kafka leaves descriptions of topologies (KIP-1331) to a plugin. This is what its `InMemoryTopologyDescriptionPlugin`
does: a description ends with the group, or with the process. The group's record says that it is stored, so nobody is
asked for it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from odradek.broker.coordinator.group.epoch_group import AWAY, JOINING, EpochKind, check_released, fenced
from odradek.broker.coordinator.group.groups import (
    DeleteGroup,
    ExpireRevocation,
    FenceMember,
    FollowUp,
    GroupType,
    KindContext,
)
from odradek.broker.coordinator.group.settings import TAGS, StreamsConfigs
from odradek.broker.coordinator.group.streams.group import (
    NOTHING_HELD,
    RECORDS,
    REPLAYS,
    EndInitialDelay,
    Member,
    MemberMetadata,
    MemberState,
    Owned,
    StoreDescription,
    StreamsGroup,
    StreamsGroupHeartbeat,
    StreamsStep,
    TaskOffsets,
    TopicsRefused,
    UpdateDescription,
    current_record,
    epoch_record,
    in_map_order,
    member_record,
    target_record,
)
from odradek.broker.coordinator.group.streams.progress import Progress, Readiness, compute_targets, endpoints
from odradek.broker.coordinator.group.streams.topology import (
    NOT_STORED,
    UNCERTAIN,
    ConfiguredTopology,
    Status,
    TopicStatus,
    as_shown,
    internal_error,
)
from odradek.broker.runtime.machine import Command, NewRecord, Outcome, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages import streams_group_heartbeat as h
from odradek.protocol.generated.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from odradek.protocol.generated.stored import streams_group_member_metadata as stored_member
from odradek.protocol.generated.stored.streams_group_metadata import StreamsGroupMetadataKey
from odradek.protocol.generated.stored.streams_group_topology import StreamsGroupTopologyKey

_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 30_000, 3_600_000
"""How long nobody else is asked for a description: twice as long each time. Kafka varies it by a fifth."""
_ACCEPTABLE_RECOVERY_LAG = 10_000
_RETRY_HEARTBEATS = 2
"""Internal topics that could not be created are tried again after this many heartbeat intervals."""


class StreamsKind(EpochKind):
    """Decides on the requests of members and on the coordinator's own commands. See `GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.STREAMS
    step_class: ClassVar[type[Any]] = StreamsStep
    member_class: ClassVar[type[Any]] = Member

    def __init__(self, context: KindContext) -> None:
        self.configs = StreamsConfigs(context.configs)
        super().__init__(
            context,
            self.configs,
            StreamsGroup,
            h.StreamsGroupHeartbeatResponse,
            RECORDS,
            REPLAYS,
            StreamsGroupMetadataKey.RECORD_TYPE,
            (StreamsGroupTopologyKey.RECORD_TYPE,),
        )
        self._delete = context.delete_group
        self._progress = Progress(self.configs, self._topics)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            StreamsGroupHeartbeat: self.heartbeat,
            FenceMember: self.fence,
            ExpireRevocation: self.expire_revocation,
            EndInitialDelay: self.end_initial_delay,
            TopicsRefused: self.topics_refused,
            UpdateDescription: self.update_description,
            StoreDescription: self.store_description,
            DeleteGroup: self.delete_group,
        }

    def _gives_up(self, member: Member) -> bool:
        return member.state is MemberState.UNREVOKED_TASKS

    # -- heartbeats

    def _is_unchanged(self, group: StreamsGroup, member: Member, command: StreamsGroupHeartbeat, now_ms: int) -> bool:
        request: h.StreamsGroupHeartbeatRequest = command.request
        metadata = member.metadata
        return (
            command.says_nothing
            and request.instance_id in (None, metadata.instance_id)
            and not self._missing_tags(command, member)
            and metadata.client_id == command.sender.client_id
            and metadata.client_host == command.sender.host
            and request.endpoint_information_epoch == group.soft.endpoint_epoch
            and group.rests(member)
            and not self._wants_description(group, command, now_ms)
            and group.assignment_configs == self.configs.assignment_configs(command.group_id)
        )

    def _check_place(self, group: StreamsGroup, request: h.StreamsGroupHeartbeatRequest) -> None:
        """See `EpochKind`. Before static members came, a full group accepted not even a member that joins again."""
        has_static = self.configs.release.has_static_streams_members
        if request.member_epoch == JOINING and not (has_static and group.static_member(request.instance_id)):
            self.check_room(group, request.member_id if has_static else "")

    def check_epoch(self, member: Member, epoch: int, owned: Owned | None) -> None:
        """The epoch before is accepted if what the member owns fits: the response with the new one may be lost."""
        if epoch in (JOINING, member.epoch):
            return
        if epoch > member.epoch:
            raise fenced("streams", "greater", epoch, member)
        if epoch != member.previous_epoch or owned is None or not owned.all_in(member.assigned):
            raise fenced("streams", "smaller", epoch, member)

    def _come_back(self, step: StreamsStep, present: Member, member_id: str) -> Member:
        group = step.group
        check_released(present, member_id)
        step.replaced = present.member_id
        successor = present._replace(member_id=member_id, epoch=JOINING, previous_epoch=JOINING)
        step.records += [
            *RECORDS.member_tombstones(group.group_id, present.member_id),
            member_record(group.group_id, successor),
            target_record(group.group_id, member_id, group.target_of(present.member_id)),
            current_record(group.group_id, successor),
        ]
        return successor

    def _advance(
        self, step: StreamsStep, command: StreamsGroupHeartbeat, before: Member
    ) -> h.StreamsGroupHeartbeatResponse:
        request: h.StreamsGroupHeartbeatRequest = command.request
        member = _updated(before, command)
        if request.member_epoch == JOINING and self.configs.release.tells_changed_endpoints:
            member = member._replace(metadata=member.metadata.replace(user_endpoint=_endpoint(request)))
        configs = self.configs.assignment_configs(command.group_id)
        ready = self._bring_up_to_date(step, command, before, member, configs)
        offsets, end_offsets = _offsets(request.task_offsets), _offsets(request.task_end_offsets)
        step.group.soft.note_offsets(request.member_id, offsets, end_offsets)
        epoch, target = self._progress.target(step, member, step.epoch, ready.configured, configs)
        after = self._progress.reconciled(step, command, member, epoch, target)
        _note_shutdown(step.group, request)
        try:
            return self._told(step, command, before, after, ready.configured)
        except KafkaError:
            begins = epoch > step.group.assignment_epoch and ready.configured.subtopologies is None
            if begins and self.configs.release.keeps_refused_assignments:
                step.group.soft.taskless_epoch = epoch
            raise

    # -- what the member and the topics change

    def _bring_up_to_date(
        self,
        step: StreamsStep,
        command: StreamsGroupHeartbeat,
        before: Member,
        member: Member,
        configs: Mapping[str, str],
    ) -> Readiness:
        """Records of the member, the topology and the group's next epoch, if any of it has changed."""
        group = step.group
        changed = member != before
        if changed:
            step.records.append(member_record(group.group_id, member))
        topology = self._progress.declared(step, command)
        self._progress.tell_stale(step, member)
        ready = self._progress.readiness(step, command, topology)
        rebalances = changed if member.metadata.instance_id is None else _matters(before.metadata, member.metadata)
        withheld = group.withholds_from(member.member_id)
        if rebalances or ready.changed or configs != group.assignment_configs or withheld:
            record = epoch_record(
                group.group_id,
                group.epoch + 1,
                ready.metadata_hash,
                ready.validated,
                configs,
                group.description_epochs,
            )
            step.records.append(record)
            step.epoch = group.epoch + 1
        return ready

    # -- what the coordinator tells itself

    def end_initial_delay(self, command: EndInitialDelay, now_ms: int) -> Outcome[None]:
        """A new group gets its first assignment. Its members learn it with their next heartbeats."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is None:
            return make_outcome()
        group.soft.waits_for_first = False
        configured = group.soft.configured
        up_to_date = group.epoch <= group.assignment_epoch
        may_assign = self.configs.may_assign(group.group_id, group.assignment_timestamp, now_ms)
        if group.is_empty or up_to_date or configured is None or not may_assign:
            return make_outcome()
        step = StreamsStep(group, now_ms)
        configs = group.assignment_configs
        release = self.configs.release
        _, records = compute_targets(group, None, group.epoch, configured, configs, now_ms, release=release)
        step.records += records
        return step.outcome(None, self._groups)

    def topics_refused(self, command: TopicsRefused, now_ms: int) -> Outcome[None]:
        """Members hear why internal topics could not be created."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is not None:
            until_ms = now_ms + command.retry_ms
            refused = {name: (reason, until_ms) for name, reason in command.reasons.items()}
            group.soft.refused = {**group.soft.refused_at(now_ms), **refused}
        return make_outcome()

    # -- the answer

    def _response(self, group: StreamsGroup, member: Member) -> h.StreamsGroupHeartbeatResponse:
        response: h.StreamsGroupHeartbeatResponse = super()._response(group, member)
        response.task_offset_interval_ms = self.configs.release.task_offset_interval_ms
        response.acceptable_recovery_lag = _ACCEPTABLE_RECOVERY_LAG
        response.endpoint_information_epoch = group.soft.endpoint_epoch
        return response

    def _told(
        self,
        step: StreamsStep,
        command: StreamsGroupHeartbeat,
        before: Member,
        after: Member,
        configured: ConfiguredTopology,
    ) -> h.StreamsGroupHeartbeatResponse:
        """The response with the tasks, the statuses and all else that has changed."""
        group, soft = step.group, step.group.soft
        interval_ms = self.configs.heartbeat_interval_ms(group.group_id)
        tells = command.request.member_epoch == JOINING or after.assigned != before.assigned
        changed = tells
        if self.configs.release.tells_changed_endpoints:
            changed = after.assigned != before.assigned
            if after.metadata.user_endpoint != before.metadata.user_endpoint:
                soft.endpoint_epoch += 1
                changed = False
        if changed and after.metadata.user_endpoint is not None:
            soft.endpoint_epoch += 1
        known = None
        if soft.endpoint_epoch != command.request.endpoint_information_epoch:
            gone = (after.member_id, step.replaced)
            others = [member for member in group.in_map_order() if member.member_id not in gone]
            known = endpoints([*others, after], configured, self._topics)
        self._progress.tell_problem(step, command, configured, _RETRY_HEARTBEATS * interval_ms)
        if soft.shutdown_by is not None:
            text = f"Streams group member {soft.shutdown_by} encountered a fatal error and requested a shutdown"
            step.statuses.append(Status(TopicStatus.SHUTDOWN_APPLICATION, f"{text} for the entire application."))
        missing = self._missing_tags(command, after)
        if missing:
            text = f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]."
            text += " Configure them via 'client.tag.<tagKey>' in your Streams config."
            step.statuses.append(Status(TopicStatus.MISSING_CLIENT_TAGS, text))
        wants_description = self._wants_description(group, command, step.now_ms) and not any(
            status.code == TopicStatus.STALE_TOPOLOGY for status in step.statuses
        )
        if wants_description:
            step.later.append(partial(_note_request, step.now_ms))
        response = self._response(group, after)
        if self._live(group.group_id) is None:
            response.endpoint_information_epoch = 0
        response.status = [h.Status(status.code, status.detail) for status in step.statuses]
        response.partitions_by_user_endpoint = known
        response.topology_description_required = wants_description
        if tells:
            response.active_tasks = _task_ids(after.assigned.active)
            response.standby_tasks = _task_ids(after.assigned.standby)
            response.warmup_tasks = _task_ids(after.assigned.warmup)
        return response

    def _wants_description(self, group: StreamsGroup, command: StreamsGroupHeartbeat, now_ms: int) -> bool:
        topology = group.topology or command.request.topology
        return command.speaks_v1 and topology is not None and self._description_is_wanted(group, topology.epoch, now_ms)

    def _missing_tags(self, command: StreamsGroupHeartbeat, member: Member) -> list[str]:
        """The tags in the group's config that the member lacks, if the member asks for them."""
        if not command.speaks_v1:
            return []
        wanted = self.configs.assignment_configs(command.group_id).get(TAGS, "")
        has = {tag.key for tag in member.metadata.client_tags}
        return [tag for tag in wanted.split(",") if wanted and tag not in has]

    # -- members that go

    def _leave(self, request: h.StreamsGroupHeartbeatRequest, now_ms: int) -> Outcome[h.StreamsGroupHeartbeatResponse]:
        """See `EpochKind`. On its way out a member may ask for the end of the application."""
        _note_shutdown(self._existing(request.group_id), request)
        return super()._leave(request, now_ms)

    def _away(self, group: StreamsGroup, member: Member) -> NewRecord:
        held = member.assigned
        kept = {subtopology: dict.fromkeys(partitions, 0) for subtopology, partitions in held.active.items()}
        away = member._replace(epoch=AWAY, assigned=held._replace(active=kept), revoking=NOTHING_HELD)
        return current_record(group.group_id, away)

    def _next_epoch_without(self, group: StreamsGroup, members: Sequence[Member]) -> Sequence[NewRecord]:
        return [group.record(group.epoch + 1, group.description_epochs)]

    # -- descriptions of the topology (KIP-1331)

    def _description_is_wanted(self, group: StreamsGroup, topology_epoch: int, now_ms: int) -> bool:
        """Whether a member is to be asked now for the description of the topology."""
        return (
            topology_epoch not in group.description_epochs
            and now_ms >= group.soft.description_wanted_from_ms
            and self.configs.keeps_descriptions
        )

    def update_description(
        self, command: UpdateDescription, now_ms: int
    ) -> Outcome[StreamsGroupTopologyDescriptionUpdateResponse]:
        """A member sends the description. The group's record first says that one is being stored."""
        group: StreamsGroup = self._existing(command.group_id)
        group.member(command.request.member_id)
        if group.topology is None:
            raise internal_error()
        present, named = group.topology.epoch, command.request.topology_epoch
        if named != present:
            text = f"Topology epoch {named} does not match the group's current topology epoch {present}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        store = StoreDescription(command.group_id, named, as_shown(command.request.topology_description))
        records = [] if group.description_epochs.stored == UNCERTAIN else [_description_record(group, UNCERTAIN)]
        response = StreamsGroupTopologyDescriptionUpdateResponse()
        return make_outcome(records, reply=response, effects=[FollowUp(store)])

    def store_description(self, command: StoreDescription, now_ms: int) -> Outcome[None]:
        """The description is there from now on."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is None:
            return make_outcome()
        step = StreamsStep(group, now_ms)
        step.records.append(_description_record(group, command.topology_epoch))
        step.later.append(partial(_keep, command))
        return step.outcome(None, self._groups)

    def delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group; before that, one record says that its description is being deleted, and one that it is."""
        group = self._groups.find(command.group_id, StreamsGroup)
        if group is None or not group.is_described:
            return self._delete(command, now_ms)
        group.check_delete()
        next_epoch = NOT_STORED if group.description_epochs.stored == UNCERTAIN else UNCERTAIN
        return make_outcome([_description_record(group, next_epoch)], effects=[FollowUp(command)])


def _note_request(now_ms: int, group: StreamsGroup) -> None:
    """A member has been asked for a description; the next one is, if none comes for a while."""
    soft = group.soft
    pause_ms = min(_FIRST_PAUSE_MS << min(soft.description_requests, 7), _LONGEST_PAUSE_MS)
    soft.description_requests += 1
    soft.description_wanted_from_ms = now_ms + pause_ms


def _keep(command: StoreDescription, group: StreamsGroup) -> None:
    soft = group.soft
    soft.description = command.description
    soft.description_requests = soft.description_wanted_from_ms = 0


def _description_record(group: StreamsGroup, stored: int) -> NewRecord:
    """The record of the group with another epoch of the stored description."""
    return group.record(group.epoch, group.description_epochs._replace(stored=stored))


def _matters(before: MemberMetadata, after: MemberMetadata) -> bool:
    """Whether a static member has changed in a way that the assignment depends on."""
    return (before.topology_epoch, before.rack_id, before.client_tags, before.process_id) != (
        after.topology_epoch,
        after.rack_id,
        after.client_tags,
        after.process_id,
    )


def _task_ids(tasks: Mapping[str, Iterable[int]]) -> list[h.ResponseTaskIds]:
    return [h.ResponseTaskIds(name, sorted(tasks[name])) for name in in_map_order(tasks)]


def _note_shutdown(group: StreamsGroup, request: h.StreamsGroupHeartbeatRequest) -> None:
    if request.shutdown_application and group.soft.shutdown_by is None:
        group.soft.shutdown_by = request.member_id


def _offsets(rows: Sequence[h.TaskOffset] | None) -> TaskOffsets | None:
    """Offsets of tasks; INVALID_REQUEST for a task that comes twice."""
    if rows is None:
        return None
    seen: set[tuple[str, int]] = set()
    for row in rows:
        task = row.subtopology_id, row.partition
        if task in seen:
            text = f"Task offsets contain a duplicate entry for subtopology {task[0]} and partition {task[1]}."
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        seen.add(task)
    return tuple((row.subtopology_id, row.partition, row.offset) for row in rows)


def _tags(rows: Sequence[h.KeyValue]) -> list[stored_member.KeyValue]:
    """The tags of a client; a key that comes twice is an error that Kafka does not explain."""
    by_key = {row.key: row.value for row in rows}
    if len(by_key) < len(rows):
        raise internal_error()
    return [stored_member.KeyValue(key, by_key[key]) for key in sorted(by_key)]


def _endpoint(request: h.StreamsGroupHeartbeatRequest) -> stored_member.Endpoint | None:
    sent = request.user_endpoint
    return None if sent is None else stored_member.Endpoint(sent.host, sent.port)


def _updated(member: Member, command: StreamsGroupHeartbeat) -> Member:
    """The member with the fields of the heartbeat; None and -1 change nothing."""
    request, known = command.request, member.metadata
    timeout_ms, topology, tags = request.rebalance_timeout_ms, request.topology, request.client_tags
    metadata = MemberMetadata(
        known.instance_id if request.instance_id is None else request.instance_id,
        known.rack_id if request.rack_id is None else request.rack_id,
        command.sender.client_id,
        command.sender.host,
        known.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        known.topology_epoch if topology is None else topology.epoch,
        known.process_id if request.process_id is None else request.process_id,
        _endpoint(request) or known.user_endpoint,
        known.client_tags if tags is None else _tags(tags),
    )
    return member._replace(metadata=metadata)


def make(context: KindContext) -> StreamsKind:
    return StreamsKind(context)
