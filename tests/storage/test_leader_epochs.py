"""Leader epochs: the answers of OffsetForLeaderEpoch and trimming at both ends."""

from __future__ import annotations

import pytest

from odradek.storage.leader_epochs import LeaderEpochs
from tests.storage.logs import make_log, put

EPOCHS = [(2, 0), (3, 10), (5, 20)]


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(-1, (-1, -1)), (0, (0, 0)), (2, (2, 10)), (3, (3, 20)), (4, (3, 20)), (5, (5, 33)), (6, (-1, -1))],
)
def test_end_offsets_of_leader_epochs_are_found(epoch: int, expected: tuple[int, int]) -> None:
    assert LeaderEpochs(EPOCHS).end_offset_for(epoch, 33) == expected


def test_leader_epochs_that_are_empty_know_nothing() -> None:
    assert LeaderEpochs().end_offset_for(0, 5) == (-1, -1)
    assert LeaderEpochs().epoch_for_offset(3) == -1


@pytest.mark.parametrize(("offset", "epoch"), [(0, 2), (9, 2), (10, 3), (19, 3), (20, 5), (99, 5)])
def test_epoch_for_offset(offset: int, epoch: int) -> None:
    assert LeaderEpochs(EPOCHS).epoch_for_offset(offset) == epoch


def test_assigning_the_same_epoch_again_changes_nothing() -> None:
    epochs = LeaderEpochs(EPOCHS)
    assert not epochs.assign(5, 40)
    assert epochs.entries() == EPOCHS


def test_a_new_epoch_at_the_same_offset_replaces_the_one_that_wrote_nothing() -> None:
    epochs = LeaderEpochs(EPOCHS)
    assert epochs.assign(6, 20)
    assert epochs.entries() == [(2, 0), (3, 10), (6, 20)]
    assert epochs.latest == 6


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        (0, EPOCHS),
        (5, [(2, 5), (3, 10), (5, 20)]),
        (10, [(3, 10), (5, 20)]),
        (12, [(3, 12), (5, 20)]),
        (50, [(5, 50)]),
    ],
)
def test_truncate_from_start(start: int, kept: list[tuple[int, int]]) -> None:
    epochs = LeaderEpochs(EPOCHS)
    assert epochs.truncate_from_start(start) == (kept != EPOCHS)
    assert epochs.entries() == kept
    assert not LeaderEpochs([(2, 8)]).truncate_from_start(7)


def test_records_without_an_epoch_begin_none() -> None:
    log = make_log()
    put(log, epoch=-1)
    assert log.leader_epochs.entries() == []
    put(log, epoch=3)
    put(log, epoch=-1)
    assert log.leader_epochs.entries() == [(3, 1)]


@pytest.mark.parametrize(("end", "kept"), [(0, []), (10, EPOCHS[:1]), (11, EPOCHS[:2]), (30, EPOCHS)])
def test_truncate_from_end(end: int, kept: list[tuple[int, int]]) -> None:
    epochs = LeaderEpochs(EPOCHS)
    assert epochs.truncate_from_end(end) == (kept != EPOCHS)
    assert epochs.entries() == kept
    assert epochs.latest == (kept[-1][0] if kept else -1)
