"""The contract of groups: their types, the commands that all of them understand, `Group`, `GroupKind`, `Groups`.

A kind is a package `coordinator/group/<type>/` whose module `kind` has `make(context) -> GroupKind`. To add one:

1. commands: subclasses of `GroupCommand` with `home = GroupType.<TYPE>`, beside its group. The command of a request has
   the wire's message and who sent it; its reply is the wire's response. Errors are raised as `KafkaError`;
2. a group: a class that satisfies `Group`, which is in `KindContext.groups` while the log has the group;
3. a `GroupKind` that decides on the commands and replays the records;
4. its line in `KIND_MODULES`.

A command goes to the kind of its group if that kind lists the command in `decisions`, otherwise to the command's home.
If the group has no members, a command of another kind's home finds no group: that kind takes the group over
(`[*group.tombstones(), ...]` as the first records) or refuses. So the consumer kind can decide on JoinGroup or
Heartbeat for its own groups, and each kind can decide on `DeleteGroup` in its own way.

Records go to the kind that `records.KIND_OF_RECORD` names. The machine keeps the offsets itself: they belong to the
group's id and outlive a change of kind. `Group` says what a group permits and when its offsets expire.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, final

from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings
from odradek.broker.coordinator.group.topics import TopicSource
from odradek.broker.runtime.machine import TOO_LARGE, Command, Effect, LogRecord, NewRecord, Outcome, coordinator_error
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import timeline_order
from odradek.protocol.native import mypyc_attr


class GroupType(Enum):
    """Kafka's group types, by the names that ListGroups shows. A group has one type at a time."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


Visible = Callable[[Iterable[str]], frozenset[str]]
"""Returns those of some topics that a client may see."""
Forbidden = Callable[[Sequence[str]], Sequence[str]]
"""Returns those of some topics that a client may not create."""


