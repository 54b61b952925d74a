"""A member of a streams group as its log has it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from odradek.broker.coordinator.group.streams.tasks import NOTHING_HELD, Held

JOINING = 0
LEAVING = -1


class MemberState(IntEnum):
    """How far a member is on its way to its target; the numbers are those of the log."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


class Endpoint(NamedTuple):
    """Where a member answers interactive queries."""

    host: str
    port: int


class Member(NamedTuple):
    """A value: a changed member is another one. Timeout in milliseconds, -1 where the member has named none.

    ``assigned`` is what it has or may take up; ``revoking`` what it has to give up first.
    """

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: Endpoint | None = None
    client_tags: tuple[tuple[str, str], ...] = ()
    assigned: Held = NOTHING_HELD
    revoking: Held = NOTHING_HELD

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all that it was given in that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch
