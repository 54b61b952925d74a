"""Topics as a user sees them."""

from __future__ import annotations

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo, topic_info
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.data_plane import DataPlane


def test_a_topic_shows_its_partitions_and_what_was_set_on_it() -> None:
    plane = DataPlane(nodes=3)
    topic = plane.topic("a", 2, retention_ms="5")
    plane.produce("a", 3, partition=1, node=topic.partitions[1].leader_id)
    info = topic_info(topic, plane.cluster.image)
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


def test_a_partition_shows_its_reassignment_and_who_may_lead_it() -> None:
    config = {"min.insync.replicas": 2}
    with KafkaBroker(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 3, "config": config}}) as broker:
        broker.reassign("t", 0, [1, 2])

        def partition() -> PartitionInfo:
            return broker.topics["t"].partitions[0]

        with broker.cut(1, 3):
            broker.produce("t", "one")
            broker.reassign("t", 0, [1, 3])
            assert (partition().adding, partition().removing) == ((3,), (2,))
        assert (partition().adding, partition().removing, partition().replicas) == ((), (), (1, 3))
        broker.kill_node(3)
        assert (partition().isr, partition().elr, partition().last_known_elr) == ((1,), (3,), ())
        broker.kill_node(1)
        assert (partition().leader, partition().isr, partition().elr) == (-1, (), (1, 3))
        assert partition().last_known_elr == (1,)
