"""Groups whose members have epochs: what consumer, share and streams groups have in common, and their kinds.

A member may commit with an older epoch for partitions that it has had since then (KIP-1251). A fetch has to name the
present epoch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import TopicGroups
from odradek.broker.coordinator.group.groups import (
    CommitOffsets,
    ExpireRevocation,
    ExpiryBasis,
    FenceMember,
    Group,
    GroupChanged,
    GroupCommand,
    Groups,
    GroupType,
    KindContext,
    MetadataChanged,
    Sender,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.records import EpochRecords, known_key, value_of
from odradek.broker.coordinator.group.settings import EpochConfigs
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.broker.runtime.machine import (
    Cancel,
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    R,
    Schedule,
    coordinator_error,
    make_outcome,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import timeline_order
from odradek.protocol.message import CoordinatorRecord
from odradek.protocol.native import mypyc_attr
from odradek.protocol.text_cache import text_cache

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

JOINING, LEAVING, AWAY = 0, -1, -2
"""The epochs of heartbeats of members that join, leave, or, static ones, leave for a while.

The place of a member that is away is kept for the session timeout.
"""

FIRST_EPOCH = 1
"""The epoch of a group before its first member, since 4.3; see `Release.first_group_epoch`."""


EPOCHS_FROM = 9
"""OffsetCommit versions that know member epochs."""
TXN_ERRORS_FROM = 6
"""The version of TxnOffsetCommit from which a missing group and a stale epoch have errors of their own."""


@mypyc_attr(allow_interpreted_subclasses=True)
class EpochGroup(ABC):
    """Members in their epochs, on their way to the target assignment of the group. Changed by replay only.

    `members`: by id; each kind has members of its own class, all with an id, an epoch and `is_reconciled_to`, and, if
    there are static ones, with metadata. `static_ids`: the id of the member with each instance id.
    """

    expires: ClassVar[bool] = True
    protocol_type: ClassVar[str]

    def __init__(self, group_id: str, first_epoch: int = FIRST_EPOCH) -> None:
        self.group_id = group_id
        self.members: dict[str, Any] = {}
        self.epoch = first_epoch
        self.metadata_hash = 0
        self.assignment_epoch = first_epoch
        self.assignment_timestamp = 0
        self.peak = 1
        self.static_ids: dict[str, str] = {}
        self._state: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.group_id!r}, {self.state_name}, epoch {self.epoch}, {list(self.members)})"

    # -- Group

    @property
    def state_name(self) -> str:
        if self._state is None:
            self._state = self._compute_state()
        return self._state

    def _compute_state(self) -> str:
        """The state, which is remembered until something changes."""
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        arrived = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return STABLE if arrived else RECONCILING

    @property
    def is_described(self) -> bool:
        return False

    @property
    def is_empty(self) -> bool:
        return not self.members

    def is_in_state(self, names: Collection[str]) -> bool:
        return self.state_name.lower() in names

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`. A commit is no heartbeat here."""
        member = self._committing(command)
        if member is None:
            return ()
        if command.api_version < EPOCHS_FROM and not self._is_classic(member):
            who = f"members using the {self.protocol_type} group protocol"
            text = f"OffsetCommit version 9 or above must be used by {who}"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
        if command.epoch != member.epoch:
            self._check_age(member, command)
        return ()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`. Producers that name no member are trusted."""
        if command.epoch == -1 and not command.request.member_id and command.request.group_instance_id is None:
            return
        member = self._committing(command)
        if member is None or command.epoch == member.epoch:
            return
        try:
            self._check_age(member, command)
        except KafkaError as error:
            if command.api_version >= TXN_ERRORS_FROM:
                raise
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from error

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        if member_id is None:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka stumbles over it
        member = self.member(member_id)
        if member_epoch == member.epoch:
            return
        if self._is_classic(member):
            code, named = ErrorCode.ILLEGAL_GENERATION, "generation id"
        else:
            code, named = ErrorCode.STALE_MEMBER_EPOCH, "member epoch"
        text = f"The received {named} {member_epoch} does not match the expected member epoch {member.epoch}."
        raise KafkaError(code, text)

    def _committing(self, command: CommitOffsets) -> Any:
        """The member that commits; None if an administrator commits for a group without members."""
        return None if command.epoch < 0 and not self.members else self.member(command.request.member_id)

    def _is_classic(self, member: Any) -> bool:
        """Whether the member uses the classic protocol, so that its epoch is a generation."""
        return False

    @abstractmethod
    def _check_age(self, member: Any, command: CommitOffsets) -> None:
        """Raise unless the member may commit all this with the command's epoch, which is not its own."""

    def check_delete_offsets(self) -> None:  # noqa: B027 - not for a subclass to fill
        """See `Group`. Each topic is checked separately."""

    def check_delete(self) -> None:
        if not self.is_empty:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: the commit itself."""
        return lambda offset: offset.commit_timestamp

    def timers(self, member_id: str) -> Sequence[Hashable]:
        """The keys of all timers of a member."""
        return session_key(self.group_id, member_id), rebalance_key(self.group_id, member_id)

    def on_removed(self) -> Sequence[Effect]:
        timers = [Cancel(key) for member_id in self.members for key in self.timers(member_id)]
        return [*timers, GroupChanged(self.group_id)]

    # -- reading

    @abstractmethod
    def topics(self) -> Iterable[str]:
        """The names of the topics that the group depends on."""

    @abstractmethod
    def check_topics_again(self) -> None:
        """Have the next heartbeat look at the topics again: one of them has changed."""

    def member(self, member_id: str | None) -> Any:
        """The member with that id; raises UNKNOWN_MEMBER_ID without one."""
        member = None if member_id is None else self.members.get(member_id)
        if member is None:
            text = f"Member {member_id} is not a member of group {self.group_id}."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member

    def static_member(self, instance_id: str | None) -> Any:
        """The member with an instance id; None without one."""
        return None if instance_id is None else self.members.get(self.static_ids.get(instance_id, ""))

    def requesting(self, member_id: str, instance_id: str | None) -> Any:
        """The member that a request names. UNKNOWN_MEMBER_ID without one, FENCED_INSTANCE_ID for another's instance."""
        if instance_id is None:
            return self.member(member_id)
        member = self.static_member(instance_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            text = f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
            raise KafkaError(ErrorCode.FENCED_INSTANCE_ID, text)
        return member

    def in_map_order(self) -> list[Any]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in timeline_order(list(self.members), self.peak)]

    # -- changing, from records

    def note_change(self) -> None:
        """A record is about to change the group."""
        self._state = None

    def note_static(self, before: Any, member: Any) -> None:
        """Register the instance id of a member that was put, if it is static; `before`: what it was."""
        instance_id = member.metadata.instance_id
        if before is not None and before.metadata.instance_id != instance_id:
            self.forget_static(before)
        if instance_id is not None:
            self.static_ids[instance_id] = member.member_id

    def forget_static(self, member: Any) -> None:
        """Unregister the instance id of a member that was removed or has another one, if it is still its own."""
        instance_id = None if member is None else member.metadata.instance_id
        if member is not None and instance_id is not None and self.static_ids.get(instance_id) == member.member_id:
            del self.static_ids[instance_id]

    def set_assignment(self, epoch: int, timestamp: int) -> None:
        """Note that a target assignment is complete."""
        self.assignment_epoch = epoch
        self.assignment_timestamp = timestamp
        self._state = None


def check_released(member: Any, member_id: str) -> None:
    """UNRELEASED_INSTANCE_ID while the member that has the instance id has not left for a while."""
    if member.epoch != AWAY:
        text = (
            f"Static member {member_id} with instance id {member.metadata.instance_id} cannot join the group because "
            f"the instance id is owned by {member.member_id} member."
        )
        raise KafkaError(ErrorCode.UNRELEASED_INSTANCE_ID, text)


def fenced(protocol: str, how: str, epoch: int, member: Any) -> KafkaError:
    """The error for a member whose heartbeat has an epoch that is not its own. ``how``: "greater" or "smaller"."""
    return KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {protocol} group member has a {how} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def session_key(group_id: str, member_id: str) -> Hashable:
    """The key of a member's session timer, which restarts with each heartbeat."""
    return ("member session", group_id, member_id)


@text_cache(1 << 12)
def session(group_id: str, member_id: str, timeout_ms: int) -> Schedule:
    """The effect that starts it. Every heartbeat has this effect, so it is one shared object."""
    return Schedule(session_key(group_id, member_id), timeout_ms, FenceMember(group_id, member_id))


def rebalance_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer of a member that has to give up partitions or tasks."""
    return ("member rebalance", group_id, member_id)


def revocation(group_id: str, member: Any) -> Schedule:
    """The effect that limits the time of a member to give up partitions or tasks."""
    expiry = ExpireRevocation(group_id, member.member_id, member.epoch)
    return Schedule(rebalance_key(group_id, member.member_id), member.metadata.rebalance_timeout_ms, expiry)


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class MemberHeartbeat(GroupCommand):
    """A member joins (epoch 0), gives a sign of life, tells what it has, or leaves (epoch -1; for a while: -2).

    Fields of the request that are None, and -1 for the rebalance timeout, stand for "unchanged".
    """

    __slots__ = ("request", "sender")

    def __init__(self, request: Any, sender: Sender) -> None:
        self.group_id = request.group_id
        self.request = request
        self.sender = sender

    @property
    def owned(self) -> Any:
        """What the member owns, in its kind's form; None if that is unchanged."""
        return None


@mypyc_attr(allow_interpreted_subclasses=True)
class Step:
    """What one command does to a group. Subclasses have the group by its own type.

    The group is read only: the group itself, or for one that comes into being the group that ``records`` will make.
    ``later``: changes of soft state, made once the records are stored; they get the group that then lives.
    """

    __slots__ = ("changed", "effects", "later", "now_ms", "records")

    def __init__(self, changed: EpochGroup, now_ms: int, records: Sequence[NewRecord] = ()) -> None:
        self.changed = changed
        self.now_ms = now_ms
        self.records: list[NewRecord] = list(records)
        self.effects: list[Effect] = []
        self.later: list[Callable[[Any], None]] = []

    def outcome(self, reply: R, groups: Groups) -> Outcome[R]:
        """The outcome with all that was gathered."""
        if self.records:
            self.effects.append(GroupChanged(self.changed.group_id))
        changed = self.changed
        then = partial(_change_later, groups, changed.group_id, type(changed), self.later) if self.later else None
        return make_outcome(self.records, reply=reply, effects=self.effects, then=then)


def _change_later(
    groups: Groups, group_id: str, kind: type[Any], changes: Sequence[Callable[[Any], None]]
) -> Sequence[Effect]:
    group = groups.find_live(group_id, kind)
    if group is not None:
        for change in changes:
            change(group)
    return ()


Replays = Mapping[int, tuple[type[CoordinatorRecord], type[CoordinatorRecord], Callable[[Any, Any, Any], None]]]
"""By record type: the classes of its key and its value, and what it does to its group.

It gets the group, the key and the value: None for a tombstone, and in the form that a `NewRecord` carries for a record
of this process. A tombstone of something that does not exist does nothing.
"""


def replays_of(
    *rows: tuple[type[CoordinatorRecord], type[CoordinatorRecord], Callable[[Any, Any, Any], None]],
) -> Replays:
    """These by record type."""
    return {key.RECORD_TYPE: (key, value, change) for key, value, change in rows}


def replay_target_epoch(group: Any, key: Any, value: Any) -> None:
    """A target assignment is complete; each kind has a record of these two fields."""
    if value is None:
        group.set_assignment(-1, 0)
    else:
        group.set_assignment(value.assignment_epoch, value.assignment_timestamp)


@mypyc_attr(allow_interpreted_subclasses=True)
class EpochKind(ABC):
    """What the kinds of groups with epochs have in common. See `GroupKind`.

    ``records``: of its members. ``response``: the class of the responses to heartbeats. ``ends``: the type of the
    record whose tombstone ends a group. ``names_topics``: the types that may change which topics a group subscribes to.
    """

    group_type: ClassVar[GroupType]
    has_static_members: ClassVar[bool] = True
    step_class: ClassVar[type[Any]]
    member_class: ClassVar[type[Any]]

    def __init__(
        self,
        context: KindContext,
        configs: EpochConfigs,
        group_class: type[Any],
        response: type[Any],
        records: EpochRecords,
        replays: Replays,
        ends: int,
        names_topics: Collection[int],
    ) -> None:
        self._groups = context.groups
        self._configs = configs
        self.new_id = context.new_short_id
        self._topics = TopicCache(context.topics)
        self._class = group_class
        self._response_class = response
        self._records = records
        self._replays = replays
        self._ends = ends
        self._names_topics = names_topics
        self._by_topic = TopicGroups()
        self._ids: set[str] = set()

    def _new_group(self, group_id: str) -> Any:
        """A group that no record has yet."""
        return self._class(group_id, self._configs.release.first_group_epoch)

    def _live(self, group_id: str) -> Any:
        """The group with that id, None unless it is of this kind."""
        return self._groups.find_live(group_id, self._class)

    def _existing(self, group_id: str) -> Any:
        """The group with that id; GROUP_ID_NOT_FOUND unless it is of this kind."""
        group = self._groups.existing(group_id)
        if not isinstance(group, self._class):
            raise self.other_kind(group_id)
        return group

    def other_kind(self, group_id: str) -> KafkaError:
        """The error for a group of another kind."""
        text = f"Group {group_id} is not a {self.group_type.value} group."
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text)

    # -- heartbeats

    def heartbeat(self, command: MemberHeartbeat, now_ms: int) -> Outcome[Any]:
        """Decide on a `MemberHeartbeat`.

        Most say nothing new, and come from members that have their whole assignment: these get their answer at once,
        which is the one that they would get anyway.
        """
        group_id, request = command.group_id, command.request
        epoch: int = request.member_epoch
        group: EpochGroup | None = self._live(group_id)
        if group is not None:
            member = group.members.get(request.member_id)
            if member is not None and member.epoch == epoch and self._is_unchanged(group, member, command, now_ms):
                return make_outcome(
                    reply=self._response(group, member), effects=(self._session(group_id, request.member_id),)
                )
        if epoch < JOINING:
            return self._leave(request, now_ms)
        step: Step = self._begin(command, now_ms)
        before = self._member(step, request, command.owned)
        step.effects.append(self._session(group_id, before.member_id))
        return step.outcome(self._advance(step, command, before), self._groups)

    @abstractmethod
    def _is_unchanged(self, group: Any, member: Any, command: Any, now_ms: int) -> bool:
        """Whether a heartbeat in the member's epoch changes nothing, and has no news for the member."""

    @abstractmethod
    def _advance(self, step: Any, command: Any, before: Any) -> Any:
        """Move the group and the member on; returns the response. ``before``: without the fields of the heartbeat."""

    def _response(self, group: Any, member: Any) -> Any:
        """The response to a member that lives, without an assignment."""
        return self._response_class(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self._configs.heartbeat_interval_ms(group.group_id),
        )

    def _begin(self, command: Any, now_ms: int) -> Any:
        """The step of a heartbeat. A first member creates the group, perhaps in place of one of another kind."""
        group_id, request = command.group_id, command.request
        group = self._groups.get(group_id)
        if isinstance(group, self._class):
            step: Step = self.step_class(group, now_ms)
        elif group is not None:
            step = self._take_over(group, request.member_epoch, now_ms)
        elif request.member_epoch:
            text = f"{self.group_type.value.capitalize()} group {group_id} not found."
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text)
        else:
            step = self.step_class(self._new_group(group_id), now_ms)
        self._check_place(step.changed, request)
        return step

    def _take_over(self, group: Group, epoch: int, now_ms: int) -> Any:
        """The step of a new group in place of an empty classic one."""
        if epoch or group.group_type is not GroupType.CLASSIC or not group.is_empty:
            raise self.other_kind(group.group_id)
        step = self.step_class(self._new_group(group.group_id), now_ms, group.tombstones())
        step.effects += group.on_removed()
        return step

    def _check_place(self, group: Any, request: Any) -> None:
        """Raise GROUP_MAX_SIZE_REACHED for a new member in a full group."""
        self.check_room(group, request.member_id)

    def check_room(self, group: Any, member_id: str) -> None:
        """Raise GROUP_MAX_SIZE_REACHED for a full group, unless the member is in it."""
        limit = self._configs.max_size
        if len(group.members) >= limit and member_id not in group.members:
            text = f"The {self.group_type.value} group has reached its maximum capacity of {limit} members."
            raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)

    def _member(self, step: Step, request: Any, owned: Any) -> Any:
        """The member of a heartbeat: a new one, one that comes back, perhaps with another id, or one that goes on."""
        group: Any = step.changed
        epoch: int = request.member_epoch
        instance_id = request.instance_id if self.has_static_members else None
        if epoch != JOINING:
            member = group.requesting(request.member_id, instance_id)
            self.check_epoch(member, epoch, owned)
            return member
        member_id = request.member_id or self.new_id()
        present = group.static_member(instance_id)
        if present is not None:
            return self._come_back(step, present, member_id)
        member = group.members.get(member_id)
        if member is not None and instance_id is None:
            self.check_epoch(member, epoch, owned)
        return self.member_class(member_id) if member is None else member

    @abstractmethod
    def check_epoch(self, member: Any, epoch: int, owned: Any) -> None:
        """FENCED_MEMBER_EPOCH unless the member may send a heartbeat with this epoch."""

    def _come_back(self, step: Any, present: Any, member_id: str) -> Any:
        """A static member joins, perhaps with another member id; the one that it was is `present`."""
        raise NotImplementedError

    # -- members that go

    def _leave(self, request: Any, now_ms: int) -> Outcome[Any]:
        """Let a member leave. A static one may leave for a while: it keeps its place for the session timeout."""
        group = self._existing(request.group_id)
        instance_id = request.instance_id if self.has_static_members else None
        member = group.requesting(request.member_id, instance_id)
        response = self._response_class(member_id=request.member_id, member_epoch=request.member_epoch)
        if instance_id is None or request.member_epoch != AWAY:
            return self.remove(group, [member], response, now_ms)
        step: Step = self.step_class(group, now_ms, [self._away(group, member)])
        return step.outcome(response, self._groups)

    def _away(self, group: Any, member: Any) -> NewRecord:
        """The record of a member that leaves for a while.

        What it has counts as assigned in epoch 0 from now on, so that its successor may commit offsets.
        """
        raise NotImplementedError

    def remove(self, group: Any, members: Sequence[Any], reply: R, now_ms: int) -> Outcome[R]:
        """Remove members. The group continues in its next epoch, and the others get the rest with their heartbeats."""
        group_id, next_epoch = group.group_id, group.epoch + 1
        step: Step = self.step_class(group, now_ms)
        for member in members:
            step.records += self._records.member_tombstones(group_id, member.member_id)
            step.effects += [Cancel(key) for key in group.timers(member.member_id)]
        step.records += self._next_epoch_without(group, members)
        if len(members) == len(group.members) and self._configs.release.assigns_empty_groups:
            step.records.append(self._records.target_epoch(group_id, next_epoch, 0))
        return step.outcome(reply, self._groups)

    @abstractmethod
    def _next_epoch_without(self, group: Any, members: Sequence[Any]) -> Sequence[NewRecord]:
        """The records of the group's next epoch, once these members have gone."""

    # -- GroupKind

    def replay(self, record_type: int, record: LogRecord) -> None:
        """See `GroupKind`. Kafka reads past records that only earlier releases wrote."""
        known = self._replays.get(record_type)
        if known is None:
            return
        key_class, value_class, change = known
        key: Any = known_key(key_class, record.key)
        group_id: str = key.group_id
        group = self._live(group_id)
        if group is None:
            if record.value is None:
                return
            group = self._groups.for_replay(group_id, self._class, self._new_group)
            self._ids.add(group_id)
        elif record.value is None and record_type == self._ends:
            self._by_topic.update(group_id, group.topics(), ())
            self._groups.remove(group_id, self._class)
            self._ids.discard(group_id)
            return
        group.note_change()
        if record_type not in self._names_topics:
            change(group, key, value_of(value_class, record))
            return
        before = list(group.topics())
        change(group, key, value_of(value_class, record))
        after = list(group.topics())
        if after != before:
            self._by_topic.update(group_id, before, after)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `GroupKind`: nothing has changed, and the client gets Kafka's choice of error."""
        raise KafkaError(coordinator_error(error.code)) from error

    def _session(self, group_id: str, member_id: str) -> Schedule:
        """The effect that restarts the session of a member."""
        return session(group_id, member_id, self._configs.session_timeout_ms(group_id))

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live, and to give up what they have to."""
        effects: list[Effect] = []
        for group_id in sorted(self._ids):
            group = self._live(group_id)
            if group is not None:
                for member_id, member in group.members.items():
                    effects.append(self._session(group_id, member_id))
                    if self._gives_up(member):
                        effects.append(revocation(group_id, member))
                effects.append(GroupChanged(group_id))
        return effects

    def _gives_up(self, member: Any) -> bool:
        """Whether a member has partitions or tasks to give up."""
        return False

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: groups that subscribe to a changed topic look at it with their next heartbeat."""
        self._topics.forget(change.topics)
        for group_id in self._by_topic.subscribed_to(change.topics):
            group = self._live(group_id)
            if group is not None:
                group.check_topics_again()
        return ()

    def snapshot(self) -> object:
        return self._by_topic, self._ids, self._topics.version

    def restore(self, snapshot: tuple[TopicGroups, set[str], int]) -> None:
        self._by_topic, self._ids, self._topics.version = snapshot

    # -- members whose time is up

    def fence(self, command: FenceMember, now_ms: int) -> Outcome[None]:
        """Remove a member that has sent no heartbeat for its session timeout."""
        group = self._live(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        return make_outcome() if member is None else self.remove(group, [member], None, now_ms)

    def expire_revocation(self, command: ExpireRevocation, now_ms: int) -> Outcome[None]:
        """Remove a member that has not revoked its partitions in time, so that it is still in the command's epoch."""
        group = self._live(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        if member is None or member.epoch != command.member_epoch:
            return make_outcome()
        return self.remove(group, [member], None, now_ms)
