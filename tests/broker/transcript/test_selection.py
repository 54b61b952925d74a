"""Which requests are meant."""

from __future__ import annotations

import re
from typing import Any

import pytest

from odradek.broker.transcript.selection import Selection
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from tests.fakes.exchanges import recorded


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
def test_by_error(error: Any) -> None:
    assert Selection(error=error).matches(commit(22))
    assert not Selection(error=error).matches(commit())
    assert not Selection(error="FENCED_INSTANCE_ID").matches(commit(22))


def test_by_transaction() -> None:
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
def test_mistakes_are_told(conditions: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        Selection(**conditions)


def test_it_says_what_it_is() -> None:
    assert str(Selection("Fetch", topic="orders", error=ErrorCode.NOT_COORDINATOR)) == (
        "api='Fetch', topic='orders', error='NOT_COORDINATOR'"
    )
    assert str(Selection()) == "any request"
