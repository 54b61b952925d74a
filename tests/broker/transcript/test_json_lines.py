"""Transcripts as JSON lines."""

from __future__ import annotations

import json

import pytest

from odradek.broker.requests.recent_requests import Head, Told
from odradek.broker.transcript.json_lines import TranscriptError, to_line
from odradek.broker.transcript.request_list import load_transcript
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
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
    assert load_transcript([line])[0].request is None


def test_what_was_saved_is_what_is_read() -> None:
    written = [
        recorded(FETCH, 16, FetchResponse()),
        recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(0, 25)),
        recorded(HeartbeatRequest("g", 3), 4, cut="gone"),
        recorded(HeartbeatRequest("g", 3), 4),
        recorded(FETCH, 16, frame=((b"\0\1", 2), (b"ab", 5))),
        recorded(FETCH, 16, frame=Head(b"abc", 100)),
    ]
    read = load_transcript([to_line(each) + "\n" for each in written] + ["\n"])
    assert [str(each) for each in read] == [str(each) for each in written]
    for old, new in zip(written, read, strict=True):
        assert (new.topics, new.group, new.errors, new.state) == (old.topics, old.group, old.errors, old.state)
        assert (new.time_ms, new.client, new.size) == (old.time_ms, old.client, old.size)
        assert (new.exchange.frame, new.exchange.answer) == (old.exchange.frame, old.exchange.answer)
        assert (new.request, new.response) == (old.request, old.response)
    assert read.filter("Fetch", topic="orders", partition=2).count() == 1  # the names of ids are in the file


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[1]",
        "{}",
        to_line(recorded(FETCH, 16)).replace('"key":1,', '"key":9999,'),
        to_line(recorded(FETCH, 16)).replace('{"bytes":"', '{"bytes":"%'),
    ],
)
def test_load_transcript_of_another_file_is_refused(line: str) -> None:
    with pytest.raises(TranscriptError, match="line 2 is not a line of a transcript: "):
        load_transcript(["\n", line])
