"""The handle of a group: looks at it, and waits until a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from odradek.broker.clock import in_event_loop
from odradek.broker.facade.names import Named
from odradek.broker.mistakes import did_you_mean, wrong
from odradek.broker.partitions.lookups import check_name

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo, SharePartitionInfo, TopicPartition
    from odradek.broker.facade.thread_bridge import Call

Condition = Callable[["GroupInfo"], bool]


class GroupView(Named):
    """The part of a group's handle that only looks. Every property takes a new snapshot."""

    def __init__(self, group_id: str, cluster: Cluster, look: Call) -> None:
        check_name("group", group_id)
        self.group_id = group_id
        self._cluster = cluster
        self._look = look

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.group_id!r}>"

    @property
    def info(self) -> GroupInfo:
        """A snapshot of the group."""
        from odradek.broker.facade.groups.description import group_info

        return self._look(lambda: group_info(self._cluster.groups, self._cluster.topics, self.group_id))

    @property
    def state(self) -> str:
        """Kafka's name of the state; ``Dead`` while the group does not exist."""
        return self.info.state

    @property
    def generation(self) -> int:
        """The current generation."""
        return self.info.generation

    @property
    def protocol(self) -> str | None:
        """The assignor in use."""
        return self.info.protocol

    @property
    def leader(self) -> str | None:
        """The member id of the leader."""
        return self.info.leader

    @property
    def members(self) -> tuple[MemberInfo, ...]:
        """The members."""
        return self.info.members

    @property
    def offsets(self) -> Mapping[TopicPartition, OffsetInfo]:
        """The committed offsets."""
        return self.info.offsets

    @property
    def lag(self) -> int:
        """The total lag in records.

        Raises LagUnknownError with the reason if the group does not exist or offsets that the lag needs are missing, so
        a misspelt group id never reads as 0. See `GroupInfo.lag`.
        """
        from odradek.broker.facade.groups.description import list_groups

        info, cluster = self.info, self._cluster
        return lag_of(info, () if info.offsets else self._look(lambda: list_groups(cluster.groups, cluster.topics)))

    @property
    def share_partitions(self) -> Mapping[TopicPartition, SharePartitionInfo]:
        """The progress of a share group in the partitions that its members fetch from."""
        from odradek.broker.facade.groups.description import share_partitions

        cluster = self._cluster
        shared = cluster.services.share_partitions
        return self._look(lambda: share_partitions(shared(), cluster.topics, self.group_id))


class GroupWatch:
    """Waits for a condition on a group without polling.

    In a ``with`` block, the future ``reached`` is set to the first snapshot for which the condition holds.
    """

    def __init__(self, group: GroupView, condition: Condition) -> None:
        self.reached: Future[GroupInfo] = Future()
        self._group = group
        self._condition = condition

    def __enter__(self) -> Future[GroupInfo]:
        self._group._look(self._begin)
        return self.reached

    def __exit__(self, *_: object) -> None:
        group = self._group
        group._look(lambda: group._cluster.groups.watchers.pop(self.reached, None))

    # -- in the broker's thread

    def _begin(self) -> None:
        self._group._cluster.groups.watchers[self.reached] = self._consider
        self._consider()

    def _consider(self) -> None:
        """Runs after everything that the coordinator does."""
        if self.reached.done():
            return
        try:
            info = self._group.info
            fulfilled = self._condition(info)
        except Exception as error:
            self.reached.set_exception(error)
            return
        if fulfilled and not self.reached.done():  # taking a snapshot may load the coordinator, which calls watchers
            self.reached.set_result(info)


class Stable:
    """A condition: the group is stable with so many members and partitions assigned; None means any, or all."""

    def __init__(self, members: int | None, partitions: int | None) -> None:
        self.members = members
        self.partitions = partitions

    def __call__(self, info: GroupInfo) -> bool:
        from odradek.broker.coordinator.group.classic.states import STABLE

        if info.state != STABLE.value or self.members not in (None, len(info.members)):
            return False
        return not info.unassigned if self.partitions is None else len(info.assignments) == self.partitions

    def __str__(self) -> str:
        members = "" if self.members is None else f"members={self.members}, "
        return f"Stable, {members}{'all' if self.partitions is None else self.partitions} partitions assigned"


def condition_of(condition: Condition | None, members: int | None, partitions: int | None) -> Condition:
    """The condition, or that the group is stable.

    Raises TypeError for a condition with numbers, and for one that is not a function.
    """
    if condition is None:
        for name, number in (("members", members), ("partitions", partitions)):
            if number is not None and number < 0:
                raise ValueError(wrong(name, number, "0 or more"))
        return Stable(members, partitions)
    if not callable(condition):
        raise TypeError(f"wait({condition!r}): the first argument is a condition; wait(members=1) waits for a member")
    if members is not None or partitions is not None:
        raise TypeError("members and partitions are conditions of their own: check them in the function")
    return condition


def late(info: GroupInfo, timeout_s: float, condition: Condition) -> TimeoutError:
    """The error for a wait that timed out, with the state of the group and what was waited for."""
    from odradek.broker.coordinator.group.classic.states import DEAD

    wanted = condition if isinstance(condition, Stable) else getattr(condition, "__name__", condition)
    if info.state == DEAD.value:
        why = "nobody has joined it, and nothing was committed for it"
        return TimeoutError(
            f"group {info.group_id!r} does not exist after {timeout_s:g} s: {why}; wanted: {wanted}{in_event_loop()}"
        )
    members = ", ".join(member.member_id for member in info.members) or "none"
    return TimeoutError(
        f"group {info.group_id!r} after {timeout_s:g} s: {info.state}, generation {info.generation}, "
        f"members: {members}, assigned: {named(info.assignments) or 'none'}, "
        f"missing: {named(info.unassigned) or 'none'}; wanted: {wanted}{in_event_loop()}"
    )


def lag_of(info: GroupInfo, known: Iterable[str]) -> int:
    """The lag in records. Raises LagUnknownError, with the reason, instead of returning None.

    ``known`` are the ids of all groups, for the suggestion in the message.
    """
    from odradek.broker.coordinator.group.classic.states import DEAD
    from odradek.broker.facade.groups.info import LagUnknownError

    if info.lag is not None:
        return info.lag
    name = f"group {info.group_id!r}"
    if info.state == DEAD.value:
        ids = sorted(known)
        others = f"the groups are {', '.join(ids)}" if ids else "there are no groups"
        raise LagUnknownError(f"{name} does not exist{did_you_mean(info.group_id, ids)}; {others}")
    if not info.offsets:
        instead = "; see share_partitions of the share group" if info.type == "share" else ""
        raise LagUnknownError(f"{name} has not committed any offset{instead}")
    if info.uncommitted:
        raise LagUnknownError(f"{name} has not committed any offset for {named(info.uncommitted)}, which hold records")
    raise LagUnknownError(f"{name} has committed offsets only for partitions that were deleted: {named(info.offsets)}")


def named(partitions: Iterable[TopicPartition]) -> str:
    """Partitions as Kafka writes them: ``orders-0, orders-1``."""
    return ", ".join(f"{topic}-{index}" for topic, index in sorted(partitions))
