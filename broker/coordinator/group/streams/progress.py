"""Advances a streams group and its members: is the topology ready, the target assignment, a member's way to it.

A member first revokes tasks, then takes those that are free. An active task is free if it is active in no process. Any
task is free for a member only if the member's own process has it in no other role: a process keeps the state of a task
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from odradek.broker.coordinator.group.assignment import member_order
from odradek.broker.coordinator.group.epoch_group import FIRST_EPOCH, rebalance_key, revocation
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import STANDBYS, StreamsConfigs
from odradek.broker.coordinator.group.streams.group import (
    NO_TARGET,
    NOTHING_HELD,
    RECORDS,
    EndInitialDelay,
    Held,
    Holders,
    Member,
    MemberState,
    Owned,
    StreamsGroup,
    StreamsGroupHeartbeat,
    StreamsStep,
    Target,
    Tasks,
    TopicsRefused,
    current_record,
    in_map_order,
    initial_delay_key,
    target_record,
    topology_record,
)
from odradek.broker.coordinator.group.streams.sticky import MemberSpec, SubtopologySpec, assign
from odradek.broker.coordinator.group.streams.topology import (
    ConfiguredSubtopology,
    ConfiguredTopology,
    Status,
    TopicStatus,
    Topology,
    configure,
    declared,
    internal_error,
    listed,
    sources_of,
)
from odradek.broker.coordinator.group.topics import TopicCache, TopicSource
from odradek.broker.releases.release import Release
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Schedule
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    EndpointToPartitions,
    ResponseEndpoint,
    TopicPartition,
)
from odradek.protocol.generated.stored.streams_group_member_metadata import Endpoint
from odradek.protocol.generated.stored.streams_group_topology import TopicInfo
from odradek.protocol.java_maps import hash_of_text, java_order


class CreateInternalTopics(Effect):
    """Internal topics of a group's topology are missing; ``topics`` have their partition counts.

    A topic that cannot be created is not asked for again for ``retry_ms``.
    """

    def __init__(self, group_id: str, topics: Sequence[TopicInfo], retry_ms: int) -> None:
        self.group_id = group_id
        self.topics = topics
        self.retry_ms = retry_ms


Create = Callable[[Sequence[TopicInfo]], Sequence[KafkaError | None]]
"""Has the controller create topics; returns for each the error, or None."""

EffectHandler = Callable[[Shard[GroupMachine], CreateInternalTopics], None]


def effect_handlers(create: Create) -> dict[type[Effect], EffectHandler]:
    """The functions that execute the effects of streams groups.

    A refusal goes to the group, whose members get it with their next heartbeats.
    """

    def create_internal_topics(shard: Any, effect: CreateInternalTopics) -> None:
        refusals = create(effect.topics)
        reasons = {
            topic.name: refusal.message or refusal.code.name
            for topic, refusal in zip(effect.topics, refusals, strict=True)
            if refusal is not None
        }
        if reasons:
            shard.post(TopicsRefused(effect.group_id, reasons, effect.retry_ms))

    return {CreateInternalTopics: create_internal_topics}


def check_tasks(owned: Owned | None, subtopologies: Mapping[str, ConfiguredSubtopology]) -> None:
    """INVALID_REQUEST for tasks that the topology does not have."""
    for tasks in owned or ():
        for subtopology_id, partitions in tasks.items():
            subtopology = subtopologies.get(subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {subtopology_id} does not exist in the topology.")
            _check_partitions(subtopology_id, partitions, subtopology.tasks)


def _check_partitions(subtopology_id: str, partitions: Sequence[int], tasks: int) -> None:
    for partition in partitions:
        if not 0 <= partition < tasks:
            text = f"Task {partition} for subtopology {subtopology_id} is invalid."
            raise _invalid(f"{text} Number of tasks for this subtopology: {tasks}")


def _invalid(text: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, text)


_NOT_READY = -1


class Readiness(NamedTuple):
    """``validated``: the epoch of a topology that can be assigned, -1 for one that cannot.

    ``changed``: topics or the topology are not as the group's record says.
    """

    configured: ConfiguredTopology
    metadata_hash: int
    validated: int
    changed: bool


class Progress:
    """Compares topologies with the topics, and moves groups and members on. Owner: the streams kind."""

    def __init__(self, configs: StreamsConfigs, topics: TopicCache) -> None:
        self._configs = configs
        self._topics = topics

    def declared(self, step: StreamsStep, command: StreamsGroupHeartbeat) -> Topology:
        """The group's topology; the first member that declares one initialises it."""
        present, sent = step.group.topology, command.request.topology
        asked = None if sent is None else declared(sent)
        if present is None:
            if asked is None:
                raise internal_error()
            step.records.append(topology_record(command.group_id, asked))
            return asked
        if asked is not None and present.epoch <= asked.epoch and present != asked:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
        return present

    def tell_stale(self, step: StreamsStep, member: Member) -> None:
        """Give a member with a topology of an older epoch a status about that."""
        present = step.group.topology
        if present is not None and member.metadata.topology_epoch < present.epoch:
            text = f"The member's topology epoch {member.metadata.topology_epoch} is behind the group's topology epoch"
            step.statuses.append(Status(TopicStatus.STALE_TOPOLOGY, f"{text} {present.epoch}."))

    def readiness(self, step: StreamsStep, command: StreamsGroupHeartbeat, topology: Topology) -> Readiness:
        """Compare the topology with the topics. Raises KafkaError for tasks of the member that do not exist."""
        group, soft = step.group, step.group.soft
        metadata_hash = group.metadata_hash
        configured = soft.configured
        if configured is None or group.topology is None or not soft.topics_checked:
            metadata_hash = self._topics.hash_of(topology.required_topics())
            if configured is None or group.topology is None or metadata_hash != group.metadata_hash:
                configured = soft.configured = configure(topology, self._topics)
            step.later.append(_topics_are_checked)
        validated = topology.epoch if configured.is_ready else _NOT_READY
        if configured.is_ready and configured.subtopologies is not None:
            check_tasks(command.owned, configured.subtopologies)
        changed = metadata_hash != group.metadata_hash or validated != group.validated_topology_epoch
        return Readiness(configured, metadata_hash, validated, changed)

    def tell_problem(
        self, step: StreamsStep, command: StreamsGroupHeartbeat, configured: ConfiguredTopology, retry_ms: int
    ) -> None:
        """Tell the member why tasks cannot be assigned, and have missing internal topics created, if the client may do
        that.

        A topic that could not be created is not tried again for ``retry_ms``; meanwhile members get the reason.
        """
        problem = configured.problem
        if problem is None:
            return
        missing = configured.missing
        check = command.sender.forbidden
        forbidden = check([topic.name for topic in missing]) if check and missing else []
        if forbidden:
            detail = f"{problem.detail}; Unauthorized to CREATE on topics {', '.join(forbidden)}."
            step.statuses.append(problem._replace(detail=detail))
            return
        refused = step.group.soft.refused_at(step.now_ms)
        reasons = [f"{topic.name} ({refused[topic.name][0]})" for topic in missing if topic.name in refused]
        if reasons:
            problem = problem._replace(detail=f"{problem.detail}; Creation failed: {listed(reasons)}.")
        step.statuses.append(problem)
        wanted: list[TopicInfo] = [topic for topic in missing if topic.name not in refused]
        if wanted:
            step.effects.append(CreateInternalTopics(step.group.group_id, wanted, retry_ms))

    # -- the target, and the member's way to it

    def waits_for_first(self, step: StreamsStep) -> bool:
        """Whether the group waits for more first members.

        It begins to wait if it has no members and its config says so.
        """
        group = step.group
        if group.members or group.soft.waits_for_first:
            return group.soft.waits_for_first
        delay_ms = self._configs.initial_delay_ms(group.group_id)
        if delay_ms > 0:
            step.later.append(_wait_for_first)
            key = initial_delay_key(group.group_id)
            step.effects.append(Schedule(key, delay_ms, EndInitialDelay(group.group_id)))
        return delay_ms > 0

    def target(
        self, step: StreamsStep, member: Member, epoch: int, configured: ConfiguredTopology, configs: Mapping[str, str]
    ) -> tuple[int, Target]:
        """The member's target and its epoch; computed again if the epoch is not the group's."""
        epoch, target = self._target(step, member, epoch, configured, configs)
        return epoch, NO_TARGET if epoch == step.group.soft.taskless_epoch else target

    def _target(
        self, step: StreamsStep, member: Member, epoch: int, configured: ConfiguredTopology, configs: Mapping[str, str]
    ) -> tuple[int, Target]:
        group = step.group
        if self.waits_for_first(step):
            text = "Assignment delayed due to the configured initial rebalance delay."
            step.statuses.append(Status(TopicStatus.ASSIGNMENT_DELAYED, text))
            return max(group.assignment_epoch, FIRST_EPOCH), NO_TARGET
        if group.assignment_epoch >= epoch:
            return group.assignment_epoch, step.target_of(member)
        if not self._configs.may_assign(group.group_id, group.assignment_timestamp, step.now_ms):
            text = "Assignment delayed due to the configured assignment interval."
            step.statuses.append(Status(TopicStatus.ASSIGNMENT_DELAYED, text))
            return group.assignment_epoch, step.target_of(member)
        targets, records = compute_targets(
            group, member, epoch, configured, configs, step.now_ms, step.replaced, release=self._configs.release
        )
        step.records += records
        return epoch, targets[member.member_id]

    def reconciled(
        self, step: StreamsStep, command: StreamsGroupHeartbeat, member: Member, epoch: int, target: Target
    ) -> Member:
        """The member moved as far towards its target as it can get now. Its time to give tasks up is limited."""
        if member.is_reconciled_to(epoch):
            return member
        command.check_named_once()
        group_id = step.group.group_id
        at_once = self._configs.release.moves_own_tasks_at_once
        after = reconcile(member, epoch, target, command.owned, step.group.holders, at_once=at_once)
        if after == member:
            return member
        step.records.append(current_record(group_id, after))
        if after.state is MemberState.UNREVOKED_TASKS:
            step.effects.append(revocation(group_id, after))
        else:
            step.effects.append(Cancel(rebalance_key(group_id, member.member_id)))
        return after


