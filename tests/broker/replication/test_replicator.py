"""The replicator alone: which partitions it keeps apart, and when it lets them be."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.clock import BrokerClock
from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import Decision, MetadataState
from odradek.broker.controller.partition_control import (
    Reassignment,
    balance_leaders,
    elect_leaders,
    elect_uncleanly,
    move_leader,
    reassign_partitions,
)
from odradek.broker.metadata.image import MetadataDelta, MetadataImage, PartitionRegistration
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING, Lag
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.partition_log import PartitionLog
from tests.fakes.examples import examples
from tests.storage.logs import records


def _cluster() -> tuple[Cluster, Partition]:
    cluster = Cluster(nodes=3)
    topic = cluster.create_topic("t", assignments={0: [1, 2, 3], 1: [2, 3, 1]})
    return cluster, topic.partitions[0]


def _put(partition: Partition) -> None:
    partition.append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)


def test_nothing_is_kept_as_long_as_nothing_is_kept_from_anybody() -> None:
    cluster, partition = _cluster()
    _put(partition)
    assert not cluster.replicator.differing
    assert partition.replica_set is None


def test_a_partition_is_kept_apart_while_something_is_held() -> None:
    cluster, partition = _cluster()
    cluster.replicator.hold(partition, 2, NOTHING)
    _put(partition)
    assert partition in cluster.replicator.differing
    assert cluster.replicator.differ(partition.topic.topic_id, 0)
    assert not cluster.replicator.differ(partition.topic.topic_id, 1)
    assert not cluster.replicator.differ(bytes(16), 0)
    cluster.replicator.hold(partition, 2, None)
    assert not cluster.replicator.differing
    assert partition.log.high_watermark == 1


def test_a_lost_node_concerns_the_partitions_that_it_has_with_others() -> None:
    cluster, partition = _cluster()
    alone = cluster.create_topic("alone", assignments={0: [3]}).partitions[0]
    cluster.replicator.node_lost(3)
    cluster.membership.lose(3)
    _put(partition)
    assert partition in cluster.replicator.differing
    assert alone.replica_set is None
    assert partition.isr == (1, 2)
    cluster.membership.rejoin(3)
    cluster.replicator.node_back(3)
    assert not cluster.replicator.differing
    assert set(partition.isr) == {1, 2, 3}


def test_partitions_of_a_cut_link_stay_apart_until_it_is_mended() -> None:
    cluster, partition = _cluster()
    cluster.replicator.link(1, 3, cut=True)
    assert partition in cluster.replicator.differing
    _put(partition)
    assert {node: copy.end for node, copy in partition.replica_set.by_node.items()} == {1: 1, 2: 1, 3: 0}  # type: ignore[union-attr]
    cluster.replicator.link(1, 3, cut=False)
    assert not cluster.replicator.differing


def test_a_deleted_partition_is_forgotten() -> None:
    cluster, partition = _cluster()
    cluster.replicator.hold(partition, 2, NOTHING)
    cluster.delete_topic("t")
    cluster.replicator._forget_deleted()
    assert not cluster.replicator.differing


def test_a_reassigned_replica_begins_with_nothing_and_catches_up() -> None:
    cluster, partition = _cluster()
    _put(partition)
    cluster.replicator.hold(partition, 2, NOTHING)
    cluster.controller.ask(reassign_partitions, [Reassignment(("t", 0), [1, 3])])
    assert not cluster.replicator.differing
    assert set(partition.isr) == {1, 3}


NODES = [1, 2, 3, 4]


class ClusterModel(RuleBasedStateMachine):
    """A partition of a cluster of four through failures, elections and reassignments.

    What was committed stays, unless an unclean election loses it; a replica that follows is a prefix of its leader;
    the metadata make sense; and once nothing is held back, all replicas have the same log.
    """

    @initialize(min_isr=st.sampled_from([1, 2]), unclean=st.booleans())
    def begin(self, min_isr: int, unclean: bool) -> None:
        clock = BrokerClock()
        clock.freeze()
        self.cluster = Cluster(nodes=4, clock=clock, config={"replica.lag.time.max.ms": "1000"})
        configs = {"min.insync.replicas": str(min_isr), "unclean.leader.election.enable": str(unclean).lower()}
        self.partition = self.cluster.create_topic("t", assignments={0: [1, 2, 3]}, configs=configs).partitions[0]
        self.number = 0
        self.committed: dict[int, bytes | None] = {}
        self.lossy = False
        self.unclean_epoch = -1
        self.chosen: tuple[int, ...] = ()
        self.cluster.controller.publishers.insert(0, (self.changed, ()))

    def changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """After each change of the metadata, of which a rule may make several."""
        place = image.partition("t", 0)
        if place is not None and place.recovering and place.leader_epoch != self.unclean_epoch:
            self.lossy, self.unclean_epoch = True, place.leader_epoch

    def up(self, node: int) -> bool:
        return self.cluster.nodes[node].up

    @precondition(lambda self: self.partition.leader_id >= 0)
    @rule(count=st.integers(1, 3))
    def append(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            self.partition.append(build_batch([Record(0, 1, None, b"%d" % self.number)]), now_ms=1)

    @rule(node=st.sampled_from(NODES), lag=st.sampled_from([NOTHING, None, Lag(records=2)]))
    def hold(self, node: int, lag: Lag | None) -> None:
        self.cluster.replicator.hold(self.partition, node, lag)

    @rule(pair=st.sets(st.sampled_from(NODES), min_size=2, max_size=2), cut=st.booleans())
    def link(self, pair: set[int], cut: bool) -> None:
        a, b = pair
        self.cluster.replicator.link(a, b, cut=cut)

    @rule(ms=st.sampled_from([300, 1500]))
    def wait(self, ms: int) -> None:
        self.cluster.clock.advance(seconds=ms / 1000)
        self.cluster.replicator._replicate_all()

    @rule(node=st.sampled_from(NODES))
    def kill(self, node: int) -> None:
        if self.up(node):
            self.cluster.replicator.node_lost(node)
            self.cluster.membership.lose(node)

    @rule(node=st.sampled_from(NODES))
    def stop(self, node: int) -> None:
        if self.up(node):
            self.cluster.membership.retire(node)
            self.cluster.replicator.node_lost(node)

    @rule(node=st.sampled_from(NODES))
    def start(self, node: int) -> None:
        if not self.up(node):
            self.cluster.membership.rejoin(node)
            self.cluster.replicator.node_back(node)

    @rule(elections=st.sampled_from([balance_leaders, elect_uncleanly]))
    def look(self, elections: Callable[[MetadataState], Decision[bool]]) -> None:
        self.cluster.controller.ask(elections)

    @rule(unclean=st.booleans())
    def elect(self, unclean: bool) -> None:
        self.cluster.controller.ask(elect_leaders, [("t", 0)], unclean=unclean)

    @rule(node=st.sampled_from(NODES), unclean=st.booleans())
    def move(self, node: int, unclean: bool) -> None:
        try:
            self.cluster.controller.ask(move_leader, ("t", 0), node, unclean=unclean)
        except KafkaError as error:
            if error.code not in (ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, ErrorCode.ELECTION_NOT_NEEDED):
                raise

    @rule(replicas=st.lists(st.sampled_from(NODES), min_size=1, max_size=4, unique=True) | st.none())
    def reassign(self, replicas: list[int] | None) -> None:
        before = self.place()
        [error] = self.cluster.controller.ask(reassign_partitions, [Reassignment(("t", 0), replicas)])
        if replicas is None and error is None and set(before.isr) <= set(before.adding):
            # As on Kafka: the first that is left is the ISR, dead or not, whatever it has.
            self.lossy, self.chosen = True, self.place().isr

    @rule()
    def heal(self) -> None:
        """Everything is as it should be, but a partition that lost all that were eligible still has no leader."""
        self.cluster.replicator.heal()
        for pair in ((a, b) for a in NODES for b in NODES if a < b):
            self.cluster.replicator.link(*pair, cut=False)
        for node in NODES:
            self.start(node)
        partition, place = self.partition, self.place()
        if partition.leader_id < 0:
            self.elect(unclean=True)
            place = self.place()
        if set(place.adding) & set(place.removing):  # as on Kafka, this never ends by itself
            self.reassign(None)
            place = self.place()
        assert partition.leader_id >= 0
        assert not place.is_reassigned
        assert set(place.isr) == set(place.replicas)
        assert place.elr == place.last_known_elr == ()
        assert partition.replica_set is None
        assert not self.cluster.replicator.differing
        assert partition.log.high_watermark == partition.log.log_end_offset

    def place(self) -> PartitionRegistration:
        return self.cluster.image.topics["t"].partitions[0]

    @invariant()
    def metadata_make_sense(self) -> None:
        place, partition = self.place(), self.partition
        assert set(place.isr) <= set(place.replicas)
        assert not set(place.isr) & set(place.elr)
        if place.leader == -1 and place.isr:
            assert place.isr == self.chosen
        else:
            assert all(self.up(node) for node in place.isr)
            assert place.leader in place.isr or place.leader == -1
        assert set(place.adding) | set(place.removing) <= set(place.replicas)
        assert place.leader == -1 or not place.last_known_elr
        live = (partition.leader_id, partition.leader_epoch, partition.isr, partition.replicas)
        assert live == (place.leader, place.leader_epoch, place.isr, place.replicas)

    @invariant()
    def what_is_committed_stays(self) -> None:
        partition = self.partition
        if partition.leader_id < 0:
            return
        log = partition.log
        now = contents(log, log.log_end_offset)
        if self.lossy:
            self.lossy = False
            self.committed = {offset: value for offset, value in self.committed.items() if now.get(offset) == value}
        assert now.items() >= self.committed.items()
        self.committed.update((offset, value) for offset, value in now.items() if offset < log.high_watermark)

    @invariant()
    def followers_are_prefixes(self) -> None:
        replicas = self.partition.replica_set
        if replicas is None or replicas.leader is None:
            return
        leader = replicas.leader
        assert set(replicas.by_node) == set(self.partition.replicas)
        assert leader.log is self.partition.log
        assert leader.end == leader.log.log_end_offset
        for replica in replicas.by_node.values():
            assert replica.high_watermark <= replica.end
            if replica.follows:
                assert replica.log is leader.log
            if replica.node_id in self.place().isr:
                mine, theirs = contents(replica.log, replica.end), contents(leader.log, leader.end)
                committed = leader.log.high_watermark
                assert all(mine.get(offset) == theirs[offset] for offset in theirs if offset < committed)


def contents(log: PartitionLog, end: int) -> dict[int, bytes | None]:
    return {record.offset: record.value for record in records(log, up_to=end)}


TestClusterModel = ClusterModel.TestCase
TestClusterModel.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
