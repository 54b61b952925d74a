from __future__ import annotations

from odradek.broker.clock_face import ClockFace


def test_a_clock_face_runs_with_the_time_below_it() -> None:
    below = [100.0]
    face = ClockFace(lambda: below[0], 1_000_000.0)
    assert (face.current_time(), face.now_ms()) == (100.0, 1_000_100_000)
    below[0] += 1.5
    assert (face.current_time(), face.now_ms()) == (101.5, 1_000_101_500)
    face.ahead = 60.0
    assert (face.current_time(), face.now_ms()) == (161.5, 1_000_161_500)


def test_a_clock_face_stands_still_where_it_is_frozen() -> None:
    below = [100.0]
    face = ClockFace(lambda: below[0], 1_000_000.0)
    face.frozen_at, face.frozen_ns = 70.0, 5_000_999_999
    below[0] += 1.5
    assert (face.current_time(), face.now_ms()) == (70.0, 5_000)
