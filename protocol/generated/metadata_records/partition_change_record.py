"""PartitionChangeRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import ZERO_UUID, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionChangeRecord(MetadataRecord):
    """Versions 0 to 2, flexible from 0."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "isr",
        "leader",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_id" / s.Int32, "0+", default=-1),
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("isr" / s.ArrayOf(s.Int32), "0+", nullable="0+", tag=0, tagged="0+", default=None),
            s.Field("leader" / s.Int32, "0+", tag=1, tagged="0+", default=-2),
            s.Field("replicas" / s.ArrayOf(s.Int32), "0+", nullable="0+", tag=2, tagged="0+", default=None),
            s.Field("removing_replicas" / s.ArrayOf(s.Int32), "0+", nullable="0+", tag=3, tagged="0+", default=None),
            s.Field("adding_replicas" / s.ArrayOf(s.Int32), "0+", nullable="0+", tag=4, tagged="0+", default=None),
            s.Field("leader_recovery_state" / s.Int8, "0+", tag=5, tagged="0+", default=-1),
            s.Field("directories" / s.ArrayOf(s.Uuid), "1+", nullable="1+", tag=8, tagged="1+", default=None),
            s.Field(
                "eligible_leader_replicas" / s.ArrayOf(s.Int32), "2+", nullable="2+", tag=6, tagged="2+", default=None
            ),
            s.Field("last_known_elr" / s.ArrayOf(s.Int32), "2+", nullable="2+", tag=7, tagged="2+", default=None),
        ]
