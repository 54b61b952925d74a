"""Replication throttles on a clock that stands still."""

from __future__ import annotations

from math import inf

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.partition_control import Reassignment, reassign_partitions
from odradek.broker.metadata.image import ResourceType
from odradek.broker.partitions.replicas import NOTHING, Replica
from odradek.broker.replication.throttles import Line, Throttles
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.clocks import clock_at
from tests.fakes.configs import set_configs
from tests.storage.logs import make_log

BATCH = build_batch([Record(0, 1, None, bytes(932))])
SIZE = len(BATCH)
LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"

A_SECOND = str(SIZE)
"""A rate: one batch in a second."""


class Throttled:
    """Four nodes; t-0 is on node 1 and 2, with ten batches. The clock stands still and nothing looks by itself."""

    def __init__(self) -> None:
        self.clock = clock_at(1_700_000_000_000)
        self.cluster = Cluster(nodes=4, clock=self.clock)
        self.partition = self.cluster.create_topic("t", assignments={0: [1, 2], 1: [1, 2]}).partitions[0]
        for _ in range(10):
            self.put()

    def put(self) -> None:
        self.partition.append(BATCH, now_ms=self.clock.now_ms())

    def rate(self, name: str, node: int, rate: str | None) -> None:
        """Set by the node itself, as Kafka wants it."""
        set_configs(self.cluster, ResourceType.BROKER, str(node), {} if rate is None else {name: rate}, node)

    def replicas(self, **lists: str) -> None:
        named = {f"{side}.replication.throttled.replicas": text for side, text in lists.items()}
        set_configs(self.cluster, ResourceType.TOPIC, "t", named)

    def reassign(self, *nodes: int, index: int = 0) -> None:
        assert self.cluster.controller.ask(reassign_partitions, [Reassignment(("t", index), nodes)]) == [None]

    def after(self, seconds: float, node: int = 3) -> int:
        """How many batches a node has after this time."""
        self.clock.advance(seconds)
        self.cluster.replicator.replicate(self.partition)
        return self.has(node)

    def has(self, node: int) -> int:
        copy = self.partition.copy_on(node)
        return self.partition.log.log_end_offset if copy is None else copy.end


@pytest.fixture
def four() -> Throttled:
    return Throttled()


@pytest.mark.parametrize(("side", "node"), [("leader", 1), ("follower", 3)])
@pytest.mark.parametrize("named", ["*", "0:{}", "1:9,0:{}"])
def test_a_new_replica_takes_as_long_as_the_throttle_says(four: Throttled, side: str, node: int, named: str) -> None:
    four.rate(f"{side}.replication.throttled.rate", node, A_SECOND)
    four.replicas(**{side: named.format(node)})
    four.reassign(1, 2, 3)
    assert four.has(3) == 1
    assert four.after(0.9) == 1
    assert four.after(0.1) == 2
    assert four.after(1) == 3
    assert four.after(6.9) == 9
    assert four.partition.isr == (1, 2)
    assert four.after(0.1) == 10
    assert set(four.partition.isr) == {1, 2, 3}
    assert four.partition.replica_set is None
    assert not four.cluster.replicator.differing


def test_a_jump_lets_through_what_its_time_allows(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, A_SECOND)
    four.replicas(leader="*")
    four.reassign(1, 2, 3)
    assert four.after(4.5) == 5
    assert four.after(0.5) == 6


@pytest.mark.parametrize(
    "lists",
    [
        {},
        {"leader": "1:1,0:2"},
        {"follower": "0:1,0:2,1:3"},
        {"leader": "0:3", "follower": "0:1"},
    ],
)
def test_replicas_that_are_not_named_are_not_throttled(four: Throttled, lists: dict[str, str]) -> None:
    for node in (1, 2, 3):
        set_configs(
            four.cluster, ResourceType.BROKER, str(node), {LEADER_RATE: A_SECOND, FOLLOWER_RATE: A_SECOND}, node
        )
    four.replicas(**lists)
    four.reassign(1, 2, 3)
    assert four.has(3) == 10
    assert four.partition.replica_set is None


def test_named_replicas_are_not_throttled_without_a_rate(four: Throttled) -> None:
    four.rate(LEADER_RATE, 2, A_SECOND)  # another node's
    four.rate(FOLLOWER_RATE, 3, str((1 << 63) - 1))
    four.replicas(leader="*", follower="*")
    four.reassign(1, 2, 3)
    assert four.partition.replica_set is None


def test_two_followers_share_the_rate_of_their_leader(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, A_SECOND)
    four.replicas(leader="*")
    four.reassign(1, 2, 3, 4)
    four.after(9)
    assert four.has(3) + four.has(4) == 10
    four.after(9)
    assert four.has(3) + four.has(4) == 19
    four.after(1)
    assert four.partition.replica_set is None


