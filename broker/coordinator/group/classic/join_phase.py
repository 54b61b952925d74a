"""The join phase of a rebalance: the time in which the members of a group join. Its rules are in `rebalance`."""

from __future__ import annotations

from enum import Enum

from odradek.protocol.native import mypyc_attr


class JoinStage(Enum):
    """What a join phase waits for."""

    DELAY = "an empty group's first members: others may come within group.initial.rebalance.delay.ms (KIP-134)"
    LAST_CALL = "the delay is over: members that were told their ids may come back with them (KIP-394)"
    OPEN = "all members of the last generation, until the rebalance timeout is over"


@mypyc_attr(allow_interpreted_subclasses=True)
class JoinPhase:
    """A join phase under way. In `JoinStage.DELAY`: `delay_ms` is the present delay, `remaining_ms` what is left of
    the rebalance timeout after it, and `somebody_came` tells whether a member has joined since it began.
    """

    __slots__ = ("delay_ms", "remaining_ms", "somebody_came", "stage")

    def __init__(self, stage: JoinStage, delay_ms: int = 0, remaining_ms: int = 0) -> None:
        self.stage = stage
        self.delay_ms = delay_ms
        self.remaining_ms = remaining_ms
        self.somebody_came = False
