"""The usual answer to Produce, written by hand, is what header and codec say; any other answer is left to them."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.fast.produce_answer import UsualProduceAnswer
from odradek.protocol.apis import API_BY_KEY, PRODUCE_KEY
from odradek.protocol.generated.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.protocol.headers import encode_response_header
from odradek.protocol.message_codec import codec
from tests.fakes.examples import examples

VERSIONS = range(API_BY_KEY[PRODUCE_KEY].min_version, ProduceResponse.MAX_VERSION + 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(st.characters(codec="utf-8"), max_size=140) | st.sampled_from(["a" * 126, "a" * 127, "\u20ac" * 42])


def in_general(version: int, correlation_id: int, response: ProduceResponse) -> bytes:
    """The answer as it is written for every API."""
    header = encode_response_header(correlation_id, API_BY_KEY[PRODUCE_KEY].response_header_version(version))
    body = codec(ProduceResponse, version).encode(response)
    return struct.pack(">i", len(header) + len(body)) + header + body


def usual(name: str = "topic", topic_id: bytes = bytes(range(16))) -> ProduceResponse:
    one = PartitionProduceResponse(index=3, base_offset=70, log_append_time_ms=-1, log_start_offset=5)
    return ProduceResponse([TopicProduceResponse(name, topic_id, [one])])


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(VERSIONS), INT32, NAMES, st.binary(min_size=16, max_size=16), INT32, st.tuples(*[INT64] * 3))
def test_equal_to_what_is_written_in_general(
    version: int, correlation_id: int, name: str, topic_id: bytes, index: int, numbers: tuple[int, int, int]
) -> None:
    base, time, start = numbers
    one = PartitionProduceResponse(index, 0, base, time, start)
    response = ProduceResponse([TopicProduceResponse(name, topic_id, [one])])
    answers = UsualProduceAnswer(version)
    for _ in range(2):  # the second time the topic is known
        frame = answers.frame(correlation_id, response)
        if version < 13 and len(name.encode()) > 126:
            assert frame is None
        else:
            assert frame == in_general(version, correlation_id, response)


def _no_topic(answer: ProduceResponse) -> None:
    answer.responses = []


def _two_topics(answer: ProduceResponse) -> None:
    answer.responses = answer.responses * 2


def _two_partitions(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses *= 2


def _throttled(answer: ProduceResponse) -> None:
    answer.throttle_time_ms = 1


def _refused(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].error_code = 2


def _with_a_message(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].error_message = ""


def _with_a_record_error(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].record_errors = [BatchIndexAndErrorMessage(0, "no key")]


def _with_another_leader(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch(1)


def _with_another_epoch(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].current_leader = LeaderIdAndEpoch(-1, 0)


def _with_an_endpoint(answer: ProduceResponse) -> None:
    answer.node_endpoints = [NodeEndpoint(1, "host", 9092)]


def _with_tags(answer: ProduceResponse) -> None:
    answer.unknown_tagged_fields = ((9, b"x"),)


def _with_tags_of_the_topic(answer: ProduceResponse) -> None:
    answer.responses[0].unknown_tagged_fields = ((9, b"x"),)


def _with_tags_of_the_partition(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].unknown_tagged_fields = ((9, b"x"),)


def _too_large(answer: ProduceResponse) -> None:
    answer.responses[0].partition_responses[0].base_offset = 1 << 63


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        _no_topic,
        _two_topics,
        _two_partitions,
        _throttled,
        _refused,
        _with_a_message,
        _with_a_record_error,
        _with_another_leader,
        _with_another_epoch,
        _with_an_endpoint,
        _with_tags,
        _with_tags_of_the_topic,
        _with_tags_of_the_partition,
        _too_large,
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_other_answers_are_left_to_the_codec(version: int, change: Callable[[ProduceResponse], None]) -> None:
    response = usual()
    change(response)
    assert UsualProduceAnswer(version).frame(1, response) is None


def test_an_id_that_is_none_is_left_to_the_codec() -> None:
    assert UsualProduceAnswer(13).frame(1, usual(topic_id=b"12345678")) is None


@pytest.mark.parametrize("version", [3, 9, 13])
def test_of_many_topics_some_are_forgotten(version: int) -> None:
    answers = UsualProduceAnswer(version)
    for number in range(3000):
        response = usual(f"topic-{number}", number.to_bytes(16, "big"))
        assert answers.frame(number, response) == in_general(version, number, response)
        assert answers.topics_kept <= 1024
