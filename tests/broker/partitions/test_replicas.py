"""Replicas that differ: what is copied, what is committed, and what an election leaves of a log."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from odradek.broker.partitions.replicas import (
    NOTHING,
    Committed,
    Lag,
    Replica,
    ReplicaSet,
    Sent,
    SlowLink,
    Slowness,
    common_end,
    producers_of,
    stable_offset,
)
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.forking import fork
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from tests.fakes.examples import examples
from tests.storage.logs import NOW, make_log, put, records

# -- When records arrive over a slow link.


def test_records_arrive_so_much_later() -> None:
    link = SlowLink(Slowness(100), Sent(5, 0))
    link.send(Sent(7, 0), 1000, 0)
    link.send(Sent(8, 0), 1000, 50)
    assert (link.arrived(99).end, link.next_ms) == (5, 100)
    assert (link.arrived(100).end, link.next_ms) == (7, 150)
    assert (link.arrived(150).end, link.next_ms) == (8, None)


def test_one_after_the_other_through_a_thin_line() -> None:
    link = SlowLink(Slowness(10, bytes_per_second=1000), Sent(0, 0))
    link.send(Sent(1, 0), 500, 0)
    link.send(Sent(2, 0), 500, 0)
    assert [link.arrived(at).end for at in (509, 510, 1009, 1010)] == [0, 1, 1, 2]
    link.send(Sent(3, 0), 100, 5000)
    assert link.arrived(5110).end == 3


def test_what_was_on_its_way_to_another_history_is_lost() -> None:
    link = SlowLink(Slowness(10), Sent(5, 0))
    link.send(Sent(9, 0), 0, 0)
    link.begin_anew(Sent(3, 0))
    assert (link.arrived(100), link.sent) == (Sent(3, 0), Sent(3, 0))


MAX_LAG_MS = 3000


def rule_of(*isr: int, min_isr: int = 1) -> Committed:
    return Committed(isr, min_isr, MAX_LAG_MS)


def everywhere(a: int, b: int) -> bool:
    return True


def forked(log: PartitionLog, end: int) -> PartitionLog:
    return fork(log, log.backend, end_offset=end, now_ms=NOW)


def contents(replica: Replica) -> list[tuple[int, bytes | None]]:
    return [(record.offset, record.value) for record in records(replica.log, up_to=replica.end)]


class Three:
    """Three replicas, led by node 1."""

    def __init__(self, segment_bytes: int = 1 << 20, index_interval_bytes: int = 4096) -> None:
        self.log = make_log(segment_bytes=segment_bytes, index_interval_bytes=index_interval_bytes)
        self.log.begin_epoch(0)
        self.set = ReplicaSet(1, self.log, [1, 2, 3], NOW)
        self.epoch = 0
        self.now = NOW

    def put(self, value: bytes = b"v", isr: tuple[int, ...] = (1, 2, 3), min_isr: int = 1) -> None:
        leader = self.set.leader
        assert leader is not None
        put(leader.log, (b"k", value), epoch=self.epoch)
        self.set.appended(self.now)
        self.step(isr, min_isr)

    def step(self, isr: tuple[int, ...] = (1, 2, 3), min_isr: int = 1) -> None:
        self.set.copy(self.now, everywhere)
        self.set.commit(rule_of(*isr, min_isr=min_isr), self.now)

    def elect(self, node: int, isr: tuple[int, ...] = ()) -> PartitionLog:
        self.epoch += 1
        return self.set.elect(node, self.epoch, forked, isr, self.now)

    def ends(self) -> dict[int, int]:
        return {node: replica.end for node, replica in self.set.by_node.items()}


def test_everything_is_copied_and_committed_at_once() -> None:
    three = Three()
    three.put()
    assert three.ends() == {1: 1, 2: 1, 3: 1}
    assert three.log.high_watermark == 1
    assert three.set.in_step


def test_a_replica_that_gets_nothing_holds_back_what_is_committed() -> None:
    three = Three()
    three.put()
    three.set.by_node[3].lag = NOTHING
    three.put()
    assert three.ends() == {1: 2, 2: 2, 3: 1}
    assert three.log.high_watermark == 1
    assert not three.set.in_step


def test_a_replica_that_is_behind_for_too_long_is_to_leave_and_commits_nothing_any_more() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.put()
    three.now += MAX_LAG_MS
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == []
    three.now += 1
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == [3]
    three.step(isr=(1, 2))
    assert three.log.high_watermark == 1


@pytest.mark.parametrize(("late_ms", "committed"), [(0, 0), (1, 1)])
def test_a_replica_outside_of_the_isr_is_waited_for_until_its_time_is_over(late_ms: int, committed: int) -> None:
    """KIP-966's condition: what may join at once holds the high watermark back."""
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.put(isr=(1, 2))
    assert three.log.high_watermark == 0
    three.now += MAX_LAG_MS + late_ms
    three.step(isr=(1, 2))
    assert three.log.high_watermark == committed


