"""Links: between nodes, and between clients and nodes; nodes that refuse connections."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek import Fault, KafkaBroker, Security, WireFault
from odradek.broker.facade.topics import PartitionInfo
from odradek.broker.nodes.links import Ends, accept_connections, between_nodes, ends_of, refuse_connections
from odradek.broker.nodes.node_life import start_node, stop_node
from odradek.client_security.options import ClientSecurity, security_options
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import WireError
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient

two_nodes = broker_fixture(nodes=2)


def test_a_client_and_a_node_in_either_order(two_nodes: KafkaBroker) -> None:
    cluster = two_nodes.cluster
    assert ends_of(cluster, "app", 1, None) == ends_of(cluster, 1, "app", None) == Ends("app", 1, None)
    assert ends_of(cluster, "app", None, "PLAINTEXT") == Ends("app", None, "PLAINTEXT")
    assert between_nodes(1, 2) == (1, 2)
    assert between_nodes("1", 2) is None
    for a, b in ((1, None), ("a", "b")):
        with pytest.raises(ValueError, match="no link between"):
            ends_of(cluster, a, b, None)
    with pytest.raises(TypeError, match="True: expected a node id or a client id"):
        ends_of(cluster, "app", True, None)


def test_a_node_that_is_down_refuses_by_itself(two_nodes: KafkaBroker) -> None:
    undo = two_nodes.refuse_connections(2)
    two_nodes.kill_node(2)
    undo.undo()
    with pytest.raises(ValueError, match="node 2 is down"):
        two_nodes.refuse_connections(2)
    with pytest.raises(ValueError, match="no node 3: the cluster has 1, 2"):
        two_nodes.refuse_connections(3)


def partition(broker: KafkaBroker) -> PartitionInfo:
    return broker.topics["t"].partitions[0]


def dial(broker: KafkaBroker, node: int = 1) -> WireClient:
    return WireClient("127.0.0.1", broker.cluster.nodes[node].port)


def test_records_are_late_over_a_slow_link(broker: KafkaBroker) -> None:
    leader, follower = partition(broker).leader, partition(broker).replicas[1]
    with broker.slow(leader, follower, ms=200):
        broker.produce("t", "a")
        assert (partition(broker).replica_ends[follower], partition(broker).high_watermark) == (0, 0)
        broker.clock.advance(seconds=0.199)
        assert partition(broker).high_watermark == 0
        broker.clock.advance(seconds=0.001)
        assert (partition(broker).replica_ends[follower], partition(broker).high_watermark) == (1, 1)
        broker.clock.advance(seconds=60)
        assert set(partition(broker).isr) == {1, 2, 3}
        broker.produce("t", "b")
    assert partition(broker).high_watermark == 2


def test_records_on_their_way_to_a_follower_that_is_cut_off_or_down_wait(broker: KafkaBroker) -> None:
    """The broker does not look for them all the time meanwhile: it would do nothing else."""
    leader, follower = partition(broker).leader, partition(broker).replicas[1]
    with broker.slow(leader, follower, ms=200):
        broker.produce("t", "a")
        with broker.kill_node(follower):
            broker.clock.advance(seconds=10)
            assert partition(broker).replica_ends[follower] == 0
        broker.clock.advance(seconds=1)
        assert partition(broker).replica_ends[follower] == 1
        broker.produce("t", "b")
        with broker.cut(leader, follower):
            broker.clock.advance(seconds=10)
            assert partition(broker).replica_ends[follower] == 1
        assert partition(broker).replica_ends[follower] == 2


def test_a_follower_behind_a_thin_line_leaves_the_isr(broker: KafkaBroker) -> None:
    leader, follower = partition(broker).leader, partition(broker).replicas[1]
    broker.slow(follower, leader, bytes_per_second=10)
    for _ in range(100):
        broker.produce("t", bytes(100))
    broker.clock.advance(seconds=10)
    assert follower not in partition(broker).isr
    assert 0 < partition(broker).replica_ends[follower] < 100 or partition(broker).replica_ends[follower] == 0
    broker.heal()
    assert set(partition(broker).isr) == {1, 2, 3}


def test_slow_link_delays_a_client(broker: KafkaBroker) -> None:
    asked = MetadataRequest()
    with dial(broker) as client, broker.slow("wire", 1, ms=50):
        number = client.send(asked, 12)
        deadline = time.monotonic() + 60
        while not any("Metadata v12" in line for line in broker.cluster.recent.lines()):
            assert time.monotonic() < deadline
        assert not select.select([client._socket], [], [], 0)[0]
        broker.clock.advance(seconds=0.05)
        client.receive(asked, 12, number)


def test_requests_are_late_too_if_asked(broker: KafkaBroker) -> None:
    asked = MetadataRequest()
    with dial(broker) as client, broker.slow("wire", 1, ms=50, both_ways=True):
        client.receive(asked, 12, _sent(broker, client))  # whose connection it is, is known with its first request
        before = len(broker.cluster.recent.lines())
        number = client.send(asked, 12)
        for _ in range(2):
            assert not select.select([client._socket], [], [], 0.05)[0]
            assert len(broker.cluster.recent.lines()) == before
            broker.clock.advance(seconds=0.025)
        _until(lambda: len(broker.cluster.recent.lines()) == before + 1)
        assert not select.select([client._socket], [], [], 0)[0]
        broker.clock.advance(seconds=0.05)
        client.receive(asked, 12, number)


def _sent(broker: KafkaBroker, client: WireClient) -> int:
    """Send a request, and let its answer come."""
    before = len(broker.cluster.recent.lines())
    number = client.send(MetadataRequest(), 12)
    _until(lambda: len(broker.cluster.recent.lines()) > before)
    broker.clock.advance(seconds=0.05)
    return number


def _until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline


def test_what_ends_one_fault_of_a_link_leaves_the_other(broker: KafkaBroker) -> None:
    leader, follower = partition(broker).leader, partition(broker).replicas[1]
    with broker.slow(leader, follower, ms=200):
        with broker.cut(leader, follower):
            broker.produce("t", "a")
            broker.clock.advance(seconds=1)
            assert partition(broker).high_watermark == 0
        broker.clock.advance(seconds=0.199)
        assert partition(broker).high_watermark == 0, "it is slow as before"
        broker.clock.advance(seconds=0.001)
        assert partition(broker).high_watermark == 1
    with broker.cut(leader, follower):
        with broker.slow(leader, follower, ms=200):
            pass
        broker.produce("t", "b")
        assert partition(broker).high_watermark == 1, "it is cut as before"
    with broker.slow(leader, follower, ms=200), broker.cut(leader, follower):
        broker.produce("t", "c")
    assert partition(broker).high_watermark == 3


def test_what_ends_one_fault_of_a_clients_link_leaves_the_other(broker: KafkaBroker) -> None:
    asked = MetadataRequest()
    with dial(broker) as client:
        client.request(asked, 12)
        with broker.slow("wire", 1, ms=50):
            with broker.cut("wire", 1):
                number = client.send(asked, 12)
            _until(lambda: len(broker.cluster.recent.lines()) > 1)
            assert not select.select([client._socket], [], [], 0.05)[0]
            broker.clock.advance(seconds=0.05)
            client.receive(asked, 12, number)
        with broker.cut("wire", 1):
            with broker.slow("wire", 1, ms=50):
                pass
            number = client.send(asked, 12)
            assert not select.select([client._socket], [], [], 0.05)[0]
        client.receive(asked, 12, number)


def test_jitter_between_nodes_is_the_same_in_each_run() -> None:
    def arrivals() -> list[float]:
        with KafkaBroker(nodes=2, topics={"t": {"partitions": 1, "replication_factor": 2}}) as broker:
            broker.clock.freeze()
            broker.slow(1, 2, ms=100, jitter=1000)
            found: list[float] = []
            for number in range(8):
                broker.produce("t", str(number))
                waited = 0.0
                while partition(broker).high_watermark <= number:
                    broker.clock.advance(seconds=0.01)
                    waited += 0.01
                found.append(round(waited, 2))
            return found

    first = arrivals()
    assert first == arrivals()
    assert all(0.1 <= waited <= 1.1 for waited in first)
    assert len(set(first)) > 4


def test_who_dials_is_refused_and_who_is_there_stays(broker: KafkaBroker) -> None:
    with dial(broker) as client:
        client.request(MetadataRequest(), 12)
        port = broker.cluster.nodes[1].port
        with broker.refuse_connections(1):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=30)
            client.request(MetadataRequest(), 12)
            broker.refuse_connections(1)
        dial(broker).close()
        broker.refuse_connections(1, listener="PLAINTEXT")
        broker.heal()
        dial(broker).close()


def test_heal_takes_wire_faults_away_and_leaves_the_others(broker: KafkaBroker) -> None:
    counting = Fault("Metadata")
    broker.set_faults(counting, WireFault("Metadata", cut_after=0), WireFault(on="connect", how="reset"))
    broker.heal()
    with dial(broker) as client:
        client.request(MetadataRequest(), 12)
    assert counting.hits == 1


@pytest.mark.long("True")
@pytest.mark.parametrize("tls", [False, True])
def test_clients_that_log_in_have_bad_links_too(tls: bool) -> None:
    with KafkaBroker(security=Security(tls=tls, users={"alice": "a-secret"})) as broker:

        def connected() -> WireClient:
            config = broker.client_config("alice")
            port = broker.cluster.nodes[1].port
            return WireClient("127.0.0.1", port, security=ClientSecurity.parse(security_options(config)))

        with connected() as client:
            client.request(MetadataRequest(), 12)
            broker.freeze_node(1)
            number = client.send(MetadataRequest(), 12)
            late: list[WireClient] = []
            logging_in = threading.Thread(target=lambda: late.append(connected()))
            logging_in.start()
            logging_in.join(0.2)
            assert not late
            broker.thaw_node(1)
            client.receive(MetadataRequest(), 12, number)
            logging_in.join()
            broker.slow("*", 1, ms=10, bytes_per_second=10_000)
            late[0].request(MetadataRequest(), 12)
            connected().close()
            broker.set_faults(WireFault("Metadata", pieces=3, times=1), WireFault("Metadata", cut_after=9))
            late[0].request(MetadataRequest(), 12)
            with pytest.raises(WireError):
                late[0].request(MetadataRequest(), 12)
            late[0].close()
            broker.heal()
            client.request(MetadataRequest(), 12)
            broker.cut("wire", 1, how="reset")
            with pytest.raises(WireError):
                client.request(MetadataRequest(), 12)
        assert not broker.bugs, broker.bugs[0]


def test_a_node_that_is_stopped_while_it_refuses_comes_back_open(broker: KafkaBroker) -> None:
    with broker.refuse_connections(2):
        broker.stop_node(2)
        broker.start_node(2)
        dial(broker, 2).close()


@pytest.mark.parametrize(
    ("ends", "options", "message"),
    [
        ((1, 9), {"ms": 1}, "no node 9: the cluster has 1, 2, 3"),
        (("app", 9), {"ms": 1}, "no node 9: the cluster has 1, 2, 3"),
        (("app", "other"), {"ms": 1}, "expected two nodes, or a client id and a node"),
        (("", 1), {"ms": 1}, "a client id must not be empty"),
        (("app", 1), {}, "needs ms=, jitter= or bytes_per_second="),
        (("app", 1), {"ms": -1}, "a delay must not be negative"),
        (("app", 1), {"bytes_per_second": 0}, "expected 1 or more; use cut"),
        (("app", 1), {"ms": 1, "listener": "PLAINTXT"}, "no listener PLAINTXT .did you mean 'PLAINTEXT'"),
        ((1, 2), {"ms": 1, "listener": "PLAINTEXT"}, "between two nodes takes no listener="),
        ((1, 2), {"ms": 1, "both_ways": True}, "between two nodes takes no listener= and no both_ways="),
        ((1, 1), {"ms": 1}, "node 1 has no link to itself"),
    ],
)
def test_slowing_a_link_with_wrong_arguments_is_refused(
    broker: KafkaBroker, ends: tuple[int, int], options: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        broker.slow(*ends, **options)  # type: ignore[arg-type]


def test_ways_to_cut_are_checked(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match=r"how='silen': expected one of silent, reset, close .did you mean 'silent'"):
        broker.cut("app", 1, how="silen")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="without how= and listener="):
        broker.cut(1, 2, how="reset")
    with pytest.raises(TypeError, match="as an end of a link"):
        broker.cut(1.5, 2)  # type: ignore[arg-type]


def test_a_node_may_go_and_come_in_one_step(broker: KafkaBroker) -> None:
    """Its new socket may have the number of the old one, for which a task still waits."""

    def step() -> None:
        for _ in range(3):
            stop_node(broker.cluster, 1)
            start_node(broker.cluster, 1)
            refuse_connections(broker.cluster, 1)
            accept_connections(broker.cluster, 1)

    broker._call(step)
    with dial(broker) as client:
        client.request(MetadataRequest(), 12)


# -- replication


ALL = {"partitions": 1, "replication_factor": 3}


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


def test_heal_undoes_all_link_changes(broker: KafkaBroker) -> None:
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
