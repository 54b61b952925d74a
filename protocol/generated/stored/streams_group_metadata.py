"""StreamsGroupMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class StreamsGroupMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class LastAssignmentConfig(Message):
    """Part of `StreamsGroupMetadataValue`."""

    __slots__ = (
        "key",
        "value",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "0+"),
            s.Field("value" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupMetadataValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "epoch",
        "metadata_hash",
        "validated_topology_epoch",
        "last_assignment_configs",
        "stored_description_topology_epoch",
        "failed_description_topology_epoch",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = NO_ITEMS,
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs: list[LastAssignmentConfig] | None = (
            [] if last_assignment_configs is NO_ITEMS else last_assignment_configs
        )
        self.stored_description_topology_epoch = stored_description_topology_epoch
        self.failed_description_topology_epoch = failed_description_topology_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("epoch" / s.Int32, "0+"),
            s.Field("metadata_hash" / s.Int64, "0+"),
            s.Field("validated_topology_epoch" / s.Int32, "0+", tag=0, tagged="0+", default=-1),
            s.Field(
                "last_assignment_configs" / s.ArrayOf(s.StructOf(LastAssignmentConfig)),
                "0+",
                nullable="0+",
                tag=1,
                tagged="0+",
            ),
            s.Field("stored_description_topology_epoch" / s.Int32, "0+", tag=2, tagged="0+", default=-1),
            s.Field("failed_description_topology_epoch" / s.Int32, "0+", tag=3, tagged="0+", default=-1),
        ]
