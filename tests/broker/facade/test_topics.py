"""Topics: how they are asked for, shown, deleted and emptied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek import KafkaBroker
from odradek.broker.facade.console import PageLooks
from odradek.broker.facade.topics import PartitionInfo, TopicSpec, config_texts, topic_info, topic_specs
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.brokers import broker_fixture
from tests.fakes.data_plane import DataPlane


def test_names_of_topics_are_enough() -> None:
    with odradek.KafkaBroker(topics=["orders", "payments"]) as broker:
        assert {name: len(info.partitions) for name, info in broker.topics.items()} == {
            "orders": 1,
            "payments": 1,
        }


@pytest.mark.parametrize(
    ("topics", "error", "message"),
    [
        ("orders", TypeError, "topics='orders': expected names in a list"),
        (6, TypeError, "topics=6: expected names in a list"),
        (["a", "a"], ValueError, "a topic is named twice"),
        ({"orders": "6"}, TypeError, "topic 'orders': expected a number of partitions"),
        ({"orders": {"partition": 6}}, ValueError, "topic 'orders': a topic has config, partitions"),
    ],
)
def test_topics_that_make_no_sense(topics: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        odradek.KafkaBroker(topics=topics)


def test_every_way_to_ask_for_a_topic() -> None:
    spec = TopicSpec(3, 2, {"retention.ms": "5"})
    asked = {"partitions": 3, "replication_factor": 2, "config": {"retention.ms": 5}}
    assert topic_specs({"a": spec, "b": asked, "c": 6}) == {"a": spec, "b": spec, "c": TopicSpec(6)}


def test_config_values_become_the_text_of_kafkas_files() -> None:
    values = {"a": True, "b": ["compact", "delete"], "c": 1.5, "d": "x"}
    assert config_texts(values) == {"a": "true", "b": "compact,delete", "c": "1.5", "d": "x"}


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
        broker.topic("t").reassign(0, [1, 2])

        def partition() -> PartitionInfo:
            return broker.topics["t"].partitions[0]

        with broker.cut(1, 3):
            broker.produce("t", "one")
            broker.topic("t").reassign(0, [1, 3])
            assert (partition().adding, partition().removing) == ((3,), (2,))
        assert (partition().adding, partition().removing, partition().replicas) == ((), (), (1, 3))
        broker.kill_node(3)
        assert (partition().isr, partition().elr, partition().last_known_elr) == ((1,), (3,), ())
        broker.kill_node(1)
        assert (partition().leader, partition().isr, partition().elr) == (-1, (), (1, 3))
        assert partition().last_known_elr == (1,)


broker = broker_fixture(topics={"t": 2, "compacted": {"config": {"cleanup.policy": "compact"}}})


def test_a_deleted_topic_is_gone_with_its_offsets(broker: KafkaBroker) -> None:
    broker.group("g").set_offsets({("t", 0): 0, ("compacted", 0): 0})
    broker.topic("t").delete()
    assert list(broker.topics) == ["compacted"]
    assert list(broker.group("g").offsets) == [("compacted", 0)]
    with pytest.raises(KafkaError, match="no topic 't'"):
        broker.topic("t").delete()


def test_records_are_deleted_up_to_an_offset_or_all(broker: KafkaBroker) -> None:
    broker.produce_all("t", ["a", "b", "c", "d", "e", "f"])
    ends = {each.index: each.high_watermark for each in broker.topics["t"].partitions}
    assert broker.topic("t").delete_records(0, before=1) == {0: 1}
    assert broker.topic("t").delete_records(0, before=0) == {0: 1}
    assert len(list(broker.records("t"))) == 5
    assert broker.topic("t").delete_records() == ends
    assert list(broker.records("t")) == []


def test_what_kafka_refuses_is_refused_and_changes_nothing(broker: KafkaBroker) -> None:
    broker.produce("t", "a", partition=0)
    for arguments, code in (
        (("t", 0, 2), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("t", None, 1), ErrorCode.OFFSET_OUT_OF_RANGE),
        (("t", 7, -1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (("compacted", None, -1), ErrorCode.POLICY_VIOLATION),
    ):
        name, index, before = arguments
        with pytest.raises(KafkaError) as caught:
            broker.topic(name).delete_records(index, before=before)
        assert caught.value.code is code
    assert [record.value for record in broker.records("t")] == [b"a"]


@pytest.mark.parametrize("partitions", [10_001, 1_000_000, 2**63])
def test_more_partitions_than_kafka_makes_at_once_are_refused(broker: KafkaBroker, partitions: int) -> None:
    before = set(broker.topics)
    with pytest.raises(KafkaError, match=r"Excessively large number of partitions per request\.") as refused:
        broker.create_topic("large", partitions)
    assert refused.value.code == ErrorCode.POLICY_VIOLATION
    assert set(broker.topics) == before


def test_looking_at_a_topic_makes_no_log(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path) as broker:
        made = broker.create_topic("t", 3)
        assert made == broker.topic("t").info == broker.topics["t"]
        assert [(each.log_end_offset, each.size_bytes, each.replica_ends) for each in made.partitions] == [
            (0, 0, {1: 0})
        ] * 3
        (summary,) = PageLooks(broker).topic_page("t").topics
        assert (summary.records, summary.end, summary.size_bytes) == (0, 0, 0)
        assert not list(tmp_path.glob("**/t-*"))
        broker.produce("t", "v", partition=1)
        assert [each.log_end_offset for each in broker.topic("t").partitions] == [0, 1, 0]
        assert [path.name for path in tmp_path.glob("**/t-*")] == ["t-1"]
