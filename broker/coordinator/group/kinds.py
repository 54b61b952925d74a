"""The contract of a kind of groups (classic, consumer, share, streams).

A kind is a package `coordinator/group/<type>/` whose module `kind` has `make(context) -> GroupKind`. To add one:

1. commands: subclasses of `GroupCommand` with `home = GroupType.<TYPE>` (see `commands`);
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

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from odradek.broker.coordinator.group.commands import GroupType
from odradek.broker.coordinator.group.groups import ExpiryBasis as ExpiryBasis
from odradek.broker.coordinator.group.groups import Group as Group
from odradek.broker.runtime.machine import Command, Effect, LogRecord, Outcome
from odradek.protocol.errors import ErrorCode
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.commands import MetadataChanged
    from odradek.broker.coordinator.group.groups import Groups
    from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings
    from odradek.broker.coordinator.group.topics import TopicSource
    from odradek.protocol.errors import KafkaError


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
    """The shard's next step, before the command that caused it is answered: see `Shard.follow_up`."""

    __slots__ = ("command",)

    def __init__(self, command: Command[Any]) -> None:
        self.command = command


@mypyc_attr(allow_interpreted_subclasses=True)
class GroupChanged(Effect):
    """The group has entered another state. The effect wakes those who wait for one."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


@mypyc_attr(allow_interpreted_subclasses=True)
class KindContext:
    """The parts of the machine that a kind gets.

    `new_id` makes random ids for members of classic groups (36 characters), `new_short_id` for members of consumer
    groups without an id (22 characters). `delete_group` is the machine's own decision on `DeleteGroup`.
    """

    __slots__ = ("configs", "delete_group", "groups", "new_id", "new_short_id", "settings", "topics")

    def __init__(
        self,
        groups: Groups,
        settings: GroupSettings,
        configs: GroupConfigs,
        topics: TopicSource,
        new_id: Callable[[], str],
        new_short_id: Callable[[], str],
        delete_group: Decision,
    ) -> None:
        self.groups = groups
        self.settings = settings
        self.configs = configs
        self.topics = topics
        self.new_id = new_id
        self.new_short_id = new_short_id
        self.delete_group = delete_group


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


_NOT_AVAILABLE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
_NOT_COORDINATOR = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR})
_TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE})


def group_error(code: ErrorCode) -> ErrorCode:
    """The client's error for an error of the log."""
    if code in _NOT_AVAILABLE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in _NOT_COORDINATOR:
        return ErrorCode.NOT_COORDINATOR
    if code in _TOO_LARGE:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code


def commit_error(code: ErrorCode) -> ErrorCode:
    """The error of OffsetCommit for an error of the log."""
    if code in _TOO_LARGE:
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return group_error(code)
