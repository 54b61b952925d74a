"""Which answers are written by hand in their usual form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.protocol.registry import CONSUMER_GROUP_HEARTBEAT_KEY, PRODUCE_KEY

UsualAnswer = Callable[[int, Any], bytes | None]
"""(correlation id, response) -> the whole frame; None for an answer that is left to its codec."""


def usual_answer(key: int, version: int) -> UsualAnswer | None:
    """What writes the usual answers of a version of an API; None where all of them are left to the codec."""
    if key == PRODUCE_KEY:
        from odradek.protocol.usual_produce import UsualProduceAnswer

        return UsualProduceAnswer(version).frame
    if key == CONSUMER_GROUP_HEARTBEAT_KEY:
        from odradek.protocol.usual_heartbeat import heartbeat_frame

        return heartbeat_frame
    return None
