"""What a heartbeat of a share group's member comes to: epochs, the target assignment and the member's part of it.

A member gets its new assignment at once and gives nothing up first: partitions are shared anyway. A partition is
assigned when the share coordinator stores its state, so the first heartbeat of a group has that begun, and a later one
gets the partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from odradek.broker.coordinator.group.assignment import Partitions, same_partitions
from odradek.broker.coordinator.group.kinds import GroupChanged, KindContext
from odradek.broker.coordinator.group.settings import GroupConfigs
from odradek.broker.coordinator.group.share import commands as c
from odradek.broker.coordinator.group.share import group as r
from odradek.broker.coordinator.group.share.assignor import assign, group_spec
from odradek.broker.coordinator.group.share.group import (
    JOIN,
    LEAVE,
    ShareGroup,
    ShareMember,
    TopicStates,
    group_or_new,
    joined,
    session_key,
)
from odradek.broker.coordinator.group.topics import TopicFacts, TopicSource, group_hash, hash_of_topic
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_hash_table import HashTable, slots_to_hold
from odradek.protocol.java_maps import hash_of_uuid

FindGroup = Callable[[str], ShareGroup]


class Heartbeats:
    """Decides on heartbeats, and on members without any. Owner: `ShareKind`."""

    def __init__(self, context: KindContext, existing: FindGroup) -> None:
        self._context = context
        self._existing = existing

    def heartbeat(self, command: c.ShareGroupHeartbeat, now_ms: int) -> Outcome[c.HeartbeatReply]:
        """A member joins, sends a heartbeat or leaves."""
        resting = self._resting(command)
        if resting is not None:
            return self._still(command.group_id, resting)
        if command.member_epoch == LEAVE:
            return self._leave(command)
        group = self._group_for(command)
        member = self._member_for(group, command)
        work = _Heartbeat(self._context, group, member, command, now_ms)
        return work.outcome()

    def _resting(self, command: c.ShareGroupHeartbeat) -> ShareMember | None:
        """The member, if its heartbeat says nothing new and it has its whole assignment, as with most heartbeats.

        A fast path: `heartbeat` would give the same result.
        """
        group = self._context.groups.get(command.group_id)
        if not isinstance(group, ShareGroup):
            return None
        member = group.members.get(command.member_id)
        if (
            member is None
            or member.epoch != command.member_epoch
            or command.topics is not None
            or command.rack_id is not None
            or member.client_id != command.client_id
            or member.client_host != command.client_host
            or not group.rests(member)
        ):
            return None
        return member

    def _still(self, group_id: str, member: ShareMember) -> Outcome[c.HeartbeatReply]:
        configs = self._context.configs
        reply = c.HeartbeatReply(member.epoch, configs.group(group_id, "share.heartbeat.interval.ms"), None)
        return make_outcome(reply=reply, effects=(session(configs, group_id, member.member_id),))

    def expire(self, command: c.ExpireShareMember, now_ms: int) -> Outcome[None]:
        """Remove a member that has been silent for too long."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or command.member_id not in group.members:
            return make_outcome()
        return make_outcome(self._without(group, command.member_id), effects=[GroupChanged(group.group_id)])

    def _leave(self, command: c.ShareGroupHeartbeat) -> Outcome[c.HeartbeatReply]:
        group = self._existing(command.group_id)
        group.member(command.member_id)
        effects = [Cancel(session_key(group.group_id, command.member_id)), GroupChanged(group.group_id)]
        records = self._without(group, command.member_id)
        return make_outcome(records, reply=c.HeartbeatReply(LEAVE, 0, None), effects=effects)

    def _without(self, group: ShareGroup, member_id: str) -> list[NewRecord]:
        topics = group.topics_with(None, without=member_id)
        hashed = metadata_hash(self._context.topics, topics)
        records = [
            *r.member_tombstones(group.group_id, member_id),
            r.epoch_record(group.group_id, group.epoch + 1, hashed),
        ]
        if len(group.members) == 1 and self._context.configs.release.assigns_empty_groups:
            records.append(r.target_epoch_record(group.group_id, group.epoch + 1, 0))
        return records

    def _group_for(self, command: c.ShareGroupHeartbeat) -> ShareGroup:
        if command.member_epoch != JOIN and self._context.groups.get(command.group_id) is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {command.group_id} not found.")
        group = group_or_new(self._context, command.group_id)
        limit = self._context.configs.broker("group.share.max.size")
        if len(group.members) >= limit and command.member_id not in group.members:
            text = f"The share group has reached its maximum capacity of {limit} members."
            raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)
        return group

    def _member_for(self, group: ShareGroup, command: c.ShareGroupHeartbeat) -> ShareMember:
        epoch = command.member_epoch
        if epoch == JOIN:
            return group.members.get(command.member_id) or ShareMember(command.member_id)
        member = group.member(command.member_id)
        if epoch in (member.epoch, member.previous_epoch):
            return member
        word = "greater" if epoch > member.epoch else "smaller"
        text = (
            f"The share group member has a {word} member epoch ({epoch}) than the one known by the group coordinator "
            f"({member.epoch})"
        )
        if epoch < member.epoch:
            text += f", and it does not match the previous member epoch ({member.previous_epoch})"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH, f"{text}. The member must abandon all its partitions and rejoin."
        )


