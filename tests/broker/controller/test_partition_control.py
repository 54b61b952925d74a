"""Elections, nodes that go and come back, replicas that move."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.broker_control import unfence_brokers
from odradek.broker.controller.partition_control import (
    Reassignment,
    assign_replicas,
    elect_leaders,
    reassign_partitions,
)
from odradek.broker.controller.state import MetadataState
from odradek.broker.metadata.image import (
    ELR_VERSION,
    BrokerRegistration,
    Ids,
    MetadataImage,
    PartitionRegistration,
    TopicImage,
)
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from tests.fakes.nodes import set_node_up


def state(partition: Partition) -> tuple[int, int, tuple[int, ...]]:
    """(leader, leader epoch, ISR)."""
    return partition.leader_id, partition.leader_epoch, partition.isr


def elect(cluster: Cluster, *, unclean: bool) -> ErrorCode | None:
    """Elect a leader for a-0: the code of the refusal, if it was refused."""
    (error,) = cluster.controller.ask(elect_leaders, [("a", 0)], unclean=unclean)
    return None if error is None else error.code


def reassign(cluster: Cluster, replicas: list[int]) -> None:
    assert cluster.controller.ask(reassign_partitions, [Reassignment(("a", 0), replicas)]) == [None]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(nodes=3)


def test_another_replica_takes_over_and_keeps_leading(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    set_node_up(cluster, 1, False)
    assert state(partition) == (2, 1, (2,))
    set_node_up(cluster, 1, True)
    assert state(partition) == (2, 1, (1, 2))
    assert elect(cluster, unclean=False) is None
    assert state(partition) == (1, 2, (1, 2))


def test_without_live_replica_there_is_no_leader(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [2]}).partitions[0]
    set_node_up(cluster, 2, False)
    assert state(partition) == (-1, 1, ())
    assert elect(cluster, unclean=True) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    set_node_up(cluster, 2, True)
    assert state(partition) == (2, 2, (2,))


def test_elections_that_are_not_needed_or_cannot_be(cluster: Cluster) -> None:
    cluster.create_topic("a", assignments={0: [1, 2]})
    for unclean in (False, True):
        assert elect(cluster, unclean=unclean) is ErrorCode.ELECTION_NOT_NEEDED
    set_node_up(cluster, 1, False)
    assert elect(cluster, unclean=False) is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE


def test_replicas_move_and_the_leader_stays_if_it_can(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    reassign(cluster, [3, 1])
    assert (partition.replicas, state(partition)) == ((3, 1), (1, 1, (1, 3)))
    reassign(cluster, [3, 2])
    assert (partition.replicas, state(partition)) == ((3, 2), (3, 2, (3, 2)))


def test_a_node_that_is_up_already_changes_nothing(cluster: Cluster) -> None:
    before = cluster.image.offset
    cluster.controller.ask(unfence_brokers, [1])
    assert cluster.image.offset == before
    with pytest.raises(KafkaError) as refused:
        cluster.controller.ask(unfence_brokers, [9])
    assert refused.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_broker_says_where_its_replicas_are(cluster: Cluster) -> None:
    cluster.create_topic("a", assignments={0: [1, 2]})
    topic = cluster.image.topics["a"]
    before = topic.partitions[0]
    assert len(before.replicas) > 1
    node, directory, foreign = before.replicas[1], bytes(15) + b"\x09", bytes(15) + b"\x0a"
    stranger = max(cluster.nodes) + 1
    cluster.controller.ask(assign_replicas, node, [(topic.topic_id, 0, directory), (topic.topic_id, 99, directory)])
    after = cluster.image.topics["a"].partitions[0]
    assert after.directories == (before.directories[0], directory, *before.directories[2:])
    assert (after.leader_epoch, after.partition_epoch) == (before.leader_epoch, before.partition_epoch + 1)
    end = cluster.controller.next_offset
    cluster.controller.ask(assign_replicas, node, [(topic.topic_id, 0, directory), (bytes(16), 0, directory)])
    cluster.controller.ask(assign_replicas, stranger, [(topic.topic_id, 0, foreign)])
    assert cluster.controller.next_offset == end


# -- What a reassignment makes of a partition, and what cancelling it does: the rare cases.

TOPIC = b"t" * 16


def image_of(partition: PartitionRegistration, live: Ids) -> MetadataImage:
    writer = ImageWriter()
    writer.replay(FeatureLevelRecord(ELR_VERSION, 1), 0, 1)
    image = writer.image
    topic = TopicImage("a", TOPIC, [partition], 1)
    image.topics["a"] = image.topics_by_id[TOPIC] = topic
    for node in range(1, 7):
        image.brokers[node] = BrokerRegistration(node, 1, b"", (), {}, None, node not in live, False, ())
    return image


def registered(replicas: Ids, isr: Ids, leader: int, *, adding: Ids = (), removing: Ids = ()) -> PartitionRegistration:
    return PartitionRegistration(replicas, isr, leader, 5, 7, (bytes(16),) * len(replicas), adding, removing)


def asked(
    partition: PartitionRegistration,
    replicas: list[int] | None,
    *,
    unclean: bool = False,
    live: Ids = (1, 2, 3, 4, 5, 6),
) -> PartitionChangeRecord | None:
    config = BrokerConfig({"unclean.leader.election.enable": str(unclean).lower()})
    state = MetadataState(image_of(partition, live), config, 1)
    records, [error] = reassign_partitions(state, [Reassignment(("a", 0), replicas)])
    if error is not None:
        raise error
    assert all(isinstance(record, PartitionChangeRecord) for record in records)
    return records[0] if records else None  # type: ignore[return-value]


def changed(record: PartitionChangeRecord | None) -> tuple[list[int] | None, list[int] | None, list[int] | None]:
    """(replicas, adding, removing)."""
    assert record is not None
    return record.replicas, record.adding_replicas, record.removing_replicas


def test_replicas_that_come_stand_before_those_that_go() -> None:
    record = asked(registered((1, 2, 3), (1, 2, 3), 1), [5, 4, 3])
    assert changed(record) == ([5, 4, 3, 1, 2], [4, 5], [1, 2])


def test_what_a_reassignment_under_way_adds_is_taken_away_by_the_next() -> None:
    under_way = registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,))
    assert changed(asked(under_way, [3, 2])) == ([3, 2, 1, 4], [3], [1, 4])


def test_the_same_again_changes_nothing() -> None:
    assert asked(registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,)), [4, 2]) is None


def test_fewer_replicas_wait_for_all_that_stay() -> None:
    """With one of those that stay out of sync, the one that goes is still worth having."""
    record = asked(registered((1, 2, 3), (1, 2), 1), [2, 3])
    assert changed(record) == ([2, 3, 1], None, [1])


def test_cancelling_takes_back_what_was_added() -> None:
    record = asked(registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,)), None)
    assert changed(record) == ([2, 1], [], [])
    assert record is not None
    assert record.leader == 1, "a replica less is a new epoch"


def test_cancelling_with_only_new_replicas_in_sync_would_be_unclean() -> None:
    under_way = registered((4, 2, 1), (4,), 4, adding=(4,), removing=(1,))
    with pytest.raises(KafkaError) as refused:
        asked(under_way, None)
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.message == (
        "Unable to revert partition assignment for a:0 because it would require an unclean leader election."
    )
    record = asked(under_way, None, unclean=True)
    assert changed(record) == ([2, 1], [], [])
    assert record is not None
    assert (record.leader, record.isr) == (2, [2])