def test_a_replica_that_has_everything_stays_however_long_it_does_not_fetch() -> None:
    three = Three()
    three.put()
    three.set.by_node[3].lag = NOTHING
    three.now += 100 * MAX_LAG_MS
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == []


def test_below_min_insync_replicas_nothing_is_committed() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.now += 2 * MAX_LAG_MS
    three.put(isr=(1,), min_isr=2)
    assert three.log.high_watermark == 0


def test_a_replica_may_return_when_it_has_what_is_committed() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.put(isr=(1, 2))
    three.now += 2 * MAX_LAG_MS
    three.step(isr=(1, 2))
    assert three.set.returning(rule_of(1, 2), epoch_start=0, now_ms=three.now) == []
    three.set.by_node[3].lag = None
    three.step(isr=(1, 2))
    assert three.set.returning(rule_of(1, 2), epoch_start=0, now_ms=three.now) == [3]
    assert three.set.in_step


def test_a_follower_that_knows_no_news_knows_no_newer_high_watermark() -> None:
    three = Three()
    three.put()
    three.set.by_node[3].lag = NOTHING
    three.put(isr=(1, 2))
    three.now += 2 * MAX_LAG_MS
    three.step(isr=(1, 2))
    assert three.log.high_watermark == 2
    assert three.set.by_node[3].high_watermark == 1


@pytest.mark.parametrize(("lag", "end"), [(Lag(records=2), 3), (Lag(records=5), 0), (Lag(records=0), 5)])
def test_a_replica_is_kept_some_records_behind(lag: Lag, end: int) -> None:
    three = Three()
    three.set.by_node[2].lag = lag
    for _ in range(5):
        three.put()
    assert three.ends()[2] == end


def test_a_replica_is_kept_some_bytes_behind() -> None:
    three = Three()
    three.put()
    size = three.log.size_bytes
    three.set.by_node[2].lag = Lag(size_bytes=size + 1)
    for _ in range(4):
        three.put()
    assert three.ends()[2] == 3, "two batches are the fewest that have more bytes than one"


def test_a_replica_is_kept_some_time_behind() -> None:
    three = Three()
    three.set.by_node[2].lag = Lag(ms=100)
    for _ in range(3):
        three.put()
        three.now += 60
    assert three.ends()[2] == 1
    three.now += 100
    three.step()
    assert three.ends()[2] == 3


def test_what_only_a_dead_leader_had_is_lost_and_its_log_is_cut_when_it_is_back() -> None:
    three = Three()
    three.put(b"both")
    three.set.by_node[2].lag = three.set.by_node[3].lag = NOTHING
    three.put(b"lost")
    dead = three.set.by_node[1]
    dead.alive = False
    log = three.elect(2)
    three.set.by_node[2].lag = three.set.by_node[3].lag = None
    assert log is not three.log
    three.put(b"new", isr=(2, 3))
    assert contents(three.set.by_node[2]) == contents(three.set.by_node[3]) == [(0, b"both"), (1, b"new")]
    assert contents(dead) == [(0, b"both"), (1, b"lost")]
    dead.alive = True
    three.step(isr=(2, 3))
    assert contents(dead) == [(0, b"both"), (1, b"new")]
    assert three.set.returning(rule_of(2, 3), epoch_start=1, now_ms=three.now) == [1]


def test_a_leader_that_has_everything_goes_on_with_the_log() -> None:
    three = Three()
    three.put()
    three.set.by_node[1].alive = False
    assert three.elect(3) is three.log
    three.put(isr=(2, 3))
    assert three.ends() == {1: 1, 2: 2, 3: 2}


