"""Changes of settings: what each operation makes of them."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import topic_keys
from odradek.broker.config.changes import Assignment, Change, Operation, check_change, checked_node, result_of
from odradek.protocol.errors import ErrorCode, KafkaError

BEFORE = {"cleanup.policy": "delete", "retention.ms": "5"}


def after(*assignments: Assignment, replaces: bool = False) -> dict[str, str]:
    return result_of(Change(2, "t", assignments, replaces), BEFORE, topic_keys(), lambda name: "")


def test_incremental_alter_configs_has_four_operations() -> None:
    assert after(Assignment("segment.bytes", "1")) == {**BEFORE, "segment.bytes": "1"}
    assert after(Assignment("retention.ms", None, Operation.DELETE)) == {"cleanup.policy": "delete"}
    added = after(Assignment("cleanup.policy", "compact,delete", Operation.APPEND))
    assert added["cleanup.policy"] == "delete,compact"
    assert after(Assignment("cleanup.policy", "delete", Operation.SUBTRACT))["cleanup.policy"] == ""
    assert after(Assignment("segment.bytes", "1"), replaces=True) == {"segment.bytes": "1"}


def test_incremental_alter_configs_appends_to_lists_only() -> None:
    with pytest.raises(KafkaError, match=r"Can't APPEND to key retention\.ms because its type is not LIST"):
        after(Assignment("retention.ms", "6", Operation.APPEND))


def test_nonsense_is_refused_before_anything_else() -> None:
    for assignments in ([Assignment("a", "1"), Assignment("a", "2")], [Assignment("a", None)]):
        with pytest.raises(KafkaError) as refused:
            check_change(Change(2, "t", assignments))
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_a_node_is_the_asked_one_or_all() -> None:
    assert (checked_node("", 1, ""), checked_node("1", 1, "")) == (None, 1)
    with pytest.raises(KafkaError, match="expected 1, got 2"):
        checked_node("2", 1, "expected {}, got {}")


@pytest.mark.parametrize(("replaces", "code"), [(True, -1), (False, 42)])
def test_incremental_alter_configs_with_null_in_release_2_8_is_refused(replaces: bool, code: int) -> None:
    """As a real Kafka 2.8.2 answers AlterConfigs and IncrementalAlterConfigs."""
    change = Change(2, "t", [Assignment("a", None), Assignment("b", "1"), Assignment("c", None, 2)], replaces)
    with pytest.raises(KafkaError) as refused:
        check_change(change, fails_at_nulls=True)
    assert refused.value.code == code
    assert refused.value.message == (None if replaces else "Null value not supported for : SET:a, APPEND:c")
