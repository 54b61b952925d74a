"""DescribeUserScramCredentials (API key 50). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class UserName(Message):
    """Part of `DescribeUserScramCredentialsRequest`."""

    __slots__ = (
        "name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeUserScramCredentialsRequest(ApiMessage):
    """API key 50, version 0, flexible from 0."""

    __slots__ = (
        "users",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        users: list[UserName] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.users: list[UserName] | None = [] if users is NO_ITEMS else users
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("users" / s.ArrayOf(s.StructOf(UserName)), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class CredentialInfo(Message):
    """Part of `DescribeUserScramCredentialsResponse`."""

    __slots__ = (
        "mechanism",
        "iterations",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("mechanism" / s.Int8, "0+"),
            s.Field("iterations" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeUserScramCredentialsResult(Message):
    """Part of `DescribeUserScramCredentialsResponse`."""

    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "credential_infos",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos: list[CredentialInfo] = [] if credential_infos is NO_ITEMS else credential_infos
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("user" / s.String, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("credential_infos" / s.ArrayOf(s.StructOf(CredentialInfo)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeUserScramCredentialsResponse(ApiMessage):
    """API key 50, version 0, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results: list[DescribeUserScramCredentialsResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(DescribeUserScramCredentialsResult)), "0+"),
        ]
