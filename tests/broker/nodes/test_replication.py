"""What a test keeps from replicas, and what an election makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo
from odradek.protocol.errors import KafkaError

ALL = {"partitions": 1, "replication_factor": 3}


def partition(broker: KafkaBroker) -> PartitionInfo:
    return broker.topics["t"].partitions[0]


def values(broker: KafkaBroker) -> list[bytes | None]:
    return [record.value for record in broker.records("t")]


def followers(broker: KafkaBroker) -> list[int]:
    seen = partition(broker)
    return [node for node in seen.replicas if node != seen.leader]


def test_replicas_have_everything_at_once(broker: KafkaBroker) -> None:
    broker.produce("t", "a")
    seen = partition(broker)
    assert (seen.log_end_offset, seen.high_watermark) == (1, 1)
    assert seen.replica_ends == {1: 1, 2: 1, 3: 1}


def test_a_paused_follower_holds_back_what_is_committed(broker: KafkaBroker) -> None:
    slow = followers(broker)[0]
    broker.produce("t", "a")
    with broker.topic("t").pause_replication(0, slow):
        broker.produce("t", "b")
        seen = partition(broker)
        assert (seen.log_end_offset, seen.high_watermark) == (2, 1)
        assert seen.replica_ends[slow] == 1
    seen = partition(broker)
    assert (seen.high_watermark, seen.replica_ends[slow]) == (2, 2)


def test_a_follower_that_is_behind_leaves_the_isr_and_returns(broker: KafkaBroker) -> None:
    slow = followers(broker)[0]
    with broker.topic("t").pause_replication(0, slow):
        broker.produce("t", "a")
        broker.clock.advance(seconds=3)
        assert slow in partition(broker).isr
        broker.clock.advance(seconds=2)
        _eventually(broker, lambda seen: slow not in seen.isr)
        assert partition(broker).high_watermark == 1
    assert set(partition(broker).isr) == {1, 2, 3}


def test_an_acknowledged_record_that_was_not_replicated_dies_with_its_leader(broker: KafkaBroker) -> None:
    dead = partition(broker).leader
    broker.produce("t", "kept")
    paused = {node: broker.topic("t").pause_replication(0, node) for node in followers(broker)}
    broker.produce("t", "lost")
    broker.kill_node(dead)
    del paused[partition(broker).leader]
    for each in paused.values():
        each.undo()
    broker.produce("t", "new")
    assert values(broker) == [b"kept", b"new"]
    assert partition(broker).replica_ends[dead] == 2
    broker.start_node(dead)
    assert values(broker) == [b"kept", b"new"]
    seen = partition(broker)
    assert (seen.replica_ends, set(seen.isr)) == ({1: 2, 2: 2, 3: 2}, {1, 2, 3})


def test_nothing_is_lost_with_a_node_that_had_what_the_others_have(broker: KafkaBroker) -> None:
    dead = partition(broker).leader
    broker.produce("t", "a")
    with broker.kill_node(dead):
        broker.produce("t", "b")
        assert partition(broker).replica_ends[dead] == 1
        assert partition(broker).high_watermark == 2
    assert values(broker) == [b"a", b"b"]
    assert set(partition(broker).isr) == {1, 2, 3}


def test_a_cut_link_keeps_records_from_one_follower(broker: KafkaBroker) -> None:
    leader = partition(broker).leader
    cut_off, other = followers(broker)
    with broker.cut(leader, cut_off):
        broker.produce("t", "a")
        ends = partition(broker).replica_ends
        assert (ends[cut_off], ends[other]) == (0, 1)
    assert partition(broker).high_watermark == 1


def test_heal_undoes_everything(broker: KafkaBroker) -> None:
    leader = partition(broker).leader
    first, second = followers(broker)
    broker.topic("t").pause_replication(0, first)
    broker.cut(leader, second)
    broker.produce("t", "a")
    broker.kill_node(second)
    broker.heal()
    seen = partition(broker)
    assert (seen.high_watermark, set(seen.isr), seen.replica_ends) == (1, {1, 2, 3}, {1: 1, 2: 1, 3: 1})


def test_lag_in_records_and_in_time(broker: KafkaBroker) -> None:
    first, second = followers(broker)
    broker.topic("t").lag_replication(0, first, records=2)
    broker.topic("t").lag_replication(0, second, seconds=1)
    for _ in range(5):
        broker.produce("t", "v")
    assert partition(broker).replica_ends[first] == 3
    assert partition(broker).replica_ends[second] == 0
    broker.clock.advance(seconds=1)
    _eventually(broker, lambda seen: seen.replica_ends[second] == 5)


def test_pausing_replication_to_a_leader_or_an_unknown_node_is_refused(broker: KafkaBroker) -> None:
    leader = partition(broker).leader
    follower = followers(broker)[0]
    with pytest.raises(ValueError, match=rf"leads t-0; name a follower: {', '.join(map(str, followers(broker)))}$"):
        broker.topic("t").pause_replication(0, leader)
    with pytest.raises(ValueError, match="no node 9"):
        broker.topic("t").pause_replication(0, 9)
    with pytest.raises(KafkaError, match="no topic 'u'"):
        broker.topic("u").pause_replication(0, follower)
    with pytest.raises(KafkaError, match="topic 't' has no partition 1, it has 1"):
        broker.topic("t").pause_replication(1, follower)
    with pytest.raises(ValueError, match="one of records"):
        broker.topic("t").lag_replication(0, follower, records=1, seconds=1)
    with pytest.raises(ValueError, match="no node 7"):
        broker.cut(1, 7)
    with pytest.raises(ValueError, match="no link to itself"):
        broker.cut(1, 1)


def test_logs_that_part_are_files_of_their_own(tmp_path: Path) -> None:
    with KafkaBroker(nodes=3, topics={"t": ALL}, data_dir=tmp_path) as broker:
        dead = partition(broker).leader
        broker.produce("t", "kept")
        for node in followers(broker):
            broker.topic("t").pause_replication(0, node)
        broker.produce("t", "lost")
        broker.kill_node(dead)
        broker.heal()
        broker.produce("t", "new")
        assert values(broker) == [b"kept", b"new"]
        assert not broker.bugs
    with KafkaBroker(nodes=3, data_dir=tmp_path) as broker:
        assert values(broker) == [b"kept", b"new"]


def _eventually(broker: KafkaBroker, holds: object) -> None:
    """Let the broker's tasks run until the picture of the partition is as wanted."""
    assert callable(holds)
    for _ in range(200):
        if holds(partition(broker)):
            return
        broker.clock.advance(seconds=0.01)
    raise AssertionError(partition(broker))


