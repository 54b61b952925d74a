"""The table of states is closed, and says what Kafka stores."""

from __future__ import annotations

from odradek.broker.partitions.share.states import (
    ACKNOWLEDGED_AS,
    ACQUIRED,
    ARCHIVING,
    TERMINAL,
    TRANSITIONS,
    AcquiredRange,
    RecordState,
    ShareKey,
)


def test_every_state_has_its_row_and_terminal_ones_lead_nowhere() -> None:
    assert set(TRANSITIONS) == set(RecordState)
    assert {state for state, row in TRANSITIONS.items() if not row} == TERMINAL


def test_an_acknowledgement_makes_something_of_an_acquired_record_that_it_may_become() -> None:
    assert {*ACKNOWLEDGED_AS.values(), ARCHIVING} == set(TRANSITIONS[ACQUIRED])


def test_the_stored_numbers_are_kafkas() -> None:
    assert [state.value for state in RecordState] == [0, 1, 2, 3, 4]


def test_the_key_of_a_share_partition_as_text() -> None:
    assert ShareKey("a:b", bytes(16), 3).text == "a:b:AAAAAAAAAAAAAAAAAAAAAA:3"


def test_ranges_that_go_on_with_each_other() -> None:
    assert AcquiredRange(0, 4, 1).goes_on_with(AcquiredRange(5, 6, 1))
    assert not AcquiredRange(0, 4, 1).goes_on_with(AcquiredRange(5, 6, 2))
    assert not AcquiredRange(0, 4, 1).goes_on_with(AcquiredRange(6, 6, 1))
    assert AcquiredRange(3, 7, 1).size == 5
