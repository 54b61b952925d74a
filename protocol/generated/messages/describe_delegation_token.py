"""DescribeDelegationToken (API key 41). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribeDelegationTokenOwner(Message):
    """Part of `DescribeDelegationTokenRequest`."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("principal_type" / s.String, "0+"),
            s.Field("principal_name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeDelegationTokenRequest(ApiMessage):
    """API key 41, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "owners",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.owners: list[DescribeDelegationTokenOwner] | None = [] if owners is NO_ITEMS else owners
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("owners" / s.ArrayOf(s.StructOf(DescribeDelegationTokenOwner)), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedDelegationTokenRenewer(Message):
    """Part of `DescribeDelegationTokenResponse`."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("principal_type" / s.String, "0+"),
            s.Field("principal_name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedDelegationToken(Message):
    """Part of `DescribeDelegationTokenResponse`."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers: list[DescribedDelegationTokenRenewer] = [] if renewers is NO_ITEMS else renewers
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("principal_type" / s.String, "0+"),
            s.Field("principal_name" / s.String, "0+"),
            s.Field("token_requester_principal_type" / s.String, "3+"),
            s.Field("token_requester_principal_name" / s.String, "3+"),
            s.Field("issue_timestamp" / s.Int64, "0+"),
            s.Field("expiry_timestamp" / s.Int64, "0+"),
            s.Field("max_timestamp" / s.Int64, "0+"),
            s.Field("token_id" / s.String, "0+"),
            s.Field("hmac" / s.Bytes, "0+"),
            s.Field("renewers" / s.ArrayOf(s.StructOf(DescribedDelegationTokenRenewer)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeDelegationTokenResponse(ApiMessage):
    """API key 41, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "error_code",
        "tokens",
        "throttle_time_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 41
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = NO_ITEMS,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.tokens: list[DescribedDelegationToken] = [] if tokens is NO_ITEMS else tokens
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("tokens" / s.ArrayOf(s.StructOf(DescribedDelegationToken)), "0+"),
            s.Field("throttle_time_ms" / s.Int32, "0+"),
        ]
