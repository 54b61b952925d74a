"""ListTransactions (API key 66). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ListTransactionsRequest(ApiMessage):
    """API key 66, versions 0 to 2, flexible from 0."""

    __slots__ = (
        "state_filters",
        "producer_id_filters",
        "duration_filter",
        "transactional_id_pattern",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        state_filters: list[str] = NO_ITEMS,
        producer_id_filters: list[int] = NO_ITEMS,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.state_filters: list[str] = [] if state_filters is NO_ITEMS else state_filters
        self.producer_id_filters: list[int] = [] if producer_id_filters is NO_ITEMS else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("state_filters" / s.ArrayOf(s.String), "0+"),
            s.Field("producer_id_filters" / s.ArrayOf(s.Int64), "0+"),
            s.Field("duration_filter" / s.Int64, "1+", default=-1),
            s.Field("transactional_id_pattern" / s.String, "2+", nullable="2+", default=None),
        ]


@mypyc_attr(acyclic=True)
class TransactionState(Message):
    """Part of `ListTransactionsResponse`."""

    __slots__ = (
        "transactional_id",
        "producer_id",
        "transaction_state",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "0+"),
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("transaction_state" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ListTransactionsResponse(ApiMessage):
    """API key 66, versions 0 to 2, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_state_filters",
        "transaction_states",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = NO_ITEMS,
        transaction_states: list[TransactionState] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters: list[str] = [] if unknown_state_filters is NO_ITEMS else unknown_state_filters
        self.transaction_states: list[TransactionState] = [] if transaction_states is NO_ITEMS else transaction_states
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("unknown_state_filters" / s.ArrayOf(s.String), "0+"),
            s.Field("transaction_states" / s.ArrayOf(s.StructOf(TransactionState)), "0+"),
        ]