def test_a_leader_that_was_not_in_sync_takes_committed_records_with_it() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.now += 2 * MAX_LAG_MS
    three.put(b"committed", isr=(1, 2))
    assert three.log.high_watermark == 1
    three.set.by_node[1].alive = three.set.by_node[2].alive = False
    log = three.elect(3)
    three.set.by_node[3].lag = None
    three.put(b"other", isr=(3,))
    three.set.by_node[1].alive = three.set.by_node[2].alive = True
    three.step(isr=(3,))
    assert {tuple(contents(replica)) for replica in three.set.by_node.values()} == {((0, b"other"),)}
    assert log.high_watermark == 1


def test_a_cut_link_stops_the_copying() -> None:
    three = Three()
    put(three.log)
    three.set.appended(NOW)
    three.set.copy(NOW, lambda a, b: {a, b} != {1, 3})
    assert three.ends() == {1: 1, 2: 1, 3: 0}


def test_a_slow_link_keeps_back_records_and_the_start_of_the_log() -> None:
    three = Three()
    three.set.join(lambda node, leader: Slowness(100) if node == 2 else None)
    three.put(isr=(1, 3))
    assert (three.ends(), three.set.next_arrival_ms(three.now)) == ({1: 1, 2: 0, 3: 1}, three.now + 100)
    link = three.set.by_node[2].link
    three.set.join(lambda node, leader: Slowness(100) if node == 2 else None)
    assert three.set.by_node[2].link is link  # as slow as before: nothing begins anew
    assert not three.set.in_step
    three.now += 99
    three.step()
    assert three.ends()[2] == 0
    three.now += 1
    three.step()
    assert (three.ends()[2], three.set.next_arrival_ms(three.now)) == (1, None)
    three.set.take_moved_starts()
    three.log.delete_records(1)
    three.step()
    assert [replica.start for replica in three.set.by_node.values()] == [0, 0, 1]
    assert (three.set.take_moved_starts(), three.set.take_moved_starts()) == (True, False)
    three.now += 100
    three.step()
    assert (three.set.by_node[2].start, three.set.take_moved_starts()) == (1, True)
    three.set.join(lambda node, leader: None)
    assert (three.set.by_node[2].link, three.set.in_step) == (None, True)


def test_the_jitter_of_a_link_is_random_and_keeps_the_order() -> None:
    arrivals = []
    for seed in ("a", "a", "b"):
        link = SlowLink(Slowness(100, jitter_ms=50), Sent(0, 0), seed)
        for end in range(1, 20):
            link.send(Sent(end, 0), 0, 0)
        times = []
        while link.next_ms is not None:
            times.append(link.next_ms)
            link.arrived(int(link.next_ms) + 1)
        arrivals.append(times)
    assert arrivals[0] == arrivals[1] != arrivals[2]
    assert all(times == sorted(times) and times[0] >= 100 and times[-1] <= 150 for times in arrivals)
    assert arrivals[0][-1] > arrivals[0][0]


def test_deleted_records_count_when_all_replicas_that_are_up_have_deleted_them() -> None:
    three = Three()
    three.put()
    three.set.by_node[3].lag = NOTHING
    three.log.delete_records(1)
    three.step()
    assert three.set.low_watermark(lambda node: True) == 0
    assert three.set.low_watermark(lambda node: node != 3) == 1
    three.set.by_node[3].lag = None
    three.step()
    assert three.set.low_watermark(lambda node: True) == 1
    three.elect(2)
    assert three.set.low_watermark(lambda node: True) == -1  # not told since the election
    assert three.set.low_watermark(lambda node: node == 2) == 1


def test_an_end_that_a_client_tells_counts_until_the_follower_fetches() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.put()
    assert three.log.high_watermark == 0
    three.set.fetched_as(3, 1, three.now)
    assert three.set.by_node[3].known_end == 1
    three.step()
    assert three.log.high_watermark == 1
    three.now += 2 * MAX_LAG_MS
    three.put()
    three.set.fetched_as(3, 1, three.now)
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == [3]
    three.set.fetched_as(3, 2, three.now)
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == []
    three.set.by_node[3].lag = None
    three.step()
    assert (three.set.by_node[3].told, three.set.by_node[3].known_end) == (None, 2)


