"""Patterns: what RE2/J says of them (``tests/vectors/regex_patterns.json``), and what they cost."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from odradek.broker.coordinator.group.consumer.progress import check_regex, matching
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.scenarios.regex_patterns import TOPICS

SAID: dict[str, str] = json.loads((Path(__file__).parents[4] / "vectors" / "regex_patterns.json").read_text())
DIFFERENT = {"((a{100}){100}){100}", "(((a{100}){100}))", r"\é"}
"""RE2 takes no repetition of more than 1,000 times in all, and no escape of what is not ASCII; RE2/J does."""


def said(regex: str) -> str:
    try:
        found = matching(regex, TOPICS)
    except KafkaError as error:
        return _complaint(regex, error)
    return " ".join(topic for topic in TOPICS if topic in found)


def _complaint(regex: str, error: KafkaError) -> str:
    assert error.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    begin, end = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: ", "."
    text = error.message or ""
    assert text.startswith(begin)
    assert text.endswith(end)
    return "!" + text[len(begin) : -len(end)]


@pytest.mark.parametrize("regex", sorted(SAID.keys() - DIFFERENT))
def test_a_pattern_is_what_it_is_to_kafka(regex: str) -> None:
    assert said(regex) == SAID[regex]


@pytest.mark.parametrize("regex", sorted(DIFFERENT))
def test_subscribed_topic_regex_that_re2_refuses_is_refused(regex: str) -> None:
    assert not SAID[regex].startswith("!")
    assert said(regex).startswith("!")


def test_regular_expressions_that_explode_are_matched_in_linear_time() -> None:
    begin = time.perf_counter()
    topics = ["a" * 249] * 100
    for regex in ("(a*)*b", "(a|aa)+$b", "(a|a?)+b", "((a+)+)+b", "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)b"):
        assert matching(regex, topics) == frozenset()
    assert matching("(" * 30_000 + "a*" + ")" * 30_000, topics) == set(topics)
    for regex in ("((a{1000}){1000}){1000}", "[a-z]{1000}" * 5000, "(" * 60_000):
        with pytest.raises(KafkaError):
            check_regex(regex)
    assert time.perf_counter() - begin < 10


def test_a_pattern_has_a_length() -> None:
    check_regex("a" * 65_536)
    with pytest.raises(KafkaError, match=r"longer than 65536 characters\.$") as caught:
        check_regex("a" * 65_537)
    assert len(caught.value.message or "") < 250
