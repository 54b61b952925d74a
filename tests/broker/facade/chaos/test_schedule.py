"""A schedule as text, there and back."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.facade.chaos.course import VERBS
from odradek.broker.facade.chaos.schedule import ANSWERS, ChaosFault, Shape, Wanted, draw, read_schedule, schedule_text
from odradek.broker.faults.fault import Fault
from odradek.broker.faults.wire_fault import WireFault

FAULTS = [
    ChaosFault(1, 1.5, "kill_node", (2,), (), 3.0),
    ChaosFault(2, 2.25, "answer", ("Produce", "NOT_LEADER_OR_FOLLOWER"), (("node", 1), ("times", 2)), 0.5),
    ChaosFault(3, 12.0, "move_leader", ("a topic's", 0, 3)),
]


def test_a_schedule_reads_as_lines_and_is_read_from_them() -> None:
    text = schedule_text(FAULTS)

    assert text.splitlines() == [
        "#1      1.500 kill_node(2) for 3.000",
        "#2      2.250 answer('Produce', 'NOT_LEADER_OR_FOLLOWER', node=1, times=2) for 0.500",
        """#3     12.000 move_leader("a topic's", 0, 3)""",
    ]
    assert read_schedule(text) == FAULTS


def test_lines_need_no_numbers_and_no_order_and_faults_may_stand_among_them() -> None:
    read = read_schedule(["7 move_leader('t', 0, 1)", "", FAULTS[0]])

    assert read == [FAULTS[0], ChaosFault(1, 7.0, "move_leader", ("t", 0, 1))]


def test_a_fault_ends_when_it_has_lasted() -> None:
    assert FAULTS[0].ends == 4.5
    assert FAULTS[2].ends == 12.0


@pytest.mark.parametrize(
    "line",
    [
        "kill_node(2)",
        "1.0 kill_node",
        "1.0 kill_node(2) for",
        "1.0 kill_node(2) for long",
        "1.0 kill_node(__import__('os').getpid())",
        "1.0 kill_node(2",
    ],
)
def test_what_is_no_fault_is_named_with_its_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 2: "):
        read_schedule(["0.5 kill_node(1)", line])


SHAPE = Shape((1, 2, 3), (("orders", ((1, 2, 3), (1, 2))), ("single", ((2,),))))
DOWN = ("kill_node", "stop_node", "freeze_node", "fail_disk")
WEIGHTS = dict.fromkeys(VERBS, 1.0)


def wanted(**changes: object) -> Wanted:
    return Wanted(60.0, 30, WEIGHTS, (0.5, 5.0), 3, 2, (1.0, 60.0), tuple(ANSWERS))._replace(**changes)  # type: ignore[arg-type]


@given(st.integers(), st.integers(1, 4), st.integers(0, 3))
def test_no_more_last_at_once_and_no_more_nodes_are_down_than_is_allowed(seed: int, at_once: int, min_up: int) -> None:
    faults = draw(seed, SHAPE, wanted(at_once=at_once, min_up=min_up))

    assert [fault.number for fault in faults] == list(range(1, len(faults) + 1))
    for fault in faults:
        assert 0 <= fault.at <= 54.0
        assert fault.ends <= 60.0
        lasting = [each for each in faults if each.lasts and each.at <= fault.at < each.ends]
        assert len(lasting) <= at_once
        down = [each.arguments[0] for each in lasting if each.verb in DOWN]
        assert len(down) == len(set(down)) <= max(0, 3 - min_up)
        paused = [each.arguments for each in lasting if each.verb in ("pause_replication", "lag_replication")]
        assert len(paused) == len(set(paused))


@given(st.integers(0, 1000))
def test_replicas_are_touched_only_where_there_are_several(seed: int) -> None:
    touching = ("pause_replication", "lag_replication", "move_leader")
    for fault in draw(seed, SHAPE, wanted()):
        if fault.verb in touching:
            topic, partition, node = fault.arguments
            assert topic == "orders"
            assert node in SHAPE.topics[0][1][partition]
        if fault.verb == "reassign":
            topic, partition, nodes = fault.arguments
            assert topic == "orders"
            assert len(set(nodes)) == len(SHAPE.topics[0][1][partition])


def test_unclean_elections_are_drawn_when_they_are_wanted() -> None:
    def options(unclean: bool) -> list[tuple[tuple[str, object], ...]]:
        faults = [fault for seed in range(100) for fault in draw(seed, SHAPE, wanted(unclean=unclean))]
        return [fault.options for fault in faults if fault.verb == "elect"]

    assert set(options(True)) == {(), (("unclean", True),)}
    assert set(options(False)) == {()}


def test_one_node_alone_has_no_links_and_no_replicas_to_disturb() -> None:
    shape = Shape((1,), (("t", ((1,),)),))
    for seed in range(50):
        verbs = {fault.verb for fault in draw(seed, shape, wanted(min_up=1))}
        requests = {"answer", "drop", "lose", "disconnect", "delay", "break_answer"}
        assert verbs <= {"advance", "cut_clients", "slow_clients", "slow_disk", *requests}


def test_apis_without_errors_of_their_own_are_never_answered_by_one() -> None:
    verbs = {fault.verb for seed in range(50) for fault in draw(seed, SHAPE, wanted(apis=("Metadata",)))}

    assert "answer" not in verbs
    assert "delay" in verbs
    assert not {f.verb for f in draw(1, SHAPE, wanted(apis=()))} & {"answer", "drop", "lose", "disconnect", "delay"}


def test_chaos_schedules_of_different_seeds_differ() -> None:
    assert len({schedule_text(draw(seed, SHAPE, wanted())) for seed in range(100)}) == 100


def test_every_error_that_is_answered_is_one() -> None:
    for api, errors in ANSWERS.items():
        for error in errors:
            assert Fault(api, answer=error).answer is not None


@pytest.mark.long
def test_the_schedule_is_the_same_in_another_process_with_another_hash_seed() -> None:
    """And whoever else draws random numbers."""
    script = (
        "import random; random.seed(3); from tests.broker.facade.chaos.test_schedule import *; "
        "print(schedule_text(draw(7, SHAPE, wanted())))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert texts == {schedule_text(draw(7, SHAPE, wanted()))}


def test_only_coordinators_that_are_there_are_kept_from_loading() -> None:
    def places(shape: Shape) -> set[tuple[object, ...]]:
        drawn = [draw(seed, shape, wanted(weights={"hold_load": 1.0})) for seed in range(20)]
        return {fault.arguments for faults in drawn for fault in faults}

    coordinated = Shape((1, 2), (*SHAPE.topics, ("__consumer_offsets", ((1, 2), (2, 1)))))
    assert places(SHAPE) == set()
    assert places(coordinated) == {("__consumer_offsets", 0), ("__consumer_offsets", 1)}


def test_the_clients_that_are_named_have_bad_links() -> None:
    weights = {"cut_clients": 1.0, "slow_clients": 1.0}
    faults = draw(7, SHAPE, wanted(weights=weights, clients=("app-*",)))
    assert {fault.arguments[0] for fault in faults} == {"app-*"}
    assert draw(7, SHAPE, wanted(weights=weights, clients=())) == []


@given(st.integers(0, 1000))
def test_what_breaks_answers_can_be_set(seed: int) -> None:
    for fault in draw(seed, SHAPE, wanted(weights={"break_answer": 1.0})):
        WireFault(*fault.arguments, **dict(fault.options))
