"""SaslHandshake (API key 17). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class SaslHandshakeRequest(ApiMessage):
    """API key 17, versions 0 to 1, never flexible."""

    __slots__ = (
        "mechanism",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        mechanism: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.mechanism = mechanism
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("mechanism" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class SaslHandshakeResponse(ApiMessage):
    """API key 17, versions 0 to 1, never flexible."""

    __slots__ = (
        "error_code",
        "mechanisms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: list[str] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms: list[str] = [] if mechanisms is NO_ITEMS else mechanisms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("mechanisms" / s.ArrayOf(s.String), "0+"),
        ]
