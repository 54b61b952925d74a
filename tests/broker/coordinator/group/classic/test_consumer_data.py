"""What consumers exchange through the coordinator, as clients write it."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.consumer_data import assigned_partitions
from odradek.protocol.consumer_protocol import AssignedPartitions, ConsumerProtocolAssignment, encode_assignment


def test_a_topic_may_come_twice() -> None:
    """As librdkafka's cooperative-sticky assignor writes it where a member gets back what another had."""
    parts = [("a", [2, 0]), ("b", [1]), ("a", [1])]
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedPartitions(topic=topic, partitions=indexes) for topic, indexes in parts]
    )
    assert assigned_partitions(encode_assignment(assignment, 0)) == {"a": (2, 0, 1), "b": (1,)}
