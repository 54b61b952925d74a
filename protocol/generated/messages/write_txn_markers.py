"""WriteTxnMarkers (API key 27). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class WritableTxnMarkerTopic(Message):
    """Part of `WriteTxnMarkersRequest`."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is NO_ITEMS else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partition_indexes" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class WritableTxnMarker(Message):
    """Part of `WriteTxnMarkersRequest`."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = NO_ITEMS,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics: list[WritableTxnMarkerTopic] = [] if topics is NO_ITEMS else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("producer_epoch" / s.Int16, "0+"),
            s.Field("transaction_result" / s.Boolean, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(WritableTxnMarkerTopic)), "0+"),
            s.Field("coordinator_epoch" / s.Int32, "0+"),
            s.Field("transaction_version" / s.Int8, "2+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class WriteTxnMarkersRequest(ApiMessage):
    """API key 27, versions 0 to 2, flexible from 1."""

    __slots__ = (
        "markers",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        markers: list[WritableTxnMarker] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.markers: list[WritableTxnMarker] = [] if markers is NO_ITEMS else markers
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("markers" / s.ArrayOf(s.StructOf(WritableTxnMarker)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class WritableTxnMarkerPartitionResult(Message):
    """Part of `WriteTxnMarkersResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class WritableTxnMarkerTopicResult(Message):
    """Part of `WriteTxnMarkersResponse`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[WritableTxnMarkerPartitionResult] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(WritableTxnMarkerPartitionResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class WritableTxnMarkerResult(Message):
    """Part of `WriteTxnMarkersResponse`."""

    __slots__ = (
        "producer_id",
        "topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics: list[WritableTxnMarkerTopicResult] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(WritableTxnMarkerTopicResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class WriteTxnMarkersResponse(ApiMessage):
    """API key 27, versions 0 to 2, flexible from 1."""

    __slots__ = (
        "markers",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.markers: list[WritableTxnMarkerResult] = [] if markers is NO_ITEMS else markers
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("markers" / s.ArrayOf(s.StructOf(WritableTxnMarkerResult)), "0+"),
        ]
