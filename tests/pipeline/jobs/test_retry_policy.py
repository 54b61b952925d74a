"""The rules of the retry pipeline: delays and topics."""

from __future__ import annotations

import pytest

from odradek.pipeline.jobs.retry_policy import RetryPolicy, Step, parse_delay

MINUTE = 60_000


POLICY = RetryPolicy()


DELAYS_MIN = [5, 5, 30, 30, 30, 60]


def test_each_failure_picks_the_next_delay() -> None:
    steps = [POLICY.after_failure(number) for number in range(7)]
    assert [step and step.delay_ms for step in steps] == [each * MINUTE for each in DELAYS_MIN] + [None]
    assert steps[0] == Step("retry_5m_topic", 5 * MINUTE)
    assert POLICY.retry_topics == ["retry_5m_topic", "retry_30m_topic", "retry_1h_topic"]


@pytest.mark.parametrize("text", ["", "5", "m", "0s", "5 weeks", "-5m"])
def test_malformed_delays_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a delay is"):
        parse_delay(text)


def test_topics_that_coincide_are_refused() -> None:
    with pytest.raises(ValueError, match="differ from one another"):
        RetryPolicy(main_topic="a", failed_topic="a")
    with pytest.raises(ValueError, match="do not occur"):
        RetryPolicy(delays=("1m",), topics={"2m": "x"})


@pytest.mark.parametrize("jitter", [-0.1, 1.5])
def test_jitter_is_a_part_of_the_delay(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter is a part of the delay"):
        RetryPolicy(jitter=jitter)
