"""The table of states is whole."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.coordinator.group.classic.states import ACTIONS, CAN_REBALANCE, TRANSITIONS, GroupState

ARCHITECTURE = Path(__file__).parents[5] / "ARCHITECTURE.md"


def test_every_state_has_its_actions_and_transitions() -> None:
    assert set(ACTIONS) == set(TRANSITIONS) == set(GroupState)
    assert len({tuple(actions) for actions in ACTIONS.values()}) == 1


def test_a_rebalance_can_begin_where_the_table_says_so() -> None:
    can = {state for state, targets in TRANSITIONS.items() if GroupState.PREPARING_REBALANCE in targets}
    assert can == set(CAN_REBALANCE)


def test_dead_is_the_end_and_everything_else_can_be_reached() -> None:
    assert not TRANSITIONS[GroupState.DEAD]
    assert {target for targets in TRANSITIONS.values() for target in targets} == set(GroupState)


def diagram() -> str:
    """The table as ARCHITECTURE.md draws it."""
    lines = [
        f"    {state.value} --> {target.value}: {why}"
        for state, targets in TRANSITIONS.items()
        for target, why in targets.items()
    ]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> Empty", *lines, "    Dead --> [*]", "```"])


def test_the_diagram_in_the_architecture_is_the_table() -> None:
    assert diagram() in ARCHITECTURE.read_text(), f"put this into {ARCHITECTURE.name}:\n{diagram()}"
