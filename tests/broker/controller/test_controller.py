"""The controller as a whole: what is in the log makes the image, live or loaded, in memory or from the disk's bytes."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.cluster import Cluster
from odradek.broker.controller.broker_control import unfence_brokers
from odradek.broker.controller.controller import Controller
from odradek.broker.controller.machine import MemoryMetadataLog, adopt
from odradek.broker.controller.partition_control import Reassignment, elect_leaders, reassign_partitions
from odradek.broker.controller.topic_control import (
    NewPartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
)
from odradek.broker.metadata.image import MetadataDelta, MetadataImage
from odradek.broker.nodes.node_life import move_leader
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.remove_topic_record import RemoveTopicRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.configs import set_configs
from tests.fakes.data_plane import DataPlane
from tests.fakes.examples import examples
from tests.fakes.images import picture
from tests.fakes.nodes import set_node_up

NAMES = st.sampled_from(["a", "a.b", "a_b", "c"])
REPLICAS = st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NAMES, st.integers(1, 3)),
        st.tuples(st.just("grow"), NAMES, st.integers(1, 5)),
        st.tuples(st.just("delete"), NAMES, st.none()),
        st.tuples(st.just("configure"), NAMES, st.sampled_from(["5", "6", ""])),
        st.tuples(st.just("node"), st.integers(1, 3), st.booleans()),
        st.tuples(st.just("elect"), NAMES, st.booleans()),
        st.tuples(st.just("reassign"), NAMES, REPLICAS),
        st.tuples(st.just("ids"), st.integers(1, 3), st.none()),
        st.tuples(st.just("move"), st.none(), st.none()),
    ),
    max_size=25,
)


def carry_out(cluster: Cluster, kind: str, what: object, how: object) -> None:
    """One step of a history; what Kafka would refuse is refused."""
    ask = cluster.controller.ask
    name = str(what)
    if kind == "create":
        ask(create_topics, [NewTopic(name, how, how)])  # type: ignore[arg-type]
    elif kind == "grow":
        ask(create_partitions, [NewPartitions(name, how)])  # type: ignore[arg-type]
    elif kind == "delete":
        topic = cluster.image.topics.get(name)
        ask(delete_topics, [b"?" * 16 if topic is None else topic.topic_id])
    elif kind == "configure" and name in cluster.image.topics:
        set_configs(cluster, 2, name, {"retention.ms": str(how)} if how else {"min.insync.replicas": "2"})
    elif kind == "node":
        set_node_up(cluster, what, how)  # type: ignore[arg-type]
    elif kind == "elect":
        ask(elect_leaders, [(name, 0)], unclean=bool(how))
    elif kind == "reassign":
        ask(reassign_partitions, [Reassignment((name, 0), how)])  # type: ignore[arg-type]
    elif kind == "ids":
        cluster.controller.producer_ids.allocate(what)  # type: ignore[arg-type]


def check(cluster: Cluster) -> None:
    """What must hold of every image, and of what follows it."""
    image = cluster.image
    active = {broker.id for broker in image.active_brokers()}
    assert {node.id for node in cluster.up_nodes()} == active
    assert {topic.name for topic in cluster.topics.all()} == set(image.topics)
    for topic in image.topics.values():
        live = cluster.topics.by_id(topic.topic_id)
        assert live is not None
        assert len(live.partitions) == len(topic.partitions)
        for partition, registered in zip(live.partitions, topic.partitions, strict=True):
            assert partition.leader_id == registered.leader
            assert partition.leader_epoch == registered.leader_epoch
            assert (partition.replicas, partition.isr) == (registered.replicas, registered.isr)
            assert registered.leader == -1 or registered.leader in active
            assert registered.leader == -1 or registered.leader in registered.isr
            assert set(registered.isr) <= set(registered.replicas)
            assert not set(registered.isr) & set(registered.elr)
            assert len(registered.directories) == len(registered.replicas)


@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
def test_live_and_loaded_are_the_same(steps: list[tuple[str, object, object]]) -> None:
    cluster = Cluster(nodes=3)
    log = cluster.controller.log
    assert isinstance(log, MemoryMetadataLog)
    for kind, what, how in steps:
        carry_out(cluster, kind, what, how)
        check(cluster)
        if kind == "move":
            log._max_records = 0  # a snapshot is due with the next command
    assert reloaded(cluster, log) == picture(cluster.image)


def reloaded(cluster: Cluster, log: MemoryMetadataLog) -> dict[str, object]:
    other = Controller(cluster.config, cluster.clock, 1, lambda where, error: pytest.fail(f"{where}: {error}"))
    other.open(log)
    return picture(other.image)


@settings(max_examples=examples(15), deadline=None)
@given(STEPS)
def test_the_disk_says_the_same_as_memory(steps: list[tuple[str, object, object]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        config = {"metadata.log.max.record.bytes.between.snapshots": "700"}
        cluster = Cluster(nodes=3, data_dir=Path(directory), config=config)
        cluster.open_directory()
        for kind, what, how in steps:
            carry_out(cluster, kind, what, how)
            check(cluster)
        before = picture(cluster.image)
        cluster.controller._shard.reload()  # type: ignore[union-attr]
        cluster.controller._shard.finish_loading()  # type: ignore[union-attr]
        assert picture(cluster.image) == before
        check(cluster)
        cluster.close_logs()


def test_publishers_hear_of_each_change_once_and_before_its_reply() -> None:
    cluster = Cluster()
    heard: list[tuple[list[str], list[str], int]] = []

    def publish(delta: MetadataDelta, image: MetadataImage) -> None:
        names = [topic.name for topic in delta.created.values()]
        heard.append((names, [topic.name for topic in delta.deleted.values()], image.offset))

    cluster.controller.follow(publish)
    topic = cluster.create_topic("a")
    offset = cluster.image.offset
    assert heard == [(["a"], [], offset)]
    cluster.controller.delete_topic(topic.topic_id)
    assert heard[1:] == [([], ["a"], offset + 1)]
    with pytest.raises(KafkaError):
        cluster.controller.delete_topic(topic.topic_id)
    cluster.controller.producer_ids.allocate(1)
    assert len(heard) == 2


def test_a_new_log_begins_as_kafkas_does() -> None:
    cluster = Cluster()
    log = cluster.controller.log
    assert isinstance(log, MemoryMetadataLog)
    names = [[type(record).__name__ for record in batch.records] for batch in log.batches]
    assert names == [
        ["BeginTransactionRecord", *["FeatureLevelRecord"] * 6, "ConfigRecord", "EndTransactionRecord"],
        ["RegisterControllerRecord"],
        ["RegisterBrokerRecord"],
        ["BrokerRegistrationChangeRecord"],
    ]
    assert [batch.base_offset for batch in log.batches] == [1, 10, 11, 12]
    assert cluster.image.brokers[1].epoch == 11


def test_a_transaction_that_a_dead_controller_left_open_is_given_up() -> None:
    cluster = Cluster()
    log = cluster.controller.log
    assert isinstance(log, MemoryMetadataLog)
    log.append([BeginTransactionRecord("x"), TopicRecord("lost", b"l" * 16)], 0)
    other = Controller(cluster.config, cluster.clock, 1, lambda where, error: None)
    other.open(log)
    other.create_topic(NewTopic("a", 1))
    assert set(other.image.topics) == {"a"}
    assert log.leader_epoch == 2


def test_a_record_that_cannot_be_replayed_is_a_bug_and_the_log_is_read_again() -> None:
    cluster = Cluster()
    bugs: list[str] = []
    controller = Controller(cluster.config, cluster.clock, 1, lambda where, error: bugs.append(where))
    controller.open(MemoryMetadataLog())
    image = controller.image
    with pytest.raises(KafkaError) as refused:
        controller.ask(adopt, [TopicRecord("a", b"a" * 16), RemoveTopicRecord(b"?" * 16)])
    assert refused.value.code is ErrorCode.NOT_COORDINATOR
    assert bugs
    assert controller.image is image


def test_an_unopened_controller_says_so() -> None:
    cluster = Cluster()
    controller = Controller(cluster.config, cluster.clock, 1, lambda where, error: None)
    with pytest.raises(RuntimeError, match="not open"):
        controller.create_topic(NewTopic("a"))
    assert controller.next_offset == 0
    controller.post(unfence_brokers, [1])  # nobody waits for it


# -- followers of the image: the log of changes, and the configuration in force


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "odradek.broker.controller")
    return caplog


def lines(told: pytest.LogCaptureFixture) -> list[str]:
    """What was told since the last call."""
    messages = [record.getMessage() for record in told.records]
    told.clear()
    return messages


def test_topics_are_created_grow_and_are_deleted(told: pytest.LogCaptureFixture) -> None:
    plane = DataPlane()
    lines(told)
    topic = plane.topic("a", 2, retention_ms="5")
    assert lines(told) == ["topic a is created: 2 partitions", "configs of topic a at first: retention.ms=5"]
    plane.cluster.controller.create_partitions("a", 3)
    assert lines(told) == ["topic a has 3 partitions now"]
    plane.cluster.controller.delete_topic(topic.topic_id)
    assert lines(told)[0] == "topic a is deleted"
    assert len(uuid_to_text(topic.topic_id)) == 22


def test_controller_logs_leaders_that_move(told: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", partitions=1, replication_factor=2)
    (partition,) = cluster.topics.all()[0].partitions
    lines(told)
    other = 3 - partition.leader_id
    move_leader(cluster, "a", 0, other)
    assert lines(told) == [f"a-0 is led by broker {other}, epoch 1, in sync [1, 2]"]


def test_many_changes_at_once_are_summed_up(told: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("many", partitions=40, replication_factor=2)
    lines(told)
    cluster.membership.lose(2)
    messages = lines(told)
    assert len(messages) == 21
    assert messages[-1].startswith("and ")


# -- Dynamic broker configs: what the image says is in force, but for what odradek does not know.


def test_cluster_wide_and_single_values_are_in_force_and_go() -> None:
    cluster = Cluster(nodes=2)
    name = "log.cleaner.backoff.ms"
    cluster.controller.ask(adopt, [ConfigRecord(4, "", name, "5"), ConfigRecord(4, "2", name, "7")])
    assert [cluster.config.get_int(name, node) for node in (1, 2)] == [5, 7]
    cluster.controller.ask(adopt, [ConfigRecord(4, "2", name, None)])
    assert cluster.config.get_int(name, 2) == 5


def test_controller_adopts_configs_of_plugins_and_leaves_out_malformed_ones(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()
    records = [ConfigRecord(4, "", "my.plugin.x", "5"), ConfigRecord(4, "", "log.cleaner.threads", "many")]
    cluster.controller.ask(adopt, [*records, ConfigRecord(4, "", "log.cleaner.backoff.ms", "5")])
    assert cluster.config.get_int("log.cleaner.backoff.ms") == 5
    assert cluster.config.dynamic_default.keys() == {"min.insync.replicas", "log.cleaner.backoff.ms", "my.plugin.x"}
    assert "log.cleaner.threads" in caplog.text