@final
@mypyc_attr(acyclic=True)
class Sender:
    """The client of a request. `host`: its address, as Kafka shows it.

    `visible`: which of some topics it may see; `forbidden`: which it may not create. None without an authorizer.
    """

    __slots__ = ("api_version", "client_id", "forbidden", "host", "visible")

    def __init__(
        self,
        client_id: str,
        host: str,
        api_version: int,
        visible: Visible | None = None,
        forbidden: Forbidden | None = None,
    ) -> None:
        self.client_id = client_id
        self.host = host
        self.api_version = api_version
        self.visible = visible
        self.forbidden = forbidden


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class GroupCommand:
    """An order about one group. Subclasses declare a `reply`.

    `home`: the kind that decides unless the group's own kind does (see `groups`); None: the machine itself.
    `why_members_go`: the reason that the broker's log gives for members that the command removes.
    """

    __slots__ = ("group_id",)
    home: ClassVar[GroupType | None] = None
    why_members_go: ClassVar[str] = "leaves"

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class MemberCommand(GroupCommand):
    """An order about one member of a group."""

    __slots__ = ("member_id",)

    def __init__(self, group_id: str, member_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class FenceMember(MemberCommand):
    """The session of a member is over, or it has not joined or synced in time."""

    why_members_go: ClassVar[str] = "was not heard of in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ExpireRevocation(MemberCommand):
    """The time to revoke partitions or tasks is over for a member that was in ``member_epoch`` at its beginning."""

    why_members_go: ClassVar[str] = "did not give up its partitions in time"
    __slots__ = ("member_epoch",)
    reply: None

    def __init__(self, group_id: str, member_id: str, member_epoch: int) -> None:
        super().__init__(group_id, member_id)
        self.member_epoch = member_epoch


class OffsetToCommit(NamedTuple):
    """One offset of a commit."""

    topic: str
    topic_id: bytes
    partition: int
    offset: int
    leader_epoch: int
    metadata: str | None


class CommittedOffset(NamedTuple):
    """A committed offset as stored.

    Times in milliseconds, -1 for none. `record_offset`: its record's offset in the log.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes
    record_offset: int


@mypyc_attr(allow_interpreted_subclasses=True)
class CommitOffsets(GroupCommand):
    """OffsetCommit of a member, or of a consumer outside of any membership (generation -1, no member id).

    `offsets`: those of the request that can be stored. `epoch`: the generation or the member epoch that it names. The
    reply has a code for each offset.
    """

    __slots__ = ("api_version", "epoch", "offsets", "request")
    reply: list[ErrorCode]

    def __init__(self, request: Any, offsets: Sequence[OffsetToCommit], api_version: int) -> None:
        self.group_id = request.group_id
        self.request = request
        self.epoch: int = request.generation_id_or_member_epoch
        self.offsets = offsets
        self.api_version = api_version


@mypyc_attr(allow_interpreted_subclasses=True)
class TxnOffsetCommit(CommitOffsets):
    """The same for offsets that become visible when the producer's transaction commits (KIP-98; checks of KIP-447).

    The producer's right to do so has been verified before. Before version 6 a missing group and a stale epoch are both
    ILLEGAL_GENERATION (KIP-1319).
    """

    __slots__ = ()


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteOffsets(GroupCommand):
    """Delete committed offsets of (topic, partition) pairs. The reply has a code for each."""

    reply: list[ErrorCode]

    def __init__(self, group_id: str, places: Sequence[tuple[str, int]]) -> None:
        self.group_id = group_id
        self.places = places


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteGroup(GroupCommand):
    """Delete a group without members, and its offsets."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireOffsets:
    """Look for offsets and groups that have expired."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ForgetPartitions:
    """Drop the offsets of (topic, partition) pairs that were deleted, in all groups."""

    reply: None

    def __init__(self, places: Collection[tuple[str, int]]) -> None:
        self.places = places


@mypyc_attr(allow_interpreted_subclasses=True)
class MetadataChanged:
    """Topics were made, deleted, or have got more partitions or other racks: `topics` by name."""

    reply: None

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = topics


# -- groups and their kinds


ExpiryBasis = Callable[["CommittedOffset"], int]
"""From when the retention of an offset counts: milliseconds since the epoch."""


class Group(Protocol):
    """One group, of whatever kind. The `check_` methods raise the `KafkaError` that the asker gets."""

    group_id: str

    @property
    def group_type(self) -> GroupType:
        """Its kind."""

    @property
    def state_name(self) -> str:
        """Kafka's name of its state, such as `Stable`."""

    @property
    def protocol_type(self) -> str | None:
        """The protocol type that ListGroups shows; None for a group of offsets only."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def expires(self) -> bool:
        """Whether it is deleted when it is empty and its last offset has expired."""

    @property
    def is_described(self) -> bool:
        """Whether it has a description that is deleted before it: then the decision on `DeleteGroup` does both."""

    def is_in_state(self, names: Collection[str]) -> bool:
        """Whether its state is one of these, given in lower case."""

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic: its offsets are then neither deleted nor expired."""

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """Check an OffsetCommit. Returns its effects, such as restarting a session."""

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """TxnOffsetCommit."""

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Check an OffsetFetch by a member. Without one, and before version 9, the arguments are None and -1."""

    def check_delete_offsets(self) -> None:
        """OffsetDelete, before each topic is checked by `is_subscribed_to`."""

    def check_delete(self) -> None:
        """DeleteGroups."""

    def expiry_basis(self) -> ExpiryBasis | None:
        """From when the retention of its offsets counts; None while they do not expire."""

    def tombstones(self) -> list[NewRecord]:
        """The records that delete the group itself, without its offsets."""

    def on_removed(self) -> Sequence[Effect]:
        """The effects of deleting or replacing the group: its timers are cancelled and its parked requests are
        answered.
        """


G = TypeVar("G", bound=Group)


class StoredGroups(Protocol):
    """Stored groups that have not been used since the load."""

    def load(self, group_id: str) -> Group | None:
        """The group as the log has it, None if the log does not know it."""

    def ids(self) -> Iterable[str]:
        """The ids of all groups that the log knows, taken up or not."""


class Groups:
    """Each group id and the one group that has it. Owner: the group machine.

    The classic kind's groups, and those of offsets alone, are stored only until they are first needed.
    """

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self.stored: StoredGroups | None = None

    def get(self, group_id: str) -> Group | None:
        """The group with that id; None without one."""
        group = self._groups.get(group_id)
        if group is None and self.stored is not None:
            group = self.stored.load(group_id)
            if group is not None:
                self._groups[group_id] = group
        return group

    def existing(self, group_id: str) -> Group:
        """The group with that id; raises GROUP_ID_NOT_FOUND without one."""
        group = self.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def find(self, group_id: str, kind: type[G]) -> G | None:
        """The group of that id if it is of that class, else None."""
        group = self.get(group_id)
        return group if isinstance(group, kind) else None

    def find_live(self, group_id: str, kind: type[G]) -> G | None:
        """The same, but only among the groups that are in memory already, for `replay`."""
        group = self._groups.get(group_id)
        return group if isinstance(group, kind) else None

    def for_replay(self, group_id: str, kind: type[G], make: Callable[[str], G]) -> G:
        """The group of a record; makes one if the id has no group, or only committed offsets.

        Raises RuntimeError if the log holds a group of another kind with this id: one of the records is wrong.
        """
        group = self._groups.get(group_id)
        if isinstance(group, kind):
            return group
        if group is not None and not (group.group_type is GroupType.CLASSIC and group.protocol_type is None):
            raise RuntimeError(f"group {group_id!r} is of type {group.group_type.value}, and a record makes it {kind}")
        made = self._groups[group_id] = make(group_id)
        return made

    def put(self, group: Group) -> None:
        """Add a group, in place of any other of its id."""
        self._groups[group.group_id] = group

    def remove(self, group_id: str, kind: type[Group]) -> None:
        """Forget a group if it is of that class, as its tombstone has been replayed."""
        if isinstance(self._groups.get(group_id), kind):
            del self._groups[group_id]

    def displace(self, group_id: str, kind: type[Group]) -> None:
        """Forget a group unless it is of that class: a record makes it one.

        Kafka 4.3.1 leaves the records of an empty consumer group where an unknown member has asked to join it.
        """
        if group_id in self._groups and not isinstance(self._groups[group_id], kind):
            del self._groups[group_id]

    def live(self) -> dict[str, Group]:
        """The groups that are in memory."""
        return self._groups

    def ids(self) -> list[str]:
        """The ids of all groups."""
        stored = () if self.stored is None else self.stored.ids()
        return list(dict.fromkeys((*self._groups, *stored)))

    def all(self) -> Iterable[Group]:
        """All groups as Kafka walks them."""
        ids = self.ids()
        for group_id in timeline_order(ids, len(ids)):
            group = self.get(group_id)
            if group is not None:
                yield group


class CommittedGroups(Groups):
    """The groups in `committed`, to read from.

    Classic ones are combined with `live`. `as_known(group, live)`: a classic group as clients see it, from its
    committed and its live state.
    """

    def __init__(self, committed: Groups, live: Groups, as_known: Callable[[Group, Group], Group]) -> None:
        super().__init__()
        self._as_known = as_known
        self._committed = committed
        self._live = live

    def get(self, group_id: str) -> Group | None:
        group = self._committed.get(group_id)
        if group is None or group.group_type is not GroupType.CLASSIC:
            return group
        live = self._live.get(group_id)
        return self._as_known(group, live) if live is not None and live.group_type is GroupType.CLASSIC else group

    def ids(self) -> list[str]:
        return self._committed.ids()


Decision = Callable[[Any, int], Outcome[Any]]
"""The decision of a command: `(command, now_ms) -> Outcome`."""

KIND_MODULES: Mapping[GroupType, str] = {
    GroupType.CLASSIC: "odradek.broker.coordinator.group.classic.kind",
    GroupType.CONSUMER: "odradek.broker.coordinator.group.consumer.kind",
    GroupType.SHARE: "odradek.broker.coordinator.group.share.kind",
    GroupType.STREAMS: "odradek.broker.coordinator.group.streams.kind",
}
"""The modules of the kinds that this broker serves; imported with the first command or record of the kind."""


@mypyc_attr(allow_interpreted_subclasses=True)
class FollowUp(Effect):
    """The shard's next step, before the command that caused it is answered: see `Shard.post`."""

    def __init__(self, command: Command[Any]) -> None:
        self.command = command


@mypyc_attr(allow_interpreted_subclasses=True)
class GroupChanged(Effect):
    """The group has entered another state. The effect wakes those who wait for one."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class KindContext(NamedTuple):
    """The parts of the machine that a kind gets.

    `new_id` makes random ids for members of classic groups (36 characters), `new_short_id` for members of consumer
    groups without an id (22 characters). `delete_group` is the machine's own decision on `DeleteGroup`.
    """

    groups: Groups
    settings: GroupSettings
    configs: GroupConfigs
    topics: TopicSource
    new_id: Callable[[], str]
    new_short_id: Callable[[], str]
    delete_group: Decision


class GroupKind(Protocol):
    """The rules of one kind, for all groups of a partition. Owner: the group machine; see `runtime.machine.Machine`."""

    @property
    def group_type(self) -> GroupType:
        """The type of its groups."""

    decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]]
    """The decision of each command: `(command, now_ms) -> Outcome`."""

    def replay(self, record_type: int, record: LogRecord) -> None:
        """Apply a record of this kind (its key begins with `record_type`) to durable state."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The log has refused the records decided for `command`; see `Machine.refused`."""

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """The log is replayed: re-create the timers of all groups of this kind."""

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """Topics were created, grown or deleted. The groups decide about that with their next commands."""

    def snapshot(self) -> Any:
        """The kind's own state, besides the groups; see `runtime.machine.CopyableMachine`."""

    def restore(self, snapshot: Any) -> None:
        """Take over the state of another one. Its groups are here already."""


def commit_error(code: ErrorCode) -> ErrorCode:
    """The error of OffsetCommit for an error of the log."""
    return ErrorCode.INVALID_COMMIT_OFFSET_SIZE if code in TOO_LARGE else coordinator_error(code)
