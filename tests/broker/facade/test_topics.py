"""Topics as a user sees them."""

from __future__ import annotations

from odradek.broker.facade.topics import topic_info
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.data_plane import DataPlane


def test_a_topic_shows_its_partitions_and_what_was_set_on_it() -> None:
    plane = DataPlane(nodes=3)
    topic = plane.topic("a", 2, retention_ms="5")
    plane.produce("a", 3, partition=1, node=topic.partitions[1].leader_id)
    info = topic_info(topic)
    assert (info.name, info.topic_id, info.internal) == ("a", uuid_to_text(topic.topic_id), False)
    assert info.config == {"retention.ms": "5"}
    assert [(each.index, each.log_start_offset, each.high_watermark) for each in info.partitions] == [
        (0, 0, 0),
        (1, 0, 3),
    ]
    for shown, partition in zip(info.partitions, topic.partitions, strict=True):
        assert (shown.leader, list(shown.replicas), list(shown.isr)) == (
            partition.leader_id,
            list(partition.replicas),
            list(partition.isr),
        )
