"""RegisterControllerRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, Message, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ControllerEndpoint(Message):
    """Part of `RegisterControllerRecord`."""

    __slots__ = (
        "name",
        "host",
        "port",
        "security_protocol",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.UInt16, "0+"),
            s.Field("security_protocol" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ControllerFeature(Message):
    """Part of `RegisterControllerRecord`."""

    __slots__ = (
        "name",
        "min_supported_version",
        "max_supported_version",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("min_supported_version" / s.Int16, "0+"),
            s.Field("max_supported_version" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class RegisterControllerRecord(MetadataRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "controller_id",
        "incarnation_id",
        "zk_migration_ready",
        "end_points",
        "features",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = NO_ITEMS,
        features: list[ControllerFeature] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points: list[ControllerEndpoint] = [] if end_points is NO_ITEMS else end_points
        self.features: list[ControllerFeature] = [] if features is NO_ITEMS else features
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("controller_id" / s.Int32, "0+"),
            s.Field("incarnation_id" / s.Uuid, "0+"),
            s.Field("zk_migration_ready" / s.Boolean, "0+"),
            s.Field("end_points" / s.ArrayOf(s.StructOf(ControllerEndpoint)), "0+"),
            s.Field("features" / s.ArrayOf(s.StructOf(ControllerFeature)), "0+"),
        ]