def _topics_are_checked(group: StreamsGroup) -> None:
    soft = group.soft
    soft.topics_checked = soft.configured is not None


IsTaken = Callable[[str, int], bool]


class _Parts(NamedTuple):
    """Tasks of one role: those that stay, those to give up, those to acquire; ``waits``: some are not free yet."""

    stay: Tasks
    give_up: Tasks
    acquire: Tasks
    waits: bool


def reconcile(
    member: Member, epoch: int, target: Target, owned: Owned | None, holders: Holders, *, at_once: bool = False
) -> Member:
    """The member one step further towards its target of ``epoch``. ``owned``: None if the heartbeat does not list them.

    ``at_once``: see `Release.moves_own_tasks_at_once`.
    """
    if member.state is MemberState.STABLE:
        if member.epoch == epoch:
            return member
        return _next(member, member.epoch, epoch, target, owned, holders, at_once)
    if member.state is MemberState.UNREVOKED_TASKS:
        if owned is None or owned.any_of(member.revoking):
            return member
        return _next(member, member.epoch + 1, epoch, target, owned, holders, at_once)
    if member.state is MemberState.UNRELEASED_TASKS:
        return _next(member, member.epoch, epoch, target, owned, holders, at_once)
    if owned is None or owned.active or owned.standby or owned.warmup:
        text = "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin."
        raise KafkaError(ErrorCode.FENCED_MEMBER_EPOCH, text)
    return _next(member, epoch, epoch, target, owned, holders, at_once)