def test_replicas_come_with_nothing_and_go() -> None:
    three = Three()
    three.put()
    three.set.set_nodes([1, 2, 4], three.log)
    (newcomer,) = three.set.take_newcomers()
    assert (newcomer.node_id, newcomer.end, newcomer.known_end, newcomer.start) == (4, 0, 0, -1)
    assert three.set.take_newcomers() == []
    assert three.set.low_watermark(lambda node: True) == -1
    assert not three.set.in_step
    three.step(isr=(1, 2))
    assert three.ends() == {1: 1, 2: 1, 4: 1}
    assert three.set.returning(rule_of(1, 2), epoch_start=0, now_ms=three.now) == [4]
    assert three.set.in_step
    three.set.set_nodes([1, 2], three.log)
    assert (three.ends(), three.set.take_newcomers()) == ({1: 1, 2: 1}, [])


def test_a_replica_returns_to_the_isr_when_it_has_the_leaders_epoch_and_keeps_up() -> None:
    three = Three()
    three.set.by_node[3].lag = NOTHING
    three.now += 2 * MAX_LAG_MS
    three.put(isr=(1, 2))
    three.set.by_node[3].lag = None
    three.step(isr=(1, 2))
    three.set.by_node[3].lag = Lag(records=1)
    three.put(isr=(1, 2))

    def returning(epoch_start: int = 0) -> list[int]:
        return three.set.returning(rule_of(1, 2), epoch_start, three.now)

    three.set.commit(rule_of(1), three.now)
    assert three.log.high_watermark == 1
    assert (returning(), returning(epoch_start=1), returning(epoch_start=2)) == ([3], [3], [])
    three.now += MAX_LAG_MS
    assert returning() == [3]
    three.now += 1
    assert returning() == []
    three.set.by_node[3].alive = False
    three.now -= 1
    assert returning() == []


def test_what_follows_a_leader_with_a_shorter_history_is_cut_and_its_log_left() -> None:
    three = Three()
    three.put(b"both")
    for node in (2, 3):
        three.set.by_node[node].lag = NOTHING
    three.put(b"lost")
    three.set.by_node[1].alive = False
    log = three.elect(2, isr=(2,))
    assert three.set.logs() == [three.log, log]
    three.set.by_node[3].lag = None
    three.step(isr=(2,))
    assert three.set.left_behind == []
    three.set.by_node[1].alive = True
    three.step(isr=(2,))
    assert (three.set.left_behind, three.set.logs()) == ([three.log], [log])
    assert three.set.by_node[1].high_watermark == three.set.by_node[1].end == 1


def test_a_replica_is_late_from_when_it_last_had_everything() -> None:
    three = Three()
    three.now += 1000
    three.put()
    three.set.by_node[3].lag = Lag(records=1)
    three.now += MAX_LAG_MS
    three.put()
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == []
    three.now += 1
    three.step()
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == [3]
    three.set.by_node[3].lag = None
    three.step()
    three.set.by_node[3].lag = NOTHING
    three.now += MAX_LAG_MS
    three.put()
    assert three.set.lagging(rule_of(1, 2, 3), three.now) == []


def test_a_follower_that_is_down_or_gets_nothing_learns_of_no_commit() -> None:
    three = Three()
    three.put()
    three.set.by_node[2].alive = False
    three.set.by_node[3].lag = NOTHING
    three.now += 2 * MAX_LAG_MS
    three.put(isr=(1,))
    assert [three.set.by_node[node].high_watermark for node in (1, 2, 3)] == [2, 1, 1]
    assert three.ends() == {1: 2, 2: 1, 3: 1}
    three.set.leader_id = -1
    assert (three.set.lagging(rule_of(1, 2), three.now), three.set.returning(rule_of(1), 0, three.now)) == ([], [])
    assert not three.set.commit(rule_of(1), three.now)
    assert not three.set.in_step


