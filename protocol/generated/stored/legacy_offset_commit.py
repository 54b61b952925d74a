"""LegacyOffsetCommit. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import CoordinatorRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class LegacyOffsetCommitKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group",
        "topic",
        "partition",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 0
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
class LegacyOffsetCommitValue(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "offset",
        "metadata",
        "commit_timestamp",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("offset" / s.Int64, "0"),
            s.Field("metadata" / s.String, "0"),
            s.Field("commit_timestamp" / s.Int64, "0"),
        ]