def test_a_reassignment_is_under_way_while_the_new_replica_is_held() -> None:
    with KafkaBroker(nodes=4) as broker:
        broker.create_topic("t", replication_factor=3)
        here = partition(broker)
        [new] = {1, 2, 3, 4} - set(here.replicas)
        wanted = (new, *here.replicas[:2])
        broker.produce("t", "a")
        with broker.topic("t").pause_replication(0, new):
            with broker.topic("t").reassign(0, wanted):
                assert set(partition(broker).replicas) == {1, 2, 3, 4}
                assert partition(broker).replica_ends[new] == 0
            assert set(partition(broker).replicas) == set(here.replicas)
            broker.topic("t").reassign(0, wanted)
            assert partition(broker).leader == here.leader
        assert partition(broker).replicas == wanted
        assert partition(broker).replica_ends == dict.fromkeys(wanted, 1)
        with pytest.raises(KafkaError, match="no topic 'nope'"):
            broker.topic("nope").reassign(0, [1])
        with pytest.raises(ValueError, match="no such broker is registered"):
            broker.topic("t").reassign(0, [9])


def test_new_topics_are_cut_as_the_links_are(broker: KafkaBroker) -> None:
    with broker.cut(1, 2), broker.cut(1, 3), broker.cut(2, 3):
        broker.create_topic("u", replication_factor=3)
        broker.produce("u", "a")
        seen = broker.topics["u"].partitions[0]
        assert (seen.log_end_offset, seen.high_watermark) == (1, 0)
    assert broker.topics["u"].partitions[0].high_watermark == 1


