"""Fields of heartbeats that may not be empty."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import pytest

from odradek.broker.api.group_requests import check_text, invalid, merged
from odradek.protocol.errors import ErrorCode, KafkaError


def test_a_text_that_is_there_says_something() -> None:
    check_text(None, "RackId")
    check_text(" r ", "RackId")
    for empty in ("", " \t"):
        with pytest.raises(KafkaError, match=r"RackId can't be empty\.") as refused:
            check_text(empty, "RackId")
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_refusal_has_its_words() -> None:
    refusal = invalid("MemberEpoch is invalid.")
    assert (refusal.code, refusal.message) == (ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


# -- Answers of a request's parts as one list, in the order of Kafka's response builders.


@dataclass
class Topic:
    name: str
    partitions: list[int]


def keyed(*topics: Topic) -> list[tuple[Hashable, Topic]]:
    return [(topic.name, topic) for topic in topics]


def test_group_requests_without_a_refusal_keep_the_coordinators_answer() -> None:
    accepted = [Topic("a", [0]), Topic("a", [1])]
    assert merged([], keyed(*accepted)) == accepted


def test_refused_parts_come_first_and_a_topic_once() -> None:
    found = merged(keyed(Topic("a", [0]), Topic("b", [1]), Topic("a", [2])), keyed(Topic("a", [3]), Topic("c", [4])))
    assert found == [Topic("a", [0, 2, 3]), Topic("b", [1]), Topic("c", [4])]
