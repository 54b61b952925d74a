"""What the members of consumer groups are told."""

from __future__ import annotations

from typing import final

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.protocol.native import mypyc_attr


@final
@mypyc_attr(acyclic=True)
class HeartbeatReply:
    """What a member is told. ``assignment``: None where it has not changed."""

    __slots__ = ("assignment", "heartbeat_interval_ms", "member_epoch", "member_id")

    def __init__(
        self,
        member_id: str,
        member_epoch: int,
        heartbeat_interval_ms: int = 0,
        assignment: Partitions | None = None,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
