"""Snapshots of a group: immutable values, and the error for a lag that cannot be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odradek.broker.facade.names import Found
from odradek.broker.mistakes import NearNames, wrong

TopicPartition = tuple[str, int]


def is_place(value: Any) -> bool:
    """Whether it is a topic and the number of a partition."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int


def check_places(offsets: object) -> None:
    """TypeError or ValueError unless it is a mapping from a topic and the number of a partition to an offset."""
    if not isinstance(offsets, Mapping):
        raise TypeError(wrong("offsets", offsets, 'offsets such as {("orders", 0): 5}'))
    for key, offset in offsets.items():
        if not is_place(key):
            topic = key if isinstance(key, str) else "orders"
            raise TypeError(f'{key!r}: a key is (topic, partition), such as ("{topic}", 0)')
        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            raise ValueError(f"the offset of {key[0]}-{key[1]} must be a number from 0 on, not {offset!r}")


TaskMap = Mapping[str, tuple[int, ...]]
"""Partitions by subtopology id."""


class LagUnknownError(LookupError):
    """The lag of a group cannot be computed: the group does not exist, or offsets that the lag needs are missing."""


@dataclass(frozen=True, slots=True)
class MemberInfo(NearNames):
    """A member of a group.

    ``subscription`` lists topics, ``assignment`` maps topics to partitions; both are empty if the member's metadata
    cannot be read. ``host`` is written as Kafka writes it, ``/127.0.0.1``. Timeouts are in milliseconds.

    In consumer groups, ``epoch`` is the member's own epoch and ``regex`` the pattern it subscribes to in addition to
    topics. ``target`` is the assignment that the coordinator is moving the member to; ``assignment`` is what the member
    holds now, including partitions that it has been asked to revoke. ``protocol`` is ``classic`` for a member of a
    consumer group that still uses the classic protocol.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    subscription: tuple[str, ...]
    assignment: Mapping[str, tuple[int, ...]]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    epoch: int = -1
    regex: str = ""
    target: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    protocol: str = "classic"


@dataclass(frozen=True, slots=True)
class StreamsMemberInfo(MemberInfo):
    """A member of a streams group, usually one thread of the application.

    ``active`` and ``standby`` are the tasks that the member runs, ``revoking`` the active tasks that it has been asked
    to give up; ``target_active`` and ``target_standby`` are the tasks that it will have. ``assignment`` (of ``active``
    and ``revoking``) and ``target`` list the partitions that active tasks read. ``endpoint`` is the host and port for
    interactive queries.
    """

    process_id: str = ""
    active: TaskMap = field(default_factory=dict)
    standby: TaskMap = field(default_factory=dict)
    revoking: TaskMap = field(default_factory=dict)
    target_active: TaskMap = field(default_factory=dict)
    target_standby: TaskMap = field(default_factory=dict)
    endpoint: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class OffsetInfo(NearNames):
    """A committed offset.

    ``lag`` is the number of records from the offset to the high watermark, None if the partition does not exist any
    more.
    """

    offset: int
    leader_epoch: int
    metadata: str
    committed_at_ms: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class GroupInfo(Found):
    """A snapshot of a group.

    ``state`` is Kafka's name of the state, ``Dead`` for a group that does not exist. ``type`` is ``classic``,
    ``consumer``, ``share`` or ``streams``, empty for a group that does not exist. ``coordinator`` is the node id of the
    coordinator, -1 if there is none.

    ``protocol`` is the assignor in use and ``leader`` a member id. ``offsets`` maps (topic, partition) to the committed
    offset. ``unassigned`` lists the partitions of subscribed topics that no member has, ``uncommitted`` the partitions
    of the group's topics that hold records but have no committed offset. In a consumer group ``generation`` is the
    group epoch, and ``assignment_epoch`` the epoch that the targets of the members belong to.
    """

    group_id: str
    state: str
    generation: int
    protocol_type: str
    protocol: str | None
    leader: str | None
    members: tuple[MemberInfo, ...]
    offsets: Mapping[TopicPartition, OffsetInfo]
    coordinator: int
    type: str = ""
    assignment_epoch: int = -1
    unassigned: tuple[TopicPartition, ...] = ()
    uncommitted: tuple[TopicPartition, ...] = ()

    @property
    def lag(self) -> int | None:
        """The total lag in records, or None if it cannot be computed.

        The lag is unknown if the group does not exist, if it has no committed offset in any existing partition, or if
        it has ``uncommitted`` partitions, because the consumer decides where it starts in those.
        """
        lags = [offset.lag for offset in self.offsets.values() if offset.lag is not None]
        return sum(lags) if lags and not self.uncommitted else None

    @property
    def assignments(self) -> dict[TopicPartition, list[str]]:
        """The member ids that own each partition; more than one only with a custom assignor."""
        owners: dict[TopicPartition, list[str]] = {}
        for member in self.members:
            for topic, partitions in member.assignment.items():
                for partition in partitions:
                    owners.setdefault((topic, partition), []).append(member.member_id)
        return dict(sorted(owners.items()))


@dataclass(frozen=True, slots=True)
class SubtopologyInfo:
    """A subtopology of a streams application.

    ``tasks`` is the number of tasks, None while topics are missing. The subtopology reads ``source_topics`` and
    ``repartition_topics``, and keeps its state in ``changelog_topics``.
    """

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_topics: tuple[str, ...]
    changelog_topics: tuple[str, ...]
    tasks: int | None


@dataclass(frozen=True, slots=True)
class StreamsGroupInfo(GroupInfo):
    """A snapshot of a streams group. ``problem`` is Kafka's reason why no task can be assigned, or empty."""

    topology_epoch: int = -1
    subtopologies: tuple[SubtopologyInfo, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SharePartitionInfo:
    """The progress of a share group in one partition.

    Records before ``start_offset`` are finished; records from ``end_offset`` on have not been fetched. For the records
    in between, ``records`` counts them by state (``available``, ``acquired``, ``acknowledged``, ``archived``),
    ``deliveries`` by state and delivery count, and ``held`` by the member that has acquired them.
    """

    start_offset: int
    end_offset: int
    records: Mapping[str, int]
    deliveries: Mapping[str, Mapping[int, int]]
    held: Mapping[str, int]
