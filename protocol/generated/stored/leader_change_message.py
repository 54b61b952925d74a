"""LeaderChangeMessage. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, DataMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class Voter(Message):
    """Part of `LeaderChangeMessage`."""

    __slots__ = (
        "voter_id",
        "voter_directory_id",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("voter_id" / s.Int32, "0+"),
            s.Field("voter_directory_id" / s.Uuid, "1+"),
        ]


@mypyc_attr(acyclic=True)
class LeaderChangeMessage(DataMessage):
    """Versions 0 to 1, flexible from 0."""

    __slots__ = (
        "version",
        "leader_id",
        "voters",
        "granting_voters",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = NO_ITEMS,
        granting_voters: list[Voter] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.version = version
        self.leader_id = leader_id
        self.voters: list[Voter] = [] if voters is NO_ITEMS else voters
        self.granting_voters: list[Voter] = [] if granting_voters is NO_ITEMS else granting_voters
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("version" / s.Int16, "0+"),
            s.Field("leader_id" / s.Int32, "0+"),
            s.Field("voters" / s.ArrayOf(s.StructOf(Voter)), "0+"),
            s.Field("granting_voters" / s.ArrayOf(s.StructOf(Voter)), "0+"),
        ]
