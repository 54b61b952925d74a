"""The commands of streams groups. Replies are the contents of the answers; errors are raised as `KafkaError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from odradek.broker.coordinator.group.commands import (
    Forbidden,
    GroupCommand,
    GroupType,
    MemberCommand,
    MemberInEpochCommand,
)
from odradek.broker.coordinator.group.streams.description import Description
from odradek.broker.coordinator.group.streams.member import Endpoint, EndpointPartitions, Held, Owned, TaskOffsets
from odradek.broker.coordinator.group.streams.topology import Status, Topology
from odradek.protocol.errors import KafkaError
from odradek.protocol.native import mypyc_attr


class HeartbeatReply(NamedTuple):
    """The reply to a heartbeat.

    ``assigned``: None if it has not changed. ``endpoints``: None if the member knows them. ``wants_description``: the
    member is to send a description of the topology.
    """

    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int = 0
    statuses: Sequence[Status] = ()
    assigned: Held | None = None
    endpoint_epoch: int = 0
    endpoints: Sequence[EndpointPartitions] | None = None
    wants_description: bool = False


@mypyc_attr(allow_interpreted_subclasses=True)
class StreamsGroupHeartbeat(GroupCommand):
    """A member joins (epoch 0), lives, tells what it owns, or leaves (epoch -1).

    None, and -1 for the rebalance timeout, stand for "unchanged". ``host``: the client's address. ``shutdown``: the
    whole application is to end. ``endpoint_epoch``: of the endpoints that the member knows. ``forbidden``: which of
    some internal topics the client may not create; None for none. ``offsets`` and ``end_offsets``: up to where the
    member has restored its tasks, and where their changelogs end. ``fault``: what is wrong with its tags or its
    topology, which counts once the member is known. ``speaks_v1``: the member's version has the tags that it lacks, and
    requests for a description of the topology.
    """

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = (
        "client_id",
        "client_tags",
        "end_offsets",
        "endpoint",
        "endpoint_epoch",
        "fault",
        "forbidden",
        "host",
        "instance_id",
        "member_epoch",
        "member_id",
        "offsets",
        "owned",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "shutdown",
        "speaks_v1",
        "topology",
    )
    reply: HeartbeatReply

    def __init__(
        self,
        group_id: str,
        member_id: str,
        member_epoch: int,
        *,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        offsets: TaskOffsets | None = None,
        end_offsets: TaskOffsets | None = None,
        owned: Owned | None = None,
        process_id: str | None = None,
        endpoint: Endpoint | None = None,
        client_tags: tuple[tuple[str, str], ...] | None = None,
        fault: KafkaError | None = None,
        shutdown: bool = False,
        endpoint_epoch: int = 0,
        client_id: str = "",
        host: str = "",
        forbidden: Forbidden | None = None,
        speaks_v1: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.offsets = offsets
        self.end_offsets = end_offsets
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.owned = owned
        self.process_id = process_id
        self.endpoint = endpoint
        self.client_tags = client_tags
        self.fault = fault
        self.shutdown = shutdown
        self.endpoint_epoch = endpoint_epoch
        self.client_id = client_id
        self.host = host
        self.forbidden = forbidden
        self.speaks_v1 = speaks_v1

    @property
    def says_nothing(self) -> bool:
        """Whether it says nothing of the member, apart from where it is and which endpoints it knows."""
        return (
            self.owned is None
            and self.offsets is None
            and self.end_offsets is None
            and self.topology is None
            and self.endpoint is None
            and self.client_tags is None
            and self.fault is None
            and self.process_id is None
            and self.rack_id is None
            and self.rebalance_timeout_ms == -1
            and not self.shutdown
        )


@mypyc_attr(allow_interpreted_subclasses=True)
class UpdateDescription(MemberCommand):
    """A member describes the topology of that epoch (KIP-1331)."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = ("description", "topology_epoch")
    reply: None

    def __init__(self, group_id: str, member_id: str, topology_epoch: int, description: Description) -> None:
        super().__init__(group_id, member_id)
        self.topology_epoch = topology_epoch
        self.description = description


# -- what only the coordinator tells itself


@mypyc_attr(allow_interpreted_subclasses=True)
class StoreDescription(GroupCommand):
    """The group's record says that this description is being stored."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = ("description", "topology_epoch")
    reply: None

    def __init__(self, group_id: str, topology_epoch: int, description: Description) -> None:
        self.group_id = group_id
        self.topology_epoch = topology_epoch
        self.description = description


@mypyc_attr(allow_interpreted_subclasses=True)
class FenceMember(MemberCommand):
    """The session of a member is over."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    why_members_go: ClassVar[str] = "was not heard of in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireRevocation(MemberInEpochCommand):
    """The time to give up tasks is over for a member that was in ``member_epoch`` when it began."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    why_members_go: ClassVar[str] = "did not give up its tasks in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class EndInitialDelay(GroupCommand):
    """A new group has waited for its first members."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class TopicsRefused(GroupCommand):
    """Internal topics could not be created: the reason for each, by name; to be tried again after ``retry_ms``."""

    home: ClassVar[GroupType | None] = GroupType.STREAMS
    __slots__ = ("reasons", "retry_ms")
    reply: None

    def __init__(self, group_id: str, reasons: Mapping[str, str], retry_ms: int) -> None:
        self.group_id = group_id
        self.reasons = reasons
        self.retry_ms = retry_ms
