"""AlterUserScramCredentials (API key 51). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ScramCredentialDeletion(Message):
    """Part of `AlterUserScramCredentialsRequest`."""

    __slots__ = (
        "name",
        "mechanism",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("mechanism" / s.Int8, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ScramCredentialUpsertion(Message):
    """Part of `AlterUserScramCredentialsRequest`."""

    __slots__ = (
        "name",
        "mechanism",
        "iterations",
        "salt",
        "salted_password",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("mechanism" / s.Int8, "0+"),
            s.Field("iterations" / s.Int32, "0+"),
            s.Field("salt" / s.Bytes, "0+"),
            s.Field("salted_password" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterUserScramCredentialsRequest(ApiMessage):
    """API key 51, version 0, flexible from 0."""

    __slots__ = (
        "deletions",
        "upsertions",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = NO_ITEMS,
        upsertions: list[ScramCredentialUpsertion] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.deletions: list[ScramCredentialDeletion] = [] if deletions is NO_ITEMS else deletions
        self.upsertions: list[ScramCredentialUpsertion] = [] if upsertions is NO_ITEMS else upsertions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("deletions" / s.ArrayOf(s.StructOf(ScramCredentialDeletion)), "0+"),
            s.Field("upsertions" / s.ArrayOf(s.StructOf(ScramCredentialUpsertion)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterUserScramCredentialsResult(Message):
    """Part of `AlterUserScramCredentialsResponse`."""

    __slots__ = (
        "user",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("user" / s.String, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterUserScramCredentialsResponse(ApiMessage):
    """API key 51, version 0, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AlterUserScramCredentialsResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(AlterUserScramCredentialsResult)), "0+"),
        ]
