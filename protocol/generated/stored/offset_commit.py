"""OffsetCommit. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import ZERO_UUID, CoordinatorRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class OffsetCommitKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group",
        "topic",
        "partition",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group" / s.String, "0"),
            s.Field("topic" / s.String, "0"),
            s.Field("partition" / s.Int32, "0"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitValue(CoordinatorRecord):
    """Versions 0 to 4, flexible from 4."""

    __slots__ = (
        "offset",
        "leader_epoch",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
        "topic_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("offset" / s.Int64, "0+"),
            s.Field("leader_epoch" / s.Int32, "3+", default=-1, ignorable=True),
            s.Field("metadata" / s.String, "0+"),
            s.Field("commit_timestamp" / s.Int64, "0+"),
            s.Field("expire_timestamp" / s.Int64, "1", default=-1, ignorable=True),
            s.Field("topic_id" / s.Uuid, "4+", tag=0, tagged="4+", ignorable=True),
        ]
