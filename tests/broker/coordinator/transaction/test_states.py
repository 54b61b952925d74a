"""The table of states."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.coordinator.transaction.states import RULES, EndAction, TransactionState

S = TransactionState


def test_every_state_has_rules() -> None:
    assert set(RULES) == set(TransactionState)


def test_the_numbers_are_those_of_the_stored_record() -> None:
    assert [(state.value, state.label) for state in TransactionState] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]


def test_transaction_states_are_found_by_their_labels() -> None:
    assert [TransactionState.from_label(state.label) for state in TransactionState] == list(TransactionState)
    assert TransactionState.from_label("Nonsense") is None


@pytest.mark.parametrize(
    ("state", "abort", "commit"),
    [
        # (retry, current) of each, as KIP-890's table of EndTxn with transactions version 2 has them
        (S.EMPTY, (EndAction.FENCED, EndAction.PREPARE_EMPTY), (EndAction.FENCED, EndAction.REFUSE)),
        (S.COMPLETE_ABORT, (EndAction.DONE, EndAction.PREPARE_EMPTY), (EndAction.REFUSE, EndAction.REFUSE)),
        (S.COMPLETE_COMMIT, (EndAction.REFUSE, EndAction.PREPARE_EMPTY), (EndAction.DONE, EndAction.REFUSE)),
    ],
)
def test_end_txn_of_version_2_without_an_open_transaction(
    state: TransactionState, abort: tuple[EndAction, EndAction], commit: tuple[EndAction, EndAction]
) -> None:
    rules = RULES[state].end_v2
    assert rules is not None
    assert (rules.retried_abort, rules.abort) == abort
    assert (rules.retried_commit, rules.commit) == commit


README = Path(__file__).parents[4] / "broker/coordinator/transaction/README.md"


def diagram() -> str:
    """The table as the README draws it."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> Empty"]
    for state, rules in RULES.items():
        lines += [f"    {state.label} --> {following.label}" for following in sorted(rules.transitions)]
    return "\n".join([*lines, "    Dead --> [*]", "```"])


def test_the_drawn_diagram_is_the_table() -> None:
    assert diagram() in README.read_text(), f"put this into {README.name}:\n{diagram()}"
