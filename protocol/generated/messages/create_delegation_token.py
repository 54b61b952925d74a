"""CreateDelegationToken (API key 38). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class CreatableRenewers(Message):
    """Part of `CreateDelegationTokenRequest`."""

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
class CreateDelegationTokenRequest(ApiMessage):
    """API key 38, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "owner_principal_type",
        "owner_principal_name",
        "renewers",
        "max_lifetime_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = NO_ITEMS,
        max_lifetime_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers: list[CreatableRenewers] = [] if renewers is NO_ITEMS else renewers
        self.max_lifetime_ms = max_lifetime_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("owner_principal_type" / s.String, "3+", nullable="3+"),
            s.Field("owner_principal_name" / s.String, "3+", nullable="3+"),
            s.Field("renewers" / s.ArrayOf(s.StructOf(CreatableRenewers)), "0+"),
            s.Field("max_lifetime_ms" / s.Int64, "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreateDelegationTokenResponse(ApiMessage):
    """API key 38, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "error_code",
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp_ms",
        "expiry_timestamp_ms",
        "max_timestamp_ms",
        "token_id",
        "hmac",
        "throttle_time_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 38
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("principal_type" / s.String, "0+"),
            s.Field("principal_name" / s.String, "0+"),
            s.Field("token_requester_principal_type" / s.String, "3+"),
            s.Field("token_requester_principal_name" / s.String, "3+"),
            s.Field("issue_timestamp_ms" / s.Int64, "0+"),
            s.Field("expiry_timestamp_ms" / s.Int64, "0+"),
            s.Field("max_timestamp_ms" / s.Int64, "0+"),
            s.Field("token_id" / s.String, "0+"),
            s.Field("hmac" / s.Bytes, "0+"),
            s.Field("throttle_time_ms" / s.Int32, "0+"),
        ]