def test_a_throttled_replica_gets_so_much_and_no_more() -> None:
    three = Three()
    put(three.log)
    put(three.log)
    three.set.appended(NOW)
    three.set.copy(NOW, everywhere, lambda replicas, replica, end, now_ms: 1 if replica.node_id == 3 else end)
    assert three.ends() == {1: 2, 2: 2, 3: 1}
    assert not three.set.was_behind(three.set.by_node[2])
    put(three.log)
    three.set.appended(NOW)
    assert [three.set.was_behind(three.set.by_node[node]) for node in (1, 2, 3)] == [False, False, True]


def test_logs_part_where_their_epochs_do() -> None:
    leader, other = make_log(), make_log()
    for epoch, log in ((0, leader), (0, other), (1, other), (3, other), (2, leader), (4, leader)):
        put(log, epoch=epoch)
    assert common_end(other, 3, leader) == 1
    assert common_end(other, 1, leader) == 1
    assert common_end(leader, 2, leader) == 2


class ReplicaModel(RuleBasedStateMachine):
    """Whatever happens to three replicas: they agree as far as anything is committed, and followers are prefixes."""

    @initialize(segment=st.sampled_from([150, 400, 100_000]), min_isr=st.sampled_from([1, 2]))
    def begin(self, segment: int, min_isr: int) -> None:
        self.three = Three(segment_bytes=segment, index_interval_bytes=0)
        self.isr: tuple[int, ...] = (1, 2, 3)
        self.min_isr = min_isr
        self.number = 0
        self.committed: dict[int, bytes | None] = {}
        self.epoch_start = 0
        self.cut: set[frozenset[int]] = set()

    def in_force(self) -> Committed:
        return Committed(self.isr, self.min_isr, MAX_LAG_MS)

    def linked(self, a: int, b: int) -> bool:
        return frozenset((a, b)) not in self.cut

    def step(self) -> None:
        three = self.three
        three.set.copy(three.now, self.linked)
        three.set.commit(self.in_force(), three.now)
        leader = three.set.leader
        if leader is None:
            return
        gone = three.set.lagging(self.in_force(), three.now)
        self.isr = tuple(node for node in self.isr if node not in gone)
        self.isr += tuple(three.set.returning(self.in_force(), self.epoch_start, three.now))
        three.set.commit(self.in_force(), three.now)

    def alive_leader(self) -> bool:
        leader = self.three.set.leader
        return leader is not None and leader.alive

    @precondition(alive_leader)
    @rule()
    def append(self) -> None:
        leader = self.three.set.leader
        assert leader is not None
        self.number += 1
        put(leader.log, (b"k", b"%d" % self.number), epoch=self.three.epoch)
        self.three.set.appended(self.three.now)
        self.step()

    @rule(
        node=st.integers(1, 3),
        lag=st.sampled_from([NOTHING, None, None, Lag(records=2), Lag(ms=500), Lag(size_bytes=99)]),
    )
    def keep_back(self, node: int, lag: Lag | None) -> None:
        self.three.set.by_node[node].lag = lag
        self.step()

    @rule(a=st.integers(1, 3), b=st.integers(1, 3), cut=st.booleans())
    def link(self, a: int, b: int, cut: bool) -> None:
        (self.cut.add if cut else self.cut.discard)(frozenset((a, b)))
        self.step()

    @rule(ms=st.integers(1, 2 * MAX_LAG_MS))
    def wait(self, ms: int) -> None:
        self.three.now += ms
        self.step()

    @rule(node=st.integers(1, 3))
    def kill(self, node: int) -> None:
        replica = self.three.set.by_node[node]
        if not replica.alive:
            return
        replica.alive = False
        if len(self.isr) > 1:
            self.isr = tuple(one for one in self.isr if one != node)
        if self.three.set.leader_id == node:
            self.choose()

    @rule(node=st.integers(1, 3))
    def start_node(self, node: int) -> None:
        self.three.set.by_node[node].alive = True
        if not self.alive_leader():
            self.choose()
        self.step()

    @precondition(lambda self: self.alive_leader())
    @rule(node=st.integers(1, 3))
    def prefer(self, node: int) -> None:
        if node in self.isr and self.three.set.by_node[node].alive and node != self.three.set.leader_id:
            self.lead(node)

    @precondition(lambda self: not self.alive_leader())
    @rule(node=st.integers(1, 3))
    def elect_uncleanly(self, node: int) -> None:
        if self.three.set.by_node[node].alive and node not in self.isr:
            # What its log lacks is lost, and what it has in the place of other records, too.
            mine = dict(contents(self.three.set.by_node[node]))
            self.committed = {offset: value for offset, value in self.committed.items() if mine.get(offset) == value}
            self.isr = (node,)
            self.lead(node)

    def choose(self) -> None:
        for node in self.isr:
            if self.three.set.by_node[node].alive:
                self.lead(node)
                return
        self.three.set.leader_id = -1

    def lead(self, node: int) -> None:
        log = self.three.elect(node, self.isr)
        self.epoch_start = log.log_end_offset
        self.step()

    @invariant()
    def replicas_agree(self) -> None:
        three = self.three
        leader = three.set.leader
        if leader is None:
            return
        mine = contents(leader)
        assert leader.end == leader.log.log_end_offset
        for offset, value in mine:
            if offset < leader.log.high_watermark:
                known = self.committed.setdefault(offset, value)
                assert known == value, "what was committed has changed"
        for replica in three.set.by_node.values():
            if replica.follows:
                assert contents(replica) == mine[: replica.end]
            if replica.node_id in self.isr:
                assert replica.end >= leader.log.high_watermark
                assert contents(replica)[: leader.log.high_watermark] == mine[: leader.log.high_watermark]
            assert replica.high_watermark <= replica.end

    @invariant()
    def nothing_committed_is_lost(self) -> None:
        leader = self.three.set.leader
        if leader is not None:
            assert dict(contents(leader)).items() >= self.committed.items()


