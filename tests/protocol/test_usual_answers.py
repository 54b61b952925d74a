"""Of two APIs the usual answers are written by hand."""

from __future__ import annotations

from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.registry import CONSUMER_GROUP_HEARTBEAT_KEY, PRODUCE_KEY
from odradek.protocol.usual_answers import usual_answer


def test_who_writes_them() -> None:
    assert usual_answer(HeartbeatRequest.API_KEY, 4) is None
    assert usual_answer(PRODUCE_KEY, 9) is not None
    heartbeat = usual_answer(CONSUMER_GROUP_HEARTBEAT_KEY, 1)
    assert heartbeat is not None
    assert heartbeat(7, ConsumerGroupHeartbeatResponse(member_id="m")) is not None
