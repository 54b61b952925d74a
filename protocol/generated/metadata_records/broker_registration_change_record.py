"""BrokerRegistrationChangeRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class BrokerRegistrationChangeRecord(MetadataRecord):
    """Versions 0 to 3, flexible from 0."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "fenced",
        "in_controlled_shutdown",
        "log_dirs",
        "cordoned_log_dirs",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[bytes] = NO_ITEMS,
        cordoned_log_dirs: list[bytes] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is NO_ITEMS else log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("broker_id" / s.Int32, "0+"),
            s.Field("broker_epoch" / s.Int64, "0+"),
            s.Field("fenced" / s.Int8, "0+", tag=0, tagged="0+"),
            s.Field("in_controlled_shutdown" / s.Int8, "1+", tag=1, tagged="1+"),
            s.Field("log_dirs" / s.ArrayOf(s.Uuid), "2+", tag=2, tagged="2+"),
            s.Field("cordoned_log_dirs" / s.ArrayOf(s.Uuid), "3+", nullable="3+", tag=3, tagged="3+", default=None),
        ]
