"""VotersRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, DataMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class Endpoint(Message):
    """Part of `VotersRecord`."""

    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.UInt16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class KRaftVersionFeature(Message):
    """Part of `VotersRecord`."""

    __slots__ = (
        "min_supported_version",
        "max_supported_version",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("min_supported_version" / s.Int16, "0+"),
            s.Field("max_supported_version" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class Voter(Message):
    """Part of `VotersRecord`."""

    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "endpoints",
        "k_raft_version_feature",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        endpoints: list[Endpoint] = NO_ITEMS,
        k_raft_version_feature: KRaftVersionFeature | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.endpoints: list[Endpoint] = [] if endpoints is NO_ITEMS else endpoints
        self.k_raft_version_feature = (
            KRaftVersionFeature() if k_raft_version_feature is None else k_raft_version_feature
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("voter_id" / s.Int32, "0+"),
            s.Field("voter_directory_id" / s.Uuid, "0+"),
            s.Field("endpoints" / s.ArrayOf(s.StructOf(Endpoint)), "0+"),
            s.Field("k_raft_version_feature" / s.StructOf(KRaftVersionFeature), "0+"),
        ]


@mypyc_attr(acyclic=True)
class VotersRecord(DataMessage):
    """Version 0, flexible from 0."""

    __slots__ = (
        "version",
        "voters",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        voters: list[Voter] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.version = version
        self.voters: list[Voter] = [] if voters is NO_ITEMS else voters
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("version" / s.Int16, "0+"),
            s.Field("voters" / s.ArrayOf(s.StructOf(Voter)), "0+"),
        ]
