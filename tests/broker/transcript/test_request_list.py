"""Requests in their order: selected, counted, printed, saved."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.transcript.request_list import Requests, Selection, load_transcript
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from tests.fakes.exchanges import Names, recorded


def some() -> Requests:
    beats = [recorded(HeartbeatRequest("g"), 4, HeartbeatResponse(0, code), at=code) for code in (0, 25, 27)]
    return Requests([*beats, recorded(MetadataRequest(topics=None), 12, at=30)], Names())


def test_requests_are_a_sequence() -> None:
    requests = some()
    assert (len(requests), requests[0].api, requests[-1].api) == (4, "Heartbeat", "Metadata")
    assert [each.at for each in requests] == [0, 25, 27, 30]
    assert isinstance(requests[1:], Requests)
    assert len(requests[1:]) == 3
    assert repr(requests) == "<Requests: 4>"


def test_requests_are_selected_and_counted() -> None:
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


def test_requests_are_saved(tmp_path: Path) -> None:
    some().save(tmp_path / "t.jsonl")
    assert str(load_transcript((tmp_path / "t.jsonl").read_text().splitlines())) == str(some())
    some().save_capture(tmp_path / "t.pcap")
    assert (tmp_path / "t.pcap").read_bytes()[:4] == b"\xd4\xc3\xb2\xa1"


def commit(error: int = 0) -> Any:
    request = OffsetCommitRequest(
        "g", topics=[OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(1, 5)])]
    )
    answered = OffsetCommitResponsePartition(1, error)
    answer = OffsetCommitResponse(topics=[OffsetCommitResponseTopic("orders", partitions=[answered])])
    return recorded(request, 8, answer, client_id="c")


@pytest.mark.parametrize(
    ("api", "conditions", "matches"),
    [
        (None, {}, True),
        ("OffsetCommit", {"topic": "orders", "partition": 1, "group": "g", "client_id": "c", "node": 1}, True),
        ("Fetch", {}, False),
        (None, {"topic": "order"}, False),
        (None, {"topic": "orders", "partition": 0}, False),
        (None, {"group": "h"}, False),
        (None, {"client_id": "d"}, False),
        (None, {"node": 2}, False),
        (None, {"error": False}, True),
        (None, {"error": True}, False),
        (None, {"state": "answered", "since": 0.5}, True),
        (None, {"state": "waiting"}, False),
        (None, {"since": 0.6}, False),
        (None, {"when": lambda each: each.topics[0].offset == 5}, True),
        (None, {"when": lambda each: each.topics[0].offset == 6}, False),
        (None, {"transactional_id": "t-1"}, False),
    ],
)
def test_everything_that_is_given_has_to_be_so(api: str | None, conditions: dict[str, Any], matches: bool) -> None:
    assert Selection(api, **conditions).matches(commit()) is matches


@pytest.mark.parametrize("error", [True, "ILLEGAL_GENERATION", ErrorCode.ILLEGAL_GENERATION])
def test_requests_are_found_by_error(error: Any) -> None:
    assert Selection(error=error).matches(commit(22))
    assert not Selection(error=error).matches(commit())
    assert not Selection(error="FENCED_INSTANCE_ID").matches(commit(22))


def test_requests_are_found_by_transaction() -> None:
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t-1", v3_and_below_topics=[AddPartitionsToTxnTopic("orders", [2])]
    )
    assert Selection(transactional_id="t-1", topic="orders", partition=2).matches(recorded(request, 3))


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ({"api": "Fecth"}, "no API is called 'Fecth' (did you mean 'Fetch'?)"),
        ({"error": "NOT_LEADER"}, "no error is called 'NOT_LEADER'"),
        ({"state": "done"}, "state='done': a request is one of answered, waiting, unanswered, cut"),
        ({"partition": 1}, "partition=1: name the topic too"),
    ],
)
def test_request_selection_with_mistakes_is_refused(conditions: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        Selection(**conditions)


def test_a_list_of_requests_says_what_it_is() -> None:
    assert Selection("Fetch", topic="orders", error=ErrorCode.NOT_COORDINATOR).text == (
        "api='Fetch', topic='orders', error='NOT_COORDINATOR'"
    )
    assert Selection(when=repr).text == "when='repr'"
    assert Selection().text == ""


def test_an_unknown_condition_is_told_in_the_words_of_the_caller() -> None:
    with pytest.raises(TypeError, match=r"^no condition is called 'topik' .did you mean 'topic'.*; there are topic, "):
        some().filter(topik="orders")  # type: ignore[call-arg]


def test_a_request_that_is_not_there_is_told_with_the_number_of_those_that_are() -> None:
    assert some()[-1].api == "Metadata"
    with pytest.raises(IndexError, match="the list holds 4 requests"):
        _ = some()[4]
