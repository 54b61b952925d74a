"""The usual answer to ConsumerGroupHeartbeat, written by hand, is what header and codec say; others go by the codec."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.fast.heartbeat_answer import heartbeat_frame
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from odradek.protocol.headers import encode_response_header
from odradek.protocol.message_codec import codec
from odradek.protocol.registry import API_BY_KEY, CONSUMER_GROUP_HEARTBEAT_KEY
from tests.fakes.examples import examples

VERSIONS = range(ConsumerGroupHeartbeatResponse.MIN_VERSION, ConsumerGroupHeartbeatResponse.MAX_VERSION + 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
IDS = st.text(st.characters(codec="utf-8"), max_size=140) | st.sampled_from(["a" * 126, "a" * 127, "\u20ac" * 42])
ROWS = st.builds(
    ResponseTopicPartitions, topic_id=st.binary(min_size=16, max_size=16), partitions=st.lists(INT32, max_size=140)
)
ASSIGNMENTS = st.none() | st.builds(Assignment, topic_partitions=st.lists(ROWS, max_size=2))


def in_general(version: int, correlation_id: int, response: ConsumerGroupHeartbeatResponse) -> bytes:
    """The answer as it is written for every API."""
    spec = API_BY_KEY[CONSUMER_GROUP_HEARTBEAT_KEY]
    header = encode_response_header(correlation_id, spec.response_header_version(version))
    body = codec(ConsumerGroupHeartbeatResponse, version).encode(response)
    return struct.pack(">i", len(header) + len(body)) + header + body


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(VERSIONS), INT32, INT32, IDS, INT32, INT32, ASSIGNMENTS)
def test_equal_to_what_is_written_in_general(
    version: int,
    correlation_id: int,
    throttle_ms: int,
    member_id: str,
    epoch: int,
    interval_ms: int,
    assignment: Assignment | None,
) -> None:
    response = ConsumerGroupHeartbeatResponse(
        throttle_time_ms=throttle_ms,
        member_id=member_id,
        member_epoch=epoch,
        heartbeat_interval_ms=interval_ms,
        assignment=assignment,
    )
    frame = heartbeat_frame(correlation_id, response)
    rows = [] if assignment is None else assignment.topic_partitions
    if len(member_id.encode()) > 126 or len(rows) > 1 or (rows and len(rows[0].partitions) > 126):
        assert frame is None
    else:
        assert frame == in_general(version, correlation_id, response)


def usual() -> ConsumerGroupHeartbeatResponse:
    row = ResponseTopicPartitions(bytes(range(16)), [0, 1])
    return ConsumerGroupHeartbeatResponse(member_id="m", member_epoch=3, assignment=Assignment([row]))


def _refused(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.error_code = 25


def _with_a_message(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.error_message = ""


def _without_an_id(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.member_id = None


def _with_tags(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.unknown_tagged_fields = ((9, b"x"),)


def _with_tags_of_the_assignment(answer: ConsumerGroupHeartbeatResponse) -> None:
    assert answer.assignment is not None
    answer.assignment.unknown_tagged_fields = ((9, b"x"),)


def _with_tags_of_an_empty_assignment(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.assignment = Assignment([], unknown_tagged_fields=((9, b"x"),))


def _with_tags_of_the_topic(answer: ConsumerGroupHeartbeatResponse) -> None:
    assert answer.assignment is not None
    answer.assignment.topic_partitions[0].unknown_tagged_fields = ((9, b"x"),)


def _of_no_topic_id(answer: ConsumerGroupHeartbeatResponse) -> None:
    assert answer.assignment is not None
    answer.assignment.topic_partitions[0].topic_id = b"12345678"


def _too_large(answer: ConsumerGroupHeartbeatResponse) -> None:
    answer.member_epoch = 1 << 31


@pytest.mark.parametrize(
    "change",
    [
        _refused,
        _with_a_message,
        _without_an_id,
        _with_tags,
        _with_tags_of_the_assignment,
        _with_tags_of_an_empty_assignment,
        _with_tags_of_the_topic,
        _of_no_topic_id,
        _too_large,
    ],
)
def test_other_answers_are_left_to_the_codec(change: Callable[[ConsumerGroupHeartbeatResponse], None]) -> None:
    response = usual()
    assert heartbeat_frame(1, response) is not None
    change(response)
    assert heartbeat_frame(1, response) is None
