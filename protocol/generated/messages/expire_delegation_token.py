"""ExpireDelegationToken (API key 40). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import ApiMessage, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ExpireDelegationTokenRequest(ApiMessage):
    """API key 40, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "hmac",
        "expiry_time_period_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("hmac" / s.Bytes, "0+"),
            s.Field("expiry_time_period_ms" / s.Int64, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ExpireDelegationTokenResponse(ApiMessage):
    """API key 40, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("expiry_timestamp_ms" / s.Int64, "0+"),
            s.Field("throttle_time_ms" / s.Int32, "0+"),
        ]
