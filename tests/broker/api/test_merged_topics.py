"""Answers of a request's parts as one list, in the order of Kafka's response builders."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from odradek.broker.api.merged_topics import merged


@dataclass
class Topic:
    name: str
    partitions: list[int]


def keyed(*topics: Topic) -> list[tuple[Hashable, Topic]]:
    return [(topic.name, topic) for topic in topics]


def test_without_a_refusal_the_coordinators_answers_stand_as_they_are() -> None:
    accepted = [Topic("a", [0]), Topic("a", [1])]
    assert merged([], keyed(*accepted)) == accepted


def test_refused_parts_come_first_and_a_topic_once() -> None:
    found = merged(keyed(Topic("a", [0]), Topic("b", [1]), Topic("a", [2])), keyed(Topic("a", [3]), Topic("c", [4])))
    assert found == [Topic("a", [0, 2, 3]), Topic("b", [1]), Topic("c", [4])]
