"""Routing: Java's string hash, and the partition of a key."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.routing import java_string_hash, partition_for


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -2147483648),
        ("Aa", 2112),
        ("BB", 2112),
        ("\u00e9", 233),
        ("\U0001f600", 1772899),
    ],
)
def test_the_hash_is_javas(text: str, value: int) -> None:
    """Values from Java's documentation of the formula, and of well-known strings."""
    assert java_string_hash(text) == value


def test_the_smallest_hash_counts_as_zero() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_a_negative_hash_counts_by_its_size() -> None:
    assert java_string_hash("billing") < 0
    assert partition_for("billing", 7) == -java_string_hash("billing") % 7


@pytest.mark.parametrize(("group", "partition"), [("g-jg-v4", 0), ("g-jg-v3", 1), ("g-jg-v6", 3), ("g-jg-v0", 4)])
def test_groups_go_where_a_real_broker_stored_them(group: str, partition: int) -> None:
    """As seen in the log directory of a Kafka 4.3.1 with five partitions."""
    assert partition_for(group, 5) == partition
