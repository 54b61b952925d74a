"""The states of a transactional id: what each request gets in each of them, and where it may go from there.

This table is the only place that says so; the machine looks up its answers here, and README.md shows the transitions.
Sources: KIP-98, KIP-360, KIP-890, and the answers of Apache Kafka 4.4.0.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class TransactionState(IntEnum):
    """Values as in TransactionLogValue.TransactionStatus."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """The name that DescribeTransactions and ListTransactions show, such as `PrepareCommit`."""
        return _LABELS[self]

    @classmethod
    def from_label(cls, label: str) -> TransactionState | None:
        """The state with that name; None without one."""
        return _BY_LABEL.get(label)


_LABELS = {state: "".join(word.capitalize() for word in state.name.split("_")) for state in TransactionState}
_BY_LABEL = {label: state for state, label in _LABELS.items()}


class InitAction(Enum):
    """The results of InitProducerId."""

    TAKE_OVER = "new epoch"
    ABORT_FIRST = "aborts, CONCURRENT_TRANSACTIONS"
    WAIT = "CONCURRENT_TRANSACTIONS"


class AddAction(Enum):
    """The results of AddPartitionsToTxn and AddOffsetsToTxn."""

    BEGIN = "begins a transaction"
    EXTEND = "adds partitions"
    WAIT = "CONCURRENT_TRANSACTIONS"


class EndAction(Enum):
    """The results of EndTxn."""

    PREPARE = "ends the transaction"
    PREPARE_EMPTY = "ends an empty transaction"
    DONE = "already done"
    WAIT = "CONCURRENT_TRANSACTIONS"
    FENCED = "PRODUCER_FENCED"
    REFUSE = "INVALID_TXN_STATE"


class EndActions(NamedTuple):
    """The results of EndTxn by the wanted end. `retried`: the epoch is the one before the last bump."""

    commit: EndAction
    abort: EndAction
    retried_commit: EndAction
    retried_abort: EndAction

    def pick(self, commit: bool, retried: bool) -> EndAction:
        """The action for one request."""
        if retried:
            return self.retried_commit if commit else self.retried_abort
        return self.commit if commit else self.abort


class StateRules(NamedTuple):
    """Everything about one state.

    `end_v1`: EndTxn up to version 4, whose epoch stays. `end_v2`: EndTxn 5, which bumps the epoch (KIP-890).
    `transitions`: the states that the next record of the id may have. `expires`: the id may be forgotten here. No
    request sees an id in DEAD or PREPARE_EPOCH_FENCE. Expiring is one step, and so is fencing with the abort that
    follows, so these states are never stored.
    """

    init: InitAction | None
    add: AddAction | None
    end_v1: EndActions | None
    end_v2: EndActions | None
    transitions: frozenset[TransactionState]
    expires: bool = False


_S = TransactionState
_E = EndAction
_WAIT = EndActions(_E.WAIT, _E.WAIT, _E.WAIT, _E.WAIT)
_NEXT_AT_REST = frozenset({_S.EMPTY, _S.ONGOING, _S.PREPARE_ABORT, _S.DEAD})


def _v1(commit: EndAction, abort: EndAction) -> EndActions:
    """Version 1 has no retry by epoch: any epoch but the current one is fenced."""
    return EndActions(commit, abort, _E.FENCED, _E.FENCED)


RULES: dict[TransactionState, StateRules] = {
    _S.EMPTY: StateRules(
        init=InitAction.TAKE_OVER,
        add=AddAction.BEGIN,
        end_v1=_v1(commit=_E.REFUSE, abort=_E.REFUSE),
        end_v2=EndActions(commit=_E.REFUSE, abort=_E.PREPARE_EMPTY, retried_commit=_E.FENCED, retried_abort=_E.FENCED),
        transitions=_NEXT_AT_REST,
        expires=True,
    ),
    _S.ONGOING: StateRules(
        init=InitAction.ABORT_FIRST,
        add=AddAction.EXTEND,
        end_v1=_v1(commit=_E.PREPARE, abort=_E.PREPARE),
        end_v2=EndActions(commit=_E.PREPARE, abort=_E.PREPARE, retried_commit=_E.FENCED, retried_abort=_E.FENCED),
        transitions=frozenset({_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT, _S.PREPARE_EPOCH_FENCE}),
    ),
    _S.PREPARE_COMMIT: StateRules(
        init=InitAction.WAIT,
        add=AddAction.WAIT,
        end_v1=_v1(commit=_E.WAIT, abort=_E.WAIT),
        end_v2=_WAIT,
        transitions=frozenset({_S.COMPLETE_COMMIT}),
    ),
    _S.PREPARE_ABORT: StateRules(
        init=InitAction.WAIT,
        add=AddAction.WAIT,
        end_v1=_v1(commit=_E.WAIT, abort=_E.WAIT),
        end_v2=_WAIT,
        transitions=frozenset({_S.COMPLETE_ABORT}),
    ),
    _S.COMPLETE_COMMIT: StateRules(
        init=InitAction.TAKE_OVER,
        add=AddAction.BEGIN,
        end_v1=_v1(commit=_E.DONE, abort=_E.REFUSE),
        end_v2=EndActions(commit=_E.REFUSE, abort=_E.PREPARE_EMPTY, retried_commit=_E.DONE, retried_abort=_E.REFUSE),
        transitions=_NEXT_AT_REST,
        expires=True,
    ),
    _S.COMPLETE_ABORT: StateRules(
        init=InitAction.TAKE_OVER,
        add=AddAction.BEGIN,
        end_v1=_v1(commit=_E.REFUSE, abort=_E.DONE),
        end_v2=EndActions(commit=_E.REFUSE, abort=_E.PREPARE_EMPTY, retried_commit=_E.REFUSE, retried_abort=_E.DONE),
        transitions=_NEXT_AT_REST,
        expires=True,
    ),
    _S.DEAD: StateRules(init=None, add=None, end_v1=None, end_v2=None, transitions=frozenset()),
    _S.PREPARE_EPOCH_FENCE: StateRules(
        init=None, add=None, end_v1=None, end_v2=None, transitions=frozenset({_S.PREPARE_ABORT})
    ),
}

IN_PROGRESS = frozenset({_S.ONGOING, _S.PREPARE_COMMIT, _S.PREPARE_ABORT})
"""A transaction is open, or its markers are still being written."""

ENDING = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
"""The end is decided, and the markers are being written."""