class _Heartbeat:
    """One heartbeat at work."""

    def __init__(
        self, context: KindContext, group: ShareGroup, member: ShareMember, command: c.ShareGroupHeartbeat, now_ms: int
    ) -> None:
        self._topics = context.topics
        self._configs = context.configs
        self._group = group
        self._before = member
        self._command = command
        self._now_ms = now_ms
        self._records: list[NewRecord] = []
        self._names = dict(group.subscribed)

    def outcome(self) -> Outcome[c.HeartbeatReply]:
        group, command, before = self._group, self._command, self._before
        member = self._updated()
        epoch, bumped = self._decide_epoch(member)
        target_epoch, target = self._decide_target(member, epoch)
        member = self._reconciled(member, target_epoch, target, bumped)
        effects: list[Effect] = [session(self._configs, group.group_id, member.member_id)]
        if self._records:
            effects.append(GroupChanged(group.group_id))
        effects += self._begin_states(epoch)
        group.complete = not self._records and group.assignment_epoch >= group.epoch
        told = command.member_epoch == JOIN or command.topics is not None or member.assigned != before.assigned
        interval = self._configs.group(group.group_id, "share.heartbeat.interval.ms")
        reply = c.HeartbeatReply(member.epoch, interval, member.assigned if told else None)
        return make_outcome(self._records, reply=reply, effects=effects)

    def _updated(self) -> ShareMember:
        command, before = self._command, self._before
        member = before._replace(
            rack_id=before.rack_id if command.rack_id is None else command.rack_id,
            client_id=command.client_id,
            client_host=command.client_host,
            topics=before.topics if command.topics is None else frozenset(command.topics),
        )
        if member != before or before.member_id not in self._group.members:
            self._records.append(r.member_record(self._group.group_id, member))
        return member

    def _decide_epoch(self, member: ShareMember) -> tuple[int, bool]:
        """The group's epoch, and whether it is a new one."""
        group = self._group
        bump = member.topics != self._before.topics
        if group.assignment_epoch >= group.epoch:
            bump = bump or self._has_unassigned()
        if not bump and not group.refresh_due:
            return group.epoch, False
        self._names = group.topics_with(member, without=member.member_id)
        hashed = metadata_hash(self._topics, self._names)
        bump = bump or hashed != group.metadata_hash
        group.refresh_due = False
        if not bump:
            return group.epoch, False
        self._records.append(r.epoch_record(group.group_id, group.epoch + 1, hashed))
        return group.epoch + 1, True

    def _has_unassigned(self) -> bool:
        """Whether a subscribed topic has partitions that could be assigned and are not, or the other way round."""
        group = self._group
        if not group.members or not group.subscribed:
            return False
        return any(
            row.name in group.subscribed and group.shared_out(topic_id) != row.partitions
            for topic_id, row in group.initialized.items()
        )

    def _decide_target(self, member: ShareMember, epoch: int) -> tuple[int, Partitions]:
        """The epoch of the target assignment, and the member's part of it."""
        group = self._group
        if group.assignment_epoch >= epoch or not self._may_assign():
            return group.assignment_epoch, group.target.of(member.member_id)
        members = group.in_order(member, counts_newcomers=self._configs.release.counts_newcomers)
        spec = group_spec(members, group.target, self._topics)
        assignable = {topic_id: row.partitions for topic_id, row in group.initialized.items()}
        target = assign(spec, assignable)
        before = group.target.by_member
        for member_id in members:
            if member_id not in before or not same_partitions(target[member_id], before[member_id]):
                self._records.append(r.target_record(group.group_id, member_id, target[member_id]))
        self._records.append(r.target_epoch_record(group.group_id, epoch, self._now_ms))
        return epoch, target[member.member_id]

    def _may_assign(self) -> bool:
        """Whether the time between two assignments has passed (``share.assignment.interval.ms``)."""
        interval = self._configs.group(self._group.group_id, "share.assignment.interval.ms")
        last_ms = self._group.assignment_timestamp
        return interval == 0 or last_ms == 0 or self._now_ms - last_ms >= interval

    def _reconciled(self, member: ShareMember, target_epoch: int, target: Partitions, bumped: bool) -> ShareMember:
        if not bumped and member.epoch == target_epoch:
            return member
        ids = {facts.topic_id for facts in self._topic_ids(member.topics).values()}
        fresh = member._replace(assigned=_only(target, ids))
        if member.epoch != target_epoch:
            fresh = fresh._replace(epoch=target_epoch, previous_epoch=member.epoch)
        if fresh != member:
            self._records.append(r.current_record(self._group.group_id, fresh))
        return fresh

    def _begin_states(self, epoch: int) -> list[Effect]:
        """Have the share coordinator store the partitions of subscribed topics that it does not store yet."""
        group = self._group
        wanted: dict[bytes, TopicStates] = {}
        for name, facts in self._topic_ids(self._names).items():
            stored = group.initialized.get(facts.topic_id)
            known = frozenset() if stored is None else stored.partitions
            if len(known) < facts.partitions:
                wanted[facts.topic_id] = TopicStates(name, frozenset(range(facts.partitions)) - known)
        if not wanted:
            return []
        wanted = {topic_id: wanted[topic_id] for topic_id in HashTable(hash_of_uuid, wanted)}
        deleting = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in wanted}
        initializing = joined(group.initializing, wanted)
        self._records.append(r.states_record(group.group_id, initializing, group.initialized, deleting))
        places = {topic_id: sorted(row.partitions) for topic_id, row in wanted.items()}
        grown = {topic_id for topic_id in places if topic_id in group.initialized or topic_id in group.initializing}
        return [c.InitializeStates(group.group_id, epoch, places, grown)]

    def _topic_ids(self, names: Iterable[str]) -> dict[str, TopicFacts]:
        found = {name: self._topics.named(name) for name in names}
        return {name: facts for name, facts in found.items() if facts is not None}


def _only(partitions: Partitions, topic_ids: Set[bytes]) -> Partitions:
    """The partitions of these topics. If any are left out, the rest is in the order of `new HashMap<>(map)`."""
    if partitions.keys() <= topic_ids:
        return partitions
    copied = HashTable(hash_of_uuid, partitions, slots_to_hold(len(partitions)))
    return {topic_id: partitions[topic_id] for topic_id in copied if topic_id in topic_ids}


def session(configs: GroupConfigs, group_id: str, member_id: str) -> Schedule:
    """The effect that restarts the member's session."""
    timeout_ms = configs.group(group_id, "share.session.timeout.ms")
    return Schedule(session_key(group_id, member_id), timeout_ms, c.ExpireShareMember(group_id, member_id))


def metadata_hash(topics: TopicSource, names: Iterable[str]) -> int:
    """The hash of the topics that members subscribe to, as they are now."""
    hashes: dict[str, int] = {}
    for name in names:
        facts = topics.named(name)
        if facts is not None:
            hashes[name] = hash_of_topic(facts)
    return group_hash(hashes)
