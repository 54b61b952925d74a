"""A Fetch whose answer is too much takes back what it did to its session."""

from __future__ import annotations

from tests.broker.requests.test_metering import Asked


def test_a_throttled_session_goes_on_as_if_nothing_had_been_answered() -> None:
    asked = Asked()
    asked.produce(9_000)
    asked.set(request_percentage=1.0)
    asked.work(10**9)
    assert asked.fetch(session=(0, 0)).session_id == 0, "a session that would have been opened is not"
    assert len(asked.cluster.fetch_sessions[1]) == 0
    asked.cluster.clock.advance(12)
    asked.work(0, 10**9, 0)
    opened = asked.fetch(session=(0, 0))
    assert opened.session_id
    asked.produce(10)
    session = (opened.session_id, 1)
    throttled = asked.fetch(session=session)
    assert (throttled.session_id, throttled.error_code, throttled.responses) == (opened.session_id, 0, [])
    assert throttled.throttle_time_ms == 1000
    asked.cluster.clock.advance(12)
    after = asked.fetch(session=(opened.session_id, 2))
    assert after.responses[0].partitions[0].high_watermark == 2, "the client has not been told of it"


def test_errors_of_sessions_are_not_told_while_throttled() -> None:
    asked = Asked()
    asked.set(request_percentage=1.0)
    asked.work(10**9, 0)
    throttled = asked.fetch(session=(4711, 3))
    assert (throttled.session_id, throttled.error_code, throttled.throttle_time_ms) == (0, 0, 1000)
    asked.cluster.clock.advance(12)
    assert asked.fetch(session=(4711, 3)).error_code != 0
