"""ApiVersions (API key 18). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ApiVersionsRequest(ApiMessage):
    """API key 18, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "client_software_name",
        "client_software_version",
        "cluster_id",
        "node_id",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("client_software_name" / s.String, "3+", ignorable=True),
            s.Field("client_software_version" / s.String, "3+", ignorable=True),
            s.Field("cluster_id" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("node_id" / s.Int32, "5+", default=-1, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class ApiVersion(Message):
    """Part of `ApiVersionsResponse`."""

    __slots__ = (
        "api_key",
        "min_version",
        "max_version",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("api_key" / s.Int16, "0+"),
            s.Field("min_version" / s.Int16, "0+"),
            s.Field("max_version" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class SupportedFeatureKey(Message):
    """Part of `ApiVersionsResponse`."""

    __slots__ = (
        "name",
        "min_version",
        "max_version",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "3+"),
            s.Field("min_version" / s.Int16, "3+"),
            s.Field("max_version" / s.Int16, "3+"),
        ]


@mypyc_attr(acyclic=True)
class FinalizedFeatureKey(Message):
    """Part of `ApiVersionsResponse`."""

    __slots__ = (
        "name",
        "max_version_level",
        "min_version_level",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "3+"),
            s.Field("max_version_level" / s.Int16, "3+"),
            s.Field("min_version_level" / s.Int16, "3+"),
        ]


@mypyc_attr(acyclic=True)
class ApiVersionsResponse(ApiMessage):
    """API key 18, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "error_code",
        "api_keys",
        "throttle_time_ms",
        "supported_features",
        "finalized_features_epoch",
        "finalized_features",
        "zk_migration_ready",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = NO_ITEMS,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = NO_ITEMS,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = NO_ITEMS,
        zk_migration_ready: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.api_keys: list[ApiVersion] = [] if api_keys is NO_ITEMS else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features: list[SupportedFeatureKey] = (
            [] if supported_features is NO_ITEMS else supported_features
        )
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features: list[FinalizedFeatureKey] = (
            [] if finalized_features is NO_ITEMS else finalized_features
        )
        self.zk_migration_ready = zk_migration_ready
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("api_keys" / s.ArrayOf(s.StructOf(ApiVersion)), "0+"),
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field(
                "supported_features" / s.ArrayOf(s.StructOf(SupportedFeatureKey)),
                "3+",
                tag=0,
                tagged="3+",
                ignorable=True,
            ),
            s.Field("finalized_features_epoch" / s.Int64, "3+", tag=1, tagged="3+", default=-1, ignorable=True),
            s.Field(
                "finalized_features" / s.ArrayOf(s.StructOf(FinalizedFeatureKey)),
                "3+",
                tag=2,
                tagged="3+",
                ignorable=True,
            ),
            s.Field("zk_migration_ready" / s.Boolean, "3+", tag=3, tagged="3+", ignorable=True),
        ]
