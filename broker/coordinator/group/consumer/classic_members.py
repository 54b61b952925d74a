"""Members of the classic protocol in consumer groups: their requests, and the change of a group from one kind to the
other (`group.consumer.migration.policy`).

For a member of the classic protocol a generation is its member epoch. There is no leader: the coordinator assigns, and
SyncGroup fetches what it has assigned. Such a member is told to join again (REBALANCE_IN_PROGRESS) to give up
partitions, and to take more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
    group_record,
    join_refused,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.group import Member as ClassicGroupMember
from odradek.broker.coordinator.group.classic.rebalance import Changes, Rebalance
from odradek.broker.coordinator.group.consumer.group import (
    CONSUMER_PROTOCOL,
    RECORDS,
    ClassicMember,
    ConsumerGroup,
    ConsumerStep,
    Member,
    MemberMetadata,
    MemberState,
    applied,
    current_record,
    group_tombstones,
    join_key,
    member_record,
    sorted_names,
    sync_key,
    target_record,
    with_epoch,
    without_epochs,
)
from odradek.broker.coordinator.group.consumer.progress import (
    Change,
    Progress,
    RegexChange,
    last_target,
    replace_static,
)
from odradek.broker.coordinator.group.epoch_group import EpochKind, session
from odradek.broker.coordinator.group.groups import FenceMember, KindContext
from odradek.broker.runtime.machine import Answer, Cancel, Effect, NewRecord, Outcome, R, Schedule, make_outcome
from odradek.protocol.consumer_protocol import (
    AssignedPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.heartbeat import HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupResponse
from odradek.protocol.generated.messages.leave_group import LeaveGroupResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupResponse
from odradek.protocol.java_maps import timeline_order

M = TypeVar("M")

_NEWEST_ASSIGNMENT = ConsumerProtocolAssignment.MAX_VERSION
_MEMBER_ID_REQUIRED_FROM = 4
"""The JoinGroup versions in which a new dynamic member gets its id before it can join (KIP-394)."""


class ClassicMembers:
    """Decides on the classic protocol's commands for consumer groups, and turns groups of one kind into the other.

    Owner: the consumer kind.
    """

    def __init__(self, kind: EpochKind, context: KindContext, progress: Progress) -> None:
        self._kind = kind
        self._groups = context.groups
        self._settings = context.settings
        self._progress = progress
        self._configs = progress.configs
        self._topics = progress.topics

    def _group(self, group_id: str) -> ConsumerGroup:
        group = self._groups.find(group_id, ConsumerGroup)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- joining

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinGroupResponse]:
        """A classic member joins, or joins again to continue its reconciliation. It is answered at once."""
        request = command.request
        timeout_ms = request.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout_ms <= self._settings.max_session_timeout_ms:
            return make_outcome(reply=join_refused(request.member_id, ErrorCode.INVALID_SESSION_TIMEOUT))
        group = self._group(command.group_id)
        if not self._configs.mixes:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        member_id = request.member_id or self._kind.new_id()
        self._kind.check_room(group, member_id)
        self._check_protocols(group, command)
        if (
            not request.member_id
            and request.group_instance_id is None
            and command.sender.api_version >= _MEMBER_ID_REQUIRED_FROM
        ):
            return make_outcome(reply=join_refused(member_id, ErrorCode.MEMBER_ID_REQUIRED))
        step = ConsumerStep(group, now_ms, visible=command.sender.visible)
        replaced: Member | None = group.static_member(request.group_instance_id)
        before = self._member(step, command, member_id)
        subscription = _subscription(command)
        after = _joined(before, command, subscription)
        if replaced is not None and self.must_downgrade_for(group, replaced):
            return self._join_last(step, Change(before, after), replaced, subscription)
        owned = self._owned(subscription)
        member = self._progress.advance(step, Change(before, after), owned, bump_unresolved=True)
        step.effects += self._expect_sync(group.group_id, member, command)
        step.later.append(lambda live: live.asked_to_join.discard(member_id))
        return step.outcome(_join_response(member), self._groups)

    def _check_protocols(self, group: ConsumerGroup, command: JoinGroup) -> None:
        """Check that all classic members of the group have a protocol in common."""
        names = {name for name, _ in command.protocols}
        supported = any(group.classic_protocols.get(name, 0) == group.classic_members for name in names)
        if command.request.protocol_type != CONSUMER_PROTOCOL or not supported:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _member(self, step: ConsumerStep, command: JoinGroup, member_id: str) -> Member:
        request = command.request
        group = step.group
        if request.group_instance_id is None:
            return group.members.get(member_id) or Member(member_id)
        present: Member | None = group.static_member(request.group_instance_id)
        if not request.member_id:
            return Member(member_id) if present is None else replace_static(step, present, member_id)
        member: Member = group.requesting(member_id, request.group_instance_id)
        return member

    def _join_last(
        self, step: ConsumerStep, change: Change, replaced: Member, subscription: ConsumerProtocolSubscription
    ) -> Outcome[JoinGroupResponse]:
        """The last member of the consumer protocol gives way: the group becomes a classic one.

        Its members keep their assignments unless the group's topics have changed.
        """
        progress, group = self._progress, step.group
        member = change.after
        names_changed = progress.store_member(step, change)
        regex_changed = progress.update_regexes(step, change) is not RegexChange.NONE
        bump = names_changed or regex_changed
        epoch, _ = progress.check_topics(step, change, bump)
        rebalance = group.assignment_epoch < epoch
        if not rebalance:
            target = last_target(group, member)
            member = progress.reconcile(step, member, target, self._owned(subscription), subscription_changed=bump)
        step.later.clear()
        staying = [m for m in group.members.values() if m.member_id != replaced.member_id]
        stored_ids = [member.member_id if m == replaced.member_id else m for m in group.members]
        heirs = {member.member_id: replaced.member_id}
        reply = _join_response(member)
        return self.to_classic(step, [*staying, member], stored_ids, heirs, reply, rebalance=rebalance)

    def _owned(self, subscription: ConsumerProtocolSubscription) -> dict[bytes, list[int]]:
        owned: dict[bytes, list[int]] = {}
        for row in subscription.owned_partitions:
            facts = self._topics.named(row.topic)
            if facts is not None:
                owned[facts.topic_id] = row.partitions
        return owned

    def _expect_sync(self, group_id: str, member: Member, command: JoinGroup) -> list[Effect]:
        member_id = member.member_id
        expiry = FenceMember(group_id, member_id)
        return [
            Cancel(join_key(group_id, member_id)),
            session(group_id, member_id, command.request.session_timeout_ms),
            Schedule(sync_key(group_id, member_id), command.rebalance_timeout_ms, expiry),
        ]

    # -- syncing

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncGroupResponse]:
        """A classic member fetches its assignment."""
        request = command.request
        group = self._group(command.group_id)
        try:
            member, classic = self._classic_member(group, request.member_id, request.group_instance_id)
            if request.generation_id != member.epoch:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            _check_protocol(classic, command)
        except KafkaError as error:
            return make_outcome(reply=sync_refused(error.code))
        group_id, member_id = group.group_id, member.member_id
        if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            effects = self._ask_to_join(group, member)
            return make_outcome(reply=sync_refused(ErrorCode.REBALANCE_IN_PROGRESS), effects=effects)
        metadata = classic.protocols[0][1]
        reply = SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=self.assignment_bytes(without_epochs(member.assigned), metadata),
        )
        alive = session(group_id, member_id, classic.session_timeout_ms)
        return make_outcome(reply=reply, effects=(Cancel(sync_key(group_id, member_id)), alive))

    # -- heartbeats and departures

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[HeartbeatResponse]:
        """A heartbeat of a classic member. It must join again if it has partitions to revoke or to take."""
        request = command.request
        group = self._group(command.group_id)
        member, classic = self._classic_member(group, request.member_id, request.group_instance_id)
        if request.generation_id != member.epoch:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        group_id, member_id = group.group_id, member.member_id
        effects: list[Effect] = [session(group_id, member_id, classic.session_timeout_ms)]
        if not _must_join(group, member):
            return make_outcome(reply=HeartbeatResponse(), effects=effects)
        effects += self._ask_to_join(group, member)
        return make_outcome(reply=HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), effects=effects)

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[LeaveGroupResponse]:
        """Members leave by member id, or are removed by instance id, whatever protocol they speak."""
        group = self._group(command.group_id)
        codes: list[ErrorCode] = []
        leaving: dict[str, Member] = {}
        member: Member
        for each in command.members:
            member_id, instance_id = each.member_id, each.group_instance_id
            try:
                named = member_id or ("" if instance_id is None else group.static_ids.get(instance_id, ""))
                member = group.requesting(named, instance_id)
            except KafkaError as error:
                codes.append(error.code)
            else:
                codes.append(ErrorCode.NONE)
                leaving[member.member_id] = member
        return self._kind.remove(group, list(leaving.values()), command.response(codes), now_ms)

    # -- inside

    def _classic_member(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None
    ) -> tuple[Member, ClassicMember]:
        member: Member = group.requesting(member_id, instance_id)
        if member.metadata.classic is None:
            text = f"Member {member_id} does not use the classic protocol."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member, member.metadata.classic

    def _ask_to_join(self, group: ConsumerGroup, member: Member) -> list[Effect]:
        """Ask a member to join again. It has its rebalance timeout from the first time it is asked."""
        if member.member_id in group.asked_to_join:
            return []
        group.asked_to_join.add(member.member_id)
        expiry = FenceMember(group.group_id, member.member_id)
        return [Schedule(join_key(group.group_id, member.member_id), member.metadata.rebalance_timeout_ms, expiry)]

    # -- a classic group becomes a consumer group

    def upgrade(self, classic: ClassicGroup, now_ms: int) -> ConsumerStep:
        """Turn a classic group with members into a consumer group, because a consumer member joins.

        Its members become classic members of it. They are stable, in the epoch of their generation, with their
        assignments; members that wait for a rebalance are told to join again. GROUP_ID_NOT_FOUND if the group cannot
        change.
        """
        self._check_upgrade(classic)
        members = [self._upgraded(classic, member) for member in _in_order(classic.members)]
        group_id, epoch = classic.group_id, classic.generation
        names = {name for member in members for name in member.metadata.topics}
        before = ConsumerGroup(group_id)
        before.set_epoch(epoch - 1, 0)
        records: list[NewRecord] = [
            *classic.tombstones(),
            *(member_record(group_id, member) for member in members),
            *self._progress.next_epoch(before, names, bump=True)[1],
            *(target_record(group_id, m.member_id, without_epochs(m.assigned)) for m in members),
            RECORDS.target_epoch(group_id, epoch, 0),
            *(current_record(group_id, member) for member in members),
        ]
        step = ConsumerStep(applied(group_id, records), now_ms, records)
        step.effects += _let_go(classic)
        for member in members:
            assert member.metadata.classic is not None
            step.effects.append(session(group_id, member.member_id, member.metadata.classic.session_timeout_ms))
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
        metadata = MemberMetadata(
            member.instance_id,
            getattr(subscription, "rack_id", None) or None,
            member.client_id,
            member.client_host,
            sorted_names(subscription.topics),
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            classic=ClassicMember(member.session_timeout_ms, member.protocols),
        )
        epoch = classic.generation
        return Member(member.member_id, metadata, epoch, epoch, assigned=with_epoch(assigned, epoch))

    # -- and the way back

    def must_downgrade(self, group: ConsumerGroup, leaving: Sequence[Member]) -> bool:
        """Whether only classic members are left after these have been removed."""
        left = len(group.members) - len(leaving)
        classic = group.classic_members - sum(1 for member in leaving if member.metadata.classic is not None)
        return left > 0 and classic == left and self._configs.downgrades and left <= self._settings.max_size

    def must_downgrade_for(self, group: ConsumerGroup, replaced: Member) -> bool:
        """The same when a classic member takes the place of a static member of the consumer protocol."""
        only_one = replaced.metadata.classic is None and group.classic_members == len(group.members) - 1
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
            assert member.metadata.classic is not None
            classic.add(_downgraded(group_id, member, member.metadata.classic))
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
        protocols = {
            member.member_id: member.metadata.classic.protocols
            for member in staying
            if member.metadata.classic is not None
        }
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


def _must_join(group: ConsumerGroup, member: Member) -> bool:
    if member.epoch < group.assignment_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    return member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)


def _subscription(command: JoinGroup) -> ConsumerProtocolSubscription:
    try:
        subscription, _ = decode_subscription(command.protocols[0][1])
    except ProtocolError as error:
        text = "Malformed embedded consumer protocol in subscription deserialization."
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text) from error
    return subscription


def _joined(member: Member, command: JoinGroup, subscription: ConsumerProtocolSubscription) -> Member:
    request, known = command.request, member.metadata
    timeout_ms = command.rebalance_timeout_ms
    metadata = MemberMetadata(
        known.instance_id if request.group_instance_id is None else request.group_instance_id,
        subscription.rack_id or known.rack_id,
        command.sender.client_id,
        command.sender.host,
        sorted_names(subscription.topics),
        rebalance_timeout_ms=known.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        server_assignor=known.server_assignor,
        classic=ClassicMember(request.session_timeout_ms, command.protocols),
    )
    return member.with_metadata(metadata)


def _join_response(member: Member) -> JoinGroupResponse:
    assert member.metadata.classic is not None
    return JoinGroupResponse(
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=member.metadata.classic.protocols[0][0],
        member_id=member.member_id,
    )


def _check_protocol(classic: ClassicMember, command: SyncGroup) -> None:
    request = command.request
    if request.protocol_type not in (None, CONSUMER_PROTOCOL):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_name not in (None, classic.protocols[0][0]):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def _in_order(members: Mapping[str, M]) -> list[M]:
    return [members[member_id] for member_id in timeline_order(list(members), len(members) + 1)]


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
        member.metadata.instance_id,
        member.metadata.client_id,
        member.metadata.client_host,
        member.metadata.rebalance_timeout_ms,
        classic.session_timeout_ms,
        classic.protocols,
    )