def _next(
    member: Member, member_epoch: int, epoch: int, target: Target, owned: Owned | None, holders: Holders, at_once: bool
) -> Member:
    process, has = member.metadata.process_id, member.assigned

    def has_copy(subtopology: str, partition: int) -> bool:
        return holders.has_copy(process, subtopology, partition)

    def active_taken(subtopology: str, partition: int) -> bool:
        own = at_once and partition in has.standby.get(subtopology, ())
        return holders.active(subtopology, partition) is not None or (has_copy(subtopology, partition) and not own)

    def copy_taken(subtopology: str, partition: int) -> bool:
        own = at_once and partition in has.active.get(subtopology, ())
        ran = holders.active(subtopology, partition) == process
        return (ran and not own) or has_copy(subtopology, partition)

    active = _compare(has.active, target.active, active_taken)
    standby = _compare(has.standby, target.standby, copy_taken)
    warmup = _compare(has.warmup, target.warmup, copy_taken)
    kept = _epochs_of(has, active.stay)
    promoted = _both(has.standby, target.active) if at_once else {}
    revoking = Held(_epochs_of(has, active.give_up), _without(standby.give_up, promoted), warmup.give_up)
    if not revoking.is_empty and (owned is None or owned.any_of(revoking)):
        recycled = _both(standby.acquire, has.active) if at_once else {}
        assigned = Held(kept, _merged(standby.stay, _merged(recycled, promoted)), warmup.stay)
        return _moved(member, MemberState.UNREVOKED_TASKS, member_epoch, assigned, revoking)
    for subtopology, partitions in active.acquire.items():
        kept[subtopology] = {**kept.get(subtopology, {}), **dict.fromkeys(partitions, epoch)}
    copies = _merged(_joined(standby), _without(promoted, active.acquire))
    assigned = Held(kept, copies, _joined(warmup))
    waits = active.waits or standby.waits or warmup.waits
    state = MemberState.UNRELEASED_TASKS if waits else MemberState.STABLE
    return _moved(member, state, epoch, assigned, NOTHING_HELD)


