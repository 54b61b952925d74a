"""Runs and their pieces: cutting, joining, and what a piece may become."""

from __future__ import annotations

import pytest

from odradek.broker.partitions.share.in_flight import InFlightRun, Piece
from odradek.broker.partitions.share.states import ACKNOWLEDGED, ACQUIRED, ARCHIVED, AVAILABLE


def spans(run: InFlightRun) -> list[tuple[int, int]]:
    return [(piece.first_offset, piece.last_offset) for piece in run.pieces]


def test_pieces_are_cut_at_both_ends() -> None:
    run = InFlightRun(Piece(10, 19, AVAILABLE, 0))
    assert [(p.first_offset, p.last_offset) for p in run.exactly(12, 14)] == [(12, 14)]
    assert spans(run) == [(10, 11), (12, 14), (15, 19)]
    assert run.split
    assert [(p.first_offset, p.last_offset) for p in run.exactly(11, 15)] == [(11, 11), (12, 14), (15, 15)]


def test_equal_neighbours_are_joined_unless_a_member_holds_them() -> None:
    run = InFlightRun(Piece(0, 9, AVAILABLE, 1))
    run.exactly(3, 5)
    run.join(3, 5)
    assert spans(run) == [(0, 9)]
    for piece in run.exactly(3, 5):
        piece.acquire("m", 100)
    for piece in run.exactly(6, 7):
        piece.acquire("m", 100)
    run.join(3, 7)
    assert spans(run) == [(0, 2), (3, 5), (6, 7), (8, 9)]


def test_many_single_answers_leave_few_pieces() -> None:
    run = InFlightRun(Piece(0, 9_999, ACQUIRED, 1, "m", 100))
    for offset in range(0, 10_000, 1):
        for piece in run.exactly(offset, offset):
            piece.settle(ACKNOWLEDGED, 5)
        run.join(offset, offset)
        assert len(run.pieces) <= 2
    assert spans(run) == [(0, 9_999)]


def test_what_was_delivered_often_enough_does_not_come_back() -> None:
    piece = Piece(0, 0, AVAILABLE, 4)
    piece.acquire("m", 100)
    piece.settle(AVAILABLE, 5)
    assert (piece.state, piece.delivery_count, piece.member_id) == (ARCHIVED, 5, "")


def test_a_record_cannot_leave_a_terminal_state() -> None:
    with pytest.raises(RuntimeError, match="cannot go from ACKNOWLEDGED to ARCHIVED"):
        Piece(0, 0, ACKNOWLEDGED, 1).archive()


def test_what_lies_before_is_forgotten_piece_by_piece() -> None:
    run = InFlightRun(Piece(0, 9, ACKNOWLEDGED, 1))
    run.exactly(4, 5)
    run.forget_before(5)
    assert spans(run) == [(4, 5), (6, 9)]
    assert [p.first_offset for p in run.touching(0, 9)] == [4, 6]
