"""Requests in one line each."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.requests.exchange import Head, Told
from odradek.broker.transcript.lines import line_of, lines_of
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.fakes.exchanges import ORDERS_ID, recorded, registry_exchange


def fetch(**options: Any) -> Any:
    request = FetchRequest(topics=[FetchTopic("", ORDERS_ID, [FetchPartition(1, fetch_offset=1)])])
    answer = FetchResponse(0, 0, 0, [FetchableTopicResponse("", ORDERS_ID, [PartitionData(1, 0, 1, 1)])])
    return recorded(request, 16, answer, client_id="consumer-1", at=0.12, **options)


def test_the_line_of_the_reports() -> None:
    assert line_of(fetch()) == str(fetch()) == "+0.120 Fetch v16 consumer-1 orders-1@1 -> 0 records, end 1"
    assert line_of(fetch(latency=0.5)).endswith("end 1 (500 ms)")


def test_several_stand_in_columns() -> None:
    lines = lines_of([fetch(), recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(0, 25), at=12, client_id="c")])
    assert lines == [
        " +0.120 Fetch v16    consumer-1 orders-1@1 -> 0 records, end 1",
        "+12.000 Heartbeat v4 c          group g generation 3 -> UNKNOWN_MEMBER_ID",
    ]
    assert lines_of([]) == []


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"cut": "the client has gone"}, "-> connection cut: the client has gone"),
        ({}, "-> still waiting"),
        ({"frame": Head(b"", 12)}, "bytes, not kept) -> still waiting"),
        ({"frame": Told(None, ())}, "app -> still waiting"),
        ({"client_id": None}, "127.0.0.1:50000 -> still waiting"),
        ({"client_id": "a\nb" + 50 * "c"}, f"a?b{36 * 'c'}… -> still waiting"),
    ],
)
def test_other_ends(options: dict[str, Any], end: str) -> None:
    assert line_of(recorded(ApiVersionsRequest(), 0, **options)).endswith(end)


@pytest.mark.parametrize(
    ("status", "answer", "end"),
    [
        (200, b'{"id": 1}', '200 {"id": 1}'),
        (200, b"x" * 41, "200 (41 bytes)"),
        (404, b'{"error_code": 40401, "message": "no subject"}', "40401 no subject"),
        (503, b"no JSON", "503"),
    ],
)
def test_requests_to_a_schema_registry(status: int, answer: bytes, end: str) -> None:
    line = line_of(registry_exchange("GET /subjects/s", status, answer))
    assert line == f"+0.500 SchemaRegistry v1 app GET /subjects/s -> {end}"