def _moved(member: Member, state: MemberState, epoch: int, assigned: Held, revoking: Held) -> Member:
    return member._replace(state=state, epoch=epoch, previous_epoch=member.epoch, assigned=assigned, revoking=revoking)


def _compare(has: Mapping[str, Mapping[int, int] | frozenset[int]], target: Tasks, is_taken: IsTaken) -> _Parts:
    stay: dict[str, frozenset[int]] = {}
    give_up: dict[str, frozenset[int]] = {}
    acquire: dict[str, frozenset[int]] = {}
    waits = False
    for subtopology in {**target, **dict.fromkeys(has)}:
        present: frozenset[int] = frozenset(has.get(subtopology, ()))
        wanted: frozenset[int] = frozenset(target.get(subtopology, ()))
        new = wanted - present
        free = frozenset(partition for partition in new if not is_taken(subtopology, partition))
        waits |= len(free) < len(new)
        for parts, partitions in ((stay, present & wanted), (give_up, present - wanted), (acquire, free)):
            if partitions:
                parts[subtopology] = partitions
    return _Parts(stay, give_up, acquire, waits)


def _epochs_of(has: Held, tasks: Tasks) -> dict[str, dict[int, int]]:
    return {
        subtopology: {partition: has.active[subtopology][partition] for partition in partitions}
        for subtopology, partitions in tasks.items()
    }


def _joined(parts: _Parts) -> dict[str, frozenset[int]]:
    return _merged(parts.stay, parts.acquire)


def _merged(one: Tasks, other: Tasks) -> dict[str, frozenset[int]]:
    merged = {subtopology: frozenset(partitions) for subtopology, partitions in one.items()}
    for subtopology, partitions in other.items():
        merged[subtopology] = merged.get(subtopology, frozenset()) | partitions
    return merged


def _without(one: Tasks, other: Tasks) -> dict[str, frozenset[int]]:
    left = {name: frozenset(partitions) - frozenset(other.get(name, ())) for name, partitions in one.items()}
    return {name: partitions for name, partitions in left.items() if partitions}


def _both(one: Tasks, other: Mapping[str, Iterable[int]]) -> dict[str, frozenset[int]]:
    both = {name: frozenset(partitions) & frozenset(other.get(name, ())) for name, partitions in one.items()}
    return {name: partitions for name, partitions in both.items() if partitions}


