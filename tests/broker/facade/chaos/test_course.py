"""A schedule on its way through a cluster: order, ends, what cannot be done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.chaos.course import Course
from odradek.broker.facade.chaos.schedule import read_schedule


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(nodes=3, topics={"t": {"partitions": 1, "replication_factor": 3}}) as broker:
        broker.clock.freeze()
        yield broker


def course(broker: KafkaBroker, *lines: str) -> Course:
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


def test_stopping_leaves_what_lasts(broker: KafkaBroker) -> None:
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
