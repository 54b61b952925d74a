"""PartitionRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionRecord(MetadataRecord):
    """Versions 0 to 2, flexible from 0."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_recovery_state",
        "leader_epoch",
        "partition_epoch",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = NO_ITEMS,
        isr: list[int] = NO_ITEMS,
        removing_replicas: list[int] = NO_ITEMS,
        adding_replicas: list[int] = NO_ITEMS,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = NO_ITEMS,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas: list[int] = [] if replicas is NO_ITEMS else replicas
        self.isr: list[int] = [] if isr is NO_ITEMS else isr
        self.removing_replicas: list[int] = [] if removing_replicas is NO_ITEMS else removing_replicas
        self.adding_replicas: list[int] = [] if adding_replicas is NO_ITEMS else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories: list[bytes] = [] if directories is NO_ITEMS else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_id" / s.Int32, "0+", default=-1),
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("replicas" / s.ArrayOf(s.Int32), "0+"),
            s.Field("isr" / s.ArrayOf(s.Int32), "0+"),
            s.Field("removing_replicas" / s.ArrayOf(s.Int32), "0+"),
            s.Field("adding_replicas" / s.ArrayOf(s.Int32), "0+"),
            s.Field("leader" / s.Int32, "0+", default=-1),
            s.Field("leader_recovery_state" / s.Int8, "0+", tag=0, tagged="0+"),
            s.Field("leader_epoch" / s.Int32, "0+", default=-1),
            s.Field("partition_epoch" / s.Int32, "0+", default=-1),
            s.Field("directories" / s.ArrayOf(s.Uuid), "1+"),
            s.Field(
                "eligible_leader_replicas" / s.ArrayOf(s.Int32), "2+", nullable="2+", tag=1, tagged="2+", default=None
            ),
            s.Field("last_known_elr" / s.ArrayOf(s.Int32), "2+", nullable="2+", tag=2, tagged="2+", default=None),
        ]
