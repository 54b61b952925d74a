"""What groups store of their topics: Kafka 4.0 the topics, later releases a hash."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.records import decode_value, record_type_of
from odradek.broker.coordinator.group.topics import StoredTopics
from odradek.protocol.generated.stored.consumer_group_metadata import ConsumerGroupMetadataValue
from odradek.protocol.generated.stored.consumer_group_partition_metadata import ConsumerGroupPartitionMetadataValue
from tests.fakes.consumer_group_driver import ConsumerDriver
from tests.fakes.journal import FakeJournal

EPOCH, TOPICS = ConsumerGroupMetadataValue.RECORD_TYPE, ConsumerGroupPartitionMetadataValue.RECORD_TYPE


def driver(release: str, before: ConsumerDriver | None = None) -> ConsumerDriver:
    """A coordinator of a release; after another one, if there was one, with its log and its topics."""
    config = {"odradek.kafka.version": release}
    if before is None:
        return ConsumerDriver(config)
    loaded = ConsumerDriver(config, journal=before.journal, topics=before.topics)
    while not loaded.shard.is_active:
        loaded.shard.load_slice()
    return loaded


def stored(journal: FakeJournal) -> Iterator[int | dict[str, int] | None]:
    """Of each epoch the number, of each record of topics their partitions; None where one is deleted."""
    for batch in journal.batches:
        for record in batch.records():
            assert record.key is not None
            kind = record_type_of(record.key)
            if kind == EPOCH and record.value is not None:
                yield decode_value(ConsumerGroupMetadataValue, record.value).epoch
            elif kind == TOPICS:
                value = record.value
                rows = [] if value is None else decode_value(ConsumerGroupPartitionMetadataValue, value).topics
                yield None if value is None else {row.topic_name: row.num_partitions for row in rows}


def topics_of(group: ConsumerGroup | None) -> tuple[int, int, StoredTopics | None]:
    assert group is not None
    return group.epoch, group.metadata_hash, group.stored_topics


def test_topics_come_before_the_epoch_that_they_begin() -> None:
    group = driver("4.0")
    group.join("a", ["t", "u", "none"])
    group.join("b", ["t"])
    group.change_topic("u", 3)
    group.beat("a", 1)
    group.beat("a", -1)
    group.beat("b", -1)
    assert list(stored(group.journal)) == [{"t": 4, "u": 2}, 1, 2, {"t": 4, "u": 3}, 3, {"t": 4}, 4, {}, 5]
    assert topics_of(group.rebuilt()) == topics_of(group.group) == (5, 0, {})


def test_topics_are_stored_in_the_order_of_a_map() -> None:
    group = driver("4.0")
    for name in ("b", "e"):
        group.topics.put(name, 1)
    group.join("a", ["b", "e"])
    first = next(stored(group.journal))
    assert isinstance(first, dict)
    assert list(first) == ["e", "b"], "101 is in the second of four slots, 98 in the third"


def test_another_coordinator_finds_the_same_topics() -> None:
    group = driver("4.0")
    group.join("a", ["t", "u"])
    assert driver("4.0", group).beat("a", 1, topics=("t", "u")).member_epoch == 1


def test_the_release_that_stores_a_hash_deletes_them() -> None:
    """As a Kafka 4.1.1 that was started with the directory of a 4.0.2."""
    group = driver("4.0")
    group.join("a", ["t"])
    newer = driver("4.1", group)
    assert newer.beat("a", 1, owned={}).member_epoch == 2
    assert list(stored(group.journal)) == [{"t": 4}, 1, 2, None]
    assert newer.group.metadata_hash != 0
    assert topics_of(newer.rebuilt()) == topics_of(newer.group) == (2, newer.group.metadata_hash, None)
