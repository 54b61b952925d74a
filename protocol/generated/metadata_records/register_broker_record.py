"""RegisterBrokerRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, Message, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class BrokerEndpoint(Message):
    """Part of `RegisterBrokerRecord`."""

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
class BrokerFeature(Message):
    """Part of `RegisterBrokerRecord`."""

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
class RegisterBrokerRecord(MetadataRecord):
    """Versions 0 to 4, flexible from 0."""

    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = NO_ITEMS,
        features: list[BrokerFeature] = NO_ITEMS,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[bytes] = NO_ITEMS,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points: list[BrokerEndpoint] = [] if end_points is NO_ITEMS else end_points
        self.features: list[BrokerFeature] = [] if features is NO_ITEMS else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is NO_ITEMS else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("broker_id" / s.Int32, "0+"),
            s.Field("is_migrating_zk_broker" / s.Boolean, "2+"),
            s.Field("incarnation_id" / s.Uuid, "0+"),
            s.Field("broker_epoch" / s.Int64, "0+"),
            s.Field("end_points" / s.ArrayOf(s.StructOf(BrokerEndpoint)), "0+"),
            s.Field("features" / s.ArrayOf(s.StructOf(BrokerFeature)), "0+"),
            s.Field("rack" / s.String, "0+", nullable="0+"),
            s.Field("fenced" / s.Boolean, "0+", default=True),
            s.Field("in_controlled_shutdown" / s.Boolean, "1+"),
            s.Field("log_dirs" / s.ArrayOf(s.Uuid), "3+", tag=0, tagged="3+"),
            s.Field("cordoned_log_dirs" / s.ArrayOf(s.Uuid), "4+", nullable="4+", tag=1, tagged="4+", default=None),
        ]
