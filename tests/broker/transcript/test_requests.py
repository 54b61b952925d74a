"""Requests in their order: selected, counted, printed, saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.transcript.requests import Requests
from odradek.broker.transcript.saved import read_lines
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.fakes.exchanges import Names, recorded


def some() -> Requests:
    beats = [recorded(HeartbeatRequest("g"), 4, HeartbeatResponse(0, code), at=code) for code in (0, 25, 27)]
    return Requests([*beats, recorded(MetadataRequest(topics=None), 12, at=30)], Names())


def test_they_are_a_sequence() -> None:
    requests = some()
    assert (len(requests), requests[0].api, requests[-1].api) == (4, "Heartbeat", "Metadata")
    assert [each.at for each in requests] == [0, 25, 27, 30]
    assert isinstance(requests[1:], Requests)
    assert len(requests[1:]) == 3
    assert repr(requests) == "<Requests: 4>"


def test_they_are_selected_and_counted() -> None:
    requests = some()
    assert requests.count("Heartbeat", group="g") == 3
    refused = requests.filter("Heartbeat", error=True)
    assert [each.errors for each in refused] == [("UNKNOWN_MEMBER_ID",), ("REBALANCE_IN_PROGRESS",)]
    assert refused.filter(since=26).count() == 1


def test_the_newest_are_the_tail() -> None:
    requests = some()
    assert [each.at for each in requests.tail(limit=2)] == [each.at for each in requests[-2:]]
    assert [each.at for each in requests.tail(limit=99)] == [each.at for each in requests]
    with pytest.raises(ValueError, match="limit=0"):
        requests.tail(limit=0)


def test_printed_they_are_a_line_each() -> None:
    assert str(some()).splitlines()[3] == "+30.000 Metadata v12 app all topics -> still waiting"


def test_they_are_saved(tmp_path: Path) -> None:
    some().save(tmp_path / "t.jsonl")
    assert str(read_lines((tmp_path / "t.jsonl").read_text().splitlines())) == str(some())
    some().save_capture(tmp_path / "t.pcap")
    assert (tmp_path / "t.pcap").read_bytes()[:4] == b"\xd4\xc3\xb2\xa1"
