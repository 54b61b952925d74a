"""Routing: the partition of a key."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.routing import partition_for
from odradek.protocol.java_maps import signed_hash_of_text


def test_the_smallest_hash_counts_as_zero() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_a_negative_hash_counts_by_its_size() -> None:
    assert signed_hash_of_text("billing") < 0
    assert partition_for("billing", 7) == -signed_hash_of_text("billing") % 7


@pytest.mark.parametrize(("group", "partition"), [("g-jg-v4", 0), ("g-jg-v3", 1), ("g-jg-v6", 3), ("g-jg-v0", 4)])
def test_groups_go_where_a_real_broker_stored_them(group: str, partition: int) -> None:
    """As seen in the log directory of a Kafka 4.3.1 with five partitions."""
    assert partition_for(group, 5) == partition
