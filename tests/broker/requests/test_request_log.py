"""What the log says of requests, and when."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import EncodedBody
from odradek.broker.requests.request_log import log_answer
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from odradek.protocol.generated.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)
from odradek.protocol.generated.messages.produce import TopicProduceResponse as Topic
from odradek.protocol.message_codec import codec
from tests.fakes.cluster import FakeCluster

LOGGER = "odradek.broker.requests"


def lines(caplog: pytest.LogCaptureFixture, request: Any, response: Any, version: int, level: int) -> list[str]:
    """What is logged at ``level`` and above."""
    caplog.set_level(level, LOGGER)
    cluster = FakeCluster()
    connection = ConnectionInfo(peer_host="10.0.0.1", peer_port=555)
    context = RequestContext(
        cluster.dispatcher._services, cluster.nodes[1], connection, request.API_KEY, version, 7, "me"
    )
    log_answer(context, request, response)
    return [record.getMessage() for record in caplog.records]


def test_a_refusal_is_told_with_what_and_why(caplog: pytest.LogCaptureFixture) -> None:
    partitions = [
        PartitionProduceResponse(0, 0),
        PartitionProduceResponse(1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        PartitionProduceResponse(2, ErrorCode.INVALID_RECORD, error_message="no key"),
    ]
    response = ProduceResponse([Topic("orders", bytes(16), partitions)])
    assert lines(caplog, ProduceRequest(), response, 9, logging.INFO) == [
        "Produce v9 from 'me' at 10.0.0.1:555 to node 1, correlation 7: "
        "orders-1 NOT_LEADER_OR_FOLLOWER, orders-2 INVALID_RECORD (no key)"
    ]


def test_many_refusals_are_summed_up(caplog: pytest.LogCaptureFixture) -> None:
    partitions = [PartitionProduceResponse(index, ErrorCode.NOT_LEADER_OR_FOLLOWER) for index in range(20)]
    response = ProduceResponse([Topic("t", bytes(16), partitions)])
    (line,) = lines(caplog, ProduceRequest(), response, 9, logging.INFO)
    assert line.endswith("t-7 NOT_LEADER_OR_FOLLOWER, and 12 more")


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (HeartbeatResponse(), "served"),
        (HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), "REBALANCE_IN_PROGRESS"),
        (None, "not answered"),
    ],
)
def test_the_usual_course_of_things_is_for_debugging(
    caplog: pytest.LogCaptureFixture, response: Any, outcome: str
) -> None:
    request = HeartbeatRequest(group_id="g")
    assert lines(caplog, request, response, 4, logging.INFO) == []
    (line,) = lines(caplog, request, response, 4, logging.DEBUG)
    assert line == f"Heartbeat v4 of g from 'me' at 10.0.0.1:555 to node 1, correlation 7: {outcome}"


def test_an_answer_that_is_kept_encoded_is_read(caplog: pytest.LogCaptureFixture) -> None:
    topics = [MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "nope")]
    body = EncodedBody(codec(MetadataResponse, 9).encode(MetadataResponse(topics=topics)))
    (line,) = lines(caplog, MetadataRequest(), body, 9, logging.INFO)
    assert line.endswith(": nope UNKNOWN_TOPIC_OR_PARTITION")


def test_an_error_that_nobody_knows_is_a_number(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = lines(caplog, HeartbeatRequest(), HeartbeatResponse(error_code=4242), 4, logging.INFO)
    assert line.endswith(": error 4242")
