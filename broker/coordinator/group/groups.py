"""The contract of a group of any kind, and the groups of one partition by id."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from odradek.broker.coordinator.group.assignment import timeline_order
from odradek.broker.coordinator.group.commands import GroupType
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
    from odradek.broker.coordinator.group.stored_offsets import CommittedOffset
    from odradek.broker.runtime.machine import Effect, NewRecord


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


class Dormant(Protocol):
    """Stored groups that have not been used since the load."""

    def take_up(self, group_id: str) -> Group | None:
        """The group as the log has it, None if the log does not know it."""

    def ids(self) -> Iterable[str]:
        """The ids of all groups that the log knows, taken up or not."""


class Groups:
    """Each group id and the one group that has it. Owner: the group machine.

    The classic kind's groups, and those of offsets alone, are dormant until they are first needed.
    """

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self.dormant: Dormant | None = None

    def get(self, group_id: str) -> Group | None:
        """The group with that id; None without one."""
        group = self._groups.get(group_id)
        if group is None and self.dormant is not None:
            group = self.dormant.take_up(group_id)
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
        dormant = () if self.dormant is None else self.dormant.ids()
        return list(dict.fromkeys((*self._groups, *dormant)))

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
        """See `Groups`."""
        group = self._committed.get(group_id)
        if group is None or group.group_type is not GroupType.CLASSIC:
            return group
        live = self._live.get(group_id)
        return self._as_known(group, live) if live is not None and live.group_type is GroupType.CLASSIC else group

    def ids(self) -> list[str]:
        """See `Groups`."""
        return self._committed.ids()
