"""A schedule as text, there and back."""

from __future__ import annotations

import pytest

from odradek.broker.facade.chaos.schedule import ChaosFault, read_schedule, schedule_text

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
