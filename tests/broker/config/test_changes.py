"""What a change makes of the settings of a resource, and what of it is refused; texts as Kafka 4.3.1 answers."""

from __future__ import annotations

import pytest

from odradek.broker.config.changes import (
    Assignment,
    Change,
    Operation,
    check_change,
    checked_node,
    operation_name,
    result_of,
)
from odradek.broker.config.definition import keys_of
from odradek.protocol.errors import ErrorCode, KafkaError

KEYS = keys_of("topic")
TOPIC = 2


def change(*assignments: tuple[str, str | None, int], replaces: bool = False) -> Change:
    return Change(TOPIC, "t", [Assignment(*each) for each in assignments], replaces)


def after(current: dict[str, str], *assignments: tuple[str, str | None, int], replaces: bool = False) -> dict[str, str]:
    return result_of(change(*assignments, replaces=replaces), current, KEYS, lambda name: "delete")


def test_set_and_delete() -> None:
    current = {"retention.ms": "1", "segment.ms": "2"}
    assert after(current, ("retention.ms", "5", Operation.SET)) == {"retention.ms": "5", "segment.ms": "2"}
    assert after(current, ("retention.ms", None, Operation.DELETE)) == {"segment.ms": "2"}
    assert after(current, ("absent", None, Operation.DELETE)) == current
    assert current == {"retention.ms": "1", "segment.ms": "2"}


def test_a_change_that_replaces_starts_from_nothing() -> None:
    assert after({"segment.ms": "2"}, ("retention.ms", "5", Operation.SET), replaces=True) == {"retention.ms": "5"}


@pytest.mark.parametrize(
    ("current", "text", "operation", "expected"),
    [
        ({}, "compact", Operation.APPEND, "delete,compact"),
        ({"cleanup.policy": "compact"}, "delete,compact", Operation.APPEND, "compact,delete"),
        ({"cleanup.policy": "compact,delete"}, "delete", Operation.SUBTRACT, "compact"),
        ({}, " delete ", Operation.SUBTRACT, ""),
    ],
)
def test_lists_grow_and_shrink(current: dict[str, str], text: str, operation: Operation, expected: str) -> None:
    assert after(current, ("cleanup.policy", text, operation)) == {"cleanup.policy": expected}


def test_only_lists_grow_and_shrink() -> None:
    with pytest.raises(KafkaError, match=r"Can't APPEND to key retention\.ms because its type is not LIST") as caught:
        after({}, ("retention.ms", "1", Operation.APPEND))
    assert caught.value.code is ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        ([("a", "1", 0), ("a", None, 1)], "duplicate config keys"),
        ([("a", None, 0), ("b", None, 1), ("c", None, 2)], "Null value not supported for : a, c"),
    ],
)
def test_refused_changes(assignments: list[tuple[str, str | None, int]], message: str) -> None:
    with pytest.raises(KafkaError, match=message) as caught:
        check_change(change(*assignments))
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_an_unknown_operation() -> None:
    assert operation_name(3) == "SUBTRACT"
    with pytest.raises(KafkaError) as caught:
        operation_name(4)
    assert (caught.value.code, caught.value.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


def test_the_node_that_a_name_means() -> None:
    assert checked_node("", 1, "") is None
    assert checked_node("1", 1, "") == 1
    with pytest.raises(KafkaError, match="must be an integer, but it is: x"):
        checked_node("x", 1, "")
    with pytest.raises(KafkaError, match="expected 1, but received 2"):
        checked_node("2", 1, "expected {}, but received {}")
