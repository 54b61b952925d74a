"""Markers in the partitions of a transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.coordinator.transaction.markers import MarkerWriter, is_gone
from odradek.broker.partitions.partition import Partition
from odradek.broker.runtime.machine import Producer
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import iter_batches
from tests.fakes.data_plane import DataPlane
from tests.fakes.nodes import set_node_up

E = ErrorCode
PRODUCER = Producer(7, 2)


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(nodes=2, topics={"t": 2})


def first(plane: DataPlane) -> Partition:
    topic = plane.cluster.topics.get("t")
    assert topic is not None
    return topic.partitions[0]


def writer_of(plane: DataPlane) -> MarkerWriter:
    return plane.cluster.transactions.markers


def write(plane: DataPlane, topic: str = "t", index: int = 0, producer: Producer = PRODUCER, **options: object) -> None:
    writer_of(plane).write(topic, index, producer, commit=True, coordinator_epoch=0, **options)  # type: ignore[arg-type]


def code_of(action: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        action()
    return caught.value.code


def produce_in_transaction(plane: DataPlane, producer_epoch: int = 2) -> None:
    batch = plane.batch(1, producer_id=7, producer_epoch=producer_epoch, base_sequence=0, transactional=True)
    first(plane).append(bytes(batch), now_ms=plane.cluster.clock.now_ms())


def test_a_marker_is_a_control_batch_of_the_producer(plane: DataPlane) -> None:
    write(plane)
    log = first(plane).log
    (batch,) = [
        batch
        for part in log.read(0, max_bytes=1000, up_to_offset=log.log_end_offset).parts
        for batch in iter_batches(part)
    ]
    assert batch.is_control
    assert batch.is_transactional
    assert (batch.producer_id, batch.producer_epoch) == PRODUCER


def test_partitions_that_are_not_there_are_gone(plane: DataPlane) -> None:
    for topic, index in (("t", 2), ("t", -1), ("nope", 0)):
        with pytest.raises(KafkaError) as caught:
            write(plane, topic, index)
        assert caught.value.code is E.UNKNOWN_TOPIC_OR_PARTITION
        assert is_gone(caught.value)


def test_a_marker_needs_a_producer(plane: DataPlane) -> None:
    assert code_of(lambda: write(plane, producer=Producer(-1, 0))) is E.UNKNOWN_SERVER_ERROR
    assert code_of(lambda: write(plane, producer=Producer(7, -1))) is E.UNKNOWN_SERVER_ERROR


def test_only_a_leader_takes_it_and_without_one_it_is_left_out(plane: DataPlane) -> None:
    leader = first(plane).leader_id
    nodes = plane.cluster.nodes
    write(plane, node=nodes[leader])
    assert code_of(lambda: write(plane, node=nodes[3 - leader])) is E.NOT_LEADER_OR_FOLLOWER
    set_node_up(plane.cluster, leader, False)
    with pytest.raises(KafkaError) as caught:
        write(plane)
    assert is_gone(caught.value)  # as Kafka has it
    assert code_of(lambda: write(plane, node=nodes[leader])) is E.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_the_coordinator_does_not_reach_is_tried_again(plane: DataPlane) -> None:
    cluster = plane.cluster
    leader = first(plane).leader_id
    cuts = {frozenset((leader, 3 - leader))}
    writer = MarkerWriter(cluster.topics, cluster.nodes, cluster.services.groups, cluster.clock, cuts)
    with pytest.raises(KafkaError) as caught:
        writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0, coordinator_id=3 - leader)
    assert not is_gone(caught.value)
    writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0, coordinator_id=leader)


def test_a_leader_that_is_frozen_is_tried_again(plane: DataPlane) -> None:
    cluster = plane.cluster
    frozen = {first(plane).leader_id}
    writer = MarkerWriter(cluster.topics, cluster.nodes, cluster.services.groups, cluster.clock, frozen=frozen)
    end = first(plane).log.log_end_offset
    with pytest.raises(KafkaError) as caught:
        writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0)
    assert not is_gone(caught.value)
    assert first(plane).log.log_end_offset == end
    frozen.clear()
    writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0)


def test_version_2_needs_a_newer_epoch_while_the_transaction_is_open(plane: DataPlane) -> None:
    produce_in_transaction(plane)
    assert code_of(lambda: write(plane, transaction_version=2)) is E.INVALID_PRODUCER_EPOCH
    write(plane, producer=Producer(7, 3), transaction_version=2)
    write(plane, producer=Producer(7, 3), transaction_version=2)


def test_a_marker_for_offsets_goes_through_the_group_coordinator(plane: DataPlane) -> None:
    asked: list[tuple[int, Producer, bool]] = []

    class Groups:
        def complete_transaction(
            self, partition: int, producer: Producer, commit: bool, coordinator_epoch: int, node: object = None
        ) -> int:
            asked.append((partition, producer, commit))
            return 0

    plane.cluster.groups.topic.ensure()
    cluster = plane.cluster
    writer = MarkerWriter(cluster.topics, cluster.nodes, Groups, cluster.clock)
    writer.write("__consumer_offsets", 3, PRODUCER, commit=False, coordinator_epoch=0)
    assert asked == [(3, PRODUCER, False)]
