"""Matchers pass, and fail with what a reader needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from odradek import matchers
from odradek.broker.facade.threaded import KafkaBroker


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"orders": 2}) as started:
        started.produce("orders", "one", key="a", partition=0)
        started.produce("orders", "two", partition=1)
        started.produce("orders", "pending", partition=1, transactional_id="p-1", transaction="open")
        started.group("g").set_offsets({("orders", 0): 0})
        yield started


def test_assert_records_passes_as_expected(broker: KafkaBroker) -> None:
    matchers.assert_records(broker, "orders", ["one", b"two"], keys=["a", None])
    matchers.assert_records(broker, "orders", ["two", "one"], in_order=False)
    matchers.assert_records(broker, "orders", ["two", "pending"], partition=1, isolation="read_uncommitted")
    matchers.assert_count(broker, "orders", 2)
    matchers.assert_committed(broker, "g", {("orders", 0): 0})
    matchers.assert_transaction(broker, "p-1", "Ongoing")
    matchers.assert_no_open_transactions(broker, "another")
    matchers.assert_exactly_once(broker, "orders", ["two", "one"])
    broker.group("h").set_offsets({("orders", 0): 1, ("orders", 1): 2})
    matchers.assert_all_read(broker, "h")


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            lambda b: matchers.assert_records(b, "orders", ["one", "three"]),
            "topic 'orders' holds 2 records (read_committed), not these 2 values\n  missing: b'three'\n"
            "  not expected: b'two' at orders-1@0\n  expected: b'one', b'three'\n  found:    b'one', b'two'",
        ),
        (lambda b: matchers.assert_records(b, "orders", ["two", "one"]), "holds these values in another order"),
        (
            lambda b: matchers.assert_count(b, "orders", 5, partition=0),
            "partition orders-0 holds 1 record (read_committed), not 5",
        ),
        (
            lambda b: matchers.assert_committed(b, "g", {("orders", 0): 2, ("orders", 1): 1}),
            "group 'g' has committed other offsets\n  orders-0: committed 0, expected 2\n"
            "  orders-1: committed nothing, expected 1",
        ),
        (lambda b: matchers.assert_committed(b, "h", {}), "group 'h' does not exist; the groups: g"),
        (lambda b: matchers.assert_all_read(b, "g"), "group 'g' has lag 1\n  - group 'g' has no members"),
        (lambda b: matchers.assert_no_open_transactions(b), "1 transactions are open\n  p-1: Ongoing for "),
        (lambda b: matchers.assert_transaction(b, "p-1", "CompleteCommit"), "is in state Ongoing, not CompleteCommit"),
        (lambda b: matchers.assert_transaction(b, "p-2", "Ongoing"), "'p-2' is not known; the ids: p-1"),
        (
            lambda b: matchers.assert_exactly_once(b, "orders", ["one", "three"]),
            "topic 'orders' (read_committed) has not each of 2 values exactly once\n  lost: b'three'\n"
            "  not expected: b'two'",
        ),
    ],
)
def test_assert_records_says_what_differs(broker: KafkaBroker, check: Callable[[KafkaBroker], None], text: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(text)):
        check(broker)


def test_a_record_that_came_twice_is_told_with_its_places(broker: KafkaBroker) -> None:
    broker.produce("orders", "one", partition=0)
    with pytest.raises(AssertionError, match=re.escape("2 times: b'one' at orders-0@0, orders-0@1")):
        matchers.assert_exactly_once(broker, "orders", ["one", "two"])


def test_assert_records_refuses_values_that_are_not_serialized(broker: KafkaBroker) -> None:
    with pytest.raises(TypeError, match="serialize it first"):
        matchers.assert_records(broker, "orders", [1])


def test_json_and_headers_are_compared_as_they_are_written(broker: KafkaBroker) -> None:
    broker.create_topic("carts")
    matchers.assert_records(broker, "carts", [])
    broker.produce("carts", '{"items": 2, "who": "a"}', headers={"source": "web"})
    matchers.assert_records(broker, "carts", [{"who": "a", "items": 2}], headers=[{"source": "web"}])
    with pytest.raises(AssertionError, match=re.escape("""not expected: '{"items": 2, "who": "a"}' at carts-0@0""")):
        matchers.assert_records(broker, "carts", [{"who": "b", "items": 2}])
    with pytest.raises(AssertionError, match=re.escape("not these 1 headers")):
        matchers.assert_records(broker, "carts", headers=[{"source": "app"}])
