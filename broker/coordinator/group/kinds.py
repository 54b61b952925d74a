"""What a kind of groups (classic, consumer, share, streams) is to the machine that owns the groups of a partition.

A kind is a package `coordinator/group/<type>/` whose module `kind` has ``make(context) -> GroupKind``. To add one:

1. commands: subclasses of `GroupCommand` with ``home = GroupType.<TYPE>`` (see `commands`);
2. a group: a class that satisfies `Group`; it lives in `KindContext.groups` as long as the log has the group;
3. a `GroupKind` that decides on the commands and replays the records;
4. its line in `KIND_MODULES`.

Routing. A command goes to the kind that its group is of, if that kind lists the command in ``decisions``; else to the
command's home. A group without members counts as none for commands of another kind's home: that kind takes the group
over (``[*group.tombstones(), ...]`` as the first records) or refuses. So the consumer kind can decide on JoinGroup or
Heartbeat for its own groups, and a kind can decide on `DeleteGroup` in its own way.

Records go to the kind that `records.KIND_OF_RECORD` names. Offsets are the machine's own: they belong to the group's
id and outlive a change of kind; `Group` says what a group permits and when its offsets expire.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.commands import CommitOffsets, MetadataChanged, TxnOffsetCommit
    from odradek.broker.coordinator.group.offset_records import CommittedOffset
    from odradek.broker.coordinator.group.registry import Groups
    from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings
    from odradek.broker.coordinator.group.topic_source import TopicSource
    from odradek.protocol.errors import KafkaError

KIND_MODULES: Mapping[GroupType, str] = {
    GroupType.CLASSIC: "odradek.broker.coordinator.group.classic.kind",
}
"""The modules of the kinds that this broker serves; imported with the first command or record of the kind."""

ExpiryBasis = Callable[["CommittedOffset"], int]
"""From when the retention of an offset counts: milliseconds since the epoch."""


class GroupChanged(Effect):
    """The group has entered another state: whoever waits for that may look."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class Group(Protocol):
    """One group, of whatever kind. The ``check_`` methods raise the `KafkaError` that the asker gets."""

    group_id: str

    @property
    def group_type(self) -> GroupType:
        """Its kind."""

    @property
    def state_name(self) -> str:
        """Kafka's name of its state, such as ``Stable``."""

    @property
    def protocol_type(self) -> str | None:
        """The protocol type that ListGroups shows; None for a group of offsets only."""

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @property
    def expires(self) -> bool:
        """Whether it is deleted when it is empty and its last offset has expired."""

    def is_in_state(self, names: Collection[str]) -> bool:
        """Whether its state is one of these, given in lower case."""

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic: its offsets are then neither deleted nor expired."""

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """OffsetCommit; returns what the commit causes besides, such as a session that goes on."""

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """TxnOffsetCommit."""

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """OffsetFetch by a member; None and -1 from version 9 on, where it names none, and in older versions."""

    def check_delete_offsets(self) -> None:
        """OffsetDelete, before each topic is checked by `is_subscribed_to`."""

    def check_delete(self) -> None:
        """DeleteGroups."""

    def expiry_basis(self) -> ExpiryBasis | None:
        """From when the retention of its offsets counts; None while they do not expire."""

    def tombstones(self) -> list[NewRecord]:
        """The records that delete the group itself, without its offsets."""

    def on_removed(self) -> Sequence[Effect]:
        """What happens besides when it is deleted or replaced: its timers are cancelled, who waits is answered."""


class KindContext(NamedTuple):
    """What a kind gets of the machine. ``new_id`` makes random ids (UUID text)."""

    groups: Groups
    settings: GroupSettings
    configs: GroupConfigs
    topics: TopicSource
    new_id: Callable[[], str]


class GroupKind(Protocol):
    """The rules of one kind, for all groups of a partition. Owner: the group machine; see `runtime.machine.Machine`."""

    group_type: GroupType
    decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]]
    """What decides on each command: ``(command, now_ms) -> Outcome``."""

    def replay(self, record_type: int, record: LogRecord) -> None:
        """Apply a record of this kind (its key begins with ``record_type``) to durable state."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The log has refused the records decided for ``command``; see `Machine.refused`."""

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """The log is replayed: re-create the timers of all groups of this kind."""

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """Topics were made, grown or deleted; what is decided from that follows with the groups' next commands."""