TestReplicaModel = ReplicaModel.TestCase
TestReplicaModel.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)


# -- What a follower that is behind knows of producers and transactions.


def transaction(log: PartitionLog, producer_id: int, sequence: int = 0) -> None:
    batch = build_batch(
        [Record(0, NOW, None, b"v")],
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        transactional=True,
    )
    log.producers.begin_verification(producer_id, 0, sequence, NOW, supports_epoch_bump=False)
    log.append(batch, now_ms=NOW)


def marker(log: PartitionLog, producer_id: int, *, commit: bool = True) -> None:
    batch = build_end_txn_batch(EndTxnMarker(commit, 0), producer_id=producer_id, producer_epoch=0, timestamp=NOW)
    log.append(batch, now_ms=NOW, origin=AppendOrigin.COORDINATOR)


def copy_of(log: PartitionLog, end: int) -> Replica:
    copy = Replica(2, log, NOW)
    copy.end = copy.high_watermark = end
    return copy


def test_a_transaction_is_open_for_whom_its_marker_has_not_reached() -> None:
    log = make_log()
    transaction(log, 7)  # 0
    transaction(log, 8)  # 1
    marker(log, 7)  # 2
    marker(log, 8, commit=False)  # 3
    assert stable_offset(copy_of(log, 4)) == 4
    assert [stable_offset(copy_of(log, end)) for end in (0, 1, 2, 3)] == [0, 0, 0, 1]
    known = producers_of(copy_of(log, 3))
    assert [(p.producer_id, p.current_txn_first_offset) for p in known] == [(7, None), (8, 1)]


def test_a_copy_that_grows_is_read_on_and_one_that_shrinks_anew() -> None:
    log = make_log()
    for producer in range(5):
        transaction(log, producer)
    copy = copy_of(log, 2)
    assert len(producers_of(copy)) == 2
    first = copy.producers
    copy.end = 4
    assert (len(producers_of(copy)), copy.producers is first) == (4, True)
    copy.end = 3
    assert (len(producers_of(copy)), copy.producers is first) == (3, False)


def test_a_copy_that_has_everything_knows_what_the_log_knows() -> None:
    log = make_log()
    transaction(log, 7)
    copy = copy_of(log, 1)
    assert producers_of(copy) is log.producers
    assert stable_offset(copy) == 0


def test_what_a_follower_does_not_know_to_be_committed_is_not_stable() -> None:
    log = make_log()
    transaction(log, 7)
    marker(log, 7)
    copy = copy_of(log, 2)
    copy.end, copy.high_watermark = 2, 1
    assert stable_offset(copy) <= 1
