"""Patterns: what RE2/J says of them (``tests/vectors/regex_patterns.json``), and what they cost."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from odradek.broker.coordinator.group.consumer.progress import check_regex, matching
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.consumer_group_driver import NO_INTERVAL, ConsumerDriver
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


# -- When a group's patterns are resolved.


def found(driver: ConsumerDriver) -> dict[str, set[str]]:
    """The topics that each pattern of the group matched when it was last looked."""
    return {regex: set(resolved.topics) for regex, resolved in driver.group.regexes.items()}


def join(driver: ConsumerDriver, member: str, regex: str) -> None:
    driver.beat(member, 0, topics=(), regex=regex, owned={}, rebalance_timeout_ms=30_000)


def beat(driver: ConsumerDriver, member: str) -> None:
    driver.beat(member, driver.group.members[member].epoch)


def test_patterns_are_resolved_ten_seconds_apart_at_least() -> None:
    driver = ConsumerDriver()
    join(driver, "a", "t.*")
    assert found(driver) == {"t.*": {"t"}}
    driver.wait(10)
    join(driver, "b", "u.*")
    beat(driver, "a")
    assert found(driver) == {"t.*": {"t"}}
    driver.wait(0.001)
    beat(driver, "b")
    assert found(driver) == {"t.*": {"t"}, "u.*": {"u"}}
    assert driver.group.is_subscribed_to("u")


def test_patterns_meet_topics_that_have_come_since() -> None:
    driver = ConsumerDriver()
    join(driver, "a", "t.*")
    epoch = driver.group.epoch
    driver.change_topic("t2", 1)
    driver.wait(9)
    beat(driver, "a")
    assert found(driver) == {"t.*": {"t"}}
    driver.wait(2)
    beat(driver, "a")
    assert found(driver) == {"t.*": {"t", "t2"}}
    assert driver.group.epoch == epoch + 1


def test_patterns_are_resolved_anew_after_their_interval() -> None:
    interval = {**NO_INTERVAL, "group.consumer.regex.refresh.interval.ms": "30000"}
    driver = ConsumerDriver(interval)
    join(driver, "a", "t.*")
    driver.topics.put("t2", 1)
    driver.wait(30)
    beat(driver, "a")
    assert found(driver) == {"t.*": {"t"}}
    driver.wait(0.001)
    beat(driver, "a")
    assert found(driver) == {"t.*": {"t", "t2"}}


def test_a_pattern_that_nobody_has_any_more_is_forgotten() -> None:
    driver = ConsumerDriver()
    join(driver, "a", "t.*")
    driver.wait(11)
    join(driver, "b", "u.*")
    join(driver, "c", "u.*")
    assert found(driver) == {"t.*": {"t"}, "u.*": {"u"}}
    driver.beat("b", -1)
    assert found(driver) == {"t.*": {"t"}, "u.*": {"u"}}
    driver.beat("c", driver.group.members["c"].epoch, topics=("t",), regex="")
    assert found(driver) == {"t.*": {"t"}}
    driver.wait(11)
    driver.beat("a", driver.group.members["a"].epoch, regex="u.*")
    assert found(driver) == {"u.*": {"u"}}
    driver.beat("a", -1)
    assert found(driver) == {}
    assert not driver.group.is_subscribed_to("u")


def test_a_member_that_takes_a_known_pattern_makes_a_new_epoch_at_once() -> None:
    driver = ConsumerDriver()
    join(driver, "a", "t.*")
    epoch = driver.group.epoch
    join(driver, "b", "t.*")
    assert driver.group.epoch == epoch + 1
    beat(driver, "b")
    beat(driver, "a")
    assert driver.group.epoch == epoch + 1
