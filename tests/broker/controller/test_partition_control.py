"""Elections, nodes that go and come back, replicas that move."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller import partition_control
from odradek.broker.controller.broker_control import unfence_brokers
from odradek.broker.controller.machine import MetadataState
from odradek.broker.controller.partition_control import (
    NewIsr,
    Reassignment,
    after_loss,
    after_return,
    assign_replicas,
    balance_leaders,
    change_isr,
    elect_leaders,
    elect_uncleanly,
    move_leader,
    reassign_partitions,
)
from odradek.broker.metadata.image import (
    ELR_VERSION,
    LOST_DIRECTORY,
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


def test_partition_leader_that_took_over_keeps_leading(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    set_node_up(cluster, 1, False)
    assert state(partition) == (2, 1, (2,))
    set_node_up(cluster, 1, True)
    assert state(partition) == (2, 1, (1, 2))
    assert elect(cluster, unclean=False) is None
    assert state(partition) == (1, 2, (1, 2))


def test_partition_without_a_live_replica_has_no_leader(cluster: Cluster) -> None:
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


@pytest.mark.parametrize(("name", "index"), [("a", -1), ("a", 1), ("b", 0)])
def test_a_partition_that_is_not_there_is_told_as_unknown(cluster: Cluster, name: str, index: int) -> None:
    cluster.create_topic("a", assignments={0: [1, 2]})
    (error,) = cluster.controller.ask(elect_leaders, [(name, index)])
    assert error is not None
    assert error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (error,) = cluster.controller.ask(reassign_partitions, [Reassignment((name, index), [1])])
    assert error is not None
    assert error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(KafkaError) as refused:
        cluster.controller.ask(move_leader, (name, index), 1)
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_leader_is_moved_to_a_live_replica_in_sync(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    cluster.controller.ask(move_leader, ("a", 0), 2)
    assert state(partition) == (2, 1, (1, 2))
    end = cluster.controller.next_offset
    for unclean in (False, True):
        cluster.controller.ask(move_leader, ("a", 0), 2, unclean=unclean)
    assert cluster.controller.next_offset == end, "it leads already"
    set_node_up(cluster, 1, False)
    for node in (1, 3, 9):
        for unclean in (False, True):
            with pytest.raises(KafkaError) as refused:
                cluster.controller.ask(move_leader, ("a", 0), node, unclean=unclean)
            assert refused.value.code is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    assert state(partition) == (2, 1, (2,))


def test_an_unclean_move_needs_a_partition_without_a_leader(cluster: Cluster) -> None:
    partition = registered((1, 2, 3), (1,), 1)
    led = MetadataState(image_of(partition, (1, 2, 3)), BrokerConfig({}), 1)
    with pytest.raises(KafkaError) as refused:
        move_leader(led, ("a", 0), 2, unclean=True)
    assert refused.value.code is ErrorCode.ELECTION_NOT_NEEDED
    left = MetadataState(image_of(partition._replace(leader=-1), (2, 3)), BrokerConfig({}), 1)
    ((record,), _) = move_leader(left, ("a", 0), 3, unclean=True)
    assert isinstance(record, PartitionChangeRecord)
    assert (record.leader, record.isr, record.leader_recovery_state) == (3, [3], 1)
    with pytest.raises(KafkaError):
        move_leader(left, ("a", 0), 3)


def test_a_report_of_the_isr_counts_for_its_epoch_and_for_live_replicas(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    topic = cluster.image.topics["a"]

    def report(isr: list[int], topic_id: bytes = topic.topic_id, age: int = 0) -> None:
        epoch = cluster.image.topics["a"].partitions[0].partition_epoch
        cluster.controller.ask(change_isr, [NewIsr(topic_id, 0, epoch - age, isr)])

    report([1], age=1)
    report([1], topic_id=bytes(16))
    assert state(partition) == (1, 0, (1, 2))
    report([1])
    assert state(partition) == (1, 0, (1,))
    report([1, 2, 3])
    assert state(partition) == (1, 0, (1, 2))
    report([1])
    set_node_up(cluster, 2, False)
    report([1, 2])
    assert state(partition) == (1, 0, (1,))


def test_a_lost_replica_leaves_the_isr_and_comes_back_with_its_disk(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    topic = cluster.image.topics["a"]
    before = topic.partitions[0].directories
    cluster.controller.ask(assign_replicas, 1, [(topic.topic_id, 0, LOST_DIRECTORY)])
    assert state(partition) == (2, 1, (2,))
    with pytest.raises(KafkaError) as refused:
        cluster.controller.ask(move_leader, ("a", 0), 1)
    assert refused.value.code is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    cluster.controller.ask(assign_replicas, 1, [(topic.topic_id, 0, before[0])])
    assert state(partition) == (2, 1, (1, 2))
    for node in (1, 2):
        cluster.controller.ask(assign_replicas, node, [(topic.topic_id, 0, LOST_DIRECTORY)])
    assert state(partition) == (-1, 2, ())
    cluster.controller.ask(assign_replicas, 1, [(topic.topic_id, 0, before[0])])
    assert partition.leader_id == -1, "what the other one had is lost"
    cluster.controller.ask(assign_replicas, 2, [(topic.topic_id, 0, before[1])])
    assert state(partition) == (2, 3, (1, 2))


def test_a_disk_that_comes_back_makes_a_leader_where_the_topic_permits_it(cluster: Cluster) -> None:
    configs = {"unclean.leader.election.enable": "true"}
    partition = cluster.create_topic("a", assignments={0: [1, 2]}, configs=configs).partitions[0]
    topic = cluster.image.topics["a"]
    before = topic.partitions[0].directories
    for node in (1, 2):
        cluster.controller.ask(assign_replicas, node, [(topic.topic_id, 0, LOST_DIRECTORY)])
    assert partition.leader_id == -1
    cluster.controller.ask(assign_replicas, 1, [(topic.topic_id, 0, before[0])])
    assert partition.leader_id == 1


def test_leaders_are_balanced_and_told_when_there_may_be_more(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = cluster.create_topic("a", assignments={index: [1, 2] for index in range(3)})
    set_node_up(cluster, 1, False)
    assert balance_leaders(cluster.controller.state) == ([], False), "who is gone cannot lead"
    set_node_up(cluster, 1, True)
    monkeypatch.setattr(partition_control, "MAX_ELECTIONS", 2)
    assert cluster.controller.ask(balance_leaders) is True
    assert [each.leader_id for each in topic.partitions] == [1, 1, 2]
    assert cluster.controller.ask(balance_leaders) is False
    assert [each.leader_id for each in topic.partitions] == [1, 1, 1]
    assert balance_leaders(cluster.controller.state) == ([], False)


@pytest.mark.parametrize(("permitted", "leader"), [("true", 3), ("false", None)])
def test_a_replica_out_of_sync_leads_where_the_topic_permits_it(permitted: str, leader: int | None) -> None:
    config = BrokerConfig({"unclean.leader.election.enable": permitted})
    for isr, live, found in (((1,), (3,), leader), ((1,), (1, 3), None), ((1,), (), None)):
        led = 1 if 1 in live else -1
        before = MetadataState(image_of(registered((1, 2, 3), isr, led), live), config, 1)
        records, more = elect_uncleanly(before)
        assert [record.leader for record in records] == ([] if found is None else [found])  # type: ignore[attr-defined]
        assert more is False


def test_brokers_that_go_and_come_leave_partitions_to_replicas_out_of_sync_where_the_topic_permits_it() -> None:
    for permitted, leader in (("true", 2), ("false", -1)):
        config = BrokerConfig({"unclean.leader.election.enable": permitted})
        before = MetadataState(image_of(registered((1, 2), (1,), 1), (1, 2)), config, 1)
        assert [each.leader for each in after_loss(before, frozenset({1}))] == [leader]  # type: ignore[attr-defined]
        gone = MetadataState(image_of(registered((1, 2), (1,), -1), ()), config, 1)
        found = [each.leader for each in after_return(gone, frozenset({2}))]  # type: ignore[attr-defined]
        assert found == ([leader] if leader == 2 else [])
        assert after_return(gone, frozenset({3})) == []
        assert after_loss(before, frozenset({2})) == [], "who is not in sync is not missed"


def test_a_reassignment_keeps_the_number_of_replicas_if_it_has_to() -> None:
    moved = registered((4, 2, 1), (1, 2), 1, adding=(4,), removing=(1,))
    for partition, replicas, refused in (
        (registered((1, 2), (1, 2), 1), [3, 4], False),
        (registered((1, 2), (1, 2), 1), [3], True),
        (registered((1, 2), (1, 2), 1), [1, 2, 3], True),
        (moved, [2, 3], False),
        (moved, [2, 3, 4], True),
    ):
        now = MetadataState(image_of(partition, (1, 2, 3, 4)), BrokerConfig({}), 1)
        _, (error,) = reassign_partitions(now, [Reassignment(("a", 0), replicas)], allow_factor_change=False)
        assert (error is not None) is refused
        if error is not None:
            assert error.code is ErrorCode.INVALID_REPLICATION_FACTOR
            assert error.message == f"The replication factor is changed from 2 to {len(replicas)}"


def test_cancelling_needs_a_reassignment_and_replicas_that_were_there_before() -> None:
    with pytest.raises(KafkaError) as refused:
        asked(registered((1, 2), (1, 2), 1), None)
    assert refused.value.code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
    with pytest.raises(KafkaError) as refused:
        asked(registered((1, 2), (1, 2), 1, adding=(1, 2)), None)
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.message == "Invalid replica assignment: addingReplicas contains all replicas."


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


def test_reassignment_removes_what_the_one_before_added() -> None:
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
