"""What Python sees of a group at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class MemberInfo:
    """A member of a group. ``subscription``: topics; ``assignment``: topic -> partitions (both empty where unreadable).

    ``host`` is as Kafka shows it, ``/127.0.0.1``. Timeouts in milliseconds.

    Consumer groups: ``epoch`` is the member's own, ``regex`` the pattern that it subscribes to beside topics.
    ``target`` is what it is to have in the end, ``assignment`` what it has now, with what it has not given up yet.
    ``protocol`` is ``classic`` for members of the classic protocol in a consumer group.
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
class OffsetInfo:
    """A committed offset. ``lag``: records from there to the high watermark, None if the partition is gone."""

    offset: int
    leader_epoch: int
    metadata: str
    committed_at_ms: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """A group at one moment. ``state``: Kafka's name, ``Dead`` for a group that does not exist.

    ``protocol`` is the assignor in use, ``leader`` a member id. ``offsets`` by (topic, partition).
    ``unassigned``: partitions of topics that members subscribe to and that no member has. ``uncommitted``: partitions
    of the group's topics that hold records and have no committed offset.
    ``coordinator``: the node that coordinates it, -1 for none. ``type``: ``classic``, ``consumer`` and so on, empty for
    a group that does not exist; of a consumer group ``generation`` is the group's epoch, and ``assignment_epoch`` the
    one that the members' targets are of.
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
        """How many records the group is behind; None where that cannot be told, never 0 by default.

        It cannot be told of a group that does not exist, that has no committed offset of any partition that exists, or
        that has ``uncommitted`` partitions: where it would begin in them is the consumer's choice.
        """
        lags = [offset.lag for offset in self.offsets.values() if offset.lag is not None]
        return sum(lags) if lags and not self.uncommitted else None

    @property
    def assignments(self) -> dict[TopicPartition, list[str]]:
        """Who owns which partition: member ids (more than one only with a custom assignor)."""
        owners: dict[TopicPartition, list[str]] = {}
        for member in self.members:
            for topic, partitions in member.assignment.items():
                for partition in partitions:
                    owners.setdefault((topic, partition), []).append(member.member_id)
        return dict(sorted(owners.items()))
