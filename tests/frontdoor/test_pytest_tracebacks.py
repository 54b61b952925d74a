"""What a failing test shows above the state of its broker: its own line, and the message."""

from __future__ import annotations

import re

import pytest

pytest_plugins = ["pytester"]

FAILURES = """
import asyncio
import pytest
import odradek
from odradek import matchers

pytestmark = pytest.mark.kafka(topics={"orders": 2})


def test_wait_for_records(kafka_broker):
    kafka_broker.produce("orders", "book")
    kafka_broker.topic("orders").wait(2, timeout=0.01)


def test_wait_for_a_group(kafka_broker):
    kafka_broker.group("shipping").wait(members=1, timeout=0.01)


def test_wait_for_a_request(kafka_broker):
    kafka_broker.requests.wait("Produce", topic="orders", timeout=0.01)


def test_wait_for_a_fault(kafka_broker):
    odradek.Fault("Produce").wait(timeout=0.01)


def test_wait_for_a_hold(kafka_broker):
    with kafka_broker.hold("till-1", at="PrepareCommit") as held:
        held.wait(timeout=0.01)


def test_assert_records(kafka_broker):
    kafka_broker.produce_all("orders", ["book", "lamp"])
    matchers.assert_records(kafka_broker, "orders", ["book", "pen"])


def test_assert_all_read(kafka_broker):
    kafka_broker.produce("orders", "book")
    kafka_broker.group("shipping").set_offsets({("orders", 0): 0})
    matchers.assert_all_read(kafka_broker, "shipping")


def test_create_topic(kafka_broker):
    kafka_broker.create_topic("orders")


def test_records_of_a_typing_error(kafka_broker):
    assert list(kafka_broker.records("ordrs"))


def test_a_record_that_is_not_there(kafka_broker):
    assert kafka_broker.records("orders")[0]


@pytest.mark.kafka(nodes=0)
def test_marker(kafka_broker):
    pass


def test_condition_of_the_test(kafka_broker):
    kafka_broker.group("shipping").wait(lambda info: info.stat == "Stable", timeout=0.01)


def test_wait_in_a_loop(kafka_broker):
    async def main():
        kafka_broker.topic("orders").wait(2, timeout=0.01)

    asyncio.run(main())
"""
MESSAGES = {
    "test_wait_for_records": "topic 'orders' has 1 of 2 records after 0.01 s (read_uncommitted; orders-",
    "test_wait_for_a_group": "group 'shipping' does not exist after 0.01 s: nobody has joined it, and nothing was",
    "test_wait_for_a_request": "after 0.01 s; no request at all has been served",
    "test_wait_for_a_fault": "was met by 0 requests in 0.01 s, not by 1; it was never set: broker.set_faults(fault)",
    "test_records_of_a_typing_error": "no topic 'ordrs' (did you mean 'orders'?)",
    "test_a_record_that_is_not_there": "IndexError: topic 'orders' holds 0 records",
    "test_marker": "the broker of @pytest.mark.kafka does not start: a cluster needs at least one node: 0",
    "test_wait_in_a_loop": "its partitions are empty); the wait has blocked the running event loop: await asyncio.to",
}
OWN_FRAMES = ["pytest.py", "facade", "thread_bridge", "concurrent", "During handling", "direct cause"]


@pytest.fixture
def failures(pytester: pytest.Pytester) -> dict[str, str]:
    """What pytest shows of each failure above the sections of what was captured."""
    pytester.makepyfile(FAILURES)
    result = pytester.runpytest("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio")
    result.assert_outcomes(failed=12, errors=1)
    parts = re.split(r"^_{3,} (\S.*?) _{3,}$", result.stdout.str(), flags=re.MULTILINE)
    shown = (re.split(r"^-{3,} .* -{3,}$|^={3,}", part, flags=re.MULTILINE)[0].strip("\n") for part in parts[2::2])
    return dict(zip((name.split()[-1] for name in parts[1::2]), shown, strict=True))


def test_a_failure_shows_the_tests_line_and_the_message(failures: dict[str, str]) -> None:
    for name, shown in failures.items():
        lines = shown.splitlines()
        assert len(lines) <= (26 if name == "test_wait_in_a_loop" else 15), shown  # with the frames of asyncio.run
        assert MESSAGES.get(name, "") in shown
        assert not [each for each in OWN_FRAMES if each in shown], shown
        if name != "test_marker":
            assert any(line.startswith("E  ") for line in lines)
            assert re.search(r"^>  .*kafka_broker|^>  .*odradek|^>  .*held|^>  .*lambda", shown, re.MULTILINE), shown


def test_all_frames_are_shown_if_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(kafka_broker):\n    kafka_broker.kill_node(9)\n")
    result = pytester.runpytest("-q", "-p", "no:cacheprovider", "--full-trace")
    assert "thread_bridge.py" in result.stdout.str()


def test_a_bug_in_odradek_keeps_its_frames(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
def test_it(kafka_broker, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(kafka_broker, "_cluster", None)
        kafka_broker.records("orders")
"""
    )
    result = pytester.runpytest("-q", "-p", "no:cacheprovider")
    assert "facade/broker.py" in result.stdout.str()


def test_a_group_of_errors_and_what_is_behind_an_error_are_shortened(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
def test_it(kafka_broker):
    errors = []
    for _ in range(2):
        try:
            kafka_broker.kill_node(9)
        except ValueError as error:
            errors.append(error)
    raise RuntimeError("the test's own") from ExceptionGroup("both", errors)
"""
    )
    result = pytester.runpytest("-q", "-p", "no:cacheprovider")
    shown = result.stdout.str()
    assert shown.count("no node 9: the cluster has 1") == 2
    assert "thread_bridge" not in shown
    assert "direct cause" in shown
