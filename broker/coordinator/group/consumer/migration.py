"""Online upgrade of classic groups to consumer groups, and the way back (`group.consumer.migration.policy`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    group_record,
    join_refused,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.group import Member as ClassicGroupMember
from odradek.broker.coordinator.group.classic.rebalance import Changes, Rebalance
from odradek.broker.coordinator.group.consumer.group import (
    CONSUMER_PROTOCOL,
    ConsumerGroup,
    ConsumerStep,
    applied,
)
from odradek.broker.coordinator.group.consumer.progress import Progress
from odradek.broker.coordinator.group.consumer.records import (
    RECORDS,
    ClassicMember,
    Member,
    current_record,
    group_tombstones,
    member_record,
    sorted_names,
    target_record,
    with_epoch,
)
from odradek.broker.coordinator.group.epoch_group import session
from odradek.broker.coordinator.group.groups import KindContext
from odradek.broker.runtime.machine import Answer, Cancel, Effect, NewRecord, Outcome, R
from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.java_maps import timeline_order

M = TypeVar("M")

_NEWEST_ASSIGNMENT = ConsumerProtocolAssignment.MAX_VERSION


class Migration:
    """Turns groups of one kind into the other. Owner: the consumer kind."""

    def __init__(self, context: KindContext, progress: Progress) -> None:
        self._groups = context.groups
        self._settings = context.settings
        self._configs = progress.configs
        self._topics = progress.topics
        self._progress = progress

    # -- up

    def upgrade(self, classic: ClassicGroup, now_ms: int) -> ConsumerStep:
        """Turn a classic group with members into a consumer group, because a consumer member joins.

        Its members become classic members of it. They are stable, in the epoch of their generation, with their
        assignments; members that wait for a rebalance are told to join again. GROUP_ID_NOT_FOUND if the group cannot
        change.
        """
        self._check_upgrade(classic)
        members = [self._upgraded(classic, member) for member in _in_order(classic.members)]
        group_id, epoch = classic.group_id, classic.generation
        names = {name for member in members for name in member.topics}
        before = ConsumerGroup(group_id)
        before.set_epoch(epoch - 1, 0)
        records: list[NewRecord] = [
            *classic.tombstones(),
            *(member_record(group_id, member) for member in members),
            *self._progress.next_epoch(before, names, bump=True)[1],
            *(target_record(group_id, m.member_id, _partitions(m)) for m in members),
            RECORDS.target_epoch(group_id, epoch, 0),
            *(current_record(group_id, member) for member in members),
        ]
        step = ConsumerStep(applied(group_id, records), now_ms, records)
        step.effects += _let_go(classic)
        for member in members:
            assert member.classic is not None
            step.effects.append(session(group_id, member.member_id, member.classic.session_timeout_ms))
        return step

    def _check_upgrade(self, classic: ClassicGroup) -> None:
        reason = ""
        if not self._configs.upgrades:
            reason = "online upgrade is disabled"
        elif classic.protocol_type != CONSUMER_PROTOCOL:
            reason = "the group does not use the consumer embedded protocol"
        elif len(classic.members) > self._configs.max_size:
            reason = "the group size exceeds the consumer group maximum size"
        if reason:
            raise _no_upgrade(classic, reason)

    def _upgraded(self, classic: ClassicGroup, member: ClassicGroupMember) -> Member:
        try:
            assignment, _ = decode_assignment(member.assignment)
            if assignment.user_data:
                raise _no_upgrade(
                    classic,
                    "an unsupported custom assignor is in use. Please refer to the documentation or switch to a "
                    "default assignor before re-attempting the upgrade",
                )
            subscription, _ = decode_subscription(member.metadata(classic.protocol or ""))
        except ProtocolError as error:
            raise _no_upgrade(classic, "the embedded consumer protocol is malformed") from error
        assigned: Partitions = {}
        for row in assignment.assigned_partitions:
            facts = self._topics.named(row.topic)
            if facts is not None:
                assigned[facts.topic_id] = tuple(row.partitions)
        return Member(
            member.member_id,
            instance_id=member.instance_id,
            rack_id=getattr(subscription, "rack_id", None) or None,
            client_id=member.client_id,
            client_host=member.client_host,
            topics=sorted_names(subscription.topics),
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            classic=ClassicMember(member.session_timeout_ms, member.protocols),
            epoch=classic.generation,
            previous_epoch=classic.generation,
            assigned=with_epoch(assigned, classic.generation),
        )

    # -- down

    def must_downgrade(self, group: ConsumerGroup, leaving: Sequence[Member]) -> bool:
        """Whether only classic members are left after these have been removed."""
        left = len(group.members) - len(leaving)
        classic = group.classic_members - sum(1 for member in leaving if member.classic is not None)
        return left > 0 and classic == left and self._configs.downgrades and left <= self._settings.max_size

    def must_downgrade_for(self, group: ConsumerGroup, replaced: Member) -> bool:
        """The same when a classic member takes the place of a static member of the consumer protocol."""
        only_one = replaced.classic is None and group.classic_members == len(group.members) - 1
        return only_one and self._configs.downgrades and len(group.members) <= self._settings.max_size

    def downgrade(self, step: ConsumerStep, leaving: Sequence[Member], reply: R) -> Outcome[R]:
        """The members that stay become a classic group, which rebalances at once."""
        gone = {member.member_id for member in leaving}
        staying = [member for member in _in_order(step.group.members) if member.member_id not in gone]
        return self.to_classic(step, staying, step.group.members, {}, reply, rebalance=True)

    def to_classic(
        self,
        step: ConsumerStep,
        staying: Sequence[Member],
        stored_ids: Collection[str],
        heirs: dict[str, str],
        reply: R,
        *,
        rebalance: bool,
    ) -> Outcome[R]:
        """Delete the group and write a classic one in its place.

        ``stored_ids``: the members that the log has by then. ``heirs``: member id -> whose target it takes over.
        """
        group = step.group
        group_id = group.group_id
        step.records += group_tombstones(group_id, timeline_order(list(stored_ids), group.peak), group.regexes)
        classic = ClassicGroup(group_id, step.now_ms)
        for member in staying:
            assert member.classic is not None
            classic.add(_downgraded(group_id, member, member.classic))
        protocol = classic.protocol = classic.select_protocol()
        for joined in classic.members.values():
            target = group.target.of(heirs.get(joined.member_id, joined.member_id))
            try:
                joined.assignment = self.assignment_bytes(target, joined.metadata(protocol))
            except ProtocolError as error:
                text = f"Cannot downgrade the classic group {group_id}: {error}."
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text) from error
        classic.protocol_type, classic.generation = CONSUMER_PROTOCOL, group.epoch
        step.records.append(group_record(group_id, classic.to_stored()))
        for member_id in group.members:
            step.effects += [Cancel(key) for key in group.timers(member_id)]
        protocols = {member.member_id: member.classic.protocols for member in staying if member.classic is not None}
        outcome = step.outcome(reply, self._groups)
        outcome.then = self._install(group_id, protocols, rebalance, step.now_ms)
        return outcome

    def _install(
        self, group_id: str, protocols: dict[str, tuple[tuple[str, bytes], ...]], rebalance: bool, now_ms: int
    ) -> Callable[[], Sequence[Effect]]:
        """The live classic group: its members have all their protocols, and their sessions run."""

        def install() -> Sequence[Effect]:
            classic = self._groups.find(group_id, ClassicGroup)
            if classic is None:
                return ()
            changes = Changes(now_ms)
            phases = Rebalance(self._settings)
            for member in classic.members.values():
                classic.update(
                    member, protocols[member.member_id], member.session_timeout_ms, member.rebalance_timeout_ms
                )
                phases.expect_heartbeat(member, changes)
            if rebalance:
                phases.begin(classic, changes)
            return changes.effects

        return install

    def assignment_bytes(self, partitions: Partitions, metadata: bytes) -> bytes:
        """Partitions in the classic protocol's form, for a member that has joined with this metadata."""
        rows = []
        for topic_id, indexes in partitions.items():
            facts = self._topics.by_id(topic_id)
            if facts is not None:
                rows.append(AssignedPartitions(facts.name, list(indexes)))
        version = int.from_bytes(metadata[:2], "big", signed=True)
        if len(metadata) < 2 or version < 0:
            raise ProtocolError(f"not the metadata of a consumer: version {version}")
        return encode_assignment(ConsumerProtocolAssignment(rows, None), min(version, _NEWEST_ASSIGNMENT))


def _in_order(members: Mapping[str, M]) -> list[M]:
    return [members[member_id] for member_id in timeline_order(list(members), len(members) + 1)]


def _partitions(member: Member) -> Partitions:
    return {topic_id: tuple(epochs) for topic_id, epochs in member.assigned.items()}


def _let_go(classic: ClassicGroup) -> list[Effect]:
    """Answer the waiting requests and cancel the timers of a group that is being replaced."""
    group_id = classic.group_id
    effects: list[Effect] = [Cancel((what, group_id)) for what in ("join", "joined", "sync")]
    for member in classic.members.values():
        effects.append(Cancel(member.session_key))
        if member.join_ticket is not None:
            reply = join_refused(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS)
            effects.append(Answer(member.join_ticket, reply))
        if member.sync_ticket is not None:
            effects.append(Answer(member.sync_ticket, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)))
    return [*effects, *classic.on_removed()]


def _no_upgrade(classic: ClassicGroup, reason: str) -> KafkaError:
    text = f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}."
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _downgraded(group_id: str, member: Member, classic: ClassicMember) -> ClassicGroupMember:
    return ClassicGroupMember(
        group_id,
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        classic.session_timeout_ms,
        classic.protocols,
    )
