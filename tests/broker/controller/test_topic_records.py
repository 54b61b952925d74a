"""The records of a topic that exists already."""

from __future__ import annotations

from odradek.broker.controller.topic_records import records_of_topic
from odradek.broker.metadata.writer import ImageWriter


def test_the_topic_is_there_as_it_was() -> None:
    records = records_of_topic(
        "a",
        b"a" * 16,
        [[1, 2], [2]],
        {"retention.ms": "5"},
        directory_of=lambda node: bytes([node]) * 16,
        leader_epoch_of=lambda index: 10 + index,
    )
    writer = ImageWriter()
    for offset, record in enumerate(records):
        writer.replay(record, offset, 1)
    topic = writer.image.topics["a"]
    assert [(each.leader, each.leader_epoch, each.isr) for each in topic.partitions] == [(1, 10, (1, 2)), (2, 11, (2,))]
    assert topic.partitions[0].directories == (b"\1" * 16, b"\2" * 16)
    assert writer.image.configs_of(2, "a") == {"retention.ms": "5"}
