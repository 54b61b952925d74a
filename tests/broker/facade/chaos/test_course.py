"""The verbs of a schedule, and its way through a cluster: order, ends, what cannot be done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import ErrorCode, Fault, KafkaBroker
from odradek.broker.coordinator.service import partition_for
from odradek.broker.facade.chaos.course import VERBS, Course, verb_named
from odradek.broker.facade.chaos.schedule import read_schedule
from odradek.broker.faults.fault import FaultSet
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import WireError
from tests.fakes.wire_client import WireClient


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topics = {"t": {"partitions": 1, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics) as broker:
        yield broker


def course(broker: KafkaBroker, *lines: str) -> Course:
    """A course through a broker whose clock stands."""
    broker.clock.freeze()
    return Course(broker.cluster, read_schedule(lines))


def test_what_ends_and_what_begins_comes_in_the_order_of_time(broker: KafkaBroker) -> None:
    run = course(broker, "3 kill_node(3) for 1", "1 kill_node(2) for 2", "1.5 cut(1, 2) for 5")
    broker._call(lambda: run.reach(3.5))

    assert run.log == [
        "   1.000 kill_node(2)",
        "   1.500 cut(1, 2)",
        "   3.000 kill_node(2) is over",
        "   3.000 kill_node(3)",
    ]
    assert not run.finished
    broker._call(lambda: run.reach(10))
    assert run.finished


def test_what_makes_no_sense_now_is_left_out_with_the_reason(broker: KafkaBroker) -> None:
    run = course(broker, "1 kill_node(2) for 5", "2 stop_node(2) for 1", "3 move_leader('nowhere', 0, 1)")
    broker._call(lambda: run.reach(4))

    assert run.log[1:] == [
        "   2.000 stop_node(2) left out: node 2 is down already",
        "   3.000 move_leader('nowhere', 0, 1) left out: UNKNOWN_TOPIC_OR_PARTITION: no topic 'nowhere'; "
        "create_topic('nowhere') makes one",
    ]
    assert run.failure is None


def test_healing_undoes_the_latest_first_and_begins_nothing_more(broker: KafkaBroker) -> None:
    run = course(broker, "1 kill_node(2) for 9", "2 cut(1, 3) for 9", "5 kill_node(3) for 9")
    broker._call(lambda: run.reach(3))
    broker._call(run.heal)
    broker._call(lambda: run.reach(100))

    assert run.log[2:] == ["   3.000 cut(1, 3) is over", "   3.000 kill_node(2) is over"]
    assert len(broker.cluster.up_nodes()) == 3


def test_chaos_that_is_stopped_leaves_what_lasts(broker: KafkaBroker) -> None:
    run = course(broker, "1 kill_node(2) for 9")
    broker._call(lambda: run.reach(3))
    broker._call(run.stop)

    assert [node.id for node in broker.cluster.up_nodes()] == [1, 3]


def test_on_the_clock_a_jump_of_the_schedule_is_no_time_that_passes(broker: KafkaBroker) -> None:
    run = course(broker, "1 advance(3600)", "2 kill_node(2) for 1")
    broker._call(run.start)
    broker.clock.advance(1)
    assert run.log == ["   1.000 advance(3600)"]
    broker.clock.advance(1)
    assert run.log[1:] == ["   2.000 kill_node(2)"]
    broker.clock.advance(1)
    assert run.finished


def test_an_error_that_is_no_refusal_is_kept(broker: KafkaBroker) -> None:
    run = course(broker, "1 kill_node()", "2 kill_node(2) for 1")
    broker._call(lambda: run.reach(5))

    assert isinstance(run.failure, TypeError)
    assert run.log[0].startswith("   1.000 kill_node() failed: TypeError(")
    assert run.log[1:] == ["   2.000 kill_node(2)", "   3.000 kill_node(2) is over"]


def up(broker: KafkaBroker) -> list[int]:
    return [node.id for node in broker.cluster.up_nodes()]


@pytest.mark.parametrize("verb", ["kill_node", "stop_node"])
def test_a_node_goes_and_is_back_at_the_end(broker: KafkaBroker, verb: str) -> None:
    undo = broker._call(lambda: VERBS[verb](broker.cluster, 2))
    assert up(broker) == [1, 3]
    assert undo is not None
    broker._call(undo)
    assert up(broker) == [1, 2, 3]
    broker._call(undo)  # somebody else has started it


@pytest.mark.parametrize(
    ("verb", "measure"), [("pause_replication", {}), ("lag_replication", {"records": 1}), ("cut", None)]
)
def test_a_follower_lacks_records_until_the_end(broker: KafkaBroker, verb: str, measure: dict[str, int] | None) -> None:
    leader, follower, _ = broker.topics["t"].partitions[0].replicas
    arguments = (leader, follower) if measure is None else ("t", 0, follower)
    undo = broker._call(lambda: VERBS[verb](broker.cluster, *arguments, **(measure or {})))
    assert undo is not None
    broker.produce("t", b"a")

    partition = broker.cluster.topics.by_name("t").partitions[0]
    assert broker._call(lambda: partition.copy_on(follower)).end == 0  # type: ignore[union-attr]
    broker._call(undo)
    assert broker._call(lambda: partition.copy_on(follower)) is None


def test_the_end_of_a_pause_is_nothing_where_the_topic_is_gone(broker: KafkaBroker) -> None:
    undo = broker._call(lambda: VERBS["pause_replication"](broker.cluster, "t", 0, 2))
    broker.topic("t").delete()
    assert undo is not None
    broker._call(undo)


def test_a_link_is_slow_until_the_end(broker: KafkaBroker) -> None:
    leader, follower, _ = broker.topics["t"].partitions[0].replicas
    partition = broker.cluster.topics.by_name("t").partitions[0]
    with broker.clock.stopped():
        undo = broker._look(lambda: VERBS["slow"](broker.cluster, leader, follower, ms=500))
        broker.produce("t", b"a")
        copy = broker._look(lambda: partition.copy_on(follower))
        assert copy is not None
        assert copy.end == 0
        assert undo is not None
        broker._look(undo)
        assert broker._look(lambda: partition.copy_on(follower)) is None


def test_a_node_freezes_until_the_end(broker: KafkaBroker) -> None:
    undo = broker._look(lambda: VERBS["freeze_node"](broker.cluster, 2))
    assert list(broker.cluster.frozen) == [2]
    assert undo is not None
    broker._look(undo)
    assert not broker.cluster.frozen
    broker._look(undo)  # somebody else has thawed it


def test_the_preferred_replica_is_elected(broker: KafkaBroker) -> None:
    preferred, other, _ = broker.topics["t"].partitions[0].replicas
    broker.topic("t").move_leader(0, other)
    assert broker._look(lambda: VERBS["elect"](broker.cluster, "t", 0)) is None
    assert broker.topics["t"].partitions[0].leader == preferred


def test_a_reassignment_that_is_under_way_is_cancelled_at_the_end(broker: KafkaBroker) -> None:
    broker.produce("t", b"a")
    leader, follower, _ = broker.topics["t"].partitions[0].replicas
    done = broker._look(lambda: VERBS["reassign"](broker.cluster, "t", 0, [leader, follower]))
    assert done is not None
    broker._look(done)
    assert list(broker.topics["t"].partitions[0].replicas) == [leader, follower]

    third = ({1, 2, 3} - {leader, follower}).pop()
    broker.topic("t").pause_replication(0, third)
    undo = broker._look(lambda: VERBS["reassign"](broker.cluster, "t", 0, [leader, third]))
    assert third in broker.topics["t"].partitions[0].replicas
    assert undo is not None
    broker._look(undo)
    assert list(broker.topics["t"].partitions[0].replicas) == [leader, follower]


def test_a_leader_moves_and_the_clock_jumps(broker: KafkaBroker) -> None:
    broker._call(lambda: VERBS["move_leader"](broker.cluster, "t", 0, 3))
    assert broker.topics["t"].partitions[0].leader == 3
    with broker.clock.stopped():
        before = broker.clock.now_ms()
        assert broker._call(lambda: VERBS["advance"](broker.cluster, 2.5)) is None
        assert broker.clock.now_ms() == before + 2500


@pytest.mark.parametrize(
    ("verb", "arguments", "shown"),
    [
        ("answer", ("Produce", "NOT_ENOUGH_REPLICAS"), "Fault(api='Produce', times=2, answer='NOT_ENOUGH_REPLICAS')"),
        ("drop", ("Fetch",), "Fault(api='Fetch', times=2, drop=True)"),
        ("lose", ("Fetch",), "Fault(api='Fetch', times=2, lose=True)"),
        ("disconnect", ("Fetch",), "Fault(api='Fetch', times=2, cut=True)"),
        ("delay", ("Fetch", 30), "Fault(api='Fetch', times=2, delay_ms=30)"),
    ],
)
def test_a_fault_of_requests_stands_beside_those_of_the_user(
    broker: KafkaBroker, verb: str, arguments: tuple[object, ...], shown: str
) -> None:
    mine = Fault("Metadata", answer=ErrorCode.UNKNOWN_SERVER_ERROR)
    broker.set_faults(mine)
    undo = broker._call(lambda: VERBS[verb](broker.cluster, *arguments, times=2))

    faults = broker.cluster.dispatcher.faults
    assert isinstance(faults, FaultSet)
    assert faults.faults[0] is mine
    assert sorted(repr(faults.faults[1])[6:-1].split(", ")) == sorted(shown[6:-1].split(", "))
    assert undo is not None
    broker._call(undo)
    faults = broker.cluster.dispatcher.faults
    assert isinstance(faults, FaultSet)
    assert faults.faults == [mine]


def test_a_name_that_is_none_is_met_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no fault is called 'kil_node' \(did you mean 'kill_node'\?\)"):
        verb_named("kil_node")


@pytest.mark.parametrize(
    ("verb", "arguments", "options"),
    [
        ("break_answer", ("Metadata",), {"cut_after": 3, "how": "reset"}),
        ("cut_clients", ("*", 1), {"how": "reset"}),
        ("cut_clients", ("*", 1), {"how": "close"}),
    ],
)
def test_a_client_gets_no_answer_until_the_end(
    broker: KafkaBroker, verb: str, arguments: tuple[object, ...], options: dict[str, object]
) -> None:
    undo = broker._call(lambda: VERBS[verb](broker.cluster, *arguments, **options))
    assert undo is not None
    with pytest.raises(WireError), WireClient("127.0.0.1", broker.cluster.nodes[1].port) as client:
        client.request(MetadataRequest(None), 12)
    broker._call(undo)
    with WireClient("127.0.0.1", broker.cluster.nodes[1].port) as client:
        assert len(client.request(MetadataRequest(None), 12).brokers) == 3


def test_answers_are_late_until_the_end(broker: KafkaBroker) -> None:
    broker.clock.freeze()
    undo = broker._call(lambda: VERBS["slow_clients"](broker.cluster, "*", 1, ms=300))
    assert undo is not None
    with WireClient("127.0.0.1", broker.cluster.nodes[1].port) as client:
        sent = client.send(MetadataRequest(None), 12)
        broker._call(undo)  # what is on its way stays late
        broker.clock.advance(1)
        assert len(client.receive(MetadataRequest(None), 12, sent).brokers) == 3
        assert len(client.request(MetadataRequest(None), 12).brokers) == 3


def test_the_end_of_a_link_leaves_those_of_others(broker: KafkaBroker) -> None:
    broker.cut("somebody", 1)
    undo = broker._call(lambda: VERBS["cut_clients"](broker.cluster, "*", 1))
    assert undo is not None
    broker._call(undo)
    assert [link.between[0] for link in broker.cluster.server.links.client_links] == ["somebody"]


@pytest.mark.parametrize("how", ["full", "write"])
def test_a_node_halts_by_its_disk_and_is_back_at_the_end(broker: KafkaBroker, how: str) -> None:
    _, follower, _ = broker.topics["t"].partitions[0].replicas
    undo = broker._call(lambda: VERBS["fail_disk"](broker.cluster, follower, how))
    assert undo is not None
    assert follower in up(broker)
    broker.produce("t", b"a")
    deadline = time.monotonic() + 30
    while follower in up(broker):
        assert time.monotonic() < deadline
    with pytest.raises(ValueError, match="is down"):
        broker._call(lambda: VERBS["fail_disk"](broker.cluster, follower, how))
    broker._call(undo)
    assert up(broker) == [1, 2, 3]
    assert not broker.cluster.disks.faults  # type: ignore[union-attr]


def test_a_slow_disk_needs_logs_on_disk(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="data_dir"):
        broker._call(lambda: VERBS["slow_disk"](broker.cluster, 1, ms=100))


def test_a_disk_is_slow_until_the_end(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path, config={"odradek.flush": "always"}) as broker:
        undo = broker._call(lambda: VERBS["slow_disk"](broker.cluster, 1, ms=100))
        assert broker.cluster.durability.late_ms == {1: 100}  # type: ignore[union-attr]
        assert undo is not None
        broker._call(undo)
        assert broker.cluster.durability.late_ms == {}  # type: ignore[union-attr]


def test_a_coordinator_does_not_load_until_the_end(broker: KafkaBroker) -> None:
    undo = broker._call(lambda: VERBS["hold_load"](broker.cluster, "__transaction_state", 0, now=True))
    leader = broker.cluster.topics.by_name("__transaction_state").partitions[0].leader_id
    name = next(f"tx{n}" for n in range(1000) if partition_for(f"tx{n}", 50) == 0)
    with WireClient("127.0.0.1", broker.cluster.nodes[leader].port) as client:
        asked = InitProducerIdRequest(name, 60_000)
        assert client.request(asked, 4).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert undo is not None
        broker._call(undo)
        assert client.request(asked, 4).error_code == ErrorCode.NONE
