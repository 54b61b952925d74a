"""Transcripts as JSON lines."""

from __future__ import annotations

import json

import pytest

from odradek.broker.requests.exchange import Told
from odradek.broker.transcript.json_lines import to_line
from odradek.broker.transcript.saved import read_lines
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.fakes.exchanges import ORDERS_ID, recorded

FETCH = FetchRequest(topics=[FetchTopic("", ORDERS_ID, [FetchPartition(2, fetch_offset=7)])])


def test_a_line_can_be_read_by_people_and_by_programs() -> None:
    line = json.loads(to_line(recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(0, 25))))
    assert {
        name: line[name] for name in ("at", "time", "api", "version", "clientId", "state", "groups", "problems")
    } == {
        "at": 0.5,
        "time": "1970-01-12T13:46:40.500+00:00",
        "api": "Heartbeat",
        "version": 4,
        "clientId": "app",
        "state": "answered",
        "groups": ["g"],
        "problems": [[25, "UNKNOWN_MEMBER_ID"]],
    }
    assert line["latencyMs"] == pytest.approx(4)
    assert line["line"] == "+0.500 Heartbeat v4 app group g generation 3 -> UNKNOWN_MEMBER_ID"


def test_secrets_are_not_in_it() -> None:
    line = to_line(recorded(HeartbeatRequest("g"), 4, frame=Told(None, ())))
    assert json.loads(line)["request"] == {"secret": True}
    assert read_lines([line])[0].request is None
