"""Requests read in their order."""

from __future__ import annotations

from odradek.broker.transcript.reader import Reader
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.fakes.exchanges import ORDERS_ID, Names, raw_exchange


def test_a_fetch_is_about_what_its_session_has() -> None:
    names = Names()
    reader = Reader(names, names.ms_at, names.origin_s)
    first = FetchRequest(session_epoch=0, topics=[FetchTopic("", ORDERS_ID, [FetchPartition(2, fetch_offset=7)])])
    raws = [
        raw_exchange(first, 16, FetchResponse(session_id=3)),
        raw_exchange(HeartbeatRequest("g"), 4, HeartbeatResponse()),
        raw_exchange(FetchRequest(session_id=3, session_epoch=1), 16),
    ]
    for _ in range(2):
        one, heartbeat, waiting = reader.read(raws)
        assert one.topics == waiting.topics == (("orders", 2, 7),)
        assert str(waiting).endswith("orders-2@7 -> still waiting")
        assert heartbeat.group == "g"
