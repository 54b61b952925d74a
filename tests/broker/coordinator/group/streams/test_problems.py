"""Statuses and how topics are listed."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.problems import TopicProblem, TopicStatus, internal_error, listed
from odradek.protocol.errors import ErrorCode


def test_three_names_at_most() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 additional topics"


def test_a_problem_is_a_status() -> None:
    problem = TopicProblem(TopicStatus.MISSING_SOURCE_TOPICS, "why")
    assert problem.status == (1, "why")
    assert str(problem) == "why"


def test_what_kafka_does_not_explain() -> None:
    assert internal_error().code is ErrorCode.UNKNOWN_SERVER_ERROR