def test_a_leader_whose_directory_is_taken_gets_its_log_elsewhere(tmp_path: Path) -> None:
    with KafkaBroker(nodes=3, topics={"t": ALL}, data_dir=tmp_path) as broker:
        broker.clock.freeze()
        broker.produce("t", "kept")
        first, other, third = partition(broker).replicas
        broker.topic("t").move_leader(0, other)  # which goes on with the files of the first
        for node in (first, third):
            broker.topic("t").pause_replication(0, node)
        broker.produce("t", "lost")
        broker.clock.advance(minutes=2)
        broker.kill_node(other)
        broker.topic("t").elect(0, node_id=first, unclean=True)
        assert values(broker) == [b"kept"]
        broker.heal()
        broker.produce("t", "new")
        assert values(broker) == [b"kept", b"new"]
        assert not broker.bugs
    with KafkaBroker(nodes=3, data_dir=tmp_path) as broker:
        assert values(broker) == [b"kept", b"new"]


def test_a_leader_goes_on_with_the_log_that_it_had(tmp_path: Path) -> None:
    with KafkaBroker(nodes=3, topics={"t": ALL}, data_dir=tmp_path) as broker:
        broker.clock.freeze()
        first, second, third = partition(broker).replicas
        broker.topic("t").pause_replication(0, third)
        broker.produce("t", "first")
        broker.clock.advance(minutes=2)
        broker.kill_node(second)
        broker.kill_node(first)
        broker.topic("t").elect(0, node_id=third, unclean=True)
        broker.produce("t", "third")
        broker.cut(first, third)
        broker.cut(second, third)
        broker.start_node(first)
        broker.start_node(second)
        broker.kill_node(third)
        broker.topic("t").elect(0, node_id=first, unclean=True)
        assert values(broker) == [b"first"]
        broker.heal()
        broker.produce("t", "again")
        assert values(broker) == [b"first", b"again"]
        assert not broker.bugs
    logs = [(tmp_path / f"node-{node}" / "t-0" / f"{0:020}.log").read_bytes() for node in (1, 2, 3)]
    assert logs[0] == logs[1] == logs[2]
    with KafkaBroker(nodes=3, data_dir=tmp_path) as broker:
        assert values(broker) == [b"first", b"again"]


def test_replicas_move_to_other_directories(tmp_path: Path) -> None:
    with KafkaBroker(nodes=4, topics={"t": {"partitions": 1, "replication_factor": 2}}, data_dir=tmp_path) as broker:
        broker.produce("t", "a")
        others = sorted({1, 2, 3, 4} - set(partition(broker).replicas))
        broker.topic("t").reassign(0, others)
        assert partition(broker).leader == others[0]
        broker.produce("t", "b")
    assert [node for node in (1, 2, 3, 4) if (tmp_path / f"node-{node}" / "t-0").exists()] == others
    with KafkaBroker(nodes=4, data_dir=tmp_path) as broker:
        assert values(broker) == [b"a", b"b"]


def test_a_reassignment_under_way_is_complete_after_a_restart(tmp_path: Path) -> None:
    """The clean end lets all replicas have everything."""
    with KafkaBroker(nodes=4, topics={"t": {"partitions": 1, "replication_factor": 2}}, data_dir=tmp_path) as broker:
        here = partition(broker).replicas
        others = tuple(sorted({1, 2, 3, 4} - set(here)))
        for node in others:
            broker.topic("t").pause_replication(0, node)
        broker.topic("t").reassign(0, others)
        broker.produce("t", "a")
        assert partition(broker).replicas == (*others, *here)
    with KafkaBroker(nodes=4, data_dir=tmp_path) as broker:
        again = partition(broker)
        assert (again.replicas, set(again.isr), again.leader) == (others, set(others), others[0])
        assert values(broker) == [b"a"]
    assert [node for node in (1, 2, 3, 4) if (tmp_path / f"node-{node}" / "t-0").exists()] == list(others)
