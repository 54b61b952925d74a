"""AddPartitionsToTxn (API key 24). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnTopic(Message):
    """Part of `AddPartitionsToTxnRequest`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnTransaction(Message):
    """Part of `AddPartitionsToTxnRequest`."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "verify_only",
        "topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics: list[AddPartitionsToTxnTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "4+"),
            s.Field("producer_id" / s.Int64, "4+"),
            s.Field("producer_epoch" / s.Int16, "4+"),
            s.Field("verify_only" / s.Boolean, "4+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(AddPartitionsToTxnTopic)), "4+"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnRequest(ApiMessage):
    """API key 24, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = NO_ITEMS,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactions: list[AddPartitionsToTxnTransaction] = [] if transactions is NO_ITEMS else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics: list[AddPartitionsToTxnTopic] = (
            [] if v3_and_below_topics is NO_ITEMS else v3_and_below_topics
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactions" / s.ArrayOf(s.StructOf(AddPartitionsToTxnTransaction)), "4+"),
            s.Field("v3_and_below_transactional_id" / s.String, "0-3"),
            s.Field("v3_and_below_producer_id" / s.Int64, "0-3"),
            s.Field("v3_and_below_producer_epoch" / s.Int16, "0-3"),
            s.Field("v3_and_below_topics" / s.ArrayOf(s.StructOf(AddPartitionsToTxnTopic)), "0-3"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnPartitionResult(Message):
    """Part of `AddPartitionsToTxnResponse`."""

    __slots__ = (
        "partition_index",
        "partition_error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("partition_error_code" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnTopicResult(Message):
    """Part of `AddPartitionsToTxnResponse`."""

    __slots__ = (
        "name",
        "results_by_partition",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.results_by_partition: list[AddPartitionsToTxnPartitionResult] = (
            [] if results_by_partition is NO_ITEMS else results_by_partition
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("results_by_partition" / s.ArrayOf(s.StructOf(AddPartitionsToTxnPartitionResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnResult(Message):
    """Part of `AddPartitionsToTxnResponse`."""

    __slots__ = (
        "transactional_id",
        "topic_results",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results: list[AddPartitionsToTxnTopicResult] = [] if topic_results is NO_ITEMS else topic_results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "4+"),
            s.Field("topic_results" / s.ArrayOf(s.StructOf(AddPartitionsToTxnTopicResult)), "4+"),
        ]


@mypyc_attr(acyclic=True)
class AddPartitionsToTxnResponse(ApiMessage):
    """API key 24, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results_by_transaction",
        "results_by_topic_v3_and_below",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = NO_ITEMS,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction: list[AddPartitionsToTxnResult] = (
            [] if results_by_transaction is NO_ITEMS else results_by_transaction
        )
        self.results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = (
            [] if results_by_topic_v3_and_below is NO_ITEMS else results_by_topic_v3_and_below
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "4+", ignorable=True),
            s.Field("results_by_transaction" / s.ArrayOf(s.StructOf(AddPartitionsToTxnResult)), "4+"),
            s.Field("results_by_topic_v3_and_below" / s.ArrayOf(s.StructOf(AddPartitionsToTxnTopicResult)), "0-3"),
        ]