def compute_targets(
    group: StreamsGroup,
    changed: Member | None,
    epoch: int,
    configured: ConfiguredTopology,
    configs: Mapping[str, str],
    now_ms: int,
    replaced: str | None = None,
    *,
    release: Release,
) -> tuple[dict[str, Target], list[NewRecord]]:
    """The targets of all members, and the records of those that are new or change, and of the epoch.

    ``changed``: a member as it is going to be; ``replaced``: the one whose place it takes. Nobody has tasks while the
    topology is not ready.
    """
    present = dict(group.targets)
    if changed is not None and replaced is not None:
        present[changed.member_id] = present.pop(replaced, NO_TARGET)
    staying = [member_id for member_id in group.members if member_id != replaced]
    specs: dict[str, MemberSpec] = {}
    if changed is None or changed.member_id in group.members:
        ordered = member_order(staying, group.peak)
    elif release.counts_newcomers:
        ordered = member_order([*staying, changed.member_id], max(group.peak, len(staying) + 1))
    else:
        ordered = member_order(staying, group.peak, (changed.member_id,))
    by_holdings = release.assigns_streams_by_holdings
    for member_id in ordered:
        member = changed if changed is not None and changed.member_id == member_id else group.members[member_id]
        process_id = member.metadata.process_id
        if by_holdings:
            specs[member_id] = MemberSpec(process_id, member.assigned.as_target(), _restored(group, member_id))
        else:
            specs[member_id] = MemberSpec(process_id, present.get(member_id, NO_TARGET))
    targets = _assigned(specs, configured, configs, by_holdings=by_holdings)
    records: list[NewRecord] = []
    for member_id, target in targets.items():
        if present.get(member_id) != target:
            records.append(target_record(group.group_id, member_id, target))
    records.append(RECORDS.target_epoch(group.group_id, epoch, now_ms))
    return targets, records


def _assigned(
    specs: dict[str, MemberSpec], configured: ConfiguredTopology, configs: Mapping[str, str], *, by_holdings: bool
) -> dict[str, Target]:
    if not configured.is_ready or configured.subtopologies is None:
        return dict.fromkeys(specs, NO_TARGET)
    shape = {name: SubtopologySpec(each.tasks, each.is_stateful) for name, each in configured.subtopologies.items()}
    return assign(specs, shape, int(configs.get(STANDBYS, 0)), by_holdings=by_holdings)


def _restored(group: StreamsGroup, member_id: str) -> dict[tuple[str, int], int]:
    return {(subtopology, index): offset for subtopology, index, offset in group.soft.offsets.get(member_id, ())}


def _wait_for_first(group: StreamsGroup) -> None:
    group.soft.waits_for_first = True


# -- endpoints: which members answer interactive queries for which partitions


def endpoints(
    members: Iterable[Member], configured: ConfiguredTopology, topics: TopicSource
) -> list[EndpointToPartitions]:
    """The source partitions of all members with an endpoint. KafkaError while topics are missing or do not fit."""
    reachable = ((member, member.metadata.user_endpoint) for member in members)
    return [_reachable_at(member, endpoint, configured, topics) for member, endpoint in reachable if endpoint]


def _reachable_at(
    member: Member, endpoint: Endpoint, configured: ConfiguredTopology, topics: TopicSource
) -> EndpointToPartitions:
    subtopologies = configured.subtopologies
    if subtopologies is None:
        raise internal_error()
    return EndpointToPartitions(
        ResponseEndpoint(endpoint.host, endpoint.port),
        _source_partitions(member.assigned.active, subtopologies, topics),
        _source_partitions(member.assigned.standby, subtopologies, topics),
    )


def _source_partitions(
    tasks: Mapping[str, Iterable[int]], subtopologies: Mapping[str, ConfiguredSubtopology], topics: TopicSource
) -> list[TopicPartition]:
    rows: list[TopicPartition] = []
    for subtopology in in_map_order(tasks):
        configured = subtopologies.get(subtopology)
        if configured is None:
            raise internal_error()
        partitions = sorted(tasks[subtopology])
        for topic in java_order(sources_of(configured.declared), hash_of_text):
            facts = topics.named(topic)
            if facts is None:
                raise internal_error()
            rows.append(TopicPartition(topic, partitions[: facts.partitions]))
    return rows