def test_the_slower_of_both_throttles_counts(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, str(4 * SIZE))
    four.rate(FOLLOWER_RATE, 3, A_SECOND)
    four.replicas(leader="*", follower="*")
    four.reassign(1, 2, 3, 4)
    assert four.has(4) == 0  # the first batch of this moment was node 3's
    assert four.after(2, 4) == 8 - 2
    assert four.has(3) == 3


def test_a_leaders_throttle_does_not_hold_a_follower_in_sync(four: Throttled) -> None:
    """As on a cluster of Kafka 4.3.1: one that lags within the ISR catches up at once."""
    four.rate(LEADER_RATE, 1, "1")
    four.replicas(leader="*")
    four.cluster.replicator.hold(four.partition, 2, NOTHING)
    for _ in range(5):
        four.put()
    four.cluster.replicator.hold(four.partition, 2, None)
    assert four.has(2) == 15
    assert four.partition.replica_set is None


def test_a_followers_throttle_holds_whoever_was_behind(four: Throttled) -> None:
    """As on a cluster of Kafka 4.3.1, where it left the ISR."""
    four.rate(FOLLOWER_RATE, 2, A_SECOND)
    four.replicas(follower="*")
    four.cluster.replicator.hold(four.partition, 2, NOTHING)
    for _ in range(40):
        four.put()
    four.cluster.replicator.hold(four.partition, 2, None)
    assert four.has(2) == 11
    assert four.after(20, 2) == 31
    four.clock.advance(11)  # replica.lag.time.max.ms is over
    four.cluster.replicator.replicate(four.partition)
    assert four.partition.isr == (1,)
    assert four.partition.log.high_watermark == 50
    assert four.after(8, 2) == 50
    assert set(four.partition.isr) == {1, 2}


def test_a_follower_that_keeps_up_is_held_by_neither(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, "1")
    four.rate(FOLLOWER_RATE, 2, "1")
    four.replicas(leader="*", follower="*")
    four.cluster.replicator.hold(four.partition, 3, NOTHING)
    four.reassign(1, 2, 3)  # apart, as node 3 gets nothing
    for number in range(11, 15):
        four.put()
        assert four.has(2) == number
    assert four.partition.log.high_watermark == 14


def test_replication_goes_on_when_the_throttle_is_lifted(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, "0")
    four.replicas(leader="*")
    four.reassign(1, 2, 3)
    assert four.after(3600) == 1
    four.rate(LEADER_RATE, 1, A_SECOND)
    assert four.after(0) == 1
    assert four.after(1) == 2
    four.replicas()
    assert four.after(0) == 10
    assert four.partition.replica_set is None


def test_who_is_kept_away_saves_up_no_time(four: Throttled) -> None:
    four.rate(LEADER_RATE, 1, A_SECOND)
    four.replicas(leader="*")
    four.reassign(1, 2, 3)
    replicator = four.cluster.replicator
    replicator.hold(four.partition, 3, NOTHING)
    four.clock.advance(5)
    replicator.look()
    four.clock.advance(50)
    replicator.hold(four.partition, 3, None)
    assert four.has(3) == 2


def _replica() -> Replica:
    return Replica(1, make_log(), 0)


def test_a_line_at_a_rate_of_nothing_is_never_free() -> None:
    line, who = Line(), _replica()
    line.pass_time(who, 0, 5)
    assert (line.is_free, line.free_ms) == (True, 5)
    line.charge(10)
    assert (line.is_free, line.free_ms) == (False, inf)


def test_a_line_says_when_it_is_free() -> None:
    line, who = Line(), _replica()
    line.pass_time(who, 300, 0)
    line.charge(100)
    assert line.free_ms == 334
    line.pass_time(who, 300, 330)
    assert not line.is_free
    line.pass_time(who, 300, 334)
    assert line.is_free
    line.pass_time(who, 300, 100)  # the clock was set back
    assert line.is_free


def test_the_next_look_is_told_once(four: Throttled) -> None:
    throttles = Throttles(four.cluster.config)
    assert throttles.take_next_look_ms() is None
    four.rate(LEADER_RATE, 1, A_SECOND)
    four.replicas(leader="*")
    four.cluster.replicator.hold(four.partition, 3, NOTHING)
    four.reassign(1, 2, 3)
    limit, replicas = throttles.of(four.partition), four.partition.replica_set
    assert limit is not None
    assert replicas is not None
    now = four.clock.now_ms()
    assert limit(replicas, replicas.by_node[3], 10, now) == 1
    assert throttles.take_next_look_ms() == now + 1000
    assert throttles.take_next_look_ms() is None
